// What a client may name by address: memory that its session has got, and nothing else of the worker's process, which a
// driver would take for memory of the host.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "gen/cuda/cuda.h"

namespace flexrack::backend::cuda {

struct Held;

/// Memory of the client's, by its address.
struct Allocation {
  enum class Sort : std::uint8_t {
    plain,
    mapped,  ///< by `allocate`, at an address of the client's choice
    pinned,  ///< mirrors memory of the application
    from_pool,
    mapping,  ///< by `map_memory`
    variable,  ///< of a module
    opened  ///< another session's, at the driver's address
  };
  Sort sort = Sort::plain;
  std::uint32_t device = 0;
  std::uint64_t context = 0;  ///< handle of the one it goes with; 0: none
  std::uint64_t size = 0;
  std::uint64_t charged = 0;
  std::uint64_t mapped = 0;  ///< bytes of address space of a mapped one
  CUmemGenericAllocationHandle memory = 0;  ///< of a mapped one
  std::uint64_t owner = 0;  ///< handle of the module or library it goes with
  std::shared_ptr<Held> share{};  ///< of a mapping: the share that its memory has; of what several sessions have

  std::uint64_t room() const { return sort == Sort::mapped ? mapped : size; }
  /// By `free` and `free_to_pool`.
  bool is_freeable() const {
    return sort == Sort::plain || sort == Sort::mapped || sort == Sort::pinned || sort == Sort::from_pool;
  }
};

/// Some bytes of memory.
struct Stretch {
  std::uint64_t at = 0, size = 0;
};

/// Stretches that do not meet. O(log n), at once for the stretch that was asked for last.
class AddressMap {
 public:
  using Stretches = std::map<std::uint64_t, Allocation>;
  using iterator = Stretches::iterator;

  /// Every byte of the range is in a stretch; several that lie side by side are one. A range of nothing is anywhere.
  bool holds(std::uint64_t at, std::uint64_t size) const {
    if (size == 0 || (at >= last_start_ && at < last_end_ && size <= last_end_ - at)) return true;
    auto stretch = stretches_.upper_bound(at);
    if (stretch == stretches_.begin()) return false;
    --stretch;
    const auto start = stretch->first;
    auto end = start + stretch->second.room();
    if (at >= end) return false;
    while (size > end - at) {
      if (++stretch == stretches_.end() || stretch->first != end) return false;
      end += stretch->second.room();
    }
    last_start_ = start;
    last_end_ = end;
    return true;
  }
  /// Nothing lies in the range.
  bool is_free(std::uint64_t at, std::uint64_t size) const {
    const auto after = stretches_.lower_bound(at);
    if (after != stretches_.end() && after->first - at < size) return false;
    if (after == stretches_.begin()) return true;
    const auto before = std::prev(after);
    return before->first + before->second.room() <= at;
  }
  /// False where it is empty, does not end, or meets another.
  bool add(std::uint64_t at, Allocation one) {
    std::uint64_t end = 0;
    const auto room = one.room();
    if (room == 0 || __builtin_add_overflow(at, room, &end) || !is_free(at, room)) return false;
    return stretches_.emplace(at, std::move(one)).second;
  }
  /// Nothing is known there any more; `gone` is shown what was.
  template <class Gone>
  void evict(std::uint64_t at, std::uint64_t size, Gone&& gone) {
    if (is_free(at, size)) return;
    auto one = stretches_.upper_bound(at);
    if (one != stretches_.begin() && std::prev(one)->first + std::prev(one)->second.room() > at) --one;
    while (one != stretches_.end() && (one->first <= at || one->first - at < size)) {
      gone(one->second);
      one = erase(one);
    }
  }
  iterator find(std::uint64_t at) { return stretches_.find(at); }
  iterator begin() { return stretches_.begin(); }
  iterator end() { return stretches_.end(); }
  std::size_t size() const { return stretches_.size(); }
  /// Grows whenever something is taken out: until then what was held still is.
  std::uint64_t removals() const { return removals_; }
  iterator erase(iterator stretch) {
    removed();
    return stretches_.erase(stretch);
  }
  void erase(iterator first, iterator after) {
    removed();
    stretches_.erase(first, after);
  }
  template <class Goes>
  void erase_if(Goes&& goes) {
    removed();
    std::erase_if(stretches_, [&](auto& stretch) { return goes(stretch.first, stretch.second); });
  }
  void clear() {
    removed();
    stretches_.clear();
  }

 private:
  void removed() {
    last_start_ = last_end_ = 0;
    ++removals_;
  }

  Stretches stretches_;
  std::uint64_t removals_ = 0;
  mutable std::uint64_t last_start_ = 0, last_end_ = 0;  ///< where the last question's answer was yes
};

}  // namespace flexrack::backend::cuda
