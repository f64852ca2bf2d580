#include "client/opencl/event.h"

#include <condition_variable>

#include "client/opencl/inbox.h"
#include "client/opencl/landing.h"

namespace flexrack::client::opencl {
namespace {

// User events are set by another thread of this process: no link to wait on.
// Never destroyed: somebody may wait while the process ends.
std::mutex set_lock;
std::condition_variable& is_set = *new std::condition_variable;

/// Runs under no lock. Events that waited behind this one are appended to `next`.
void end_one(cl_event event, cl_int status, std::vector<cl_event>& next);
void carry_out(cl_event event, cl_int status, EventExtra& taken);
bool waits_behind(cl_event event, cl_int status);

}  // namespace

Session* session_of(cl_event event) { return event->queue ? event->context->places[event->place].session : nullptr; }
Inbox* inbox_of(cl_event event) { return event->queue ? event->context->places[event->place].inbox : nullptr; }

void finish_event(cl_event event, cl_int status) {
  std::vector<cl_event> next;
  end_one(event, status, next);
  // A long chain of reads may end at once: a loop, not recursion.
  while (!next.empty()) {
    const auto follower = next.back();
    next.pop_back();
    cl_int arrived = CL_QUEUED;
    {
      const std::lock_guard guard(follower->lock);
      if (follower->extra) arrived = follower->extra->arrived;
    }
    if (arrived == CL_COMPLETE && !waits_behind(follower, arrived)) end_one(follower, arrived, next);
    drop(follower);
  }
}

void settle_event(cl_event event, cl_int status) {
  if (status <= CL_COMPLETE) {
    if (status < CL_COMPLETE || !waits_behind(event, status)) finish_event(event, status);
    return;
  }
  std::vector<std::pair<cl_int, std::function<void(cl_int)>>> due;
  {
    const std::lock_guard guard(event->lock);
    if (event->status.load() <= status) return;
    event->status.store(status, std::memory_order_release);
    if (!event->extra) return;
    auto& callbacks = event->extra->callbacks;
    std::erase_if(callbacks, [&](auto& callback) {
      if (callback.first < status) return false;
      due.push_back(std::move(callback));
      return true;
    });
  }
  for (auto& [stage, action] : due) run_callback([at = stage, run = std::move(action)] { run(at); });
}

void take_completion(cl_event event, const cl::Completion& completion) {
  if (completion.status == CL_COMPLETE) {
    const std::lock_guard guard(event->lock);
    event->times[0] = completion.queued;
    event->times[1] = completion.submitted;
    event->times[2] = completion.started;
    event->times[3] = completion.ended;
    event->times[4] = completion.completed;
    event->has_times = true;
  }
  if (completion.status == CL_COMPLETE && event->landed_here) return;
  settle_event(event, completion.status);
  if (completion.status < CL_COMPLETE && event->landing != 0) session_of(event)->link().cancel(event->landing);
}

void watch_event(cl_event event) {
  if (event->is_watched.exchange(true) || event->is_final()) return;
  inbox_of(event)->expect(event);
  const std::uint64_t handles[]{event->handle};
  cl::Watch message;
  message.events = handles;
  if (!session_of(event)->send(message)) finish_event(event, kLost);
}

cl_int wait_event(cl_event event) {
  if (event->is_final()) return event->status.load();
  if (!event->queue) return wait_user_event(event);
  if (!event->landed_here) watch_event(event);
  auto& session = *session_of(event);
  const auto has_arrived = [event] {
    if (event->is_final()) return true;
    const std::lock_guard guard(event->lock);
    return event->extra && event->extra->arrived <= CL_COMPLETE;
  };
  if (!session.wait(has_arrived) && !has_arrived()) finish_event(event, kLost);
  // What it comes after may be on its way from another server.
  while (!event->is_final()) {
    std::vector<cl_event> behind;
    {
      const std::lock_guard guard(event->lock);
      if (event->extra) behind = event->extra->behind;
      for (const auto earlier : behind) hold(earlier);
    }
    for (const auto earlier : behind) {
      wait_event(earlier);
      drop(earlier);
    }
    if (!waits_behind(event, CL_COMPLETE)) finish_event(event, CL_COMPLETE);
  }
  return event->status.load();
}

cl_int wait_user_event(cl_event event) {
  std::unique_lock guard(set_lock);
  is_set.wait(guard, [event] { return event->is_final(); });
  return event->status.load();
}

void dispose(cl_event event) {
  if (event->handle != 0) {
    cl::Release message;
    message.object = event->handle;
    session_of(event)->send(message);
  }
  if (event->extra) {
    for (const auto& [place, handle] : event->extra->mirrors) {
      cl::Release message;
      message.object = handle;
      event->context->places[place].session->send(message);
    }
    for (const auto earlier : event->extra->behind) drop(earlier);
  }
  const auto queue = event->queue;
  const auto context = event->context;
  delete event;
  if (queue) {
    drop(queue);
  } else {
    drop(context);
  }
}

namespace {

void end_one(cl_event event, cl_int status, std::vector<cl_event>& next) {
  EventExtra taken;
  {
    const std::lock_guard guard(event->lock);
    if (event->is_final()) return;
    event->status.store(status, std::memory_order_release);
    if (event->extra) {
      taken.callbacks.swap(event->extra->callbacks);
      taken.behind.swap(event->extra->behind);
      taken.followers.swap(event->extra->followers);
      taken.mirrors = event->extra->mirrors;
    }
  }
  next.insert(next.end(), taken.followers.begin(), taken.followers.end());
  hold(event);
  carry_out(event, status, taken);
  drop(event);
}

void carry_out(cl_event event, cl_int status, EventExtra& taken) {
  for (auto& [stage, action] : taken.callbacks)
    run_callback([at = status < 0 ? status : stage, run = std::move(action)] { run(at); });
  for (const auto& [place, handle] : taken.mirrors) {
    cl::SetUserEvent message;
    message.event = handle;
    message.status = status;
    auto& session = *event->context->places[place].session;
    session.send(message);
    session.link().flush();
  }
  for (const auto earlier : taken.behind) drop(earlier);
  if (!event->queue) {
    { const std::lock_guard guard(set_lock); }  // nobody is between its look at the status and its sleep
    is_set.notify_all();
    return;
  }
  if (event->landed_here) landing_ends(event);
  if (event->landed_here || event->is_watched.load()) inbox_of(event)->forget(event);
}

/// True where it is done but comes after a payload that has not landed: the last of these will end it.
bool waits_behind(cl_event event, cl_int status) {
  const std::lock_guard guard(event->lock);
  if (!event->extra || event->is_final()) return false;
  for (const auto earlier : event->extra->behind) {
    const std::lock_guard earlier_guard(earlier->lock);  // always from the later to the earlier
    if (earlier->is_final()) continue;
    earlier->more().followers.push_back(hold(event));
    event->extra->arrived = status;
    return true;
  }
  return false;
}

}  // namespace
}  // namespace flexrack::client::opencl
