#include "sim/jit/line_emitter.h"

#include <cstddef>

#include "sim/exec/control.h"
#include "sim/exec/count.h"
#include "sim/exec/warp.h"
#include "sim/jit/memory.h"
#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {
namespace {

using When = Assembler::Condition;

constexpr auto kOwner = static_cast<std::int32_t>(offsetof(exec::Warp, lines_owner));

/// Two's complement, as wide as an instruction's immediate.
std::int32_t far(std::int64_t stride) { return static_cast<std::int32_t>(stride * (exec::kLanes - 1)); }

When condition_of(ptx::Compare how, bool is_signed) {
  using ptx::Compare;
  switch (how) {
    case Compare::eq: return When::equal;
    case Compare::ne: return When::differs;
    case Compare::lt: return is_signed ? When::less : When::below;
    case Compare::le: return is_signed ? When::not_greater : When::not_above;
    case Compare::gt: return is_signed ? When::greater : When::above;
    default: return is_signed ? When::not_less : When::not_below;
  }
}

}  // namespace

void LineEmitter::own(Owner how) {
  to_.set64(rcx, number() + how);
  to_.store64(rcx, rdi, kOwner);
}

void LineEmitter::enter(std::vector<std::size_t>& others) {
  to_.load64(rax, rdi, kOwner);
  to_.set64(rcx, number());
  to_.scalar(Assembler::sub, true, rax, rcx);
  const auto to_lines = to_.jump(When::equal);
  to_.add64(rax, -std::int32_t{kOnce});
  const auto to_look = to_.jump(When::equal);
  to_.add64(rax, std::int32_t{kOnce} - std::int32_t{kNever});
  others.push_back(to_.jump(When::equal));
  own(kOnce);
  others.push_back(to_.jump(When::always));
  to_.land(to_look);
  constexpr unsigned kDiffers = 0, kFrom = 1, kHere = 2;
  to_.vector(v::xor_, kDiffers, kDiffers, Source::vector(kDiffers));
  for (const auto& [place, line] : lines_.at_entry()) {
    const bool is_wide = line.form == Form::wide;
    const unsigned lanes = is_wide ? 4 : 8;
    const auto at = static_cast<std::int32_t>(place);
    to_.vector(is_wide ? v::spread64 : v::spread32, kFrom, 0, Source::memory(kWords, at));
    for (unsigned part = 0; part < exec::kLanes / lanes; ++part) {
      unsigned wanted = kFrom;
      if (line.stride != 0) {
        wanted = kHere;
        to_.vector(is_wide ? v::add64 : v::add32, kHere, kFrom, pool_.series(line.stride, is_wide, part * lanes));
      }
      to_.vector(v::xor_, kHere, wanted, Source::memory(kWords, at + 32 * static_cast<std::int32_t>(part)));
      to_.vector(v::or_, kDiffers, kDiffers, Source::vector(kHere));
    }
    if (is_wide) to_.load64(rax, kWords, at);
    else to_.load32(rax, kWords, at);
    to_.store64(rax, rdi, slot_offset(line));
  }
  own(kNever);
  to_.vector(v::test, kDiffers, 0, Source::vector(kDiffers));
  others.push_back(to_.jump(When::differs));
  to_.land(to_lines);
  own(kOnce);
}

std::int64_t LineEmitter::stride_of(const Use& use, unsigned number) const {
  return use.at & kInConstants ? 0 : lines_.find(use.at, number)->stride;
}

void LineEmitter::load(Gpr to, const Use& use, unsigned number, bool is_wide) {
  if (use.at & kInConstants) {
    std::uint64_t value = 0;
    constant_of(code_, use, value);
    return is_wide ? to_.set64(to, value) : to_.set32(to, static_cast<std::uint32_t>(value));
  }
  const auto at = slot_offset(*lines_.find(use.at, number));
  if (is_wide) to_.load64(to, rdi, at);
  else to_.load32(to, rdi, at);
  if (use.at & kNegated) {
    to_.set32(rsi, 1);
    to_.negate(true, rsi);
    to_.scalar(Assembler::xor_, true, to, rsi);
  }
}

/// The last lane's number becomes the value's; it is one that the type has, or the lanes leave. Words are as wide as
/// their sign says. Changes rsi.
void LineEmitter::check(Gpr value, std::int64_t stride, bool is_wide, bool is_signed,
                        std::vector<std::size_t>& leaving) {
  if (stride == 0) return;
  to_.add64(value, far(stride));
  if (is_wide) {
    leaving.push_back(to_.jump(is_signed ? When::overflows : stride > 0 ? When::below : When::not_below));
    return;
  }
  if (is_signed) {
    to_.widen_signed(rsi, value);
  } else {
    to_.set32(rsi, 0);
    to_.scalar(Assembler::or_, false, rsi, value);
  }
  to_.scalar(Assembler::compare, true, rsi, value);
  leaving.push_back(to_.jump(When::differs));
}

