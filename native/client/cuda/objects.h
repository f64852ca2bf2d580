// The objects behind CUDA's handles. They live in slots that stay mapped, so any pointer an application passes can be
// checked.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "client/cuda/host_order.h"
#include "client/slab.h"
#include "gen/cuda/cuda.h"
#include "gen/cuda/messages.h"

namespace flexrack::client::cuda {

class CudaServer;
struct Device;
struct CapturedRecord;

enum class Kind : std::uint32_t {
  none = 0,
  context = 0x464c6301,
  stream,
  event,
  module,
  library,
  kernel,
  function,
  array,
  mipmap,
  pool,
  graph,
  node,
  exec,
  user_object,
  link,
  communicator
};

template <class T>
inline constexpr Kind kKindOf = Kind::none;
template <>
inline constexpr Kind kKindOf<CUcontext> = Kind::context;
template <>
inline constexpr Kind kKindOf<CUstream> = Kind::stream;
template <>
inline constexpr Kind kKindOf<CUevent> = Kind::event;
template <>
inline constexpr Kind kKindOf<CUmodule> = Kind::module;
template <>
inline constexpr Kind kKindOf<CUlibrary> = Kind::library;
template <>
inline constexpr Kind kKindOf<CUkernel> = Kind::kernel;
template <>
inline constexpr Kind kKindOf<CUfunction> = Kind::function;
template <>
inline constexpr Kind kKindOf<CUarray> = Kind::array;
template <>
inline constexpr Kind kKindOf<CUmipmappedArray> = Kind::mipmap;
template <>
inline constexpr Kind kKindOf<CUmemoryPool> = Kind::pool;
template <>
inline constexpr Kind kKindOf<CUgraph> = Kind::graph;
template <>
inline constexpr Kind kKindOf<CUgraphNode> = Kind::node;
template <>
inline constexpr Kind kKindOf<CUgraphExec> = Kind::exec;
template <>
inline constexpr Kind kKindOf<CUuserObject> = Kind::user_object;
template <>
inline constexpr Kind kKindOf<CUlinkState> = Kind::link;

/// What every object starts with.
struct Object {
  std::atomic<Kind> kind;
  std::uint64_t handle = 0;          ///< at its server; 0: it is not there now
  CudaServer* server = nullptr;      ///< null: of all servers
  CUcontext context = nullptr;       ///< in which it is; not held
  std::uint64_t context_handle =
      0;  ///< that context's when this was made: another one now means that this went with it

  explicit Object(Kind k) : kind(k) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  static void* operator new(std::size_t size) { return take_slot(size); }
  static void operator delete(void* slot, std::size_t size) { give_slot(slot, size); }
};

/// True for a live object of that kind; any pointer may be asked about. Everything is dead in a child after fork().
template <class T>
bool is_live(T object) {
  return is_slot(object) && reinterpret_cast<const Object*>(object)->kind.load(std::memory_order_relaxed) == kKindOf<T>;
}

/// The application may not use it any more; its slot is given out again.
template <class T>
void discard(T object) {
  object->kind.store(Kind::none, std::memory_order_relaxed);
  delete object;
}

/// A kernel as one server has it.
struct KernelAt {
  std::uint64_t handle = 0;
  std::string name;
  std::uint32_t parameter_bytes = 0;
  std::vector<cu::Parameter> parameters;
  mutable std::array<std::atomic<std::int32_t>, CU_FUNC_ATTRIBUTE_MAX> attributes{};
  std::uint32_t known = 0;           ///< a bit an attribute
  mutable std::mutex lock;
  mutable std::map<std::array<std::uint64_t, 4>, std::uint64_t>
      answers;   ///< under lock: of occupancy, by the question and its numbers
  mutable std::map<std::string, int> cluster_answers;   ///< under lock
};

/// How far a stream has got. What is put on the streams of a context is numbered in the order in which it is put there.
struct Progress {
  std::atomic<std::uint64_t> put{0};   ///< number of what was put last
  std::atomic<std::uint64_t> over{0};  ///< everything up to there is known to be over
  static void raise(std::atomic<std::uint64_t>& value, std::uint64_t to) {
    auto known = value.load(std::memory_order_relaxed);
    while (known < to && !value.compare_exchange_weak(known, to, std::memory_order_release)) {}
  }
};

}  // namespace flexrack::client::cuda

