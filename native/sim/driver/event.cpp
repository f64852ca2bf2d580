// Events and cuEvent*.
#include "sim/driver/event.h"

#include "sim/driver/capture.h"
#include "sim/driver/graph.h"

namespace flexrack::sim {

void Event::set(Ref<Command> command) {
  const std::lock_guard guard(lock_);
  captured_ = nullptr;
  command_ = std::move(command);
  if (!shared) return;
  number_ = shared->record();
  // In a context that has failed as well: others wait for it.
  const auto tells =
      Command::make(context, nullptr, [with = shared, number = number_] { with->reached(number); }, true);
  tells->submit({&command_, 1});
}

Ref<Command> Event::command() const {
  const std::lock_guard guard(lock_);
  if (captured_) fail(CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a stream that is captured");
  if (!shared) return command_;
  const auto number = shared->latest();
  if (number == 0 || shared->is_reached(number)) return nullptr;
  if (number != number_) {
    command_ = shared->awaits(context, number);
    number_ = number;
  }
  return command_;
}

void Event::set_captured(Captured captured) {
  const std::lock_guard guard(lock_);
  captured_ = std::make_shared<const Captured>(std::move(captured));
}

std::shared_ptr<const Event::Captured> Event::captured() const {
  const std::lock_guard guard(lock_);
  return captured_;
}

Ref<Event> event_of(CUevent handle) {
  auto found = Event::find(handle);
  require(static_cast<bool>(found), CUDA_ERROR_INVALID_HANDLE);
  require(found->context->is_active(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return found;
}

namespace {

void record(const Ref<Event>& event, CUstream handle, unsigned flags) {
  require((flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL)) == 0);
  const auto stream = stream_of(handle);
  require(stream->context == event->context, CUDA_ERROR_INVALID_HANDLE, "event and stream are of different contexts");
  const auto capture = stream->capture();
  if (capture && !(flags & CU_EVENT_RECORD_EXTERNAL)) {
    capture->record(*stream, *event);
    return;
  }
  require(capture || !(flags & CU_EVENT_RECORD_EXTERNAL));
  enqueue(*stream, std::make_shared<EventRecordWork>(event));
}

CUresult destroy(CUevent handle) {
  return call([&] {
    const auto event = event_of(handle);
    if (event->context->forget(*event)) event->close();
    require_working(*event->context);
  });
}

CUresult elapsed(float* milliseconds, CUevent from, CUevent to) {
  return call([&] {
    require(milliseconds);
    const auto start = event_of(from), end = event_of(to);
    require(start->context == end->context, CUDA_ERROR_INVALID_HANDLE);
    require(!((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING), CUDA_ERROR_INVALID_HANDLE,
            "an event without timing");
    const auto first = start->command(), second = end->command();
    require(first && second, CUDA_ERROR_INVALID_HANDLE, "an event that was not recorded");
    require_working(*start->context);
    if (!first->is_over() || !second->is_over()) return CUDA_ERROR_NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(second->time() - first->time()).count();
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuEventCreate(CUevent* made, unsigned int flags) {
  return call([&] {
    require(made && (flags & ~static_cast<unsigned>(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING |
                                                    CU_EVENT_INTERPROCESS)) == 0);
    const auto context = current();
    const bool is_shared = (flags & CU_EVENT_INTERPROCESS) != 0;
    // "CU_EVENT_INTERPROCESS [...] CU_EVENT_DISABLE_TIMING must be specified" (CUDA driver API, cuEventCreate).
    require(!is_shared || (flags & CU_EVENT_DISABLE_TIMING));
    const auto event = Event::make(context, flags, is_shared ? SharedEvent::make() : nullptr);
    event->open();
    context->keep(*event);
    *made = event->handle();
  });
}

CUresult cuEventDestroy(CUevent event) { return destroy(event); }
CUresult cuEventDestroy_v2(CUevent event) { return destroy(event); }

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return call([&] { record(event_of(event), stream, 0); });
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
  return call([&] { record(event_of(event), stream, flags); });
}

CUresult cuEventQuery(CUevent handle) {
  return call([&] {
    const auto event = event_of(handle);
    const auto command = event->command();
    require_working(*event->context);
    return !command || command->is_over() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return call([&] {
    const auto event = event_of(handle);
    if (const auto command = event->command()) command->wait();
    event->context->printing.flush();
    require_working(*event->context);
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent from, CUevent to) { return elapsed(milliseconds, from, to); }
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent from, CUevent to) {
  return elapsed(milliseconds, from, to);
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent awaited, unsigned int flags) {
  return call([&] {
    require((flags & ~static_cast<unsigned>(CU_EVENT_WAIT_EXTERNAL)) == 0);
    const auto stream = stream_of(handle);
    const auto event = event_of(awaited);
    const auto capture = stream->capture();
    if (const auto captured = event->captured()) {
      join_capture(*stream, *captured);
    } else if (capture && !(flags & CU_EVENT_WAIT_EXTERNAL)) {
      fail(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
           "a captured stream may not wait for an event from outside of the capture");
    } else {
      // Nothing recorded, nothing to wait for. What is recorded later is not waited for either, but in a graph.
      if (!capture && !event->command()) return;
      enqueue(*stream, std::make_shared<EventWaitWork>(event));
    }
  });
}

CUresult cuCtxRecordEvent(CUcontext handle, CUevent recorded) {
  return call([&] {
    const auto context = context_of(handle);
    require_working(*context);
    const auto event = event_of(recorded);
    require(event->context == context, CUDA_ERROR_INVALID_HANDLE);
    require(!context->has_captures(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    const auto mark = Command::marker(context);
    mark->submit(context->under_way());
    event->set(mark);
  });
}

CUresult cuCtxWaitEvent(CUcontext handle, CUevent awaited) {
  return call([&] {
    const auto context = context_of(handle);
    require_working(*context);
    const auto command = event_of(awaited)->command();
    if (!command) return;
    const std::vector<Ref<Command>> before{command};
    require(!context->has_captures(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    for (const auto& stream : context->streams()) stream->append(Command::marker(context), before);
  });
}

}  // extern "C"
