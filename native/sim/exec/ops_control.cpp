#include <bit>

#include "sim/exec/block.h"
#include "sim/exec/calls.h"
#include "sim/exec/control.h"
#include "sim/exec/numbers.h"
#include "sim/exec/opcode_text.h"
#include "sim/exec/spaces.h"

namespace flexrack::sim::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// After a branch: on, or where it led back, only while there is budget.
template <bool Backward>
FLEXRACK_INLINE const Step* goes(Warp& warp, const Step* next) {
  if constexpr (Backward) {
    if (warp.budget <= 0) return warp.pause(next, Why::pause);
  }
  return next;
}

template <bool Backward>
const Step* jumps(Warp& warp, const Step* step) {
  warp.budget -= static_cast<std::int64_t>(step->cost);
  return goes<Backward>(warp, step->target);
}

template <bool Backward>
const Step* branches(Warp& warp, const Step* step) {
  warp.budget -= static_cast<std::int64_t>(step->cost);
  const u32 taken = warp.mask & warp.predicate_by_eights(step->guard);
  if (taken == 0) return step + 1;
  if (taken == warp.mask) return goes<Backward>(warp, step->target);
  const Step* next = warp.branch(step, taken);
  return next == step->target ? goes<Backward>(warp, next) : next;
}

/// By a table: o[0] is the index; lanes with the same target go together.
const Step* branches_by_table(Warp& warp, const Step* step) {
  warp.budget -= static_cast<std::int64_t>(step->cost);
  const auto* index = warp.registers<const u32>(step->d);
  const auto* table = warp.frame->code->tables[step->source->index].data();
  const auto count = warp.frame->code->tables[step->source->index].size();
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    if (index[lane] >= count)
      return warp.fault(Fault::Kind::illegal_instruction, step, lane, 0, 0, false,
                        "branch index " + std::to_string(index[lane]) + " is beyond the table");
  }
  const auto going_to = [&](const Step* target, u32 among) {
    u32 lanes = 0;
    for (u32 left = among; left != 0; left &= left - 1) {
      if (table[index[std::countr_zero(left)]] == target) lanes |= left & (0 - left);
    }
    return lanes;
  };
  const Step* first = table[index[std::countr_zero(warp.mask)]];
  const u32 mine = going_to(first, warp.mask);
  u32 rest = warp.mask & ~mine;
  if (rest != 0) {
    if (step->meet != nullptr &&
        !(warp.join != nullptr && warp.join->at == step->meet && warp.join->frame == warp.frame)) {
      warp.join = warp.block->new_join({step->meet, warp.frame, warp.mask, 0, warp.join});
    }
    while (rest != 0) {
      const Step* target = table[index[std::countr_zero(rest)]];
      const u32 lanes = going_to(target, rest);
      warp.others.push_back({target, warp.frame, warp.join, lanes, Strand::State::ready, 0});
      rest &= ~lanes;
    }
    warp.mask = mine;
  }
  return goes<true>(warp, first);
}

/// Into a function whose code may not have been made ready.
const Step* enter(Warp& warp, const Step* step, const ptx::Function& callee) {
  if (warp.budget <= 0) return warp.pause(step, Why::pause);
  if (callee.builtin != ptx::Builtin::none) return builtin_handler(callee.builtin)(warp, step);
  if (!callee.is_defined) return warp.unsupported(step, "call of " + callee.name + ", which is not defined");
  return warp.call(step, warp.block->grid().image.code(callee));
}

const Step* calls(Warp& warp, const Step* step) {
  warp.budget -= static_cast<std::int64_t>(step->cost);
  const auto& module = warp.block->grid().image.module();
  return enter(warp, step, *module.functions[warp.frame->code->function->calls[step->source->index].callee]);
}

