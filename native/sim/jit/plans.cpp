// How the addresses of a warp's lanes lie (memory.h).
#include <algorithm>
#include <cstddef>

#include "sim/exec/warp.h"
#include "sim/jit/memory.h"
#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {

/// 0, 1, 2 ... times the stride.
Source MemoryEmitter::iota(unsigned stride, bool is_wide, bool is_upper) {
  return pool_.series(stride, is_wide, is_upper ? 4 : 0);
}

void MemoryEmitter::wrote(At place) {
  std::erase_if(plans_, [place](const Plan& plan) { return plan.place == place; });
}

/// Where a number is added to a register that has plans they stay, for another place.
void MemoryEmitter::passed(const Item& item) {
  constexpr std::int64_t kFar = 1 << 24;
  std::vector<Plan> moved;
  const Use& by = item.reads[1];
  const Type type = item.from->type;
  const bool is_integer = type == Type::u32 || type == Type::s32 || type == Type::u64 || type == Type::s64;
  const bool is_sum = is_integer && (item.from->op == Op::add || item.from->op == Op::sub) && item.guard == kNowhere &&
                      item.reads[0].at == item.writes[0].at && by.at != kNowhere && (by.at & kInConstants);
  std::uint64_t value = 0;
  if (is_sum && (by.form == Form::word || by.form == Form::wide) && constant_of(code_, by, value)) {
    auto more =
        by.form == Form::wide ? static_cast<std::int64_t>(value) : std::int64_t{static_cast<std::int32_t>(value)};
    if (item.from->op == Op::sub) more = more > -kFar && more < kFar ? -more : kFar;
    for (auto plan : plans_) {
      // What says whether accesses are aligned stays as it is.
      if (plan.place != item.reads[0].at || more <= -kFar || more >= kFar || more % 16 != 0) continue;
      plan.ahead += static_cast<std::int32_t>(more);
      if (plan.ahead > -kFar && plan.ahead < kFar) moved.push_back(plan);
    }
  }
  for (const auto& use : item.writes) wrote(use.at);
  plans_.insert(plans_.end(), moved.begin(), moved.end());
}

MemoryEmitter::Plan MemoryEmitter::plan_for(const Item& item, unsigned stride) {
  const At place = item.reads[0].at;
  for (const auto& plan : plans_) {
    if (plan.place == place && plan.stride == stride) return plan;
  }
  const auto at =
      StackFrame::kPlans + static_cast<std::int32_t>(next_plan_++ % StackFrame::kPlanCount) * StackFrame::kPlanBytes;
  std::erase_if(plans_, [at](const Plan& plan) { return plan.at == at; });
  make_plan(item, at, stride);
  return plans_.emplace_back(Plan{place, stride, at, 0});
}

/// Where all lanes lie side by side, which most do and one test tells, the plan is made of the first lane's address;
/// anything else is looked at eight by eight, behind the rest of the code.
void MemoryEmitter::make_plan(const Item& item, std::int32_t plan, unsigned stride) {
  const Use& base = item.reads[0];
  const bool is_wide = base.form == Form::wide;
  const unsigned lanes = is_wide ? 4 : 8;
  at_.release();
  const unsigned first = at_.take(base, 0), from = at_.fresh(), differs = at_.fresh(), here = at_.fresh();
  const std::array<unsigned, 3> kept{from, differs, here};
  to_.vector(is_wide ? v::spread64 : v::spread32, from, 0, Source::vector(first));
  for (unsigned part = 0; part < exec::kLanes / lanes; ++part) {
    at_.release_fresh(kept, kept);
    to_.vector(is_wide ? v::add64 : v::add32, here, from, pool_.series(stride, is_wide, part * lanes));
    to_.vector(v::xor_, part == 0 ? differs : here, here, at_.last(base, part));
    if (part != 0) to_.vector(v::or_, differs, differs, Source::vector(here));
  }
  to_.vector(v::test, differs, 0, Source::vector(differs));
  to_.vector(is_wide ? v::to_gpr64 : v::to_gpr32, from, 0,
             Source::vector(rax));  // behind what may have to be written back for room
  at_.release();
  apart_.push_back({&item, number_, plan, stride, to_.jump(Assembler::Condition::differs), at_.state(), 0});
  if (!is_wide) to_.add64(rax, rdi, offset(offsetof(exec::Warp, shared_memory)));
  to_.store64(rax, rsp, plan + kPointers);
  to_.store64(rax, rsp, plan + kLeast);
  to_.store32(rax, rsp, plan + kLowBits);
  for (unsigned eight = 1; eight < kEights; ++eight) {
    to_.lea64(rcx, rax, offset(8 * stride * eight));
    to_.store64(rcx, rsp, plan + kPointers + 8 * offset(eight));
  }
  to_.lea64(rcx, rax, offset((exec::kLanes - 1) * stride));
  to_.store64(rcx, rsp, plan + kGreatest);
  to_.bytes({0x31, 0xc9});                             // xor ecx, ecx
  to_.store32(rcx, rsp, plan + kKinds);
  to_.store8(rcx, rsp, plan + kOthers);
  apart_.back().back = to_.size();
}

void MemoryEmitter::finish_plans() {
  for (const auto& one : apart_) {
    to_.land(one.jump);
    at_.at_item(one.item_number);
    if (one.item->reads[0].form == Form::wide) scatter_plan(one);
    at_.save(one.state);
    at_.forget_all();
    make_plan_by_eights(*one.item, one.plan, one.stride);
    at_.restore(one.state);
    to_.jump_back(Assembler::Condition::always, one.back);
  }
}

