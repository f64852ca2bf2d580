// Kernels: made at every place of their program, with what each device says about them.
#include "client/opencl/enqueue.h"
#include "client/opencl/memory_check.h"
#include "client/opencl/program_objects.h"

const fx::KernelDevice* _cl_kernel::on(cl_device_id device) const {
  for (const auto& one : devices)
    if (one.device == device) return &one;
  return nullptr;
}

namespace flexrack::client::opencl {

namespace {

template <class T>
void take(const InfoTable& infos, cl_uint name, T& value) {
  const auto found = infos.find(name);
  if (found != infos.end() && found->second.size() == sizeof(T))
    std::memcpy(&value, found->second.data(), sizeof value);
}

/// Major times 100, as in "OpenCL 3.0 and what the vendor likes to add".
int version_of(cl_device_id device) {
  const auto found = device->infos.find(CL_DEVICE_VERSION);
  if (found == device->infos.end()) return 100;
  const std::string text(reinterpret_cast<const char*>(found->second.data()), found->second.size());
  int major = 1, minor = 0;
  return std::sscanf(text.c_str(), "OpenCL %d.%d", &major, &minor) == 2 ? major * 100 + minor * 10 : 100;
}

/// Since 2.0 a program's language decides whether groups must divide the range; a device of 3.0 may still not offer it.
bool takes_uneven(cl_device_id device, const std::string& options, int version) {
  const bool can = version >= 300
                       ? device_info<cl_bool>(device, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, CL_FALSE) != CL_FALSE
                       : version >= 200;
  const auto at = options.find("-cl-std=");
  const bool is_new = at != options.npos && options.compare(at + 8, 4, "CL1.") != 0;
  return can && is_new && options.find("-cl-uniform-work-group-size") == options.npos;
}

KernelDevice describe(cl_device_id device, const cl::KernelOnDevice& reply, const std::string& options) {
  KernelDevice one;
  one.device = device;
  for (const auto& info : reply.infos) one.infos[info.name] = wire::Bytes(info.value.begin(), info.value.end());
  one.group_limit = device_info<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, SIZE_MAX);
  take(one.infos, CL_KERNEL_WORK_GROUP_SIZE, one.group_limit);
  take(one.infos, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, one.required);
  std::fill(std::begin(one.item_limits), std::end(one.item_limits), SIZE_MAX);
  const auto limits = device->infos.find(CL_DEVICE_MAX_WORK_ITEM_SIZES);
  if (limits != device->infos.end())
    std::memcpy(one.item_limits, limits->second.data(), std::min(sizeof one.item_limits, limits->second.size()));
  one.dimensions = std::min<cl_uint>(3, device_info<cl_uint>(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3));
  one.alignment = std::max<std::size_t>(1, device_info<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 8) / 8);
  one.largest_allocation = device_info<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, ~cl_ulong{0});
  const auto version = version_of(device);
  one.takes_empty = version >= 210;
  one.takes_uneven = takes_uneven(device, options, version);
  return one;
}

/// Creates it at one place; the first place's word on the arguments is everybody's.
cl_int create_at(cl_kernel kernel, std::size_t place, const std::string& options) {
  auto* program = kernel->program;
  auto& session = program->session(place);
  const cl::CreateKernel message{.program = program->handles[place], .kernel = session.mint(), .name = kernel->name};
  return ask(session, message, [&](const cl::CreateKernelReply& reply) {
    if (reply.status != CL_SUCCESS) return;
    std::lock_guard guard(kernel->lock);
    kernel->copies[place].handle = message.kernel;
    kernel->copies[place].versions.resize(reply.arguments.size());
    kernel->copies[place].objects.resize(reply.arguments.size());
    for (const auto& there : reply.devices) {
      for (auto* device : program->context->places[place].devices) {
        if (device->index == there.device) kernel->devices.push_back(describe(device, there, options));
      }
    }
    if (!kernel->slots.empty()) return;
    kernel->attributes = reply.attributes;
    kernel->slots.resize(reply.arguments.size());
    for (std::size_t i = 0; i < kernel->slots.size(); i++) {
      const auto& from = reply.arguments[i];
      auto& slot = kernel->slots[i];
      slot.kind = from.kind;
      slot.address = from.address;
      slot.access = from.access;
      slot.qualifier = from.qualifier;
      slot.size = from.size;
      slot.type_name = from.type_name;
      slot.name = from.name;
    }
  });
}

cl_kernel new_kernel(cl_program program, std::string name) {
  auto* kernel = new _cl_kernel;
  kernel->program = hold(program);
  kernel->name = std::move(name);
  kernel->copies.resize(program->handles.size());
  return kernel;
}