/// Through a register: lanes with the same function go together, and meet behind the call.
const Step* calls_indirectly(Warp& warp, const Step* step) {
  const bool is_wide = step->source->o[0].width == ptx::Width::w64;
  const auto target_of = [&](unsigned lane) {
    return is_wide ? u64{warp.registers<const u64>(step->d)[lane]} : warp.registers<const u32>(step->d)[lane];
  };
  const auto first_lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  const u64 first = target_of(first_lane);
  u32 others = 0;
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    if (target_of(static_cast<unsigned>(std::countr_zero(left))) != first) others |= left & (0 - left);
  }
  const auto* callee = warp.block->grid().image.function_at(first);
  const auto& call = warp.frame->code->function->calls[step->source->index];
  if (callee == nullptr || callee->is_kernel || callee->parameters.size() < call.arguments.size() ||
      callee->results.size() < call.results.size()) {
    return warp.fault(Fault::Kind::bad_call, step, first_lane, first);
  }
  if (others != 0) {
    if (!(warp.join != nullptr && warp.join->at == step + 1 && warp.join->frame == warp.frame)) {
      warp.join = warp.block->new_join({step + 1, warp.frame, warp.mask, 0, warp.join});
    }
    warp.split(step, others);
  }
  warp.budget -= static_cast<std::int64_t>(step->cost);
  return enter(warp, step, *callee);
}

const Step* ends(Warp& warp, const Step* step) {
  warp.budget -= static_cast<std::int64_t>(step->cost);
  const u32 lanes = step->guard == kNowhere ? warp.mask : warp.mask & warp.predicate(step->guard);
  return lanes == 0 ? step + 1 : warp.end_lanes(step, lanes);
}

const Step* returns(Warp& warp, const Step* step) {
  warp.budget -= static_cast<std::int64_t>(step->cost);
  const u32 lanes = step->guard == kNowhere ? warp.mask : warp.mask & warp.predicate(step->guard);
  return lanes == 0 ? step + 1 : warp.return_lanes(step, lanes);
}

const Step* traps(Warp& warp, const Step* step) {
  return warp.fault(Fault::Kind::trap, step, static_cast<unsigned>(std::countr_zero(warp.mask)));
}

/// A time to sleep may be cut short: others run instead.
const Step* sleeps(Warp& warp, const Step* step) { return warp.pause(step + 1, Why::polls); }

const Step* nothing(Warp&, const Step* step) { return step + 1; }

}  // namespace

Handler branch_handler(bool is_conditional, bool is_backward) {
  if (is_conditional) return is_backward ? branches<true> : branches<false>;
  return is_backward ? jumps<true> : jumps<false>;
}

Handler control_handler(const Making& making, const Instruction& from) {
  switch (from.op) {
    case Op::nop: return nothing;
    case Op::brx: return branches_by_table;
    case Op::call: return making.function.calls[from.index].callee == ptx::kNone ? calls_indirectly : calls;
    case Op::exit: return ends;
    case Op::ret: return returns;
    case Op::trap:
    case Op::brkpt: return traps;
    case Op::nanosleep: return sleeps;
    default: return nullptr;
  }
}

const Step* guards(Warp& warp, const Step* step) {
  const u32 all = warp.mask, holding = all & warp.predicate(step->guard);
  if (holding == 0) return step + 2;
  warp.mask = holding;
  const Step* next = step[1].run(warp, step + 1);
  warp.mask = all;
  return next;
}

const Step* meets(Warp& warp, const Step* step) {
  if (warp.join == nullptr || warp.join->at != step || warp.join->frame != warp.frame) return step + 1;
  return warp.arrive(step);
}

const Step* leaves(Warp& warp, const Step* step) { return warp.leave(step); }

const Step* refuses(Warp& warp, const Step* step) {
  const auto& from = *step->source;
  if (from.op == Op::unsupported) return warp.unsupported(step, warp.frame->code->function->texts[from.index]);
  return warp.unsupported(step, opcode_text(from));
}

}  // namespace flexrack::sim::exec
