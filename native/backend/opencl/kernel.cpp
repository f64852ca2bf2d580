// Kernels: made with everything the client needs to check arguments and launches by itself.
#include <algorithm>

#include "backend/opencl/kernel_profile.h"
#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {

void Session::on(const cl::CreateKernel& call, Respond<cl::CreateKernelReply> respond) {
  auto* program = table_.find<ProgramRecord>(call.program);
  if (!program) return respond({.status = CL_INVALID_PROGRAM});
  if (call.kernel == 0 || table_.has(call.kernel) || table_.is_full()) return respond.refuse(wire::Refusal::limit);
  const std::string name(call.name);
  cl_int status = CL_OUT_OF_RESOURCES;
  auto kernel = Ref<KernelRecord>::adopt(new KernelRecord);
  kernel->program = Ref<ProgramRecord>(program);
  kernel->native = native().clCreateKernel(program->native, name.c_str(), &status);
  if (!kernel->native) return respond({.status = status == CL_SUCCESS ? CL_OUT_OF_RESOURCES : status});
  std::vector<std::pair<std::uint32_t, cl_device_id>> devices;
  for (const auto& device : program->context->devices) devices.emplace_back(device->index, device->native.device);
  const KernelProfile profile(program->native, kernel->native, name, devices);
  for (const auto& argument : profile.arguments()) kernel->kinds.push_back(argument.kind);
  kernel->objects.resize(kernel->kinds.size());
  table_.insert(call.kernel, std::move(kernel));
  respond(profile.reply());
}

void Session::on(const cl::CloneKernel& call, Respond<cl::CloneKernelReply> respond) {
  const auto* source = table_.find<KernelRecord>(call.source);
  if (!source) return respond({.status = CL_INVALID_KERNEL});
  if (call.kernel == 0 || table_.has(call.kernel) || table_.is_full()) return respond.refuse(wire::Refusal::limit);
  if (!native().clCloneKernel) return respond({.status = CL_INVALID_OPERATION});
  cl_int status = CL_OUT_OF_RESOURCES;
  auto kernel = Ref<KernelRecord>::adopt(new KernelRecord);
  kernel->program = source->program;
  kernel->objects = source->objects;
  kernel->kinds = source->kinds;
  kernel->native = native().clCloneKernel(source->native, &status);
  if (!kernel->native && status == CL_SUCCESS) status = CL_OUT_OF_RESOURCES;
  if (status == CL_SUCCESS) table_.insert(call.kernel, std::move(kernel));
  respond({.status = status});
}

void Session::on(const cl::SubGroupInfo& call, Respond<cl::SubGroupInfoReply> respond) {
  const auto* kernel = table_.find<KernelRecord>(call.kernel);
  if (!kernel) return respond({.status = CL_INVALID_KERNEL});
  const auto device = kernel->program->context->device(call.device);
  if (!device) return respond({.status = CL_INVALID_DEVICE});
  if (!native().clGetKernelSubGroupInfo) return respond({.status = CL_INVALID_OPERATION});
  wire::Bytes answer(std::min<std::uint64_t>(call.capacity, 4096));
  std::size_t size = 0;
  const auto status = native().clGetKernelSubGroupInfo(
      kernel->native, device->native.device, call.param, call.input.size(),
      call.input.empty() ? nullptr : call.input.data(), answer.size(), answer.empty() ? nullptr : answer.data(), &size);
  answer.resize(status == CL_SUCCESS ? std::min<std::size_t>(size, 4096) : 0);
  respond({.status = status, .value = answer});
}

void Session::on(const cl::SuggestLocalSize& call, Respond<cl::SuggestLocalSizeReply> respond) {
  const auto* queue = table_.find<QueueRecord>(call.queue);
  const auto* kernel = table_.find<KernelRecord>(call.kernel);
  if (!queue) return respond({.status = CL_INVALID_COMMAND_QUEUE});
  if (!kernel) return respond({.status = CL_INVALID_KERNEL});
  if (kernel->program->context.get() != queue->context.get()) return respond({.status = CL_INVALID_CONTEXT});
  if (call.dimensions < 1 || call.dimensions > 3) return respond({.status = CL_INVALID_WORK_DIMENSION});
  if (call.global.x == 0 || call.global.y == 0 || call.global.z == 0)
    return respond({.status = CL_INVALID_GLOBAL_WORK_SIZE});
  auto* const suggest = native().suggest_local_size(queue->device->native.platform);
  if (!suggest) return respond({.status = CL_INVALID_OPERATION});
  const std::size_t offset[] = {call.offset.x, call.offset.y, call.offset.z},
                    global[] = {call.global.x, call.global.y, call.global.z};
  std::size_t local[] = {1, 1, 1};
  const auto status = suggest(queue->native, kernel->native, call.dimensions, offset, global, local);
  respond({.status = status, .local = {local[0], local[1], local[2]}});
}

}  // namespace flexrack::backend::opencl
