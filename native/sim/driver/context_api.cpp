// cuCtx*, cuDevicePrimaryCtx*.
#include <bit>
#include <map>

#include "sim/driver/context.h"
#include "sim/driver/stream.h"

using namespace flexrack::sim;

namespace {

void check_flags(unsigned flags) {
  require((flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0 && std::popcount(flags & CU_CTX_SCHED_MASK) <= 1);
}

CUresult create(CUcontext* made, unsigned flags, CUdevice ordinal) {
  return call([&] {
    require(made);
    auto& on = device(ordinal);
    check_flags(flags);
    const std::lock_guard guard(lifetimes_lock());
    const auto context = Context::make(on, false, flags);
    context->start();
    context->open();
    push_current(context->handle());
    *made = context->handle();
  });
}

CUresult destroy(CUcontext handle) {
  return call([&] {
    const std::lock_guard guard(lifetimes_lock());
    const auto context = Context::find(handle);
    require(context && !context->is_primary, CUDA_ERROR_INVALID_CONTEXT);
    if (current_handle() == handle) pop_current();
    context->stop();
    context->close();
  });
}

CUresult push(CUcontext handle) {
  return call([&] {
    require(static_cast<bool>(Context::find(handle)), CUDA_ERROR_INVALID_CONTEXT);
    push_current(handle);
  });
}

CUresult pop(CUcontext* popped) {
  return call([&] {
    const auto handle = pop_current();
    if (popped) *popped = handle;
  });
}

/// How often each primary context is retained; under lifetimes_lock().
std::map<int, unsigned>& retained() {
  static auto* counts = new std::map<int, unsigned>;
  return *counts;
}

CUresult release_primary(CUdevice ordinal) {
  return call([&] {
    auto& on = device(ordinal);
    const std::lock_guard guard(lifetimes_lock());
    auto& count = retained()[ordinal];
    require(count > 0, CUDA_ERROR_INVALID_CONTEXT);
    if (--count == 0) on.primary->stop();
  });
}

CUresult reset_primary(CUdevice ordinal) {
  return call([&] {
    auto& on = device(ordinal);
    const std::lock_guard guard(lifetimes_lock());
    retained()[ordinal] = 0;
    if (on.primary->is_active()) on.primary->stop();
  });
}

CUresult set_primary_flags(CUdevice ordinal, unsigned flags) {
  return call([&] {
    auto& on = device(ordinal);
    check_flags(flags);
    on.primary->flags = flags;
  });
}

void synchronize(Context& context) {
  require(!context.has_captures(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a stream of the context is being captured");
  context.settle();
  require_working(context);
}

}  // namespace

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice ordinal) {
  return call([&] {
    require(context);
    auto& on = device(ordinal);
    const std::lock_guard guard(lifetimes_lock());
    if (!on.primary->is_active()) on.primary->start();
    ++retained()[ordinal];
    *context = on.primary->handle();
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) { return release_primary(ordinal); }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) { return release_primary(ordinal); }
CUresult cuDevicePrimaryCtxReset(CUdevice ordinal) { return reset_primary(ordinal); }
CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) { return reset_primary(ordinal); }
CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned int flags) { return set_primary_flags(ordinal, flags); }
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned int flags) {
  return set_primary_flags(ordinal, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int* flags, int* is_active) {
  return call([&] {
    require(flags && is_active);
    const auto& on = device(ordinal);
    *flags = on.primary->flags;
    *is_active = on.primary->is_active();
  });
}

CUresult cuCtxCreate(CUcontext* made, unsigned int flags, CUdevice ordinal) { return create(made, flags, ordinal); }
CUresult cuCtxCreate_v2(CUcontext* made, unsigned int flags, CUdevice ordinal) { return create(made, flags, ordinal); }

CUresult cuCtxCreate_v3(CUcontext* made, CUexecAffinityParam* parameters, int count, unsigned int flags,
                        CUdevice ordinal) {
  if (parameters || count != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return create(made, flags, ordinal);
}

CUresult cuCtxCreate_v4(CUcontext* made, CUctxCreateParams* parameters, unsigned int flags, CUdevice ordinal) {
  if (parameters && parameters->numExecAffinityParams > 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  if (parameters && parameters->cigParams) return CUDA_ERROR_NOT_SUPPORTED;
  return create(made, flags, ordinal);
}

CUresult cuCtxAttach(CUcontext* context, unsigned int flags) {
  return call([&] {
    require(context && flags == 0);
    const auto attached = current_even_failed();
    ++attached->uses;
    *context = attached->handle();
  });
}

CUresult cuCtxDetach(CUcontext handle) {
  const auto context = Context::find(handle);
  if (!context || context->is_primary) return ready() == CUDA_SUCCESS ? CUDA_ERROR_INVALID_CONTEXT : ready();
  return --context->uses > 0 ? CUDA_SUCCESS : destroy(handle);
}

CUresult cuCtxDestroy(CUcontext context) { return destroy(context); }
CUresult cuCtxDestroy_v2(CUcontext context) { return destroy(context); }
CUresult cuCtxPushCurrent(CUcontext context) { return push(context); }
CUresult cuCtxPushCurrent_v2(CUcontext context) { return push(context); }
CUresult cuCtxPopCurrent(CUcontext* context) { return pop(context); }
CUresult cuCtxPopCurrent_v2(CUcontext* context) { return pop(context); }

CUresult cuCtxSetCurrent(CUcontext context) {
  return call([&] {
    require(!context || Context::find(context), CUDA_ERROR_INVALID_CONTEXT);
    set_current(context);
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return call([&] {
    require(context);
    *context = current_handle();
  });
}

CUresult cuCtxGetDevice(CUdevice* found) {
  return call([&] {
    require(found);
    *found = current_even_failed()->device.ordinal;
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* found, CUcontext context) {
  return call([&] {
    require(found);
    *found = context_of(context)->device.ordinal;
  });
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  return call([&] {
    require(flags);
    *flags = current_even_failed()->flags;
  });
}

CUresult cuCtxSetFlags(unsigned int flags) {
  return call([&] {
    check_flags(flags);
    current_even_failed()->flags = flags;
  });
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return call([&] {
    require(id);
    *id = context_of(context)->id;
  });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int* version) {
  return call([&] {
    require(version);
    context_of(context);
    *version = 3020;
  });
}

CUresult cuCtxSynchronize() {
  return call([] { synchronize(*current_even_failed()); });
}

CUresult cuCtxSynchronize_v2(CUcontext context) {
  return call([&] { synchronize(*context_of(context)); });
}

CUresult cuCtxSetLimit(CUlimit which, size_t value) {
  return call([&] {
    const auto context = current();
    const std::lock_guard guard(context->settings_lock);
    auto& limits = context->limits;
    switch (which) {
      case CU_LIMIT_STACK_SIZE: {
        require(value <= 512 * 1024);
        const auto stack = (value + 15) / 16 * 16;
        // Of every thread that the device may have at a time.
        context->reserve(
            limits.highest_stack, stack,
            static_cast<std::uint64_t>(context->device.multiprocessors) * static_cast<std::uint64_t>(model().threads));
        limits.stack = stack;
        return;
      }
      case CU_LIMIT_PRINTF_FIFO_SIZE:
        context->reserve(limits.highest_printf_fifo, value, 1);
        limits.printf_fifo = value;
        context->printing.set_capacity(value);
        return;
      case CU_LIMIT_MALLOC_HEAP_SIZE: limits.malloc_heap = value; return;
      case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: limits.pending_launches = value; return;
      case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: require(value <= 128); return;
      case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: return;
      default: fail(CUDA_ERROR_UNSUPPORTED_LIMIT);
    }
  });
}

CUresult cuCtxGetLimit(size_t* value, CUlimit which) {
  return call([&] {
    require(value);
    const auto context = current_even_failed();
    const std::lock_guard guard(context->settings_lock);
    const auto& limits = context->limits;
    switch (which) {
      case CU_LIMIT_STACK_SIZE: *value = limits.stack; return;
      case CU_LIMIT_PRINTF_FIFO_SIZE: *value = limits.printf_fifo; return;
      case CU_LIMIT_MALLOC_HEAP_SIZE: *value = limits.malloc_heap; return;
      case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: *value = limits.pending_launches; return;
      case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: *value = 64; return;
      case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: *value = 0; return;
      // Of contexts that share the device with graphics, which there are none of. Libraries ask, and take an error for
      // a broken device.
      case CU_LIMIT_SHMEM_SIZE: *value = static_cast<size_t>(model().shared_bytes_block); return;
      case CU_LIMIT_CIG_ENABLED:
      case CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED: *value = 0; return;
      default: fail(CUDA_ERROR_UNSUPPORTED_LIMIT);
    }
  });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return call([&] {
    require(config);
    *config = static_cast<CUfunc_cache>(current_even_failed()->cache_config.load());
  });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return call([&] {
    require(static_cast<unsigned>(config) <= CU_FUNC_CACHE_PREFER_EQUAL);
    current()->cache_config = static_cast<int>(config);
  });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return call([&] {
    require(config);
    *config = static_cast<CUsharedconfig>(current_even_failed()->shared_config.load());
  });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return call([&] {
    require(static_cast<unsigned>(config) <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
    current()->shared_config = static_cast<int>(config);
  });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return call([&] {
    current_even_failed();
    if (least) *least = kLeastPriority;
    if (greatest) *greatest = kGreatestPriority;
  });
}

/// No part of the L2 cache is set aside: nothing to reset.
CUresult cuCtxResetPersistingL2Cache() {
  return call([] { current(); });
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam*, CUexecAffinityType) { return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY; }

}  // extern "C"
