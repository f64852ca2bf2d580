// Loads and stores inside a segment, for a whole warp at once. Where the lanes' addresses lie in memory that the step has met before, and in each eight lanes side by side or at one place, the access is
// made here; anything else, a fault among it, is left to the handler that carries the instruction out otherwise, which is called and after which the segment goes on.
#pragma once

#include <vector>

#include "sim/jit/registers.h"

namespace flexrack::sim::jit {

/// What a translated segment keeps on the stack.
struct StackFrame {
  static constexpr std::int32_t kControl = 0;          ///< MXCSR, as it was and as it is
  static constexpr std::int32_t kRounding = 8;         ///< the same around one instruction that rounds in another way
  static constexpr std::int32_t kPlans = 32, kPlanBytes = 64, kPlanCount = 6;
  static constexpr std::int32_t kBytes = kPlans + kPlanBytes * kPlanCount + 8;   ///< a call finds the stack at a multiple of 16
  static constexpr std::int32_t kWarp = kBytes, kStep = kBytes + 8;              ///< pushed before
};

class MemoryEmitter {
 public:
  MemoryEmitter(const exec::Code& code, Assembler& to, Pool& pool, Registers& registers, const Step* first, bool is_partial)
      : code_(code), to_(to), pool_(pool), at_(registers), first_(first), is_partial_(is_partial) {}

  void emit(const Item& item);
  /// What a register's plan was made for is not there any more.
  void wrote(At place);
  /// The calls, that lie behind the rest of the code; `leave`: emits the way out, with the step to go to in rax.
  template <class Leave>
  void finish(const Leave& leave) {
    finish_plans();
    for (auto& call : calls_) {
      for (const auto jump : call.jumps) to_.land(jump);
      at_.at_item(call.item_number);
      at_.save(call.before);
      const auto leaving = call_handler(*call.item);
      at_.restore(call.after);
      to_.jump_back(Assembler::Condition::always, call.back);
      to_.land(leaving);
      leave();
    }
    for (const auto jump : leaving_) {
      to_.land(jump);
      leave();
    }
  }
  void at_item(unsigned number) { number_ = number; }

 private:
  /// How the addresses in a register lie, found out once for all accesses by it: on the stack.
  struct Plan {
    At place = kNowhere;
    unsigned stride = 0;
  };
  struct Call {
    const Item* item;
    unsigned item_number;
    std::vector<std::size_t> jumps;
    Registers::State before, after;
    std::size_t back;
  };
  /// A plan that is made eight by eight, behind the rest.
  struct Apart {
    const Item* item;
    unsigned item_number;
    std::int32_t plan;
    unsigned stride;
    std::size_t jump;
    Registers::State state;
    std::size_t back;
  };
  // Offsets in a plan: a pointer for each eight lanes, the least and greatest address of all, their low bits, how each eight lie, whether any lies in no way we know.
  static constexpr std::int32_t kPointers = 0, kLeast = 32, kGreatest = 40, kLowBits = 48, kKinds = 52, kOthers = 56;

  std::int32_t plan_for(const Item& item, unsigned stride);
  void make_plan(const Item& item, std::int32_t plan, unsigned stride);
  void make_plan_by_eights(const Item& item, std::int32_t plan, unsigned stride);
  void finish_plans();
  void check_range(const Item& item, std::int32_t plan, unsigned bytes, std::vector<std::size_t>& jumps);
  void check_guard(const Item& item, std::vector<std::size_t>& jumps);
  void load(const Item& item, std::int32_t plan, unsigned part);
  void store(const Item& item, std::int32_t plan, unsigned part);
  void load_lone(const Item& item, std::int32_t plan, unsigned part);
  void store_lone(const Item& item, std::int32_t plan, unsigned part);
  void exchange(const Item& item);
  std::size_t call_handler(const Item& item);
  Source iota(unsigned stride, bool is_wide, bool is_upper);

  const exec::Code& code_;
  Assembler& to_;
  Pool& pool_;
  Registers& at_;
  const Step* first_;                ///< of the segment
  bool is_partial_;
  unsigned number_ = 0;
  std::array<Plan, StackFrame::kPlanCount> plans_;
  unsigned next_plan_ = 0;
  std::vector<Call> calls_;
  std::vector<Apart> apart_;
  std::vector<std::size_t> leaving_;
};

}  // namespace flexrack::sim::jit
