// The form in which code runs: one step an instruction, 64 bytes, that begins with the function that carries it out for
// a warp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/jit/code_memory.h"
#include "sim/ptx/program.h"

namespace flexrack::sim::exec {

struct Step;
struct Warp;
struct Code;

/// Returns the step that follows, or nullptr where the warp cannot just go on: Warp::why says it.
using Handler = const Step* (*)(Warp&, const Step*);

/// Where a register or constant is: an offset into the frame, or with bit 0 into the constants; bit 1: a predicate that
/// is negated.
using At = std::uint32_t;
inline constexpr At kNowhere = 0xffffffff;
inline constexpr At kInConstants = 1, kNegated = 2;

struct Step {
  Handler run = nullptr;
  At d = kNowhere, a = kNowhere, b = kNowhere, c = kNowhere, e = kNowhere;
  At guard = kNowhere;  ///< of branches and exits; of the step before a guarded one
  union {
    std::int64_t displacement = 0;  ///< of memory accesses; where a value is needed at once: the value
    const Step* target;  ///< of branches
  };
  union {
    const Step* meet = nullptr;  ///< of branches: where the lanes that take different ways meet; nullptr: nowhere
    Handler inner;  ///< what a handler calls for a part of its work
    const ptx::Operand* extra;  ///< of vectors: all elements
  };
  const ptx::Instruction* source = nullptr;
  union {
    std::uint64_t cost = 1;  ///< of control steps: instructions since the one before
    const ptx::Operand* others;  ///< a second list
  };
};
static_assert(sizeof(Step) == 64);

/// 64-byte aligned bytes.
struct Aligned {
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  static std::unique_ptr<std::byte[], Free> make(std::size_t size);
};
using AlignedBytes = std::unique_ptr<std::byte[], Aligned::Free>;

/// A function made ready.
struct Code {
  const ptx::Function* function = nullptr;
  std::vector<Step> steps;
  AlignedBytes constants;
  const Step* end = nullptr;  ///< of device functions: where all lanes meet before they return
  std::vector<std::vector<const Step*>> tables;  ///< of indexed branches
  bool has_branches = false;  ///< lanes may come to the end by different ways
  jit::CodeMemory machine_code;  ///< what some steps' handlers are in
  struct Counted {
    Handler run;
    std::uint64_t* counter;  ///< nullptr: of no instruction
  };
  std::vector<Counted> counted;  ///< for each step what it was carried out by, where that is counted (count.h)
};

}  // namespace flexrack::sim::exec
