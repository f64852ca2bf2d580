// Arguments of kernels. A driver takes a pointer at its word, so what the client sends as a number is never passed
// where a pointer is read.
#include "backend/opencl/kernel_profile.h"
#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {

namespace {

/// The object is of the sort that the driver will take it for.
bool fits(const MemoryRecord& memory, std::uint32_t kind) {
  switch (kind) {
    case argument::kUnknown: return true;
    case argument::kMemory: return memory.sort == MemoryRecord::Sort::buffer;
    case argument::kImage: return memory.sort == MemoryRecord::Sort::image;
    case argument::kPipe: return memory.sort == MemoryRecord::Sort::pipe;
    default: return false;
  }
}

}  // namespace

cl_int Session::set_argument(KernelRecord& kernel, const cl::Argument& given) {
  if (given.index >= kernel.kinds.size()) return CL_INVALID_ARG_INDEX;
  const auto kind = kernel.kinds[given.index];
  const auto* context = kernel.program->context.get();
  const auto set = [&](std::size_t size, const void* value) {
    return native().clSetKernelArg(kernel.native, given.index, size, value);
  };
  cl_int status = CL_INVALID_ARG_VALUE;
  std::uint64_t object = 0;
  switch (given.kind) {
    case argument::kValue:
      if (kind != argument::kValue && kind != argument::kUnknown) return CL_INVALID_ARG_VALUE;
      status = set(given.value.size(), given.value.data());
      break;
    case argument::kLocal:
      if (kind != argument::kLocal && kind != argument::kUnknown) return CL_INVALID_ARG_VALUE;
      status = set(given.size, nullptr);
      break;
    case argument::kMemory:
    case argument::kImage:
    case argument::kPipe: {
      if (given.object == 0) {
        if (kind != argument::kMemory && kind != argument::kUnknown) return CL_INVALID_MEM_OBJECT;
        status = set(sizeof(cl_mem), nullptr);
        break;
      }
      const auto* memory = table_.find<MemoryRecord>(given.object);
      if (!memory || memory->context.get() != context || !fits(*memory, kind)) return CL_INVALID_MEM_OBJECT;
      object = given.object;
      status = set(sizeof memory->native, &memory->native);
      break;
    }
    case argument::kSampler: {
      const auto* sampler = table_.find<SamplerRecord>(given.object);
      if (!sampler || sampler->context.get() != context) return CL_INVALID_SAMPLER;
      if (kind != argument::kSampler && kind != argument::kUnknown) return CL_INVALID_ARG_VALUE;
      object = given.object;
      status = set(sizeof sampler->native, &sampler->native);
      break;
    }
    case argument::kQueue: {
      const auto* queue = table_.find<QueueRecord>(given.object);
      if (!queue || queue->context.get() != context) return CL_INVALID_DEVICE_QUEUE;
      if (kind != argument::kQueue) return CL_INVALID_ARG_VALUE;
      object = given.object;
      status = set(sizeof queue->native, &queue->native);
      break;
    }
    case argument::kSvm:
      if (kind != argument::kMemory && kind != argument::kUnknown) return CL_INVALID_ARG_VALUE;
      if (given.object != 0 && !shared(*context, given.object, 1)) return CL_INVALID_ARG_VALUE;
      if (!native().clSetKernelArgSVMPointer) return CL_INVALID_OPERATION;
      status =
          native().clSetKernelArgSVMPointer(kernel.native, given.index, reinterpret_cast<const void*>(given.object));
      break;
    default: break;
  }
  if (status == CL_SUCCESS) kernel.objects[given.index] = object;
  return status;
}

void Session::on(const cl::CheckArgument& call, Respond<cl::CheckArgumentReply> respond) {
  auto* kernel = table_.find<KernelRecord>(call.kernel);
  respond({.status = kernel ? set_argument(*kernel, call.argument) : CL_INVALID_KERNEL});
}

void Session::on(const cl::KernelExecInfo& call, Respond<cl::KernelExecInfoReply> respond) {
  const auto* kernel = table_.find<KernelRecord>(call.kernel);
  if (!kernel) return respond({.status = CL_INVALID_KERNEL});
  if (!native().clSetKernelExecInfo) return respond({.status = CL_INVALID_OPERATION});
  if (call.value.empty()) return respond({.status = CL_INVALID_VALUE});
  if (call.param == CL_KERNEL_EXEC_INFO_SVM_PTRS) {
    if (call.value.size() % sizeof(void*) != 0) return respond({.status = CL_INVALID_VALUE});
    for (std::size_t at = 0; at < call.value.size(); at += sizeof(void*)) {
      std::uint64_t address = 0;
      std::memcpy(&address, call.value.data() + at, sizeof address);
      if (!shared(*kernel->program->context, address, 1)) return respond({.status = CL_INVALID_VALUE});
    }
  } else if (call.value.size() < sizeof(cl_bool)) {
    return respond({.status = CL_INVALID_VALUE});   // drivers read a cl_bool there without a look at the size
  }
  respond({.status = native().clSetKernelExecInfo(kernel->native, call.param, call.value.size(), call.value.data())});
}

}  // namespace flexrack::backend::opencl