cl_int create(cl_program program, std::string name, cl_kernel& kernel) {
  kernel = new_kernel(program, std::move(name));
  std::string options;
  {
    std::lock_guard guard(program->lock);
    options = program->options;
  }
  std::atomic<bool> is_somewhere{false};
  auto error = at_each_place(
      program->handles.size(), [&](std::size_t place) { return program->handles[place] != 0; },
      [&](std::size_t place) {
        const auto status = create_at(kernel, place, options);
        if (status == CL_SUCCESS) is_somewhere = true;
        return status == CL_INVALID_PROGRAM_EXECUTABLE ? CL_SUCCESS : status;  // built for devices of other places only
      });
  if (error == CL_SUCCESS && !is_somewhere) error = CL_INVALID_PROGRAM_EXECUTABLE;
  for (const auto& copy : kernel->copies) {  // servers whose devices disagree about the same source
    if (copy.handle != 0 && copy.versions.size() != kernel->slots.size()) error = CL_INVALID_KERNEL_DEFINITION;
  }
  if (error != CL_SUCCESS) {
    release(kernel);
    kernel = nullptr;
  }
  return error;
}

}  // namespace

cl_kernel clCreateKernel(cl_program program, const char* kernel_name, cl_int* errcode_ret) {
  cl_kernel kernel = nullptr;
  cl_int error = CL_SUCCESS;
  if (!kernel_name) error = CL_INVALID_VALUE;
  else if (!is_live(program)) error = CL_INVALID_PROGRAM;
  else error = create(program, kernel_name, kernel);
  if (errcode_ret) *errcode_ret = error;
  return kernel;
}

cl_int clCreateKernelsInProgram(cl_program program, cl_uint num_kernels, cl_kernel* kernels, cl_uint* num_kernels_ret) {
  if (!is_live(program)) return CL_INVALID_PROGRAM;
  std::vector<std::string> names;
  const auto status = ask_program(program, CL_PROGRAM_KERNEL_NAMES, [&](const cl::ProgramInfoReply& reply) {
    std::string name;
    for (const auto letter : reply.value) {
      if (letter != ';' && letter != 0) name += static_cast<char>(letter);
      else if (!name.empty()) names.push_back(std::exchange(name, {}));
    }
    if (!name.empty()) names.push_back(name);
  });
  if (status != CL_SUCCESS) return status == kNoAnswer ? status : CL_INVALID_PROGRAM_EXECUTABLE;
  if ((kernels == nullptr) != (num_kernels == 0)) return CL_INVALID_VALUE;
  if (kernels && num_kernels < names.size()) return CL_INVALID_VALUE;
  for (std::size_t i = 0; kernels && i < names.size(); i++) {
    if (const auto error = create(program, names[i], kernels[i])) {
      while (i-- > 0) release(kernels[i]);
      return error;
    }
  }
  if (num_kernels_ret) *num_kernels_ret = static_cast<cl_uint>(names.size());
  return CL_SUCCESS;
}

cl_kernel clCloneKernel(cl_kernel source_kernel, cl_int* errcode_ret) {
  const auto fail = [&](cl_int error) -> cl_kernel {
    if (errcode_ret) *errcode_ret = error;
    return nullptr;
  };
  if (!is_live(source_kernel)) return fail(CL_INVALID_KERNEL);
  auto* kernel = new_kernel(source_kernel->program, source_kernel->name);
  cl_int error = CL_SUCCESS;
  {
    std::lock_guard guard(source_kernel->lock);
    kernel->attributes = source_kernel->attributes;
    kernel->devices = source_kernel->devices;
    kernel->slots = source_kernel->slots;
    kernel->answers = source_kernel->answers;
    for (std::size_t place = 0; place < kernel->copies.size() && error == CL_SUCCESS; place++) {
      const auto& from = source_kernel->copies[place];
      if (from.handle == 0) continue;
      auto& session = kernel->session(place);
      const cl::CloneKernel message{.source = from.handle, .kernel = session.mint()};
      error = ask(session, message, [](const auto&) {});
      // What the twin was told may not have come along: everything goes with the clone's first launch.
      if (error == CL_SUCCESS)
        kernel->copies[place] = {message.kernel, std::vector<std::uint32_t>(from.versions.size()),
                                 std::vector<std::uint64_t>(from.objects.size())};
    }
  }
  if (errcode_ret) *errcode_ret = error;
  if (error == CL_SUCCESS) return kernel;
  release(kernel);
  return nullptr;
}

cl_int clRetainKernel(cl_kernel kernel) {
  if (!is_live(kernel)) return CL_INVALID_KERNEL;
  retain(kernel);
  return CL_SUCCESS;
}

cl_int clReleaseKernel(cl_kernel kernel) { return is_live(kernel) && release(kernel) ? CL_SUCCESS : CL_INVALID_KERNEL; }

void dispose(cl_kernel kernel) {
  auto* program = kernel->program;
  for (std::size_t place = 0; place < kernel->copies.size(); place++) {
    if (kernel->copies[place].handle != 0)
      program->session(place).send(cl::Release{.object = kernel->copies[place].handle});
  }
  delete kernel;
  drop(program);
}

}  // namespace flexrack::client::opencl
