// What all commands have in common: the queue, the events waited for, and the event that is made or the refusal that is
// sent.
#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {

bool Session::begin_command(Command& command, std::uint64_t queue, std::span<const std::uint64_t> waits) {
  waits_.clear();
  command.waits = &waits_;
  command.queue = table_.find<QueueRecord>(queue);
  if (command.event && table_.has(command.event)) {
    command.event = 0;
    return refuse(command, CL_INVALID_VALUE), false;
  }
  if (!command.queue) return refuse(command, CL_INVALID_COMMAND_QUEUE), false;
  const bool is_suspicious = engine_->watcher.has_seen_failure();
  for (const auto handle : waits) {
    const auto* event = table_.find<EventRecord>(handle);
    if (!event) return refuse(command, CL_INVALID_EVENT_WAIT_LIST), false;
    auto status = event->status.load(std::memory_order_acquire);
    if (status == CL_COMPLETE) continue;
    if (status > 0 && is_suspicious && event->native) status = event_status(event->native);
    // Not left to the driver: PoCL never starts a command that waits for an event that has failed already.
    if (status < 0) return refuse(command, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST), false;
    waits_.push_back(event->native);
  }
  add_fences(*command.queue);
  return true;
}

/// A blocking write returns to the application once its bytes are on their way. What has its order from somewhere else
/// is made to wait for it here.
void Session::add_fences(const QueueRecord& queue) {
  auto& fences = queue.context->fences;
  std::erase_if(fences, [](const Fence& one) { return event_status(one.event.get()) <= 0; });
  for (const auto& one : fences)
    if (one.queue != queue.handle) waits_.push_back(one.event.get());
}

void Session::on(const cl::Fence& m) {
  auto* queue = table_.find<QueueRecord>(m.queue);
  if (!queue || !queue->last_write.get()) return;
  auto& fences = queue->context->fences;
  // In order, the last one stands for those before it.
  if (queue->is_in_order) std::erase_if(fences, [&](const Fence& one) { return one.queue == queue->handle; });
  fences.push_back({std::exchange(queue->last_write, HeldEvent(nullptr)), queue->is_in_order ? queue->handle : 0});
}

bool Session::end(Command& command, cl_int status) {
  if (status != CL_SUCCESS) return refuse(command, status), false;
  if (!command.event) {
    if (command.made) native().clReleaseEvent(command.made);
    return true;
  }
  end_as(command, nullptr, command.made);
  return true;
}

void Session::end_as(Command& command, cl_event first, cl_event last) {
  auto event = Ref<EventRecord>::adopt(new EventRecord);
  event->native = last;
  event->first = first;
  event->queue = Ref<QueueRecord>(command.queue);
  event->launches = command.queue->device->usage->count();
  if (command.event && !table_.insert(command.event, std::move(event)))
    fail(*engine_, command.origin(), CL_OUT_OF_HOST_MEMORY, {});
}

void Session::refuse(Command& command, cl_int status) {
  if (command.event) {
    auto event = Ref<EventRecord>::adopt(new EventRecord);
    event->status = status;
    event->queue = Ref<QueueRecord>(command.queue);
    table_.insert(command.event, std::move(event));
  }
  fail(*engine_, command.origin(), status, command.route);
}

MemoryRecord* Session::memory(Command& command, std::uint64_t handle, MemoryRecord::Sort sort) {
  auto* found = table_.find<MemoryRecord>(handle);
  if (found && found->sort == sort) return found;
  refuse(command, CL_INVALID_MEM_OBJECT);
  return nullptr;
}

}  // namespace flexrack::backend::opencl
