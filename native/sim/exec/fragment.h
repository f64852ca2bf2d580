// Where a lane's elements lie in the matrices of mma (PTX ISA 9.0, 9.7.14.5).
#pragma once

#include "sim/ptx/program.h"

namespace flexrack::sim::exec {

struct Place {
  unsigned row, column;
};

/// `each` elements a register; the lane's group is g and its place in it t.
inline Place mma_place(ptx::Fragment fragment, const ptx::Matrix& shape, unsigned lane, unsigned at, unsigned each) {
  const unsigned g = lane / 4, t = lane % 4, r = at / each, j = at % each;
  const bool is_tall = shape.m == 16;
  switch (fragment) {
    case ptx::Fragment::a:
      return is_tall ? Place{g + 8 * (r & 1), t * each + j + (r >> 1) * 4 * each}
                     : Place{g, t * each + j + r * 4 * each};
    case ptx::Fragment::b: return {t * each + j + r * 4 * each, g};
    default: return is_tall ? Place{g + 8 * (at >> 1), t * 2 + (at & 1)} : Place{g, t * 2 + at};
  }
}

}  // namespace flexrack::sim::exec
