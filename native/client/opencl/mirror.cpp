// Events seen from another server: a native user event there, completed by us when the event's home says so.
#include "client/opencl/event.h"
#include "client/opencl/inbox.h"

namespace flexrack::client::opencl {
namespace {

// A mirror's creation is sent before anybody can name it; never taken by a thread that reads a link.
std::mutex creation;

void set(Session& session, std::uint64_t handle, cl_int status) {
  cl::SetUserEvent message;
  message.event = handle;
  message.status = status;
  session.send(message);
}

std::uint64_t known_mirror(cl_event event, std::size_t place) {
  const std::lock_guard guard(event->lock);
  if (!event->extra) return 0;
  const auto found = event->extra->mirrors.find(place);
  return found == event->extra->mirrors.end() ? 0 : found->second;
}

}  // namespace

std::uint64_t mirror_event(cl_event event, std::size_t place) {
  const std::lock_guard creating(creation);
  if (const auto known = known_mirror(event, place)) return known;
  const auto& there = event->context->places[place];
  cl::CreateUserEvent message;
  message.context = there.context;
  message.event = there.session->mint();
  if (!there.session->send(message)) return 0;
  bool is_over = false;
  {
    const std::lock_guard guard(event->lock);
    event->more().mirrors[place] = message.event;
    is_over = event->is_final();  // then nobody else sets it
  }
  if (is_over) {
    set(*there.session, message.event, event->status.load());
  } else if (event->queue) {
    watch_event(event);
    session_of(event)->link().flush();
  }
  return message.event;
}

}  // namespace flexrack::client::opencl
