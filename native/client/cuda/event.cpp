// Events: recorded and waited for without asking; what is known to be over is not asked again. Those of another server
// are waited for at a latch.
#include "client/cuda/event.h"

#include "client/cuda/capture.h"
#include "client/cuda/graph_work.h"
#include "client/cuda/launch.h"
#include "client/cuda/shared_handle.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

const std::shared_ptr<Progress> kNoProgress;
constexpr unsigned kEventFlags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;

/// Under event->lock: its latest record is known to be over at the server.
bool is_reached(CUevent event) {
  if (event->reached >= event->recorded) return true;
  return event->progress && (event->progress->over.load(std::memory_order_acquire) >= event->at ||
                             event->context->progress.over.load(std::memory_order_acquire) >= event->at);
}

/// What its record stands for, when it was looked at.
struct Record {
  std::uint64_t number = 0, at = 0;
  std::shared_ptr<Progress> progress;
  bool is_over = false;
  CUresult status = CUDA_SUCCESS;
};

Record latest(CUevent event) {
  const std::lock_guard guard(event->lock);
  return {event->recorded, event->at, event->progress, is_reached(event),
          event->reached >= event->recorded ? event->status : CUDA_SUCCESS};
}

/// Of an event of several processes: it stands from now on for whatever is the latest record there.
void look_again(CUevent event) {
  const std::lock_guard guard(event->lock);
  ++event->recorded;
  event->progress = nullptr;
}

/// Comes back when the server has carried out what was sent before: what another process then does comes after it.
CUresult settle_with(CUevent event) {
  auto status = kLost;
  event->server->session->call(cu::QueryEvent{.event = event->handle},
                               [&](const auto& reply) { status = static_cast<CUresult>(reply.status); });
  return status == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : status;
}

void reach(CUevent event, const Record& record) {
  if (record.progress) Progress::raise(record.progress->over, record.at);
  const std::lock_guard guard(event->lock);
  event->reached = std::max(event->reached, record.number);
}

}  // namespace

void note_record(CUevent event, CUstream stream) {
  const auto number = note_put(stream);
  HostWorks works = before_next(stream);
  {
    const std::lock_guard guard(event->lock);
    ++event->recorded;
    // How far another context's streams are says nothing of it.
    const auto& progress = event->context == stream->context ? stream->progress : kNoProgress;
    if (event->progress != progress) event->progress = progress;
    event->at = number;
    event->status = CUDA_SUCCESS;
  }
  event->behind.set(std::move(works));
}

namespace {

template <class Message>
CUresult record(CUevent event, CUstream which, Message message, unsigned flags = 0) {
  Call call;
  const auto stream = call.stream(which);
  call.use(event);
  if (!call.is_good()) return call.error();
  if (event->context != stream->context) return CUDA_ERROR_INVALID_HANDLE;
  const bool is_external = (flags & CU_EVENT_RECORD_EXTERNAL) != 0;
  if (is_capturing(stream)) {
    if (!is_external) return capture_record(stream, event);
    WorkPointer work;
    const auto made = event_work(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event, work);
    return made == CUDA_SUCCESS ? capture_work(stream, std::move(work)) : made;
  }
  if (is_external) return CUDA_ERROR_INVALID_VALUE;
  if (const auto status = refuse_implicit(stream); status != CUDA_SUCCESS) return status;
  forget_captured(event);
  message.event = event->handle;
  message.stream = stream->handle;
  message.context = stream->context_handle;
  const auto status = call.send(message);
  if (status == CUDA_SUCCESS) note_record(event, stream);
  return status == CUDA_SUCCESS && is_shared(event) ? settle_with(event) : status;
}

/// The stream stops until the event's server says that it is reached.
CUresult wait_elsewhere(CUstream stream, CUevent event, const Record& record) {
  auto& here = *stream->server->session;
  const auto latch = mint();
  if (!here.send(cu::WaitLatch{.context = stream->context_handle, .stream = stream->handle, .latch = latch}))
    return kLost;
  note_put(stream);
  event->server->inbox.when_reached(event->handle, record.number, [&here, latch] {
    here.send(cu::OpenLatch{.latch = latch});
    here.link().flush();
  });
  // Both go out now: what the stream waits for must not wait for us.
  event->server->session->send(cu::WatchEvent{.event = event->handle, .number = record.number});
  event->server->session->link().flush();
  here.link().flush();
  return CUDA_SUCCESS;
}

}  // namespace

