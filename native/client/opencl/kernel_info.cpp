// What is asked about kernels: answered from what came with their creation, but for sub-groups, which depend on what is
// asked.
#include "client/opencl/enqueue.h"
#include "client/opencl/memory_check.h"
#include "client/opencl/program_objects.h"

namespace flexrack::client::opencl {

namespace {

/// CL_INVALID_DEVICE for a device the kernel is not for, or none where there are several.
cl_int find_device(cl_kernel kernel, cl_device_id device, const KernelDevice*& found) {
  if (!device && kernel->context()->devices.size() > 1) return CL_INVALID_DEVICE;
  found = kernel->on(device ? device : kernel->context()->devices[0]);
  return found ? CL_SUCCESS : CL_INVALID_DEVICE;
}

}  // namespace

cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info param_name, size_t param_value_size, void* param_value,
                       size_t* param_value_size_ret) {
  if (!is_live(kernel)) return CL_INVALID_KERNEL;
  const auto give = [&](const void* value, std::size_t size) {
    return give_info(value, size, param_value_size, param_value, param_value_size_ret);
  };
  switch (param_name) {
    case CL_KERNEL_FUNCTION_NAME: return give(kernel->name.c_str(), kernel->name.size() + 1);
    case CL_KERNEL_ATTRIBUTES: return give(kernel->attributes.c_str(), kernel->attributes.size() + 1);
    case CL_KERNEL_NUM_ARGS: {
      const auto count = static_cast<cl_uint>(kernel->slots.size());
      return give(&count, sizeof count);
    }
    case CL_KERNEL_REFERENCE_COUNT: {
      const auto count = references(kernel);
      return give(&count, sizeof count);
    }
    case CL_KERNEL_CONTEXT: {
      const auto context = kernel->context();
      return give(&context, sizeof context);
    }
    case CL_KERNEL_PROGRAM: return give(&kernel->program, sizeof kernel->program);
    default: return CL_INVALID_VALUE;
  }
}

cl_int clGetKernelArgInfo(cl_kernel kernel, cl_uint arg_indx, cl_kernel_arg_info param_name, size_t param_value_size,
                          void* param_value, size_t* param_value_size_ret) {
  if (!is_live(kernel)) return CL_INVALID_KERNEL;
  if (arg_indx >= kernel->slots.size()) return CL_INVALID_ARG_INDEX;
  const auto& slot = kernel->slots[arg_indx];
  const bool is_known = slot.address != ~0u;
  const auto give = [&](bool has, const void* value, std::size_t size) {
    return has ? give_info(value, size, param_value_size, param_value, param_value_size_ret)
               : CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
  };
  switch (param_name) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER: return give(is_known, &slot.address, sizeof slot.address);
    case CL_KERNEL_ARG_ACCESS_QUALIFIER: return give(slot.access != ~0u, &slot.access, sizeof slot.access);
    case CL_KERNEL_ARG_TYPE_QUALIFIER: return give(is_known, &slot.qualifier, sizeof slot.qualifier);
    case CL_KERNEL_ARG_TYPE_NAME:
      return give(!slot.type_name.empty(), slot.type_name.c_str(), slot.type_name.size() + 1);
    case CL_KERNEL_ARG_NAME: return give(!slot.name.empty(), slot.name.c_str(), slot.name.size() + 1);
    default: return is_known ? CL_INVALID_VALUE : CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
  }
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info param_name,
                                size_t param_value_size, void* param_value, size_t* param_value_size_ret) {
  if (!is_live(kernel)) return CL_INVALID_KERNEL;
  const KernelDevice* on = nullptr;
  if (const auto error = find_device(kernel, device, on)) return error;
  const auto found = on->infos.find(param_name);
  if (found == on->infos.end()) return CL_INVALID_VALUE;
  if (param_name == CL_KERNEL_LOCAL_MEM_SIZE && found->second.size() == sizeof(cl_ulong)) {
    cl_ulong size = 0;  // what the code declares, and what arguments were set to since
    std::memcpy(&size, found->second.data(), sizeof size);
    std::lock_guard guard(kernel->lock);
    for (const auto& slot : kernel->slots)
      if (slot.value.kind == argument::kLocal) size += slot.value.number;
    return give_info(&size, sizeof size, param_value_size, param_value, param_value_size_ret);
  }
  return give_info(found->second.data(), found->second.size(), param_value_size, param_value, param_value_size_ret);
}

cl_int clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info param_name,
                               size_t input_value_size, const void* input_value, size_t param_value_size,
                               void* param_value, size_t* param_value_size_ret) {
  if (!is_live(kernel)) return CL_INVALID_KERNEL;
  const KernelDevice* on = nullptr;
  if (const auto error = find_device(kernel, device, on)) return error;
  const auto place = kernel->context()->place_of(on->device);
  const wire::View input(static_cast<const std::uint8_t*>(input_value), input_value ? input_value_size : 0);
  const cl::SubGroupInfo message{.kernel = kernel->copies[place].handle,
                                 .device = on->device->index,
                                 .param = param_name,
                                 .input = input,
                                 .capacity = param_value ? param_value_size : 0};
  cl_int given = kNoAnswer;
  const auto status = ask(kernel->session(place), message, [&](const cl::SubGroupInfoReply& reply) {
    if (reply.status == CL_SUCCESS)
      given = give_info(reply.value.data(), reply.value.size(), param_value_size, param_value, param_value_size_ret);
  });
  return status == CL_SUCCESS ? given : status;
}

cl_int clGetKernelSubGroupInfoKHR(cl_kernel in_kernel, cl_device_id in_device, cl_kernel_sub_group_info param_name,
                                  size_t input_value_size, const void* input_value, size_t param_value_size,
                                  void* param_value, size_t* param_value_size_ret) {
  return clGetKernelSubGroupInfo(in_kernel, in_device, param_name, input_value_size, input_value, param_value_size,
                                 param_value, param_value_size_ret);
}

}  // namespace flexrack::client::opencl
