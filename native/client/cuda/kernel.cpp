// What applications ask about kernels: answered from what came with the load.
#include "client/cuda/kernel.h"

#include "client/cuda/call.h"
#include "client/cuda/library.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

CUresult give_attribute(const KernelAt& kernel, CUfunction_attribute which, int* into) {
  if (which >= CU_FUNC_ATTRIBUTE_MAX || !has_attribute(kernel, which)) return CUDA_ERROR_INVALID_VALUE;
  *into = kernel.attributes[which].load(std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

/// Libraries set the same before every launch: cuDNN does.
bool is_already(const KernelAt& kernel, CUfunction_attribute which, int value) {
  return which < CU_FUNC_ATTRIBUTE_MAX && has_attribute(kernel, which) && kernel.attributes[which].load() == value;
}

void set_attribute(const KernelAt& kernel, CUfunction_attribute which, int value) {
  if (which < CU_FUNC_ATTRIBUTE_MAX) kernel.attributes[which].store(value, std::memory_order_relaxed);
  const std::lock_guard guard(kernel.lock);
  kernel.answers.clear();
  kernel.cluster_answers.clear();
}

CUresult give_parameter(const KernelAt& kernel, size_t index, size_t* offset, size_t* size) {
  if (index >= kernel.parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  if (offset) *offset = kernel.parameters[index].offset;
  if (size) *size = kernel.parameters[index].size;
  return CUDA_SUCCESS;
}

/// As that device has it: for questions that name a device and no context.
CUresult on_device(CUkernel kernel, CUdevice ordinal, const KernelAt*& at) {
  if (!process()) return not_open();
  if (!is_live(kernel)) return CUDA_ERROR_INVALID_HANDLE;
  const auto* device = device_of(ordinal);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  return kernel_at(kernel, *device, device->primary->handle != 0 ? device->primary : nullptr, at);
}

}  // namespace

CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel) {
  Call call;
  call.needs(pFunc);
  call.check(is_live(kernel), CUDA_ERROR_INVALID_HANDLE);
  const auto now = call.current();
  return call.is_good() ? function_in(kernel, now, pFunc) : call.error();
}

CUresult cuKernelGetLibrary(CUlibrary* pLib, CUkernel kernel) {
  if (!process()) return not_open();
  if (!is_live(kernel)) return CUDA_ERROR_INVALID_HANDLE;
  if (!pLib) return CUDA_ERROR_INVALID_VALUE;
  *pLib = kernel->library;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char** name, CUkernel hfunc) {
  if (!process()) return not_open();
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  if (!is_live(hfunc)) return CUDA_ERROR_INVALID_HANDLE;
  *name = hfunc->name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev) {
  const KernelAt* at = nullptr;
  if (const auto status = on_device(kernel, dev, at); status != CUDA_SUCCESS) return status;
  return pi ? give_attribute(*at, attrib, pi) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev) {
  const KernelAt* at = nullptr;
  if (const auto status = on_device(kernel, dev, at); status != CUDA_SUCCESS) return status;
  if (is_already(*at, attrib, val)) return CUDA_SUCCESS;
  Call call;
  cu::KernelSetAttribute message;
  message.attrib = static_cast<std::uint32_t>(attrib);
  message.val = val;
  message.kernel = at->handle;
  message.dev = call.device(dev);
  return call.ask(message, [&](const auto&) { set_attribute(*at, attrib, val); });
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
  const KernelAt* at = nullptr;
  if (const auto status = on_device(kernel, dev, at); status != CUDA_SUCCESS) return status;
  Call call;
  cu::KernelSetCacheConfig message;
  message.kernel = at->handle;
  message.config = static_cast<std::uint32_t>(config);
  message.dev = call.device(dev);
  return call.send(message);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
  if (!paramOffset) return CUDA_ERROR_INVALID_VALUE;
  const KernelAt* at = nullptr;
  const auto now = thread_state.current;
  const auto status = on_device(kernel, now && is_live(now) ? now->device->ordinal : 0, at);
  return status == CUDA_SUCCESS ? give_parameter(*at, paramIndex, paramOffset, paramSize) : status;
}

CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) {
  Call call;
  call.needs(pi);
  const auto* at = call.kernel(hfunc);
  return call.is_good() ? give_attribute(*at, attrib, pi) : call.error();
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) {
  Call call;
  const auto* at = call.kernel(hfunc);
  if (!call.is_good()) return call.error();
  if (is_already(*at, attrib, value)) return CUDA_SUCCESS;
  const auto status = plain::cuFuncSetAttribute(hfunc, attrib, value);
  if (status == CUDA_SUCCESS) set_attribute(*at, attrib, value);
  return status;
}

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) {
  Call call;
  call.needs(hmod);
  call.kernel(hfunc);
  if (!call.is_good()) return call.error();
  if (!is_live(hfunc)) return cuda::cuLibraryGetModule(hmod, reinterpret_cast<CUkernel>(hfunc)->library);
  if (hfunc->kernel) return cuda::cuLibraryGetModule(hmod, hfunc->kernel->library);
  *hmod = hfunc->module;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char** name, CUfunction hfunc) {
  Call call;
  call.needs(name);
  const auto* at = call.kernel(hfunc);
  if (!call.is_good()) return call.error();
  *name = at->name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
  Call call;
  call.needs(paramOffset);
  const auto* at = call.kernel(func);
  return call.is_good() ? give_parameter(*at, paramIndex, paramOffset, paramSize) : call.error();
}

}  // namespace flexrack::client::cuda
