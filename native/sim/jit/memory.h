// Loads and stores inside a segment, for a whole warp at once. Where the lanes' addresses lie in memory that the step
// has met before, and in each eight lanes side by side or at one place, the access is made here; anything else, a fault
// among it, is left to the handler that carries the instruction out otherwise, which is called and after which the
// segment goes on.
#pragma once

#include <vector>

#include "sim/jit/line_emitter.h"
#include "sim/jit/registers.h"

namespace flexrack::sim::jit {

/// What a translated segment keeps on the stack.
struct StackFrame {
  static constexpr std::int32_t kControl = 0;  ///< MXCSR, as it was and as it is
  static constexpr std::int32_t kRounding = 8;  ///< the same around one instruction that rounds in another way
  static constexpr std::int32_t kPlans = 32, kPlanBytes = 64 + 256, kPlanCount = 6;
  static constexpr std::int32_t kOffsets = kPlans + kPlanBytes * kPlanCount,
                                kValues = kOffsets + 128;  ///< a word for each lane, for a moment
  static constexpr std::int32_t kBytes = kValues + 128 + 8;  ///< a call finds the stack at a multiple of 16
  static constexpr std::int32_t kWarp = kBytes, kStep = kBytes + 8;  ///< pushed before
};

inline constexpr unsigned kEights = ptx::kLanes / 8;

template <class T>
constexpr std::int32_t offset(T value) {
  return static_cast<std::int32_t>(value);
}

class MemoryEmitter {
 public:
  MemoryEmitter(const exec::Code& code, Assembler& to, Pool& pool, Registers& registers, const Segment& segment,
                bool is_partial, const Lines* lines, LineEmitter* line_emitter)
      : code_(code),
        to_(to),
        pool_(pool),
        at_(registers),
        first_(segment.first),
        flushes_(segment.flushes),
        is_partial_(is_partial),
        are_many_(are_many(segment)),
        lines_(lines),
        line_emitter_(line_emitter) {}

