// What the client's handles stand for. Every handle off the wire is looked up here and checked for its kind.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

#include "gen/cuda/cuda.h"

namespace flexrack::backend::cuda {

enum class Kind : std::uint8_t { none, context, stream, event, module, library, kernel, function, graph, exec, node, pool, array, mipmap, memory, gate };

template <class T>
inline constexpr Kind kKindOf = Kind::none;
template <> inline constexpr Kind kKindOf<CUcontext> = Kind::context;
template <> inline constexpr Kind kKindOf<CUstream> = Kind::stream;
template <> inline constexpr Kind kKindOf<CUevent> = Kind::event;
template <> inline constexpr Kind kKindOf<CUmodule> = Kind::module;
template <> inline constexpr Kind kKindOf<CUlibrary> = Kind::library;
template <> inline constexpr Kind kKindOf<CUkernel> = Kind::kernel;
template <> inline constexpr Kind kKindOf<CUfunction> = Kind::function;
template <> inline constexpr Kind kKindOf<CUgraph> = Kind::graph;
template <> inline constexpr Kind kKindOf<CUgraphExec> = Kind::exec;
template <> inline constexpr Kind kKindOf<CUgraphNode> = Kind::node;
template <> inline constexpr Kind kKindOf<CUmemoryPool> = Kind::pool;
template <> inline constexpr Kind kKindOf<CUarray> = Kind::array;
template <> inline constexpr Kind kKindOf<CUmipmappedArray> = Kind::mipmap;

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
  std::uint64_t owner = 0;         ///< handle of the module, library or graph it goes with, 0: of its own
  std::map<std::uint64_t, CUfunction> in_context{};   ///< of a library's kernel: its function in each context where it was used
};

/// Live objects of one client: 4 Mi at most.
class HandleTable {
 public:
  static constexpr std::size_t kMost = 1u << 22;

  Record* find(std::uint64_t handle) const {
    const auto found = records_.find(handle);
    return found == records_.end() ? nullptr : found->second.get();
  }
  /// False for handle 0, one in use, a full table.
  bool insert(std::uint64_t handle, Record record) {
    if (handle == 0 || records_.size() >= kMost) return false;
    record.handle = handle;
    return records_.emplace(handle, std::make_unique<Record>(std::move(record))).second;
  }
  std::unique_ptr<Record> take(std::uint64_t handle) {
    const auto found = records_.find(handle);
    if (found == records_.end()) return nullptr;
    auto record = std::move(found->second);
    records_.erase(found);
    return record;
  }
  template <class Action>
  void each(Action&& action) const {
    for (const auto& [handle, record] : records_) action(*record);
  }
  template <class Action>
  void take_if(Action&& goes) {
    std::erase_if(records_, [&](const auto& entry) { return goes(*entry.second); });
  }

 private:
  std::unordered_map<std::uint64_t, std::unique_ptr<Record>> records_;
};

}  // namespace flexrack::backend::cuda
