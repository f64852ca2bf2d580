#include "client/opencl/memory_send.h"

#include <strings.h>

#include <cstring>

#include "client/opencl/memory_check.h"

namespace flexrack::client::opencl {

namespace {

/// Commands that this one surely comes after, and that write host memory when they end: its bytes are taken when they
/// have ended.
std::vector<cl_event> bytes_come_after(const Enqueue& command) {
  std::vector<cl_event> found;
  const bool lands = has_landing(command.count, command.list);
  for (cl_uint i = 0; i < command.count; ++i) {
    auto* event = command.list[i];
    // A user event stands for whatever the application does before it sets it.
    if (!event->is_final() && (lands || !event->queue)) found.push_back(hold(event));
  }
  auto* queue = command.queue;
  const bool is_in_order = (queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  std::lock_guard guard(queue->lock);
  for (auto* event : is_in_order ? queue->landings : queue->fenced) {
    if (!event->is_final()) found.push_back(hold(event));
  }
  return found;
}

/// PoCL's blocking commands succeed whatever became of the wait list; others answer as the specification says.
bool hides_failed_waits(cl_device_id device) {
  const auto version = device->infos.find(CL_DEVICE_VERSION);
  if (version == device->infos.end()) return false;
  const std::string text(version->second.begin(), version->second.end());
  return strcasestr(text.c_str(), "pocl") != nullptr;
}

}  // namespace

cl_int Enqueue::take_waits() {
  if (!queue->session().is_alive()) return queue_error(queue);
  if (count == 0 && !list) return CL_SUCCESS;
  return translate_waits(queue, count, list, waits);
}

struct Outgoing::Source {
  Rows rows;
  wire::Bytes packed;                    ///< where the rows are not in one piece
  cl_mem memory = nullptr;               ///< held
  Session* session = nullptr;
  wire::Payload payload;
  std::atomic<std::size_t> awaited{0};
  std::atomic<bool> is_over{false};

  ~Source() {
    if (memory) let_go(memory);
  }
  wire::View view() {
    if (rows.is_packed()) return {rows.first, rows.size()};
    if (packed.empty()) {
      packed.resize(rows.size());
      pack(rows, packed.data());
    }
    return packed;
  }
};

Outgoing::Outgoing(const Enqueue& command, const Rows& rows, cl_mem memory) : command_(command) {
  auto& session = command.queue->session();
  const auto size = rows.size();
  if (size == 0) return;
  auto before = bytes_come_after(command);
  if (command.is_blocking) {
    for (auto* event : before) wait_event(event);
  }
  is_deferred_ = !command.is_blocking && !before.empty();
  if (!is_deferred_ && size < wire::kInlinePayload && rows.is_packed()) {
    payload_ = {0, size, {rows.first, size}};
  } else {
    source_ = std::make_shared<Source>();
    source_->rows = rows;
    source_->session = &session;
    if (memory) source_->memory = hold(memory);
    if (!is_deferred_ && size < wire::kInlinePayload) payload_ = {0, size, source_->view()};
    else payload_ = {session.link().ticket(), size, {}};
    source_->payload = payload_;
  }
  if (is_deferred_) {
    source_->awaited = before.size() + 1;   // one for go(): the command is sent first
    for (auto* event : before) {
      auto* copy = new std::shared_ptr<Source>(source_);
      clSetEventCallback(
          event, CL_COMPLETE,
          [](cl_event, cl_int, void* data) {
            std::unique_ptr<std::shared_ptr<Source>> source(static_cast<std::shared_ptr<Source>*>(data));
            if ((*source)->awaited.fetch_sub(1) != 1) return;
            auto& s = **source;
            s.session->link().push(s.payload.ticket, s.view(), [keep = *source](bool) {});
          },
          copy);
    }
  }
  for (auto* event : before) drop(event);
}

bool Outgoing::go() {
  if (payload_.ticket == 0) return true;
  auto& link = command_.queue->session().link();
  if (is_deferred_) {
    if (source_->awaited.fetch_sub(1) == 1) link.push(payload_.ticket, source_->view(), [keep = source_](bool) {});
    return true;
  }
  if (!command_.is_blocking) {
    link.push(payload_.ticket, source_->view(), [keep = source_](bool) {});
    return true;
  }
  // The link may have to send it again until the other side has it, so the memory is the application's only after that.
  link.push(
      payload_.ticket, source_->view(),
      [keep = source_](bool) { keep->is_over.store(true, std::memory_order_release); }, true);
  return command_.queue->session().wait([&] { return source_->is_over.load(std::memory_order_acquire); });
}

struct Incoming::Target {
  Rows rows;
  wire::Bytes packed;
  cl_mem memory = nullptr;   ///< held
  cl_event event = nullptr;  ///< held
  std::atomic<bool> is_over{false};

  void finish(bool has_arrived) {
    if (has_arrived && !packed.empty()) unpack(packed.data(), rows);
    settle_event(event, has_arrived ? CL_COMPLETE : CL_OUT_OF_RESOURCES);
    is_over.store(true, std::memory_order_release);
    drop(event);
    if (memory) let_go(memory);
  }
};

Incoming::Incoming(const Enqueue& command, const Rows& rows, cl_mem memory, cl_event event)
    : command_(command), event_(event), target_(std::make_shared<Target>()) {
  auto& link = command.queue->session().link();
  target_->rows = rows;
  target_->event = hold(event);
  if (memory) target_->memory = hold(memory);
  if (!rows.is_packed()) target_->packed.resize(rows.size());
  event->landing = link.ticket();
  landing_begins(event);
  const auto into = rows.is_packed() ? std::span(rows.first, rows.size()) : std::span(target_->packed);
  link.land(event->landing, into, [target = target_](bool has_arrived) { target->finish(has_arrived); });
}

void Incoming::wait() {
  command_.queue->session().wait(
      [&] { return target_->is_over.load(std::memory_order_acquire) && event_->is_final(); });
}

cl_int blocking_answer(const Enqueue& command, cl_int status) {
  if (status >= CL_COMPLETE || !command.queue->session().is_alive()) return queue_error(command.queue);
  if (command.count == 0) return status;
  return hides_failed_waits(command.queue->device) ? CL_SUCCESS : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

void hand_out(const Enqueue& command, cl_event event) {
  if (command.event_out) *command.event_out = event;
  else release_event(event);
}

cl_int submit_nothing(Enqueue& command, cl_mem memory) {
  const bool is_in_order = (command.queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  if (is_in_order || !command.waits.empty()) return submit(command, cl::Marker{});
  // A marker without waits would come after everything on this queue.
  const std::array<std::uint64_t, 1> objects{handle_at(memory, command.queue->place)};
  cl::Migrate message;
  message.objects = objects;
  return submit(command, message);
}

bool must_wait(const Enqueue& command) { return !command.waits.empty() || command.event_out; }

}  // namespace flexrack::client::opencl