void note_launch_event(const CUlaunchAttribute& attribute, CUstream stream) {
  if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
    note_record(attribute.value.programmaticEvent.event, stream);
  if (attribute.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
    note_record(attribute.value.launchCompletionEvent.event, stream);
}

CUresult cuEventCreate(CUevent* phEvent, unsigned int Flags) {
  Call call;
  call.needs(phEvent);
  call.check((Flags & ~(kEventFlags | static_cast<unsigned>(CU_EVENT_INTERPROCESS))) == 0);
  call.check((Flags & CU_EVENT_INTERPROCESS) == 0 || (Flags & CU_EVENT_DISABLE_TIMING) != 0);
  const auto now = call.current();
  const auto made = call.make<CUevent>();
  const auto status =
      call.send(cu::CreateEvent{.context = now ? now->handle : 0, .event = made.handle(), .flags = Flags});
  if (status != CUDA_SUCCESS) return status;
  made.get()->flags = Flags;
  *phEvent = made.keep();
  call.server().inbox.expect(*phEvent);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent hEvent) {
  Call call;
  if (!call.use(hEvent)) {
    if (call.error() == CUDA_ERROR_CONTEXT_IS_DESTROYED) {
      hEvent->server->inbox.forget(hEvent);
      discard(hEvent);
    }
    return call.error();
  }
  call.server().inbox.forget(hEvent);
  call.session().send(cu::Release{.object = hEvent->handle});
  discard(hEvent);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream) { return record(hEvent, hStream, cu::EventRecord{}); }

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
  if ((flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL)) != 0) return CUDA_ERROR_INVALID_VALUE;
  return record(hEvent, hStream, cu::EventRecordWithFlags{.flags = flags}, flags);
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
  Call on, of;
  const auto stream = on.stream(hStream);
  if (!stream || !on.settle()) return on.error();
  if (!of.use(hEvent)) return of.error();
  if ((Flags & ~static_cast<unsigned>(CU_EVENT_WAIT_EXTERNAL)) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (auto status = CUDA_SUCCESS; capture_wait(stream, hEvent, Flags, status)) return status;
  if (const auto status = refuse_implicit(stream); status != CUDA_SUCCESS) return status;
  if (has_host_work()) {
    const auto works = hEvent->behind.unfinished();
    stream->order.add(works);
    stream->context->order.add(works);
  }
  if (is_shared(hEvent)) look_again(hEvent);
  const auto seen = latest(hEvent);
  if (seen.number == 0) return CUDA_SUCCESS;
  if (hEvent->server != stream->server) return seen.is_over ? CUDA_SUCCESS : wait_elsewhere(stream, hEvent, seen);
  const auto status = on.send(cu::StreamWaitEvent{
      .context = stream->context_handle, .stream = stream->handle, .event = hEvent->handle, .flags = Flags});
  if (status == CUDA_SUCCESS) note_put(stream);
  return status == CUDA_SUCCESS && is_shared(hEvent) ? settle_with(hEvent) : status;
}

CUresult cuEventQuery(CUevent hEvent) {
  Call call;
  call.use(hEvent);
  if (!call.settle()) return call.error();
  if (const auto status = refuse_captured_event(hEvent); status != CUDA_SUCCESS) return status;
  if (is_shared(hEvent)) return call.ask(cu::QueryEvent{.event = hEvent->handle}, [](const auto&) {});
  auto seen = latest(hEvent);
  if (!seen.is_over) {
    {
      const std::lock_guard guard(hEvent->lock);
      if (hEvent->watched >= seen.number) return CUDA_ERROR_NOT_READY;  // a notice says when
      hEvent->watched = seen.number;
    }
    call.send(cu::WatchEvent{.event = hEvent->handle, .number = seen.number});
    if (const auto status = call.wait(cu::QueryEvent{.event = hEvent->handle}); status != CUDA_SUCCESS) return status;
    reach(hEvent, seen);
  }
  if (seen.status != CUDA_SUCCESS) return seen.status;
  return has_host_work() && !hEvent->behind.unfinished().empty() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent hEvent) {
  Call call;
  call.use(hEvent);
  if (!call.settle()) return call.error();
  if (const auto status = refuse_captured_event(hEvent); status != CUDA_SUCCESS) return status;
  if (is_shared(hEvent)) look_again(hEvent);
  const auto seen = latest(hEvent);
  if (!seen.is_over) {
    if (const auto status = call.wait(cu::WaitEvent{.event = hEvent->handle}); status != CUDA_SUCCESS) return status;
    reach(hEvent, seen);
  }
  if (seen.status != CUDA_SUCCESS) return seen.status;
  if (!has_host_work() || wait_for(hEvent->behind.unfinished())) return CUDA_SUCCESS;
  const auto status = take_trouble(hEvent->context);
  return status == CUDA_SUCCESS ? CUDA_ERROR_UNKNOWN : status;
}

CUresult cuEventElapsedTime_v2(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  Call call;
  call.needs(pMilliseconds);
  call.use(hStart);
  call.use(hEnd);
  if (!call.settle()) return call.error();
  if (((hStart->flags | hEnd->flags) & CU_EVENT_DISABLE_TIMING) != 0 || hStart->context != hEnd->context)
    return CUDA_ERROR_INVALID_HANDLE;
  for (const auto event : {hStart, hEnd})
    if (const auto status = refuse_captured_event(event); status != CUDA_SUCCESS) return status;
  if (latest(hStart).number == 0 || latest(hEnd).number == 0) return CUDA_ERROR_INVALID_HANDLE;
  return call.ask(cu::ElapsedTime{.start = hStart->handle, .end = hEnd->handle},
                  [&](const auto& reply) { *pMilliseconds = static_cast<float>(reply.milliseconds); });
}

}  // namespace flexrack::client::cuda
