// How control flows through a function: blocks of instructions, and where lanes that took different ways meet again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/ptx/program.h"

namespace flexrack::sim::ptx {

struct Flow {
  struct Node {
    std::uint32_t first = 0, end = 0;   ///< instructions; of a branch table none
    std::uint32_t successor_first = 0, successor_count = 0;
  };
  std::vector<Node>
      nodes;  ///< blocks by first instruction, then one for each branch table, so that many branches may share one
  std::vector<std::uint32_t> successor_list;
  std::uint32_t block_count = 0;

  std::span<const std::uint32_t> successors(std::uint32_t node) const {
    return {successor_list.data() + nodes[node].successor_first, nodes[node].successor_count};
  }
};

/// Of code whose branch targets are all inside it.
Flow flow_of(const Function& function);

/// Ends the code with ret or exit, turns guarded branches to one into one, and sets every branch's point of
/// reconvergence.
void close_flow(Function& function);

}  // namespace flexrack::sim::ptx
