#include "client/cuda/stream.h"

#include <algorithm>

#include "client/cuda/call.h"
#include "client/cuda/capture.h"
#include "client/cuda/fence.h"
#include "client/cuda/graph_work.h"
#include "client/cuda/host_function.h"
#include "client/cuda/peer.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {

CUstream create_stream(CUcontext context, unsigned flags, int priority) {
  const auto stream = new CUstream_st;
  stream->server = context->server;
  stream->context = context;
  stream->context_handle = context->handle;
  stream->handle = stream->id = mint();
  stream->flags = flags;
  stream->priority = priority;
  if (context->server->session->send(cu::CreateStream{
          .context = context->handle, .stream = stream->handle, .flags = flags, .priority = priority})) {
    if ((flags & CU_STREAM_NON_BLOCKING) != 0) begin_apart(stream);
    return stream;
  }
  discard(stream);
  return nullptr;
}

HostWorks before_next(CUstream stream) {
  if (!has_host_work()) return {};
  // The default stream of all threads and the blocking ones wait for each other.
  if (stream->is_default) return stream->context->order.unfinished();
  auto works = stream->order.unfinished();
  if ((stream->flags & CU_STREAM_NON_BLOCKING) == 0) {
    for (auto& work : stream->context->default_stream->order.unfinished()) works.push_back(std::move(work));
  }
  return works;
}

void put_host_work(CUstream stream, const std::shared_ptr<HostWork>& work) {
  stream->order.add(work);
  stream->context->order.add(work);
}

CUresult wait_stream(CUstream stream) {
  Call call;
  call.use(stream->context);
  if (!call.settle()) return call.error();
  const auto works = before_next(stream);
  if (!is_idle(stream)) {
    const auto last = last_put(stream);
    if (const auto status = call.wait(cu::WaitStream{.context = stream->context_handle, .stream = stream->handle});
        status != CUDA_SUCCESS)
      return status;
    Progress::raise(stream->progress->over, last);
  }
  if (works.empty() || wait_for(works)) return CUDA_SUCCESS;
  const auto status = take_trouble(stream->context);
  return status == CUDA_SUCCESS ? CUDA_ERROR_UNKNOWN : status;
}

CUresult cuStreamCreateWithPriority(CUstream* phStream, unsigned int flags, int priority) {
  Call call;
  call.needs(phStream);
  call.check((flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)) == 0);
  const auto now = call.current();
  if (!call.settle()) return call.error();
  // Out of range means the nearest end of it (cuda.h 13.0).
  const auto made =
      create_stream(now, flags, std::max(now->greatest_priority, std::min(now->least_priority, priority)));
  if (!made) return kLost;
  *phStream = made;
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* phStream, unsigned int Flags) {
  return cuda::cuStreamCreateWithPriority(phStream, Flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream hStream) {
  Call call;
  call.check(reinterpret_cast<std::uintptr_t>(hStream) > 2, CUDA_ERROR_INVALID_HANDLE);
  if (!call.use(hStream)) {
    if (call.error() == CUDA_ERROR_CONTEXT_IS_DESTROYED) discard(hStream);
    return call.error();
  }
  abandon_capture(hStream);
  // It ends when what is on it is over; nobody waits for that here.
  forget_peer_streams(hStream);
  call.session().send(cu::Release{.object = hStream->handle});
  discard(hStream);
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream hStream) {
  Call call;
  const auto stream = call.stream(hStream);
  if (!stream) return call.error();
  if (const auto status = refuse_captured(stream); status != CUDA_SUCCESS) return status;
  return wait_stream(stream);
}

CUresult cuStreamQuery(CUstream hStream) {
  Call call;
  const auto stream = call.stream(hStream);
  if (!stream || !call.settle()) return call.error();
  if (const auto status = refuse_captured(stream); status != CUDA_SUCCESS) return status;
  const auto last = last_put(stream);
  if (!is_idle(stream)) {
    if (const auto status = call.wait(cu::QueryStream{.context = stream->context_handle, .stream = stream->handle});
        status != CUDA_SUCCESS)
      return status;
    Progress::raise(stream->progress->over, last);
  }
  return before_next(stream).empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamGetPriority(CUstream hStream, int* priority) {
  Call call;
  call.needs(priority);
  const auto stream = call.stream(hStream);
  if (!call.is_good()) return call.error();
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int* flags) {
  Call call;
  call.needs(flags);
  const auto stream = call.stream(hStream);
  if (!call.is_good()) return call.error();
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream hStream, unsigned long long* streamId) {
  Call call;
  call.needs(streamId);
  const auto stream = call.stream(hStream);
  if (!call.is_good()) return call.error();
  *streamId = stream->is_default ? 1 : stream->id;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream hStream, CUdevice* device) {
  Call call;
  call.needs(device);
  const auto stream = call.stream(hStream);
  if (!call.is_good()) return call.error();
  *device = stream->context->device->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext* pctx) {
  Call call;
  call.needs(pctx);
  const auto stream = call.stream(hStream);
  if (!call.is_good()) return call.error();
  *pctx = stream->context;
  return CUDA_SUCCESS;
}

/// No green context: none can be made. cuDNN asks it of every stream that it is given.
CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx* phCtx) {
  Call call;
  call.needs(phCtx);
  call.stream(hStream);
  if (!call.is_good()) return call.error();
  *phCtx = nullptr;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
  if (!pGreenCtx) return CUDA_ERROR_INVALID_VALUE;
  *pGreenCtx = nullptr;
  return cuda::cuStreamGetCtx(hStream, pCtx);
}

// ---- host functions

namespace {

CUresult put_function(CUstream which, bool wants_status, std::function<void(CUstream, CUresult)> run) {
  Call call;
  const auto stream = call.stream(which);
  if (!stream || !call.settle()) return call.error();
  if (const auto status = refuse_captured(stream); status != CUDA_SUCCESS) return status;
  const auto work = std::make_shared<HostWork>(call.session());
  work->set_function();
  const auto number = add_host_function({.run = [run = std::move(run), which](CUresult status) { run(which, status); },
                                         .work = work,
                                         .behind = before_next(stream)});
  note_put(stream);
  put_host_work(stream, work);
  const cu::HostFunction message{
      .context = stream->context_handle, .stream = stream->handle, .function = number, .wants_status = wants_status};
  const auto status = call.send(message);
  if (status == CUDA_SUCCESS) call.session().link().flush();
  else remove_host_function(number);
  return status;
}

}  // namespace

CUresult put_host_action(CUstream stream, std::function<void()> action) {
  return put_function(stream, false, [action = std::move(action)](CUstream, CUresult) { action(); });
}

CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void* userData) {
  if (!fn) return CUDA_ERROR_INVALID_VALUE;
  if (has_captures()) {
    Call call;
    const auto stream = call.stream(hStream);
    if (!stream) return call.error();
    WorkPointer work;
    if (is_capturing(stream)) return host_work(fn, userData, work), capture_work(stream, std::move(work));
  }
  // Behind a failure of its context a host function is left out (CUDA driver API, cuLaunchHostFunc).
  return put_function(hStream, false, [fn, userData](CUstream, CUresult status) {
    if (status != CUDA_SUCCESS) return;
    const InHostFunction here;
    fn(userData);
  });
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void* userData, unsigned int flags) {
  if (!callback || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return put_function(hStream, true, [callback, userData](CUstream stream, CUresult status) {
    const InHostFunction here;
    callback(stream, status, userData);
  });
}

}  // namespace flexrack::client::cuda
