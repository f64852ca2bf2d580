// Generic addresses. Global and constant memory have their host addresses, which leave the highest byte zero; what a
// block or thread has of its own is seen through windows that the highest byte names, at the offsets that instructions
// with a state space use.
#pragma once

#include <cstdint>

namespace flexrack::sim::exec {

enum class Window : std::uint8_t { memory = 0, shared = 1, local = 2, param = 3, function = 4 };

inline constexpr unsigned kWindowShift = 56;
constexpr std::uint64_t window_base(Window window) { return static_cast<std::uint64_t>(window) << kWindowShift; }
constexpr Window window_of(std::uint64_t address) { return static_cast<Window>(address >> kWindowShift); }

/// Shared memory of another block of the cluster: its rank and one more lie above the offset; 0 there is the block's
/// own.
inline constexpr unsigned kClusterShift = 24;
constexpr std::uint32_t cluster_field(std::uint64_t address) {
  return static_cast<std::uint32_t>(address) >> kClusterShift;
}
constexpr std::uint32_t shared_offset(std::uint64_t address) {
  return static_cast<std::uint32_t>(address) & ((1U << kClusterShift) - 1);
}

}  // namespace flexrack::sim::exec
