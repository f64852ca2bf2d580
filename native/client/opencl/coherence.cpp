#include "client/opencl/coherence.h"

#include <algorithm>

#include "client/opencl/buffer_create.h"
#include "client/opencl/coherence_copy.h"
#include "client/opencl/enqueue.h"

namespace flexrack::client::opencl {

namespace {

constexpr std::size_t kOverwrite = 64 * 1024;   ///< bytes from which on it pays to keep a range apart
constexpr std::size_t kWriters = 64;   ///< unordered writers that are remembered; more are waited for

using Place64 = std::uint64_t;
Place64 bit(std::size_t place) { return Place64{1} << place; }

void forget(std::vector<cl_event>& events) {
  for (auto* event : events) drop(event);
  events.clear();
}

/// Makes a segment begin at `at`. What was noted of the whole holds for both parts.
void split(cl_mem root, std::size_t at) {
  if (at == 0 || at >= root->size) return;
  auto found = std::prev(root->segments.upper_bound(at));
  if (found->first == at) return;
  Segment rest = found->second;
  for (auto* event : rest.writers) hold(event);
  for (auto* event : rest.arrivals) hold(event);
  found->second.end = at;
  root->segments.emplace(at, std::move(rest));
}

/// Joins neighbours of which the same is known.
void join(cl_mem root) {
  for (auto now = root->segments.begin(); now != root->segments.end();) {
    const auto next = std::next(now);
    if (next == root->segments.end()) return;
    auto &a = now->second, &b = next->second;
    if (a.valid == b.valid && a.home == b.home && a.in_content == b.in_content && a.writers == b.writers &&
        a.arrivals == b.arrivals) {
      a.end = b.end;
      forget(b.writers);
      forget(b.arrivals);
      root->segments.erase(next);
    } else {
      now = next;
    }
  }
}

cl_int charge(cl_command_queue queue, cl_mem root) {
  const auto& devices = queue->context->places[queue->place].devices;
  if (devices.size() == 1) return CL_SUCCESS;
  const auto whole = queue->device->whole()->index;
  const auto noted = whole < 64 ? bit(whole) : 0;
  auto& copy = root->copies[queue->place];
  if (copy.reserved & noted) return CL_SUCCESS;
  cl_int status = CL_OUT_OF_RESOURCES;
  queue->session().call(cl::Reserve{copy.handle, queue->device->index},
                        [&](const auto& reply) { status = reply.status; });
  if (status == CL_SUCCESS) copy.reserved |= noted;
  return status;
}

std::size_t source_of(const Segment& segment) {
  if (segment.valid & bit(segment.home)) return segment.home;
  return static_cast<std::size_t>(__builtin_ctzll(segment.valid));
}

/// Brings one segment to the queue's place.
cl_int bring(cl_command_queue queue, cl_mem root, std::size_t start, Segment& segment,
             std::vector<std::uint64_t>& waits) {
  const auto place = queue->place;
  if (segment.in_content) {
    cl_event sent = nullptr;
    if (const auto error = send_content(queue, root, start, segment.end - start, &sent)) return error;
    segment.in_content = false;
    segment.arrivals.push_back(sent);
  } else if (segment.valid != 0 && !(segment.valid & bit(place))) {
    std::vector<std::uint64_t> after;
    const auto source = source_of(segment);
    if (source == segment.home)
      for (auto* event : segment.writers) after.push_back(event->handle);
    for (auto* event : segment.arrivals)
      if (event->place == source) after.push_back(event->handle);
    cl_event copied = nullptr;
    if (const auto error = copy_between(queue, root, source, start, segment.end - start, after, &copied)) return error;
    segment.arrivals.push_back(copied);
  }
  segment.valid |= bit(place);
  for (auto* event : segment.arrivals) {
    if (event->place == place) waits.push_back(event->handle);
  }
  return CL_SUCCESS;
}

/// What a command does with a range of an object.
struct Use {
  std::size_t offset, size;
  bool is_written, is_overwritten;
};

cl_int use_anywhere(cl_command_queue queue, cl_mem memory, Use use, std::vector<std::uint64_t>& waits) {
  auto* root = memory->root();
  std::lock_guard guard(root->lock);
  const auto place = queue->place;
  if (const auto error = exist_at(memory, place)) return error;
  if (const auto error = charge(queue, root)) return error;
  if (!spans_places(queue->context)) return CL_SUCCESS;
  const bool is_whole = root->is_image();
  const auto first = is_whole ? 0 : memory->root_offset() + use.offset, last = is_whole ? root->size : first + use.size;
  split(root, first);
  split(root, last);
  for (auto at = root->segments.find(first); at != root->segments.end() && at->first < last; ++at) {
    auto& segment = at->second;
    if (use.is_overwritten) segment.in_content = false, segment.valid = 0;
    if (const auto error = bring(queue, root, at->first, segment, waits)) return error;
    if (!use.is_written) continue;
    if (segment.home != place || segment.valid != bit(place)) {
      std::erase_if(segment.arrivals, [&](cl_event event) { return event->place != place && (drop(event), true); });
      if (segment.home != place) forget(segment.writers);
      segment.home = place;
      segment.valid = bit(place);
    }
  }
  join(root);
  return CL_SUCCESS;
}

void add_writer(Segment& segment, cl_event event) {
  auto& writers = segment.writers;
  const bool is_in_order = (event->queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  std::erase_if(writers, [&](cl_event earlier) {
    return (earlier->is_final() || (is_in_order && earlier->queue == event->queue)) && (drop(earlier), true);
  });
  if (writers.size() >= kWriters) {
    wait_event(writers.front());
    drop(writers.front());
    writers.erase(writers.begin());
  }
  writers.push_back(hold(event));
}

}  // namespace

cl_int exist_at(cl_mem memory, std::size_t place) {
  if (memory->copies[place].handle) return CL_SUCCESS;
  if (memory->parent) {
    if (const auto error = exist_at(memory->parent, place)) return error;
  }
  if (memory->is_image()) return create_image_at(memory, place, {});
  return memory->parent ? create_part_at(memory, place) : create_buffer_at(memory, place, {});
}

cl_int use_memory(cl_command_queue queue, cl_mem memory, bool is_written, std::vector<std::uint64_t>& waits) {
  if (queue->context->has_one_memory) return CL_SUCCESS;
  return use_anywhere(queue, memory, {0, memory->size, is_written, false}, waits);
}

cl_int overwrite_memory(cl_command_queue queue, cl_mem memory, std::size_t offset, std::size_t size,
                        std::vector<std::uint64_t>& waits) {
  if (queue->context->has_one_memory) return CL_SUCCESS;
  const bool is_apart = size == memory->size || size >= kOverwrite;
  return is_apart ? use_anywhere(queue, memory, {offset, size, true, true}, waits)
                  : use_anywhere(queue, memory, {0, memory->size, true, false}, waits);
}

void note_writer(cl_mem memory, cl_event event) {
  auto* root = memory->root();
  std::lock_guard guard(root->lock);
  const auto first = root->is_image() ? 0 : memory->root_offset(),
             last = root->is_image() ? root->size : first + memory->size;
  split(root, first);
  split(root, last);
  for (auto at = root->segments.find(first); at != root->segments.end() && at->first < last; ++at) {
    if (at->second.home == event->place) add_writer(at->second, event);
  }
  join(root);
}

std::uint64_t handle_at(cl_mem memory, std::size_t place) { return memory->copies[place].handle; }

}  // namespace flexrack::client::opencl
