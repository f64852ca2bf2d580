#include "sim/exec/lower.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <utility>

#include "sim/exec/control.h"
#include "sim/exec/count.h"
#include "sim/exec/ops.h"
#include "sim/exec/shells.h"
#include "sim/exec/warp.h"
#include "sim/jit/translate.h"

namespace flexrack::sim::exec {

At place_of(const ptx::Operand& operand) {
  using Kind = ptx::Operand::Kind;
  const At negated = operand.is_negated ? kNegated : 0;
  switch (operand.kind) {
    case Kind::lanes: return operand.at | negated;
    case Kind::constant: return operand.at | kInConstants | negated;
    default: return kNowhere;
  }
}

namespace {

/// Branches and ends look at their guard themselves.
bool takes_guard(Op op) { return op == Op::bra || op == Op::exit || op == Op::ret; }

/// What may put a strand aside, or change its frame: guarded, it is jumped over by the lanes that skip it.
bool must_be_whole(Op op) {
  switch (op) {
    case Op::call:
    case Op::brx:
    case Op::bar_sync:
    case Op::bar_arrive:
    case Op::bar_red:
    case Op::bar_warp:
    case Op::barrier_cluster_arrive:
    case Op::barrier_cluster_wait:
    case Op::shfl:
    case Op::vote:
    case Op::match:
    case Op::redux:
    case Op::elect: return true;
    default: return false;
  }
}

class Lowering {
 public:
  Lowering(Code& code, Image& image) : code_(code), function_(*code.function), making_{image, function_} {}

  void make() {
    find_meetings();
    for (std::uint32_t i = 0; i < function_.code.size(); ++i) {
      starts_.push_back(static_cast<std::uint32_t>(code_.steps.size()));
      if (meetings_.contains(i)) add(marker());
      lower(function_.code[i]);
    }
    starts_.push_back(static_cast<std::uint32_t>(code_.steps.size()));
    const auto end = static_cast<std::uint32_t>(code_.steps.size());
    add(marker());
    Step leaving;
    leaving.run = leaves;
    add(leaving);
    resolve();
    code_.end = &code_.steps[end];
    make_tables();
    make_constants();
    begin_counting(code_);
    jit::translate(code_);
    finish_counting(code_);
  }

 private:
  /// A step whose target and meeting are still the numbers of instructions, or of steps.
  struct Link {
    std::uint32_t step;
    std::uint32_t target, meet;
    bool are_steps;
  };

  void find_meetings() {
    for (const auto& from : function_.code) {
      if ((from.op == Op::bra || from.op == Op::brx) && from.ways.reconverge != ptx::kNone)
        meetings_.insert(from.ways.reconverge);
      if (from.guard != ptx::kNone || from.op == Op::brx) code_.has_branches = true;
    }
  }

  static Step marker() {
    Step made;
    made.run = meets;
    return made;
  }

  void add(const Step& step) { code_.steps.push_back(step); }
  std::uint32_t next() const { return static_cast<std::uint32_t>(code_.steps.size()); }

  static At guard_of(const Instruction& from) {
    return from.guard == ptx::kNone ? kNowhere : from.guard | (from.is_guard_negated ? kNegated : 0);
  }

  void lower(const Instruction& from) {
    ++cost_;
    if (from.op == Op::bra) return lower_branch(from);
    const At guard = guard_of(from);
    const bool is_whole = guard != kNowhere && must_be_whole(from.op);
    if (is_whole) {
      // A branch around, for those whose guard does not hold.
      Step around;
      around.source = &from;
      around.guard = guard ^ kNegated;
      around.run = branch_handler(true, false);
      around.cost = 0;
      links_.push_back({next(), next() + 2, next() + 2, true});
      add(around);
    } else if (guard != kNowhere && !takes_guard(from.op)) {
      Step before;
      before.run = guards;
      before.source = &from;
      before.guard = guard;
      add(before);
    }
    Step step = plain(from);
    if (takes_guard(from.op)) step.guard = guard;
    add(step);
    const bool is_indirect = from.op == Op::call && function_.calls[from.index].callee == ptx::kNone;
    if (is_whole || is_indirect) add(marker());
  }

  void lower_branch(const Instruction& from) {
    Step step;
    step.source = &from;
    step.guard = guard_of(from);
    step.cost = take_cost();
    step.run = nullptr;  // when it is known whether it leads back
    links_.push_back({next(), from.ways.target, from.ways.reconverge, false});
    add(step);
  }

  std::uint64_t take_cost() { return std::exchange(cost_, 0); }

