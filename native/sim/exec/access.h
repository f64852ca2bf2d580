// Where memory accesses go: lane by lane, checked.
#pragma once

#include <cstdint>

#include "sim/exec/warp.h"

namespace flexrack::sim::exec {

/// An operand that is an address, made ready.
struct Address {
  ptx::Space space = ptx::Space::generic;
  At base = kNowhere;                 ///< kNowhere: displacement is all of it
  ptx::Width width = ptx::Width::w64;
  std::int64_t displacement = 0;
};

/// The address of a step whose base is in `a`.
Address address_of(const Step& step);
/// The same of an operand of an instruction, in that space.
Address address_in(const Warp& warp, const ptx::Instruction& from, const ptx::Operand& operand, ptx::Space space);

/// Fills Warp::targets for the lanes of the warp's mask; each goes to `size` bytes, aligned to `align`. False: a fault,
/// and Warp::why says so.
bool locate(Warp& warp, const Step* step, const Address& address, std::uint32_t size, bool is_write,
            std::uint32_t align);
inline bool locate(Warp& warp, const Step* step, std::uint32_t size, bool is_write) {
  return locate(warp, step, address_of(*step), size, is_write, size);
}

/// The same for addresses of memory or of a window, one a lane.
bool locate_generic(Warp& warp, const Step* step, const std::uint64_t* addresses, std::uint32_t size, bool is_write,
                    std::uint32_t align);

/// One address, for what the executor reads itself (strings of printf). nullptr: not the kernel's.
std::byte* find_bytes(Warp& warp, unsigned lane, std::uint64_t address, std::uint64_t size, bool is_write);

}  // namespace flexrack::sim::exec
