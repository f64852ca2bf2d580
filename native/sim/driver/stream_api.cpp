// cuStream*: making, asking, waiting.
#include "sim/driver/capture.h"
#include "sim/driver/memory.h"
#include "sim/driver/stream.h"
#include "sim/driver/work.h"

namespace flexrack::sim {
namespace {

CUresult create(CUstream* made, unsigned flags, int priority) {
  return call([&] {
    require(made && (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) == 0);
    const auto context = current();
    const auto stream = Stream::make(context, Stream::Kind::own, flags, priority);
    stream->open();
    context->add(*stream);
    context->keep(*stream);
    *made = stream->handle();
  });
}

CUresult destroy(CUstream handle) {
  return call([&] {
    const auto stream = stream_of_even_failed(handle);
    require(stream->kind == Stream::Kind::own, CUDA_ERROR_INVALID_HANDLE);
    if (const auto capture = stream->capture()) capture->abandon();
    const auto context = stream->context;
    context->remove(*stream);
    if (context->forget(*stream)) stream->close();
    require_working(*context);
  });
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) { return create(stream, flags, kLeastPriority); }
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return create(stream, flags, priority);
}
CUresult cuStreamDestroy(CUstream stream) { return destroy(stream); }
CUresult cuStreamDestroy_v2(CUstream stream) { return destroy(stream); }

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return call([&] {
    require(priority);
    *priority = stream_of_even_failed(stream)->priority;
  });
}

CUresult cuStreamGetFlags(CUstream stream, unsigned int* flags) {
  return call([&] {
    require(flags);
    *flags = stream_of_even_failed(stream)->flags;
  });
}

CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return call([&] {
    require(id);
    *id = stream_of_even_failed(stream)->id;
  });
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice* found) {
  return call([&] {
    require(found);
    *found = stream_of_even_failed(stream)->context->device.ordinal;
  });
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return call([&] {
    require(context);
    *context = stream_of_even_failed(stream)->context->handle();
  });
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  return call([&] {
    require(context);
    *context = stream_of_even_failed(stream)->context->handle();
    if (green) *green = nullptr;
  });
}

CUresult cuStreamGetGreenCtx(CUstream stream, CUgreenCtx* green) {
  return call([&] {
    require(green);
    stream_of_even_failed(stream);
    *green = nullptr;
  });
}

CUresult cuStreamQuery(CUstream handle) {
  return call([&] {
    const auto stream = stream_of(handle);
    require_not_captured(*stream);
    const auto last = stream->last();
    if (last && !last->is_over()) return CUDA_ERROR_NOT_READY;
    require_working(*stream->context);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamSynchronize(CUstream handle) {
  return call([&] {
    const auto stream = stream_of_even_failed(handle);
    require_not_captured(*stream);
    // To wait for the legacy stream is to wait for all that it would wait for.
    if (stream->kind == Stream::Kind::legacy) {
      const auto mark = Command::marker(stream->context);
      stream->carry_out(mark);
    } else if (const auto last = stream->last()) {
      last->wait();
    }
    stream->context->printing.flush();
    require_working(*stream->context);
  });
}

/// Managed memory is one memory here, that all may use at any time: nothing to attach, but order is kept.
CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t length, unsigned int flags) {
  return call([&] {
    require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE);
    const auto stream = stream_of(handle);
    require(flags != CU_MEM_ATTACH_SINGLE || stream->kind != Stream::Kind::legacy);
    const auto allocation = allocation_of(address, length);
    require(allocation->kind == Allocation::Kind::managed && address == allocation->address &&
            (length == 0 || length == allocation->size));
  });
}

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID which, CUstreamAttrValue* value) {
  return call([&] {
    require(value);
    const auto stream = stream_of(handle);
    switch (which) {
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        value->syncPolicy = static_cast<CUsynchronizationPolicy>(stream->synchronization_policy.load());
        return;
      case CU_LAUNCH_ATTRIBUTE_PRIORITY: value->priority = stream->priority; return;
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: value->accessPolicyWindow = {}; return;
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: value->memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT; return;
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: value->memSyncDomainMap = {0, 0}; return;
      default: fail(CUDA_ERROR_INVALID_VALUE);
    }
  });
}

CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID which, const CUstreamAttrValue* value) {
  return call([&] {
    require(value);
    const auto stream = stream_of(handle);
    switch (which) {
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        require(value->syncPolicy >= CU_SYNC_POLICY_AUTO && value->syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC);
        stream->synchronization_policy = static_cast<int>(value->syncPolicy);
        return;
      // Hints about caches and the order of writes, which are always seen in order here.
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: return;
      default: fail(CUDA_ERROR_INVALID_VALUE);
    }
  });
}

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return call([&] {
    const auto source = stream_of(from);
    stream_of(to)->synchronization_policy = source->synchronization_policy.load();
  });
}

}  // extern "C"
