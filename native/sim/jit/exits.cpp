#include "sim/jit/exits.h"

#include <algorithm>
#include <cstddef>

#include "sim/exec/control.h"
#include "sim/exec/count.h"
#include "sim/exec/warp.h"
#include "sim/jit/memory.h"
#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {

bool describe_exit(const Step& step, Item& item) {
  item.step = &step;
  item.is_whole = item.is_exit = true;
  if (step.source == nullptr) {
    // It belongs to no instruction; what is needed there is what is needed behind the one before.
    item.from = (&step)[-1].source;
    return step.run == exec::meets && item.from != nullptr;
  }
  item.from = step.source;
  const bool is_end = step.source->op == Op::exit || step.source->op == Op::ret;
  if (step.guard == kNowhere || (!is_end && step.run != exec::branch_handler(true, false))) return false;
  item.reads[0] = {step.guard, Form::mask};
  return true;
}

/// rax: the step of an item.
void Exits::go_to(unsigned number) {
  if (!code_.counted.empty()) {
    const auto skipped = std::count_if(segment_.items.begin() + number, segment_.items.end(),
                                       [](const Item& item) { return item.step->source != nullptr; });
    to_.add_to_counter(&exec::all_counts().called, static_cast<std::uint32_t>(skipped));
  }
  to_.load64(rax, rsp, StackFrame::kStep);
  const auto steps = segment_.items[number].step - segment_.first;
  to_.add64(rax, static_cast<std::int32_t>(steps) * static_cast<std::int32_t>(sizeof(Step)));
}

/// The processor's flags: equal where it holds for no lane.
void Exits::holds_for_any(const Item& item, bool is_negated) {
  at_.at_lanes(0);
  const unsigned all = at_.fresh();
  for (unsigned eight = 0; eight < exec::kLanes / 8; ++eight) {
    const unsigned holds = at_.take(item.reads[0], eight);
    if (eight == 0) to_.vector(v::move, all, 0, Source::vector(holds));
    else to_.vector(is_negated ? v::and_ : v::or_, all, all, Source::vector(holds));
  }
  to_.vector(v::signs, rax, 0, Source::vector(all));
  at_.release();
  if (is_negated) to_.bytes({0x3c, 0xff});  // cmp al, 0xff
  else to_.bytes({0x84, 0xc0});             // test al, al
}

bool Exits::emit(const Item& item, unsigned number) {
  if (is_partial_) {
    at_.save(at_.state());
    go_to(number);
    return false;
  }
  if (item.step->source == nullptr) {
    to_.compare_with_zero64(rdi, static_cast<std::int32_t>(offsetof(exec::Warp, join)));
    exits_.push_back({number, to_.jump(Assembler::Condition::differs), at_.state(), false});
    return true;
  }
  const bool is_negated = item.reads[0].at & kNegated;
  auto when = Assembler::Condition::differs;
  if (const Line* line = lines_ == nullptr ? nullptr : lines_->find(item.reads[0].at, number)) {
    to_.compare_with_zero32(rdi, slot_offset(*line));
    if (is_negated) when = Assembler::Condition::equal;
  } else {
    holds_for_any(item, is_negated);
  }
  exits_.push_back({number, to_.jump(when), at_.state(), false});
  to_.set32(rax, static_cast<std::uint32_t>(item.step->cost));
  to_.subtract_from64(rax, rdi, static_cast<std::int32_t>(offsetof(exec::Warp, budget)));
  return true;
}

}  // namespace flexrack::sim::jit
