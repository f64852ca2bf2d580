// Payloads that land in this process's memory travel beside the notices: a command counts as over only when the bytes
// of the reads before it are here.
#include "client/opencl/landing.h"

#include <algorithm>

#include "client/opencl/event.h"
#include "client/opencl/inbox.h"

namespace flexrack::client::opencl {
namespace {

// Everything here costs one look at this while nothing is landing.
std::atomic<std::size_t> outstanding{0};

/// Held events, let go under no lock: the last to let one go tells its server, which may have to wait for a thread that
/// wants that lock.
struct Held {
  std::vector<cl_event> events;
  ~Held() { clear(); }
  void clear() {
    for (const auto event : events) drop(event);
    events.clear();
  }
};

/// What the wait list that this thread translated last comes after.
thread_local Held waited;

bool is_in_order(cl_command_queue queue) { return (queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0; }

void add(std::vector<cl_event>& to, cl_event event) {
  if (!event->is_final() && std::find(to.begin(), to.end(), event) == to.end()) to.push_back(hold(event));
}

void prune(std::vector<cl_event>& events, Held& over) {
  const auto first =
      std::stable_partition(events.begin(), events.end(), [](cl_event event) { return !event->is_final(); });
  over.events.insert(over.events.end(), first, events.end());
  events.erase(first, events.end());
}

}  // namespace

void forget_waited() {
  if (!waited.events.empty()) waited.clear();
}

void note_waited(cl_event event) {
  if (outstanding.load(std::memory_order_relaxed) == 0) return;
  if (event->landed_here) add(waited.events, event);
  const std::lock_guard guard(event->lock);
  if (!event->extra) return;
  for (const auto earlier : event->extra->behind) add(waited.events, earlier);
}

void pass_waited_on(cl_command_queue queue) {
  if (waited.events.empty() || !is_in_order(queue)) return;
  {
    const std::lock_guard guard(queue->lock);
    for (const auto event : waited.events) add(queue->landings, event);
  }
  waited.clear();
}

void put_behind(cl_event event, bool after_all) {
  if (outstanding.load(std::memory_order_relaxed) == 0) return;
  const auto queue = event->queue;
  Held over;
  std::vector<cl_event> behind;
  {
    const std::lock_guard guard(queue->lock);
    prune(queue->landings, over);
    const auto& before = is_in_order(queue) || after_all ? queue->landings : queue->fenced;
    for (const auto earlier : before) add(behind, earlier);
  }
  for (const auto earlier : waited.events) add(behind, earlier);
  waited.clear();
  if (!behind.empty()) event->more().behind = std::move(behind);
}

void fence(cl_command_queue queue, cl_event barrier) {
  if (outstanding.load(std::memory_order_relaxed) == 0 || is_in_order(queue)) return;
  Held behind, over;
  {
    const std::lock_guard guard(barrier->lock);
    if (barrier->extra) {
      for (const auto earlier : barrier->extra->behind) add(behind.events, earlier);
    }
  }
  const std::lock_guard guard(queue->lock);
  prune(queue->fenced, over);
  for (const auto earlier : behind.events) add(queue->fenced, earlier);
}

void landing_begins(cl_event event) {
  const auto queue = event->queue;
  outstanding.fetch_add(1, std::memory_order_relaxed);
  event->landed_here = true;
  Held before;
  {
    const std::lock_guard guard(queue->lock);
    if (is_in_order(queue)) queue->landings.swap(before.events);  // it comes after all of these itself
    queue->landings.push_back(hold(event));
  }
  inbox_of(event)->expect(event);
}

void landing_ends(cl_event event) {
  outstanding.fetch_sub(1, std::memory_order_relaxed);
  const auto queue = event->queue;
  const std::lock_guard guard(queue->lock);
  std::erase_if(queue->landings, [&](cl_event other) { return other == event && (drop(other), true); });
  std::erase_if(queue->fenced, [&](cl_event other) { return other == event && (drop(other), true); });
}

bool has_landing(cl_uint count, const cl_event* list) {
  if (outstanding.load(std::memory_order_relaxed) == 0) return false;
  return std::any_of(list, list + count, [](cl_event event) {
    if (event->is_final()) return false;
    if (event->landed_here) return true;
    const std::lock_guard guard(event->lock);
    return event->extra && !event->extra->behind.empty();
  });
}

}  // namespace flexrack::client::opencl
