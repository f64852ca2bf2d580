// Why a kernel was stopped, and which thread was to blame.
#pragma once

#include <cstdint>
#include <string>

#include "sim/exec/dim3.h"

namespace flexrack::sim::exec {

struct Fault {
  enum class Kind : std::uint8_t {
    out_of_bounds,        ///< in no allocation, or over its end
    read_only,            ///< a write where only reads are allowed
    misaligned,           ///< not a multiple of the access's size
    stack_overflow,       ///< local memory or calls deeper than the stack's limit
    illegal_instruction,  ///< the text says what is unsupported or undefined
    bad_call,             ///< through a pointer that is no function of this module
    bad_object,           ///< a texture or surface that does not exist, or is of another kind
    bad_condition,        ///< cudaGraphSetConditional of what is no condition of the launch's graph
    surface_bounds,       ///< sust/suld .trap outside of the surface
    assertion,            ///< __assertfail
    trap,                 ///< trap, brkpt
    deadlock,             ///< all threads of a block wait at barriers that can never complete
    out_of_memory,        ///< this computer's, for the blocks themselves
    stopped,              ///< by the stop token
  };
  Kind kind = Kind::trap;
  std::string kernel;
  Dim3 block{0, 0, 0}, thread{0, 0, 0};
  std::uint64_t address = 0;  ///< as the kernel had it: an offset in shared and local memory
  std::uint32_t size = 0;     ///< bytes, of memory accesses
  bool is_write = false;
  std::string file;           ///< of .loc; empty: line is the PTX text's
  unsigned line = 0;
  std::string text;           ///< the instruction's name, ld.global.f32; of illegal instructions the reason too

  /// `out-of-bounds read of 4 bytes at 0x7f.. in kernel saxpy, block (0,0,0) thread (33,0,0), saxpy.cu:12
  /// (ld.global.f32)`
  std::string describe() const;
};

}  // namespace flexrack::sim::exec
