// Where lanes may leave a segment: a branch that none of them takes, mostly, or a place where nobody waits for them.
// What does happen is left to the interpreter, which begins at that step.
#pragma once

#include <vector>

#include "sim/jit/registers.h"

namespace flexrack::sim::jit {

/// A step that can be a side exit: a conditional branch on, a guarded end, or where lanes meet. Describes it.
bool describe_exit(const Step& step, Item& item);

class Exits {
 public:
  Exits(const exec::Code& code, Assembler& to, Registers& registers, const Segment& segment, bool is_partial)
      : code_(code), to_(to), at_(registers), segment_(segment), is_partial_(is_partial) {}

  /// False: the code ends there, with the step to go to in rax. Where only some lanes work it always does.
  bool emit(const Item& item, unsigned number);
  /// The ways out, behind the rest of the code; `leave` as of MemoryEmitter::finish().
  template <class Leave>
  void finish(const Leave& leave) {
    for (const auto& exit : exits_) {
      to_.land(exit.jump);
      at_.at_item(exit.number);
      at_.save(exit.state);
      go_to(exit.number);
      leave();
    }
  }

 private:
  struct Exit {
    unsigned number;
    std::size_t jump;
    Registers::State state;
  };
  void go_to(unsigned number);

  const exec::Code& code_;
  Assembler& to_;
  Registers& at_;
  const Segment& segment_;
  bool is_partial_;
  std::vector<Exit> exits_;
};

}  // namespace flexrack::sim::jit
