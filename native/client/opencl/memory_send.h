// Sending commands that concern memory: the event, the bytes that go out or land, and what blocking means.
#pragma once

#include "client/opencl/coherence.h"
#include "client/opencl/enqueue.h"
#include "client/opencl/memory_objects.h"
#include "client/opencl/rect.h"

namespace flexrack::client::opencl {

/// A command being enqueued; what every function of the family is given.
struct Enqueue {
  cl_command_queue queue = nullptr;
  cl_command_type type = 0;
  cl_uint count = 0;
  const cl_event* list = nullptr;
  cl_event* event_out = nullptr;
  bool is_blocking = false;
  std::vector<std::uint64_t> waits{};   ///< what `list` is at the queue's place, and copies to come first

  /// Checks and translates the wait list; the error of a lost session.
  cl_int take_waits();
};

/// Bytes on their way to the device.
class Outgoing {
 public:
  /// Decides how they travel. Blocks where the command does and the bytes are not there yet.
  Outgoing(const Enqueue& command, const Rows& rows, cl_mem memory);
  wire::Payload payload() const { return payload_; }
  /// After the command was sent. A blocking command returns when the application may reuse the memory; false: the link
  /// is over.
  bool go();

 private:
  struct Source;
  const Enqueue& command_;
  wire::Payload payload_;
  std::shared_ptr<Source> source_;
  bool is_deferred_ = false;
};

/// Bytes on their way from the device.
class Incoming {
 public:
  /// Expects them: from now on they land, and the event completes by that.
  Incoming(const Enqueue& command, const Rows& rows, cl_mem memory, cl_event event);
  std::uint64_t ticket() const { return event_->landing; }
  /// Blocks until they are there, or will not come.
  void wait();

 private:
  struct Target;
  const Enqueue& command_;
  cl_event event_;
  std::shared_ptr<Target> target_;
};

/// What a blocking command answers whose event ended so.
cl_int blocking_answer(const Enqueue& command, cl_int status);
/// Gives the event to the application, or lets it go.
void hand_out(const Enqueue& command, cl_event event);
/// Whether a blocking command that carries its bytes along must wait for its event: the application may look for
/// errors, its status and its times. Others are answered when their bytes are gone, and the server makes later commands
/// wait for them (fence).
bool must_wait(const Enqueue& command);

/// A command without bytes. `written`: the objects it writes.
template <class Message>
cl_int submit(Enqueue& command, Message&& message, std::initializer_list<cl_mem> written = {}) {
  auto* queue = command.queue;
  const bool is_tracked = written.size() != 0 && spans_places(queue->context);
  cl_event event = command.event_out || is_tracked || command.is_blocking ? new_event(queue, command.type) : nullptr;
  message.queue = queue->handle;
  message.event = event ? event->handle : 0;
  message.waits = command.waits;
  const bool is_sent = queue->session().send(message);
  if (is_tracked)
    for (auto* memory : written) note_writer(memory, event);
  cl_int answer = is_sent ? CL_SUCCESS : queue_error(queue);
  if (is_sent && command.is_blocking) answer = blocking_answer(command, wait_event(event));
  if (event) hand_out(command, event);
  return answer;
}

/// A command that moves nothing and comes after its wait list, or its queue's commands in order.
cl_int submit_nothing(Enqueue& command, cl_mem memory);

/// A command whose `data` are these rows. `memory` is what it writes, null for shared virtual memory.
template <class Message>
cl_int submit_write(Enqueue& command, Message&& message, const Rows& rows, cl_mem memory) {
  auto* queue = command.queue;
  const bool is_tracked = memory && spans_places(queue->context);
  Outgoing bytes(command, rows, memory);
  const bool waits_for_event = command.is_blocking && must_wait(command);
  cl_event event = command.event_out || is_tracked || waits_for_event ? new_event(queue, command.type) : nullptr;
  message.queue = queue->handle;
  message.event = event ? event->handle : 0;
  message.waits = command.waits;
  message.data = bytes.payload();
  bool is_sent = queue->session().send(message);
  if (is_tracked) note_writer(memory, event);
  is_sent = bytes.go() && is_sent;
  cl_int answer = is_sent ? CL_SUCCESS : queue_error(queue);
  if (is_sent && waits_for_event) answer = blocking_answer(command, wait_event(event));
  else if (is_sent && command.is_blocking)
    answer = queue->session().send(cl::Fence{.queue = queue->handle}) ? queue_error(queue) : CL_OUT_OF_RESOURCES;
  if (event) hand_out(command, event);
  return answer;
}

/// A command whose payload lands in these rows. `memory` stays until then.
template <class Message>
cl_int submit_read(Enqueue& command, Message&& message, const Rows& rows, cl_mem memory) {
  auto* queue = command.queue;
  cl_event event = new_event(queue, command.type);
  Incoming bytes(command, rows, memory, event);
  message.queue = queue->handle;
  message.event = event->handle;
  message.waits = command.waits;
  message.ticket = bytes.ticket();
  cl_int answer = queue->session().send(message) ? CL_SUCCESS : queue_error(queue);
  if (command.is_blocking) {
    bytes.wait();
    answer = blocking_answer(command, event->status.load(std::memory_order_acquire));
  }
  hand_out(command, event);
  return answer;
}

}  // namespace flexrack::client::opencl
