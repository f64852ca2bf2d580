// Two processes that are told the same put their modules at the same addresses (docs/adr/0080).
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/driver/program.h"

namespace flexrack::sim {

/// From now on where a module lies follows from that number, from its code and from how often that code was loaded
/// before: not from what else the process does, nor when. 0: as ever.
void lay_out_alike(std::uint64_t seed);

/// Where a module that is being made is to lie.
struct Place {
  std::uint64_t functions = 0;   ///< its functions' addresses begin there; 0: wherever
  std::uint64_t variables = 0;   ///< the first of its variables; 0: wherever
};
Place next_place(const Program& program);

}  // namespace flexrack::sim
