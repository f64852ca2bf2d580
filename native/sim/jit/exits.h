// Where lanes may leave a segment: a branch that none of them takes, mostly, or a place where nobody waits for them.
// What does happen is left to the interpreter, which begins at that step.
#pragma once

#include <vector>

#include "sim/jit/line_emitter.h"
#include "sim/jit/registers.h"

namespace flexrack::sim::jit {

/// A step that can be a side exit: a conditional branch on, a guarded end, or where lanes meet. Describes it.
bool describe_exit(const Step& step, Item& item);

class Exits {
 public:
  /// `lines`, `line_emitter`: of a loop whose registers lie evenly, or none.
  Exits(const exec::Code& code, Assembler& to, Registers& registers, const Segment& segment, bool is_partial,
        const Lines* lines, LineEmitter* line_emitter)
      : code_(code),
        to_(to),
        at_(registers),
        segment_(segment),
        is_partial_(is_partial),
        lines_(lines),
        line_emitter_(line_emitter) {}

  /// False: the code ends there, with the step to go to in rax. Where only some lanes work it always does.
  bool emit(const Item& item, unsigned number);
  /// Lanes leave at an item, before anything of it, and do not lie evenly in this loop any more.
  void leave_lines(unsigned number, const std::vector<std::size_t>& jumps) {
    for (const auto jump : jumps) exits_.push_back({number, jump, at_.state(), true});
  }
  /// The ways out, behind the rest of the code; `leave` as of MemoryEmitter::finish().
  template <class Leave>
  void finish(const Leave& leave) {
    for (const auto& exit : exits_) {
      to_.land(exit.jump);
      at_.at_item(exit.number);
      at_.save(exit.state);
      if (line_emitter_ != nullptr) line_emitter_->write_back(exit.number);
      if (exit.is_apart) line_emitter_->give_up(true);
      go_to(exit.number);
      leave();
    }
  }

 private:
  struct Exit {
    unsigned number;
    std::size_t jump;
    Registers::State state;
    bool is_apart = false;
  };
  void go_to(unsigned number);
  void holds_for_any(const Item& item, bool is_negated);

  const exec::Code& code_;
  Assembler& to_;
  Registers& at_;
  const Segment& segment_;
  bool is_partial_;
  const Lines* lines_;
  LineEmitter* line_emitter_;
  std::vector<Exit> exits_;
};

}  // namespace flexrack::sim::jit
