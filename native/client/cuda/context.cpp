#include "client/cuda/context.h"

#include "client/cuda/addresses.h"
#include "client/cuda/call.h"
#include "client/cuda/capture.h"
#include "client/cuda/fence.h"
#include "client/cuda/library.h"
#include "cuda/context_storage.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

constexpr unsigned kContextFlags = CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST | CU_CTX_LMEM_RESIZE_TO_MAX |
                                   CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE | CU_CTX_SYNC_MEMOPS;

bool is_known(unsigned flags) {
  const auto schedule = flags & CU_CTX_SCHED_MASK;
  return (flags & ~kContextFlags) == 0 && (schedule & (schedule - 1)) == 0;
}

}  // namespace

CUresult activate(CUcontext context, unsigned flags) {
  auto& server = *context->server;
  if (!context->default_stream) {
    const auto stream = new CUstream_st;
    stream->server = &server;
    stream->context = context;
    stream->is_default = true;
    context->default_stream = stream;
  }
  const auto handle = mint();
  auto status = kLost;
  server.session->call(
      cu::CreateContext{
          .context = handle, .device = context->device->index, .is_primary = context->is_primary, .flags = flags},
      [&](const auto& reply) {
        status = static_cast<CUresult>(reply.status);
        context->api_version = reply.api_version;
        context->id = reply.id;
        context->least_priority = reply.least_priority;
        context->greatest_priority = reply.greatest_priority;
        context->cache = static_cast<CUfunc_cache>(reply.cache_config);
        context->shared = static_cast<CUsharedconfig>(reply.shared_config);
        const std::lock_guard guard(context->lock);
        context->limits.clear();
        for (const auto& limit : reply.limits) context->limits[limit.which] = limit.value;
        context->sticky = context->pending = CUDA_SUCCESS;
        context->is_troubled.store(false);
        context->peers.clear();
        context->spare_streams.clear();
      });
  if (status != CUDA_SUCCESS) return status;
  context->flags = flags;
  context->handle = context->context_handle = context->default_stream->context_handle = handle;
  server.inbox.enter(context);
  enter_fences(context);
  return CUDA_SUCCESS;
}

void deactivate(CUcontext context, bool is_reset) {
  flexrack::cuda::storage_destroy(context);
  const auto handle = context->handle;
  if (handle == 0) return;
  context->handle = 0;
  leave_fences(context);
  context->server->inbox.leave(handle);
  context->server->session->send(cu::ReleaseContext{.context = handle, .is_reset = is_reset});
  forget_context(handle);
  for (const auto& gone : take_allocations_of(context, handle)) release_addresses(gone);
}

// ---- primary contexts

CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) {
  auto* known = process();
  if (!known) return not_open();
  const auto* device = device_of(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  if (!pctx) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(known->lock);
  const auto context = device->primary;
  if (context->handle == 0) {
    if (const auto status = activate(context, context->flags); status != CUDA_SUCCESS) return status;
  }
  ++context->references;
  *pctx = context;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
  auto* known = process();
  if (!known) return not_open();
  const auto* device = device_of(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard guard(known->lock);
  if (device->primary->references == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--device->primary->references == 0) deactivate(device->primary, false);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
  auto* known = process();
  if (!known) return not_open();
  const auto* device = device_of(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  if (!is_known(flags)) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(known->lock);
  device->primary->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
  if (!process()) return not_open();
  const auto* device = device_of(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
  *flags = device->primary->flags;
  *active = device->primary->handle != 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
  auto* known = process();
  if (!known) return not_open();
  const auto* device = device_of(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard guard(known->lock);
  deactivate(device->primary, true);
  device->primary->references = 0;
  return CUDA_SUCCESS;
}

// ---- others

CUresult cuCtxCreate_v2(CUcontext* pctx, unsigned int flags, CUdevice dev) {
  if (!process()) return not_open();
  auto* device = device_of(dev);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  if (!pctx || !is_known(flags)) return CUDA_ERROR_INVALID_VALUE;
  const auto context = new CUctx_st;
  context->server = device->server;
  context->device = device;
  context->context = context;
  context->references = 1;
  if (const auto status = activate(context, flags); status != CUDA_SUCCESS) {
    discard(context->default_stream);
    discard(context);
    return status;
  }
  if (thread_state.current) earlier_contexts().push_back(thread_state.current);
  thread_state.current = context;
  *pctx = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v3(CUcontext* pctx, CUexecAffinityParam* paramsArray, int numParams, unsigned int flags,
                        CUdevice dev) {
  if (numParams < 0 || (numParams > 0 && !paramsArray)) return CUDA_ERROR_INVALID_VALUE;
  return numParams == 0 ? cuda::cuCtxCreate_v2(pctx, flags, dev) : CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

CUresult cuCtxCreate_v4(CUcontext* pctx, CUctxCreateParams* ctxCreateParams, unsigned int flags, CUdevice dev) {
  if (ctxCreateParams && ctxCreateParams->numExecAffinityParams != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  if (ctxCreateParams && ctxCreateParams->cigParams) return CUDA_ERROR_NOT_SUPPORTED;
  return cuda::cuCtxCreate_v2(pctx, flags, dev);
}

CUresult cuCtxDestroy_v2(CUcontext ctx) {
  if (!process()) return not_open();
  if (!is_live(ctx) || ctx->is_primary) return CUDA_ERROR_INVALID_CONTEXT;
  if (thread_state.current == ctx) {
    auto& earlier = earlier_contexts();
    thread_state.current = earlier.empty() ? nullptr : earlier.back();
    if (!earlier.empty()) earlier.pop_back();
  }
  deactivate(ctx, false);
  discard(ctx->default_stream);
  discard(ctx);
  return CUDA_SUCCESS;
}

CUresult cuCtxAttach(CUcontext* pctx, unsigned int flags) {
  Call call;
  call.needs(pctx);
  call.check(flags == 0);
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  ++now->references;
  *pctx = now;
  return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext ctx) {
  if (!process()) return not_open();
  if (!is_live(ctx) || ctx != thread_state.current || ctx->references == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (ctx->is_primary) return cuda::cuDevicePrimaryCtxRelease_v2(ctx->device->ordinal);
  if (--ctx->references > 0) return CUDA_SUCCESS;
  return cuda::cuCtxDestroy_v2(ctx);
}

namespace {

CUresult synchronize(Call& call, CUcontext context) {
  if (!call.settle()) return call.error();
  if (const auto status = refuse_context(context); status != CUDA_SUCCESS) return status;
  const auto last = context->progress.put.load();
  if (context->progress.over.load(std::memory_order_acquire) < last) {
    if (const auto status = call.wait(cu::WaitContext{.context = context->handle}); status != CUDA_SUCCESS)
      return status;
    Progress::raise(context->progress.over, last);
  }
  if (!has_host_work() || wait_for(context->order.unfinished())) return CUDA_SUCCESS;
  const auto status = take_trouble(context);
  return status == CUDA_SUCCESS ? CUDA_ERROR_UNKNOWN : status;
}

}  // namespace

CUresult cuCtxSynchronize() {
  Call call;
  const auto now = call.current();
  return call.is_good() ? synchronize(call, now) : call.error();
}

CUresult cuCtxSynchronize_v2(CUcontext ctx) {
  Call call;
  return call.use(ctx) ? synchronize(call, ctx) : call.error();
}

}  // namespace flexrack::client::cuda
