// The objects behind OpenCL's handles. Each begins with the dispatch table, as the ICD loader requires.
// A context may span several servers: it has a Place for each (server, native platform), and its objects exist at each of them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "client/session.h"
#include "gen/opencl/cl.h"
#include "gen/opencl/icd.h"

namespace flexrack::client::opencl {

enum class Kind : std::uint32_t {
  platform = 0x464c5801, device, context, queue, memory, sampler, program, kernel, event, gone = 0x464c58ff
};

/// What every object starts with. `kind` tells a live object of the right sort from a stale or foreign pointer.
struct Object {
  const IcdDispatch* dispatch;
  Kind kind;
  std::atomic<cl_uint> references{1};
  explicit Object(Kind k) : dispatch(&icd_dispatch()), kind(k) {}
};

/// The raw answers of a clGet*Info family, by parameter.
using InfoTable = std::map<cl_uint, wire::Bytes>;

}  // namespace flexrack::client::opencl

using flexrack::client::Session;
namespace fx = flexrack::client::opencl;

struct _cl_platform_id : fx::Object {
  fx::InfoTable infos;
  std::vector<cl_device_id> devices;
  _cl_platform_id() : Object(fx::Kind::platform) {}
};

struct _cl_device_id : fx::Object {
  cl_platform_id platform = nullptr;
  Session* session = nullptr;
  std::uint32_t index = 0;            ///< in the session
  std::uint32_t native_platform = 0;  ///< devices of one session and one native platform share a native context
  fx::InfoTable infos;                ///< with what we answer differently already put in place
  _cl_device_id() : Object(fx::Kind::device) {}
};

namespace flexrack::client::opencl {

/// A native context on a server, and the devices it has there.
struct Place {
  Session* session;
  std::uint64_t context;                 ///< handle
  std::vector<cl_device_id> devices;
};

using Callbacks = std::vector<std::function<void()>>;

}  // namespace flexrack::client::opencl

struct _cl_context : fx::Object {
  std::vector<cl_device_id> devices;       ///< as the application gave them
  std::vector<fx::Place> places;
  std::vector<cl_context_properties> properties;
  void (CL_CALLBACK *notify)(const char*, const void*, size_t, void*) = nullptr;
  void* notify_data = nullptr;
  std::mutex lock;
  std::vector<std::function<void()>> destructors;   ///< run last to first
  /// Where in places a device of this context is.
  std::size_t place_of(cl_device_id device) const;
  _cl_context() : Object(fx::Kind::context) {}
};

struct _cl_command_queue : fx::Object {
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  std::size_t place = 0;              ///< index in context->places
  std::uint64_t handle = 0;
  cl_command_queue_properties properties = 0;
  std::vector<cl_queue_properties> given;   ///< CL_QUEUE_PROPERTIES_ARRAY
  Session& session() const { return *context->places[place].session; }
  _cl_command_queue() : Object(fx::Kind::queue) {}
};

struct _cl_event : fx::Object {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;   ///< null for a user event
  cl_command_type type = 0;
  std::size_t place = 0;              ///< where it is native; a user event is nobody's until mirrored
  std::uint64_t handle = 0;           ///< at its home place; 0 for a user event
  std::mutex lock;
  cl_int status = CL_QUEUED;          ///< as far as known here; <= 0 is final
  bool is_watched = false;            ///< a `completed` notice is on its way
  bool landed_here = false;           ///< completed by a payload that landed (reads): the notice alone does not complete it
  cl_ulong times[5] = {};             ///< queued, submitted, started, ended, completed; ns
  std::map<std::size_t, std::uint64_t> mirrors;     ///< place -> handle of the user event that stands for it there
  std::vector<std::pair<cl_int, std::function<void(cl_int)>>> callbacks;   ///< stage, action
  _cl_event() : Object(fx::Kind::event) {}
};