/// Of all lanes alike: it is what the first and the last one say, between which the difference grows or falls.
void LineEmitter::compare(const Item& item, unsigned number, std::vector<std::size_t>& leaving) {
  const bool is_wide = item.reads[0].form == Form::wide, is_signed = ptx::is_signed(item.from->type);
  const auto a = stride_of(item.reads[0], number), b = stride_of(item.reads[1], number);
  const auto when = condition_of(item.from->compare, is_signed);
  for (const auto& [place, use] : {std::pair{rax, item.reads[0]}, std::pair{rcx, item.reads[1]}}) {
    load(place, use, number, is_wide);
    if (!is_wide && is_signed) to_.widen_signed(place, place);
  }
  to_.scalar(Assembler::compare, true, rax, rcx);
  to_.set_if(when, rdx);
  if (a != 0 || b != 0) {
    check(rax, a, is_wide, is_signed, leaving);
    check(rcx, b, is_wide, is_signed, leaving);
    to_.scalar(Assembler::compare, true, rax, rcx);
    to_.set_if(when, rsi);
    to_.scalar(Assembler::compare, false, rdx, rsi);
    leaving.push_back(to_.jump(When::differs));
  }
  to_.negate(true, rdx);
  to_.move64(rax, rdx);
}

void LineEmitter::emit(const Item& item, unsigned number, std::vector<std::size_t>& leaving) {
  const auto& from = *item.from;
  const bool is_wide = item.writes[0].form != Form::word, is_signed = ptx::is_signed(from.type);
  const auto take = [&](Gpr to, unsigned i, bool wide) { load(to, item.reads[i], number, wide); };
  const auto both = [&](Assembler::Arithmetic what) {
    take(rax, 0, is_wide), take(rcx, 1, is_wide);
    to_.scalar(what, is_wide, rax, rcx);
  };
  /// A word of a type as a wide number; its lanes are looked at, too.
  const auto widened = [&](Gpr to, unsigned i, bool has_sign) {
    const auto stride = stride_of(item.reads[i], number);
    take(to, i, false);
    if (has_sign) to_.widen_signed(to, to);
    if (stride == 0) return;
    to_.move64(rdx, to);
    check(rdx, stride, false, has_sign, leaving);
  };
  std::uint64_t amount = 0;
  switch (from.op) {
    case Op::mov_param:
    case Op::mov_shared:
    case Op::mov_variable: {
      const auto value = static_cast<std::uint64_t>(item.step->displacement);
      to_.set64(rax, is_wide ? value : value & 0xffffffff);
      break;
    }
    case Op::mov: take(rax, 0, is_wide); break;
    case Op::cvta:
      take(rax, 0, true);
      if (item.step->displacement != 0) {
        to_.set64(rcx, static_cast<std::uint64_t>(item.step->displacement));
        to_.scalar(Assembler::add, true, rax, rcx);
      }
      break;
    case Op::cvta_to: take(rax, 0, true); break;
    case Op::cvt:
      if (item.writes[0].form == Form::wide && item.reads[0].form == Form::word)
        widened(rax, 0, ptx::is_signed(from.source_type));
      else take(rax, 0, is_wide);
      break;
    case Op::logic_and: both(Assembler::and_); break;
    case Op::logic_or: both(Assembler::or_); break;
    case Op::logic_xor: both(Assembler::xor_); break;
    case Op::logic_not:
      take(rax, 0, is_wide);
      to_.set32(rcx, 0);
      to_.bytes({0x48, 0xf7, 0xd1});                     // not rcx
      to_.scalar(Assembler::xor_, is_wide, rax, rcx);
      break;
    case Op::add: both(Assembler::add); break;
    case Op::sub: both(Assembler::sub); break;
    case Op::neg:
      take(rax, 0, is_wide);
      to_.negate(is_wide, rax);
      break;
    case Op::mul_lo:
    case Op::mad_lo:
      take(rax, 0, is_wide), take(rcx, 1, is_wide);
      to_.multiply(is_wide, rax, rcx);
      if (from.op == Op::mul_lo) break;
      take(rcx, 2, is_wide);
      to_.scalar(Assembler::add, is_wide, rax, rcx);
      break;
    case Op::mul_wide:
    case Op::mad_wide:
      widened(rax, 0, is_signed), widened(rcx, 1, is_signed);
      to_.multiply(true, rax, rcx);
      if (from.op == Op::mul_wide) break;
      take(rcx, 2, true);
      to_.scalar(Assembler::add, true, rax, rcx);
      break;
    case Op::shl:
    case Op::shr:
      constant_of(code_, item.reads[1], amount);
      take(rax, 0, is_wide);
      to_.shift(from.op == Op::shl ? 4 : is_signed ? 7 : 5, is_wide, rax, static_cast<std::uint8_t>(amount));
      break;
    default: compare(item, number, leaving); break;
  }
  Line made = lines_.before(number + 1).at(item.writes[0].at);
  to_.store64(rax, rdi, slot_offset(made));
}

