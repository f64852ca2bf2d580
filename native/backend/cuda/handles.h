// What the client's handles stand for. Every handle off the wire is looked up here and checked for its kind.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "backend/cuda/host_side.h"
#include "backend/cuda/image_memory.h"
#include "gen/cuda/cuda.h"

namespace flexrack::backend::cuda {

struct Held;

enum class Kind : std::uint8_t {
  none,
  context,
  stream,
  event,
  module,
  library,
  kernel,
  function,
  graph,
  exec,
  node,
  pool,
  array,
  mipmap,
  memory,
  loaded,
  communicator,
  latch
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
inline constexpr Kind kKindOf<CUgraph> = Kind::graph;
template <>
inline constexpr Kind kKindOf<CUgraphExec> = Kind::exec;
template <>
inline constexpr Kind kKindOf<CUgraphNode> = Kind::node;
template <>
inline constexpr Kind kKindOf<CUmemoryPool> = Kind::pool;
template <>
inline constexpr Kind kKindOf<CUarray> = Kind::array;
template <>
inline constexpr Kind kKindOf<CUmipmappedArray> = Kind::mipmap;

/// Others may belong to it, and go with it.
inline bool may_own(Kind kind) {
  return kind == Kind::module || kind == Kind::library || kind == Kind::graph || kind == Kind::array ||
         kind == Kind::mipmap;
}

/// What the driver has given a context beyond what every one takes, each the highest it has been: it keeps that until
/// the context ends.
struct ContextMemory {
  std::uint64_t stack = 0;       ///< bytes a thread
  std::uint64_t printf_fifo = 0, malloc_heap = 0;
  bool has_heap = false;         ///< that is made for the first code that calls malloc
};

/// How many threads have something to do in a context, which ends when they have done it.
class Users {
 public:
  /// One more, for as long as what is returned lives.
  static std::shared_ptr<void> one_of(const std::shared_ptr<Users>& users) {
    users->count_.fetch_add(1, std::memory_order_relaxed);
    return {nullptr, [users](void*) {
              if (users->count_.fetch_sub(1, std::memory_order_acq_rel) == 1) users->count_.notify_all();
            }};
  }
  void wait_for_all() const {
    for (auto left = count_.load(std::memory_order_acquire); left != 0; left = count_.load(std::memory_order_acquire))
      count_.wait(left);
  }

 private:
  std::atomic<unsigned> count_{0};
};

/// An object of the session.
struct Record {
  Kind kind = Kind::none;
  /// The driver's own handle; of a memory the CUmemGenericAllocationHandle.
  void* native = nullptr;
  std::uint64_t handle = 0;
  std::uint64_t context = 0;       ///< handle of the context it is in; 0 where it is in none
  std::uint32_t device = 0;        ///< index in the grant, of a context, a pool, a memory, an array
  std::uint64_t charged = 0;       ///< bytes of that device's share, given back with it
  std::uint32_t flags = 0;         ///< of a context: 1 it is a primary one
  std::shared_ptr<Held> share{};   ///< of a memory: its bytes of the share, which its mappings have too; of an event
                                   ///< that several sessions have
  std::uint64_t owner = 0;         ///< handle of the module, library, graph or array it goes with, 0: of its own
  std::uint32_t parameter_bytes = 0;                  ///< of a kernel: what a launch hands over
  bool has_parameter_bytes = false;                   ///< the driver has told
  std::shared_ptr<Users> users{};                     ///< of a context
  std::shared_ptr<HostSide> host{};                   ///< of a context
  std::shared_ptr<ContextMemory> memory{};            ///< of a context
  ImageMemory image{};  ///< of a library: what it takes in each context where it is used
  std::uint64_t local_bytes = 0;  ///< of a kernel: local memory of a thread
  std::shared_ptr<void> held{};  ///< of an event: it ends with the last who waits for it; of a communicator: itself
  std::map<std::uint64_t, CUfunction> in_context{};  ///< of a library and its kernels: where they were used, and a
                                                     ///< kernel's function there once it was asked for
};

/// Live objects of one client: 4 Mi at most, less of what costs a driver much.
class HandleTable {
 public:
  static constexpr std::size_t kMost = 1u << 22;

  Record* find(std::uint64_t handle) const {
    const auto found = records_.find(handle);
    return found == records_.end() ? nullptr : found->second.get();
  }
  /// False for handle 0, one in use, a full table.
  bool insert(std::uint64_t handle, Record record) {
    if (handle == 0 || records_.size() >= kMost || !has_room(record.kind)) return false;
    record.handle = handle;
    const auto kind = record.kind;
    const bool is_new = records_.emplace(handle, std::make_unique<Record>(std::move(record))).second;
    if (is_new) ++count_[static_cast<std::size_t>(kind)];
    return is_new;
  }
  /// Whether so many more can be kept under handles that are theirs: asked before the driver is asked for what it would
  /// not let go again by itself.
  template <class Handles>
  bool can_take(const Handles& handles) const {
    if (handles.size() > kMost - records_.size()) return false;
    std::set<std::uint64_t> once;
    for (const auto handle : handles)
      if (handle == 0 || records_.contains(handle) || !once.insert(handle).second) return false;
    return true;
  }
  /// Asked before the driver is asked to make one more of what costs it much.
  bool has_room(Kind kind) const { return count_[static_cast<std::size_t>(kind)] < most(kind); }
  std::unique_ptr<Record> take(std::uint64_t handle) {
    const auto found = records_.find(handle);
    if (found == records_.end()) return nullptr;
    auto record = std::move(found->second);
    --count_[static_cast<std::size_t>(record->kind)];
    records_.erase(found);
    return record;
  }
  template <class Action>
  void each(Action&& action) const {
    for (const auto& [handle, record] : records_) action(*record);
  }
  template <class Action>
  void take_if(Action&& goes) {
    std::erase_if(records_, [&](const auto& entry) {
      if (!goes(*entry.second)) return false;
      --count_[static_cast<std::size_t>(entry.second->kind)];
      return true;
    });
  }

 private:
  static constexpr std::size_t most(Kind kind) {
    switch (kind) {
      case Kind::communicator: return 64;
      case Kind::context: return 128;
      case Kind::stream:
      case Kind::module:
      case Kind::library:
      case Kind::pool: return 1 << 16;
      case Kind::latch:
      case Kind::event: return 1 << 20;
      default: return kMost;
    }
  }

  std::size_t count_[static_cast<std::size_t>(Kind::latch) + 1] = {};
  std::unordered_map<std::uint64_t, std::unique_ptr<Record>> records_;
};

}  // namespace flexrack::backend::cuda
