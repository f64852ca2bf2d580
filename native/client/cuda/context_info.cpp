// Which context is current, and what applications ask and set about contexts.
#include "client/cuda/call.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

/// `use(context)` with the current one.
template <class Use>
CUresult with_current(const void* into, Use&& use) {
  Call call;
  call.needs(into);
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  use(*now);
  return CUDA_SUCCESS;
}

/// With that one, or with the current one where it is null.
template <class Use>
CUresult with(CUcontext context, const void* into, Use&& use) {
  if (!context) return with_current(into, use);
  Call call;
  call.needs(into);
  if (!call.use(context)) return call.error();
  use(*context);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuCtxPushCurrent_v2(CUcontext ctx) {
  if (!process()) return not_open();
  if (!is_live(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  if (thread_state.current) earlier_contexts().push_back(thread_state.current);
  thread_state.current = ctx;
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* pctx) {
  if (!process()) return not_open();
  if (!thread_state.current) return CUDA_ERROR_INVALID_CONTEXT;
  if (pctx) *pctx = thread_state.current;
  auto& earlier = earlier_contexts();
  thread_state.current = earlier.empty() ? nullptr : earlier.back();
  if (!earlier.empty()) earlier.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx) {
  if (!process()) return not_open();
  if (ctx == thread_state.current && ctx) return CUDA_SUCCESS;
  if (!ctx) return thread_state.current ? cuda::cuCtxPopCurrent_v2(nullptr) : CUDA_SUCCESS;
  if (!is_live(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
  thread_state.current = ctx;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* pctx) {
  if (!process()) return not_open();
  if (!pctx) return CUDA_ERROR_INVALID_VALUE;
  *pctx = thread_state.current;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return with_current(device, [&](CUctx_st& context) { *device = context.device->ordinal; });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext ctx) {
  return with(ctx, device, [&](CUctx_st& context) { *device = context.device->ordinal; });
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  return with_current(flags, [&](CUctx_st& context) { *flags = context.flags; });
}

CUresult cuCtxSetFlags(unsigned int flags) {
  const auto status = plain::cuCtxSetFlags(flags);
  if (status == CUDA_SUCCESS) thread_state.current->flags = flags;
  return status;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long* ctxId) {
  // The server's is its own; with several servers it would name several contexts.
  return with(ctx, ctxId, [&](CUctx_st& context) { *ctxId = context.handle; });
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int* version) {
  return with(ctx, version, [&](CUctx_st& context) { *version = context.api_version; });
}

CUresult cuCtxGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  Call call;
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  if (leastPriority) *leastPriority = now->least_priority;
  if (greatestPriority) *greatestPriority = now->greatest_priority;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* pconfig) {
  return with_current(pconfig, [&](CUctx_st& context) { *pconfig = context.cache; });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  if (config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
  const auto status = plain::cuCtxSetCacheConfig(config);
  if (status == CUDA_SUCCESS) thread_state.current->cache = config;
  return status;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* pConfig) {
  return with_current(pConfig, [&](CUctx_st& context) { *pConfig = context.shared; });
}

/// Devices that could change it are no longer supported by CUDA 13: it is remembered, no more (cuda.h 13.0).
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  if (config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) return CUDA_ERROR_INVALID_VALUE;
  return with_current(&config, [&](CUctx_st& context) { context.shared = config; });
}

CUresult cuCtxGetLimit(size_t* pvalue, CUlimit limit) {
  Call call;
  call.needs(pvalue);
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(now->lock);
  const auto found = now->limits.find(static_cast<std::uint32_t>(limit));
  if (found == now->limits.end()) return limit < CU_LIMIT_MAX ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_ERROR_INVALID_VALUE;
  *pvalue = found->second;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  Call call;
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  return call.ask(cu::SetLimit{.context = now->handle, .which = static_cast<std::uint32_t>(limit), .value = value},
                  [&](const auto& reply) {
                    const std::lock_guard guard(now->lock);
                    now->limits[static_cast<std::uint32_t>(limit)] = reply.value;
                  });
}

}  // namespace flexrack::client::cuda