/// Where the first two lanes are neither side by side nor at one place: goes back, with all addresses beside the plan.
void MemoryEmitter::scatter_plan(const Apart& one) {
  const Use& base = one.item->reads[0];
  const unsigned first = at_.seen_in(one.state, base, 0);
  to_.vector(v::to_gpr64, first, 0, Source::vector(rax));
  to_.vector(v::take64, first, 0, Source::vector(rcx), 1);
  to_.scalar(Assembler::sub, true, rcx, rax);
  const auto at_one_place = to_.jump(Assembler::Condition::equal);
  to_.add64(rcx, -offset(one.stride));
  const auto side_by_side = to_.jump(Assembler::Condition::equal);
  for (unsigned part = 0; part < exec::kLanes / 4; ++part)
    to_.vector(v::store, at_.seen_in(one.state, base, part), 0,
               Source::memory(rsp, one.plan + kAddresses + 32 * offset(part)));
  to_.set32(rax, kApart | kScattered);
  to_.store8(rax, rsp, one.plan + kOthers);
  to_.load64(rcx, rdi, offset(offsetof(exec::Warp, ranges)));
  to_.increment64(rcx, offset(offsetof(exec::RangeCache, scattered)));
  to_.jump_back(Assembler::Condition::always, one.back);
  to_.land(at_one_place);
  to_.land(side_by_side);
}

/// In vector code how each eight lie, the rest by ordinary arithmetic: rax is a pointer, rcx how eight lie, rdx and rsi
/// for a moment.
void MemoryEmitter::make_plan_by_eights(const Item& item, std::int32_t plan, unsigned stride) {
  const Use& base = item.reads[0];
  const bool is_wide = base.form == Form::wide;
  for (unsigned eight = 0; eight < kEights; ++eight) {
    at_.release();  // of the lanes before none may leave: the handler may be called yet
    const unsigned first = at_.take(base, is_wide ? 2 * eight : eight), same = at_.fresh(), apart = at_.fresh();
    to_.vector(is_wide ? v::spread64 : v::spread32, apart, 0, Source::vector(first));
    if (is_wide) {
      const unsigned second = at_.take(base, 2 * eight + 1), other = at_.fresh(), more = at_.fresh();
      to_.vector(v::sub64, same, first, Source::vector(apart));
      to_.vector(v::sub64, other, second, Source::vector(apart));
      to_.vector(v::xor_, apart, same, iota(stride, true, false));
      to_.vector(v::xor_, more, other, iota(stride, true, true));
      to_.vector(v::or_, apart, apart, Source::vector(more));
      to_.vector(v::or_, same, same, Source::vector(other));
      to_.vector(v::to_gpr64, first, 0, Source::vector(rax));
    } else {
      to_.vector(v::sub32, same, first, Source::vector(apart));
      to_.vector(v::xor_, apart, same, iota(stride, false, false));
      to_.vector(v::to_gpr32, first, 0, Source::vector(rax));
      to_.add64(rax, rdi, offset(offsetof(exec::Warp, shared_memory)));
    }
    to_.bytes({0x31, 0xc9, 0x31, 0xd2});               // xor ecx, ecx; xor edx, edx
    to_.vector(v::test, apart, 0, Source::vector(apart));
    to_.bytes({0x0f, 0x95, 0xc1});                     // setne cl
    to_.vector(v::test, same, 0, Source::vector(same));
    to_.bytes({0x0f, 0x95, 0xc2, 0x20, 0xca, 0x00, 0xd1});  // setne dl; and dl, cl; add cl, dl
    to_.store64(rax, rsp, plan + kPointers + 8 * offset(eight));
    to_.store8(rcx, rsp, plan + kKinds + offset(eight));
    // The last lane's place, where they lie side by side.
    to_.bytes({0x31, 0xf6});                           // xor esi, esi
    to_.set32(rdx, 7 * stride);
    to_.bytes({0x84, 0xc9, 0x0f, 0x44, 0xf2});         // test cl, cl; cmove esi, edx
    to_.bytes({0x48, 0x01, 0xc6});                     // add rsi, rax
    if (eight == 0) {
      to_.store64(rax, rsp, plan + kLeast);
      to_.store64(rsi, rsp, plan + kGreatest);
      to_.store32(rax, rsp, plan + kLowBits);
      to_.store8(rcx, rsp, plan + kOthers);
      continue;
    }
    to_.load64(rdx, rsp, plan + kGreatest);
    to_.bytes({0x48, 0x39, 0xf2, 0x48, 0x0f, 0x47, 0xf2});  // cmp rdx, rsi; cmova rsi, rdx
    to_.store64(rsi, rsp, plan + kGreatest);
    to_.load64(rdx, rsp, plan + kLeast);
    to_.bytes({0x48, 0x39, 0xc2, 0x48, 0x0f, 0x47, 0xd0});  // cmp rdx, rax; cmova rdx, rax
    to_.store64(rdx, rsp, plan + kLeast);
    to_.or_into32(rax, rsp, plan + kLowBits);
    to_.or_into32(rcx, rsp, plan + kOthers);
  }
  at_.release();
}

}  // namespace flexrack::sim::jit
