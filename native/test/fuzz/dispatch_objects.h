// A driver that believes what it is told: its objects, and the order in which commands happen. What a real driver need
// not check it does not check either, so that the sanitizers see whatever the backend lets through.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gen/opencl/cl.h"

namespace flexrack::fuzz {

/// Counted as OpenCL counts: a release too many is a use after free, which the sanitizer tells.
struct Counted {
  int references = 1;
};

inline std::mutex& driver_lock() {
  static std::mutex lock;
  return lock;
}

/// One call of the API: under the lock, and callbacks behind it, as drivers do that live long.
class Call {
 public:
  Call() : guard_(driver_lock()) {}
  ~Call() {
    auto due = std::move(due_);
    guard_.unlock();
    for (auto& action : due) action();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  void later(std::function<void()> action) { due_.push_back(std::move(action)); }

 private:
  std::unique_lock<std::mutex> guard_;
  std::vector<std::function<void()>> due_;
};

template <class T>
T* retain(T* object) {
  if (object) ++object->references;
  return object;
}

}  // namespace flexrack::fuzz

struct _cl_platform_id {};
struct _cl_device_id {
  bool is_unified;
};
struct _cl_context : flexrack::fuzz::Counted {
  std::vector<cl_device_id> devices;
};
struct _cl_command_queue : flexrack::fuzz::Counted {
  cl_context context = nullptr;
  bool is_in_order = true;
  cl_event last = nullptr;  ///< held
};
struct _cl_mem : flexrack::fuzz::Counted {
  cl_context context = nullptr;
  cl_mem parent = nullptr;  ///< held
  std::uint8_t* data = nullptr;
  std::size_t size = 0, element = 0;
  std::size_t extent[3] = {0, 0, 0};  ///< of an image, in elements
  std::unique_ptr<std::uint8_t[]> own{};
  std::vector<std::pair<void(CL_CALLBACK*)(cl_mem, void*), void*>> destructors{};
};
struct _cl_sampler : flexrack::fuzz::Counted {
  cl_context context = nullptr;
};
struct _cl_program : flexrack::fuzz::Counted {
  cl_context context = nullptr;
  bool is_built = false;
  std::string text;
};
struct _cl_kernel : flexrack::fuzz::Counted {
  static constexpr cl_uint kArguments = 6;
  cl_program program = nullptr;
  bool has_infos = true;
  void* objects[kArguments] = {};  ///< bare, as in real drivers
};
struct _cl_event : flexrack::fuzz::Counted {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;  ///< held until it is over; null: a user event
  cl_int status = CL_QUEUED;
  std::vector<cl_event> waits{};     ///< held
  std::function<void()> work{};
  std::function<void(flexrack::fuzz::Call&)> let_go{};  ///< of what the command holds
  struct Callback {
    cl_int stage;
    cl_event_callback tell;
    void* data;
  };
  std::vector<Callback> callbacks{};
};

namespace flexrack::fuzz {

inline std::vector<cl_event>& pending() {
  static std::vector<cl_event> events;
  return events;
}

inline void release(Call&, cl_context context) {
  if (--context->references == 0) delete context;
}
inline void release(Call& call, cl_mem memory) {
  if (--memory->references > 0) return;
  for (auto at = memory->destructors.rbegin(); at != memory->destructors.rend(); ++at)
    call.later([memory, one = *at] { one.first(memory, one.second); });
  if (memory->parent) release(call, memory->parent);
  release(call, memory->context);
  delete memory;
}
inline void release(Call& call, cl_sampler sampler) {
  if (--sampler->references > 0) return;
  release(call, sampler->context);
  delete sampler;
}
inline void release(Call& call, cl_program program) {
  if (--program->references > 0) return;
  release(call, program->context);
  delete program;
}
inline void release(Call& call, cl_kernel kernel) {
  if (--kernel->references > 0) return;
  release(call, kernel->program);
  delete kernel;
}
inline void release(Call& call, cl_event event);
inline void release(Call& call, cl_command_queue queue) {
  if (--queue->references > 0) return;
  if (queue->last) release(call, queue->last);
  release(call, queue->context);
  delete queue;
}
inline void release(Call& call, cl_event event) {
  if (--event->references > 0) return;
  release(call, event->context);
  delete event;
}

inline void run_ready(Call& call);

inline void finish(Call& call, cl_event event, cl_int status) {
  event->status = status;
  for (const auto& one : std::exchange(event->callbacks, {})) {
    retain(event);
    call.later([event, one, reported = status < 0 ? status : one.stage] {
      one.tell(event, reported, one.data);
      Call inner;
      release(inner, event);
    });
  }
  event->work = nullptr;
  for (auto* wait : std::exchange(event->waits, {})) release(call, wait);
  if (auto let_go = std::exchange(event->let_go, nullptr)) let_go(call);
  if (auto* queue = std::exchange(event->queue, nullptr)) {
    if (queue->last == event) {
      queue->last = nullptr;
      release(call, event);
    }
    release(call, queue);
    release(call, event);  // the driver's own
  }
}

/// Carries out what waits for nothing any more, until there is none.
inline void run_ready(Call& call) {
  auto& events = pending();
  for (std::size_t i = 0; i < events.size();) {
    auto* event = events[i];
    const auto& waits = event->waits;
    if (std::any_of(waits.begin(), waits.end(), [](cl_event one) { return one->status > 0; })) {
      ++i;
      continue;
    }
    const bool has_failed = std::any_of(waits.begin(), waits.end(), [](cl_event one) { return one->status < 0; });
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(i));
    if (!has_failed && event->work) event->work();
    finish(call, event, has_failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_COMPLETE);
    i = 0;
  }
}

/// What every command has in common. `uses` stay until it is over.
inline cl_int enqueue(cl_command_queue queue, cl_uint count, const cl_event* list, cl_event* out,
                      std::vector<cl_mem> uses, std::function<void()> work) {
  Call call;
  auto* event = new _cl_event;
  event->context = retain(queue->context);
  event->queue = retain(queue);
  event->work = std::move(work);
  for (cl_uint i = 0; i < count; ++i) event->waits.push_back(retain(list[i]));
  // An event that failed holds up nobody but those who wait for it.
  if (queue->is_in_order && queue->last && queue->last->status > 0) event->waits.push_back(retain(queue->last));
  if (queue->last) release(call, queue->last);
  queue->last = retain(event);
  for (auto* memory : uses) retain(memory);
  event->let_go = [uses = std::move(uses)](Call& inner) {
    for (auto* memory : uses) release(inner, memory);
  };
  if (out) *out = retain(event);
  pending().push_back(event);
  run_ready(call);
  return CL_SUCCESS;
}

}  // namespace flexrack::fuzz