namespace fc = flexrack::client::cuda;

struct CUstream_st : fc::Object {
  unsigned flags = 0;
  int priority = 0;
  std::uint64_t id = 0;
  bool is_default = false;             ///< the context's own, handle 0
  std::atomic<bool> is_capturing{false};
  std::shared_ptr<fc::Progress> progress = std::make_shared<fc::Progress>();
  fc::HostOrder order;                 ///< what has to happen in this process before its next operation
  CUstream_st() : Object(fc::Kind::stream) {}
};

struct CUctx_st : fc::Object {
  fc::Device* device = nullptr;
  bool is_primary = false;
  unsigned references = 0;             ///< a primary one's retains; under the process's lock
  unsigned flags = 0, api_version = 0;
  std::uint64_t id = 0;
  int least_priority = 0, greatest_priority = 0;
  CUfunc_cache cache{};
  CUsharedconfig shared{};
  std::mutex lock;
  std::map<std::uint32_t, std::uint64_t> limits;   ///< under lock
  CUstream default_stream = nullptr;   ///< of all threads; never null while the context is there
  std::vector<CUstream> spare_streams;   ///< under lock: default streams of threads that have ended
  std::vector<CUcontext> peers;        ///< under lock: whose memory it may use
  fc::Progress progress;               ///< of all its streams
  fc::HostOrder order;                 ///< of all its streams
  // Errors of what was put on its streams.
  std::atomic<bool> is_troubled{false};
  CUresult sticky = CUDA_SUCCESS, pending = CUDA_SUCCESS;   ///< under lock
  CUctx_st() : Object(fc::Kind::context) {}
};

struct CUevent_st : fc::Object {
  unsigned flags = 0;
  std::mutex lock;
  std::uint64_t recorded = 0;          ///< under lock: how often; 0: never
  std::uint64_t reached = 0;           ///< under lock: the latest record known to be over
  std::uint64_t watched = 0;           ///< under lock: the latest that a notice comes for
  CUresult status = CUDA_SUCCESS;      ///< under lock: of `reached`
  std::shared_ptr<fc::Progress> progress;   ///< under lock: of the stream it was recorded in
  std::uint64_t at = 0;                ///< under lock: the record's number there
  fc::HostOrder behind;                ///< what it comes after in this process
  std::atomic<bool> is_captured{false};   ///< what was recorded last was in a capture
  std::shared_ptr<fc::CapturedRecord> captured;   ///< under the lock of graphs: that record
  CUevent_st() : Object(fc::Kind::event) {}
};

struct CUfunc_st : fc::Object {
  CUkernel kernel = nullptr;           ///< of a library; null: of a module
  CUmodule module = nullptr;
  const fc::KernelAt* at = nullptr;
  CUfunc_st() : Object(fc::Kind::function) {}
};

struct CUkern_st : fc::Object {
  CUlibrary library = nullptr;
  std::string name;
  std::unique_ptr<std::atomic<const fc::KernelAt*>[]> at;   ///< by ordinal of the device
  std::mutex lock;
  std::vector<CUfunction> functions;   ///< under lock: one a context
  CUkern_st() : Object(fc::Kind::kernel) {}
};

struct CUmipmappedArray_st : fc::Object {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  unsigned levels = 0;
  std::vector<CUarray> made;           ///< arrays of its levels, which go with it
  CUmipmappedArray_st() : Object(fc::Kind::mipmap) {}
};

struct CUarray_st : fc::Object {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  CUarray_st() : Object(fc::Kind::array) {}
};

struct CUmemPoolHandle_st : fc::Object {
  fc::Device* device = nullptr;
  bool is_default = false;
  CUmemPoolHandle_st() : Object(fc::Kind::pool) {}
};
