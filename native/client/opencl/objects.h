// The objects behind OpenCL's handles. Each begins with the dispatch table, as the ICD loader requires.
// A context may span several servers: it has a Place for each (server, native platform), and its objects exist at each
// of them.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "client/slab.h"
#include "client/session.h"
#include "gen/opencl/cl.h"
#include "gen/opencl/icd.h"
#include "gen/opencl/messages.h"

namespace flexrack::client::opencl {

class Inbox;

enum class Kind : std::uint32_t {
  platform = 0x464c5801,
  device,
  context,
  queue,
  memory,
  sampler,
  program,
  kernel,
  event
};

/// What every object starts with. It lives in a slot that stays mapped, so `kind` tells a live object of the right sort
/// from a stale or foreign pointer.
struct Object {
  const IcdDispatch* dispatch;
  std::atomic<Kind> kind;
  /// Low half: the application's references; high half: uses of our own (a queue holds its context, a command its
  /// queue). Zero: disposed of.
  std::atomic<std::uint64_t> counts{1};

  explicit Object(Kind k) : dispatch(&icd_dispatch()), kind(k) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  static void* operator new(std::size_t size) { return take_slot(size); }
  static void operator delete(void* slot, std::size_t size) { give_slot(slot, size); }
};

/// True for a live object of that kind; any pointer may be asked about. Everything is dead in a child after fork().
inline bool is_object(const Object* object, Kind kind) {
  return is_slot(object) && object->kind.load(std::memory_order_relaxed) == kind;
}

inline constexpr std::uint64_t kUse = std::uint64_t{1} << 32;

// What happens when nobody is left: gives back what the object holds, tells the servers, deletes it. Each beside its
// struct.
void dispose(cl_device_id device);
void dispose(cl_context context);
void dispose(cl_command_queue queue);
void dispose(cl_event event);
void dispose(cl_mem memory);
void dispose(cl_sampler sampler);
void dispose(cl_program program);
void dispose(cl_kernel kernel);

/// The application's references: clRetain*, clRelease*. release() is false where it has none left (our own uses keep
/// the object).
template <class T>
void retain(T* object) {
  object->counts.fetch_add(1, std::memory_order_relaxed);
}

template <class T>
bool release(T* object) {
  auto counts = object->counts.load(std::memory_order_relaxed);
  do {
    if (counts % kUse == 0) return false;
  } while (!object->counts.compare_exchange_weak(counts, counts - 1, std::memory_order_acq_rel));
  if (counts == 1) dispose(object);
  return true;
}

template <class T>
cl_uint references(const T* object) {
  return static_cast<cl_uint>(object->counts.load(std::memory_order_relaxed) % kUse);
}

/// A use of our own: keeps the object alive whatever the application does.
template <class T>
T* hold(T* object) {
  object->counts.fetch_add(kUse, std::memory_order_relaxed);
  return object;
}

template <class T>
void drop(T* object) {
  if (object->counts.fetch_sub(kUse, std::memory_order_acq_rel) == kUse) dispose(object);
}

/// The raw answers of a clGet*Info family, by parameter.
using InfoTable = std::map<cl_uint, wire::Bytes>;

/// A native context on a server, and the devices it has there.
struct Place {
  Session* session = nullptr;
  Inbox* inbox = nullptr;                ///< what that server says about events and contexts
  std::uint64_t context = 0;             ///< handle
  std::vector<cl_device_id> devices;
};

/// What only few events have.
struct EventExtra {
  std::map<std::size_t, std::uint64_t> mirrors;  ///< place -> handle of the user event that stands for it there
  std::vector<std::pair<cl_int, std::function<void(cl_int)>>> callbacks;  ///< stage, action
  std::vector<cl_event>
      behind;  ///< held: payloads that must have landed before this counts as over, since it comes after them
  std::vector<cl_event> followers;  ///< held: events whose notice is here and that wait for this one
  cl_int arrived = CL_QUEUED;  ///< the final status that waits for `behind`
};

}  // namespace flexrack::client::opencl

namespace fx = flexrack::client::opencl;

struct _cl_platform_id : fx::Object {
  fx::InfoTable infos;
  std::vector<cl_device_id> devices;
  _cl_platform_id() : Object(fx::Kind::platform) {}
};

struct _cl_device_id : fx::Object {
  cl_platform_id platform = nullptr;
  flexrack::client::Session* session = nullptr;
  fx::Inbox* inbox = nullptr;
  cl_device_id parent = nullptr;  ///< held; of a sub-device
  std::uint32_t index = 0;  ///< in the session
  std::uint32_t native_platform = 0;  ///< devices of one session and one native platform share a native context
  fx::InfoTable infos;  ///< with what we answer differently already put in place
  /// The leased device that this one is, or is a part of: whose memory it uses.
  const _cl_device_id* whole() const {
    const auto* at = this;
    while (at->parent) at = at->parent;
    return at;
  }
  _cl_device_id() : Object(fx::Kind::device) {}
};

struct _cl_context : fx::Object {
  std::vector<cl_device_id> devices;  ///< held; as the application gave them
  std::vector<fx::Place> places;
  std::vector<cl_context_properties> properties;
  void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*) = nullptr;
  void* notify_data = nullptr;
  std::mutex lock;
  std::vector<std::function<void()>> destructors;  ///< run last to first
  /// Where in places a device of this context is; places.size() for one that is not in it.
  std::size_t place_of(cl_device_id device) const;
  bool has_one_memory =
      false;  ///< one leased device, or parts of one: its memory objects need not be brought or charged anywhere
  _cl_context() : Object(fx::Kind::context) {}
};

struct _cl_command_queue : fx::Object {
  cl_context context = nullptr;  ///< held
  cl_device_id device = nullptr;
  std::size_t place = 0;  ///< index in context->places
  std::uint64_t handle = 0;
  cl_command_queue_properties properties = 0;
  std::vector<cl_queue_properties> given;  ///< CL_QUEUE_PROPERTIES_ARRAY
  cl_uint device_queue_size = 0;
  std::mutex lock;
  std::vector<cl_event>
      landings;  ///< held, under lock: payloads that have not landed and that later commands come after
  std::vector<cl_event> fenced;  ///< the same out of order: those before a barrier
  flexrack::client::Session& session() const { return *context->places[place].session; }
  _cl_command_queue() : Object(fx::Kind::queue) {}
};

struct _cl_event : fx::Object {
  cl_context context = nullptr;  ///< held through the queue, or by itself for a user event
  cl_command_queue queue = nullptr;  ///< held; null for a user event
  cl_command_type type = 0;
  std::uint32_t place = 0;  ///< where it is native; a user event is nobody's until mirrored
  std::uint64_t handle = 0;  ///< at its home place; 0 for a user event
  std::atomic<cl_int> status{CL_QUEUED};  ///< as far as known here; <= 0 is final
  std::atomic<bool> is_watched{false};  ///< a `completed` notice is on its way
  bool landed_here = false;  ///< completed by a payload that landed (reads): the notice alone does not complete it
  bool has_times = false;  ///< under lock: times are the device's
  std::uint64_t landing = 0;  ///< that payload's ticket: cancelled where a notice brings an error
  std::mutex lock;
  std::unique_ptr<fx::EventExtra> extra;  ///< under lock
  cl_ulong times[5] = {};  ///< queued, submitted, started, ended, completed; ns
  fx::EventExtra& more() {  ///< under lock
    if (!extra) extra = std::make_unique<fx::EventExtra>();
    return *extra;
  }
  bool is_final() const { return status.load(std::memory_order_acquire) <= CL_COMPLETE; }
  _cl_event() : Object(fx::Kind::event) {}
};