  void emit(const Item& item);
  /// What an item that is not for this class did to registers that plans were made for.
  void passed(const Item& item);
  /// The calls, that lie behind the rest of the code; `leave`: emits the way out, with the step to go to in rax.
  template <class Leave>
  void finish(const Leave& leave) {
    finish_plans();
    for (auto& call : calls_) {
      if (call.scattered != 0) gather(call);
      for (const auto jump : call.jumps) to_.land(jump);
      at_.at_item(call.item_number);
      at_.save(call.before);
      write_back_lines(call.item_number);
      const auto leaving = call_handler(*call.item);
      at_.at_item(call.item_number + 1);
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
  /// How the addresses in a register lie, found out once for all accesses by it: on the stack. A register that is
  /// another one and a number has the same plan.
  struct Plan {
    At place = kNowhere;
    unsigned stride = 0;
    std::int32_t at = 0;  ///< on the stack
    std::int32_t ahead = 0;  ///< what the register has more than what was looked at
    const Line* line =
        nullptr;  ///< of no plan on the stack: the address of all lanes is in rdx, and how they lie is known
    Gpr base() const { return line != nullptr ? rdx : rax; }
  };
  struct Call {
    const Item* item;
    unsigned item_number;
    std::vector<std::size_t> jumps;
    Registers::State before, after;
    std::size_t back;
    std::int32_t plan = 0;  ///< its addresses
    std::int32_t displacement = 0;
    std::size_t scattered = 0;  ///< a jump for lanes that are far from each other; 0: none
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
  // Offsets in a plan: a pointer for each eight lanes, the least and greatest address of all, their low bits, how each
  // eight lie (0: side by side; 1: at one place; 2: anyhow), whether any lies in no way we know. Where the first
  // two lanes already do not, nothing but that is known, and all addresses follow.
  static constexpr std::int32_t kPointers = 0, kLeast = 32, kGreatest = 40, kLowBits = 48, kKinds = 52, kOthers = 56,
                                kAddresses = 64;
  static constexpr std::uint8_t kApart = 2, kScattered = 4;  ///< of kOthers

  /// A register has something else now.
  void wrote(At place);
  Plan plan_for(const Item& item, unsigned stride);
  void make_plan(const Item& item, std::int32_t plan, unsigned stride);
  void make_plan_by_eights(const Item& item, std::int32_t plan, unsigned stride);
  void finish_plans();
  void scatter_plan(const Apart& one);
  void gather(Call& call);
  static bool are_many(const Segment& segment);
  void bring_next(const Item& item, std::size_t number, unsigned bytes);
  void check_range(const Item& item, const Plan& plan, unsigned bytes, Call& call);
  void access(const Item& item);
  void add_in_shared(const Item& item);
  void check_line(const Item& item, const Line& line, unsigned bytes, std::vector<std::size_t>& jumps);
  void check_bounds(const Item& item, unsigned bytes, std::vector<std::size_t>& jumps);
  /// Whether lanes may lie side by side, at one place; where both are so, a test that jumps to the latter.
  bool may_be_apart(const Plan& how) const { return how.line == nullptr || how.line->stride != 0; }
  bool may_be_same(const Plan& how) const { return how.line == nullptr || how.line->stride == 0; }
  void point(const Plan& how, unsigned part);
  template <class SideBySide, class Same>
  void either(const Plan& how, unsigned part, const SideBySide& side_by_side, const Same& same);
  void write_back_lines(unsigned number) {
    if (line_emitter_ != nullptr) line_emitter_->write_back(number);
  }
  void check_guard(const Item& item, std::vector<std::size_t>& jumps);
  void load(const Item& item, const Plan& plan, unsigned part);
  void store(const Item& item, const Plan& plan, unsigned part);
  void load_lone(const Item& item, const Plan& plan, unsigned part);
  void store_lone(const Item& item, const Plan& plan, unsigned part);
  void load_pair(const Item& item, const Plan& plan, unsigned part);
  void store_pair(const Item& item, const Plan& plan, unsigned part);
  /// Where an item's access for eight lanes is behind a plan's pointer.
  static std::int32_t displacement_of(const Item& item, const Plan& plan, unsigned part = 0) {
    const std::int64_t lanes = plan.line != nullptr ? 8 * part * plan.line->stride : 0;
    return static_cast<std::int32_t>(item.step->displacement + plan.ahead + lanes);
  }
  void exchange(const Item& item);
  std::size_t call_handler(const Item& item);
  Source iota(unsigned stride, bool is_wide, bool is_upper);

  const exec::Code& code_;
  Assembler& to_;
  Pool& pool_;
  Registers& at_;
  const Step* first_;  ///< of the segment
  bool flushes_;  ///< the processor takes subnormals for zero, which handlers do not expect that compute
  bool is_partial_;
  bool are_many_;  ///< accesses of a loop
  const Lines* lines_;
  LineEmitter* line_emitter_;
  unsigned number_ = 0;
  std::vector<Plan> plans_;
  unsigned next_plan_ = 0;
  std::vector<Call> calls_;
  std::vector<Apart> apart_;
  std::vector<std::size_t> leaving_;
};

/// Code for eight lanes that lie side by side, and for eight at one place: what is known, or both behind a test.
template <class SideBySide, class Same>
void MemoryEmitter::either(const Plan& how, unsigned part, const SideBySide& side_by_side, const Same& same) {
  if (!may_be_same(how)) return side_by_side();
  if (!may_be_apart(how)) return same();
  to_.compare8(rsp, how.at + kKinds + static_cast<std::int32_t>(part), 0);
  const auto to_same = to_.jump(Assembler::Condition::differs);
  side_by_side();
  const auto over = to_.jump(Assembler::Condition::always);
  to_.land(to_same);
  same();
  to_.land(over);
}

}  // namespace flexrack::sim::jit