  Step plain(const Instruction& from) {
    Step step;
    step.source = &from;
    step.d = place_of(from.o[0]), step.a = place_of(from.o[1]), step.b = place_of(from.o[2]),
    step.c = place_of(from.o[3]), step.e = place_of(from.o[4]);
    step.run = find(from, step);
    if (step.run == nullptr) step.run = refuses;
    return step;
  }

  Handler find(const Instruction& from, Step& step) {
    if (const auto found = control_handler(making_, from)) {
      step.cost = take_cost();
      if (from.op == Op::brx) links_.push_back({next(), ptx::kNone, from.ways.reconverge, false});
      return found;
    }
    for (const auto family : {carry_handler, integer_handler, bit_handler, float_handler, minmax_handler, half_handler,
                              approximation_handler, convert_handler, special_handler}) {
      if (const auto found = family(from)) return found;
    }
    for (const auto family : {compare_family_handler, collective_handler}) {
      if (const auto found = family(from, step)) return found;
    }
    for (const auto family : {load_handler, store_handler, move_handler, address_handler, atomic_handler, copy_handler,
                              texture_handler, matrix_handler}) {
      if (const auto found = family(making_, from, step)) return found;
    }
    return barrier_handler(from);
  }

  void resolve() {
    const auto at = [&](std::uint32_t number, bool is_step) {
      return number == ptx::kNone ? nullptr : &code_.steps[is_step ? number : starts_[number]];
    };
    for (const auto& link : links_) {
      auto& step = code_.steps[link.step];
      step.meet = at(link.meet, link.are_steps);
      if (step.source->op == Op::brx && !link.are_steps) continue;
      step.target = at(link.target, link.are_steps);
      if (step.run == nullptr) step.run = branch_handler(step.guard != kNowhere, step.target <= &step);
    }
  }

  void make_tables() {
    for (const auto& table : function_.branch_tables) {
      auto& targets = code_.tables.emplace_back();
      for (const auto target : table.targets) targets.push_back(&code_.steps[starts_[target]]);
    }
  }

  void make_constants() {
    code_.constants = Aligned::make(function_.constants.size());
    if (!function_.constants.empty())
      std::memcpy(code_.constants.get(), function_.constants.data(), function_.constants.size());
  }

  Code& code_;
  const ptx::Function& function_;
  Making making_;
  std::set<std::uint32_t> meetings_;
  std::vector<std::uint32_t> starts_;
  std::vector<Link> links_;
  std::uint64_t cost_ = 0;
};

/// How deep a function's calls go, in bytes of local memory; `is_open`: nobody knows.
std::uint64_t depth_of(const ptx::Module& module, const ptx::Function& function, std::vector<std::int64_t>& known,
                       bool& is_open) {
  constexpr std::int64_t kUnderWay = -2, kUnknown = -1;
  auto& depth = known[function.index];
  if (depth == kUnderWay) is_open = true;
  if (depth != kUnknown) return depth < 0 ? 0 : static_cast<std::uint64_t>(depth);
  depth = kUnderWay;
  std::uint64_t deepest = 0;
  for (const auto& call : function.calls) {
    if (call.callee == ptx::kNone) {
      is_open = true;
      continue;
    }
    const auto& callee = *module.functions[call.callee];
    if (callee.builtin != ptx::Builtin::none) continue;
    deepest = std::max(
        deepest, std::max(callee.local_bytes, 16U) + callee.local_align + depth_of(module, callee, known, is_open));
  }
  known[function.index] = static_cast<std::int64_t>(deepest);
  return deepest;
}

}  // namespace

void make_ready(Code& code, Image& image) { Lowering(code, image).make(); }

std::uint32_t stack_of(const ptx::Module& module, const ptx::Function& kernel, std::uint32_t limit) {
  std::vector<std::int64_t> known(module.functions.size(), -1);
  bool is_open = false;
  std::uint64_t depth = depth_of(module, kernel, known, is_open);
  const bool allocates = std::any_of(module.functions.begin(), module.functions.end(), [](const auto& function) {
    return std::any_of(function->code.begin(), function->code.end(),
                       [](const Instruction& from) { return from.op == Op::alloca_; });
  });
  // .param variables of calls are in local memory here, where a GPU has registers: twice the limit holds what the limit
  // would.
  if (is_open || allocates) depth += 2 * std::uint64_t{limit};
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(depth, 1U << 30));
}

namespace {

std::atomic<bool> plain_loops_only{false};

}  // namespace

void use_plain_loops(bool plain) { plain_loops_only = plain; }

bool has_avx2() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
                          __builtin_cpu_supports("popcnt");
  return has && !plain_loops_only.load(std::memory_order_relaxed);
#else
  return false;
#endif
}

}  // namespace flexrack::sim::exec
