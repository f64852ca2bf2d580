// Events: those of the client's own making, and telling it when one is over.
#include "backend/opencl/event_times.h"
#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {
namespace {

void tell(Engine& engine, EventRecord& event, cl_int status) {
  event.status.store(status, std::memory_order_release);
  cl::Completion completion{.event = event.handle, .status = status};
  if (event.queue) {
    const auto& device = *event.queue->device;
    if (!device.is_time_sliced) {
      if (const auto busy = device.usage->completed(event.launches)) engine.finished(device.share, busy);
    }
    if (status == CL_COMPLETE && event.queue->is_profiled && event.native) read_times(event, completion);
  }
  engine.printing->drain();
  engine.notices.completed(completion);
}

struct Stage {
  Engine* engine;
  std::uint64_t event;
  cl_int stage;
};

void CL_CALLBACK on_stage(cl_event, cl_int status, void* data) {
  const std::unique_ptr<Stage> stage(static_cast<Stage*>(data));
  if (status < 0) return;   // its completion says so
  stage->engine->notices.send(cl::Reached{.event = stage->event, .stage = stage->stage});
  stage->engine->notices.flush();
}

}  // namespace

void Session::on(const cl::CreateUserEvent& m) {
  auto* context = table_.find<ContextRecord>(m.context);
  if (!context || table_.has(m.event)) return fail(*engine_, {m.kOp, 0, m.event}, CL_INVALID_CONTEXT, {});
  auto event = Ref<EventRecord>::adopt(new EventRecord);
  event->is_user = true;
  event->native = outstanding_->make(context->native);
  if (!event->native) {
    event->status = CL_OUT_OF_RESOURCES;
    fail(*engine_, {m.kOp, 0, m.event}, CL_OUT_OF_RESOURCES, {});
  } else {
    native().clRetainEvent(event->native);
  }
  table_.insert(m.event, std::move(event));
}

void Session::on(const cl::SetUserEvent& m) {
  auto* event = table_.find<EventRecord>(m.event);
  if (!event || !event->is_user || m.status > 0 || event->status.load() <= 0) return;
  event->status.store(m.status, std::memory_order_release);
  outstanding_->set(event->native, m.status);
  if (m.status < 0) engine_->watcher.look();
}

void Session::on(const cl::Watch& m) {
  for (const auto handle : m.events) {
    if (auto* event = table_.find<EventRecord>(handle)) watch(*event);
    else engine_->notices.completed({.event = handle, .status = CL_INVALID_EVENT});
  }
}

void Session::watch(EventRecord& event) {
  const auto status = event.status.load(std::memory_order_acquire);
  if (status <= 0 || !event.native) return tell(*engine_, event, status <= 0 ? status : CL_OUT_OF_RESOURCES);
  engine_->watcher.await(event.native, [engine = engine_.get(), kept = Ref<EventRecord>(&event)](cl_int over) {
    tell(*engine, *kept, over);
  });
  if (event.queue) native().clFlush(event.queue->native);
}

void Session::on(const cl::WatchStage& m) {
  auto* event = table_.find<EventRecord>(m.event);
  if (!event || !event->native || (m.stage != CL_SUBMITTED && m.stage != CL_RUNNING)) return;
  auto stage = std::make_unique<Stage>(Stage{engine_.get(), m.event, m.stage});
  if (native().clSetEventCallback(event->native, m.stage, on_stage, stage.get()) == CL_SUCCESS)
    static_cast<void>(stage.release());
  if (event->queue) native().clFlush(event->queue->native);
}

void Session::on(const cl::EventStatus& m, Respond<cl::EventStatusReply> respond) {
  auto* event = table_.find<EventRecord>(m.event);
  if (!event) return respond({.status = CL_INVALID_EVENT});
  auto status = event->status.load();
  if (status > 0 && event->native) status = event_status(event->native);
  cl::Completion times;
  if (status == CL_COMPLETE && event->queue && event->queue->is_profiled && event->native) read_times(*event, times);
  respond({.status = status,
           .queued = times.queued,
           .submitted = times.submitted,
           .started = times.started,
           .ended = times.ended,
           .completed = times.completed});
}

void read_times(const EventRecord& event, cl::Completion& into) {
  const auto& cl = native();
  const auto time = [&](cl_event of, cl_profiling_info param) {
    cl_ulong value = 0;
    return cl.clGetEventProfilingInfo(of, param, sizeof value, &value, nullptr) == CL_SUCCESS ? value : 0;
  };
  const auto begin = event.first ? event.first : event.native;
  into.queued = time(begin, CL_PROFILING_COMMAND_QUEUED);
  into.submitted = time(begin, CL_PROFILING_COMMAND_SUBMIT);
  into.started = time(begin, CL_PROFILING_COMMAND_START);
  into.ended = time(event.native, CL_PROFILING_COMMAND_END);
  into.completed = time(event.native, CL_PROFILING_COMMAND_COMPLETE);
  if (into.completed == 0) into.completed = into.ended;   // before OpenCL 2.0
}

}  // namespace flexrack::backend::opencl