void LineEmitter::write_back(unsigned number, bool but_entry) {
  constexpr unsigned kFrom = Registers::kScratch2, kHere = Registers::kScratch;
  for (const auto& [place, line] : lines_.before(number)) {
    if (!line.is_stale || fates_.next_read(place, number) == Fates::kNever) continue;
    if (but_entry && lines_.at_entry().contains(place)) continue;
    const auto at = static_cast<std::int32_t>(place);
    if (line.form == Form::mask) {
      to_.load32(rax, rdi, slot_offset(line));
      to_.store32(rax, kMasks, at);
      continue;
    }
    const bool is_wide = line.form == Form::wide;
    const unsigned lanes = is_wide ? 4 : 8;
    to_.vector(is_wide ? v::spread64 : v::spread32, kFrom, 0, Source::memory(rdi, slot_offset(line)));
    for (unsigned part = 0; part < exec::kLanes / lanes; ++part) {
      unsigned value = kFrom;
      if (line.stride != 0) {
        value = kHere;
        to_.vector(is_wide ? v::add64 : v::add32, kHere, kFrom, pool_.series(line.stride, is_wide, part * lanes));
      }
      to_.vector(v::store, value, 0, Source::memory(kWords, at + 32 * static_cast<std::int32_t>(part)));
    }
  }
}

void LineEmitter::go_back(Registers& registers, const Step& branch, std::vector<std::size_t>& leaving) {
  const auto end = static_cast<unsigned>(segment_.items.size());
  write_back(end, true);
  if (branch.guard != kNowhere) {
    const bool is_negated = branch.guard & kNegated;
    if (const Line* line = lines_.find(branch.guard, end)) {
      to_.compare_with_zero32(rdi, slot_offset(*line));
      leaving.push_back(to_.jump(is_negated ? When::differs : When::equal));
    } else {
      registers.at_item(end);
      registers.at_lanes(0);
      const unsigned all = registers.fresh();
      for (unsigned eight = 0; eight < exec::kLanes / 8; ++eight) {
        const unsigned holds = registers.take({branch.guard, Form::mask}, eight);
        if (eight == 0) to_.vector(v::move, all, 0, Source::vector(holds));
        else to_.vector(is_negated ? v::or_ : v::and_, all, all, Source::vector(holds));
      }
      to_.vector(v::signs, rax, 0, Source::vector(all));
      registers.release();
      if (is_negated) to_.bytes({0x84, 0xc0});  // test al, al
      else to_.bytes({0x3c, 0xff});             // cmp al, 0xff
      leaving.push_back(to_.jump(When::differs));
    }
  }
  if (branch.target != segment_.first) {
    to_.compare_with_zero64(rdi, static_cast<std::int32_t>(offsetof(exec::Warp, join)));
    leaving.push_back(to_.jump(When::differs));
  }
  if (!code_.counted.empty()) to_.add_to_counter(&exec::all_counts().in_segments, 1);
  own(kAll);
  to_.load64(rax, rsp, StackFrame::kStep);
  to_.set32(rcx, static_cast<std::uint32_t>(branch.cost));
  to_.subtract_from64(rcx, rdi, static_cast<std::int32_t>(offsetof(exec::Warp, budget)));
  const auto on = to_.jump(When::greater);
  to_.store64(rax, rdi, static_cast<std::int32_t>(offsetof(exec::Warp, resume)));
  static_assert(sizeof(exec::Why) == 1);
  to_.set32(rax, static_cast<std::uint32_t>(exec::Why::pause));
  to_.store8(rax, rdi, static_cast<std::int32_t>(offsetof(exec::Warp, why)));
  to_.set32(rax, 0);
  to_.land(on);
}

}  // namespace flexrack::sim::jit
