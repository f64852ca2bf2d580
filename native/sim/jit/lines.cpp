#include "sim/jit/lines.h"

#include <algorithm>
#include <limits>
#include <set>

#include "sim/exec/ops.h"
#include "sim/jit/describe.h"

namespace flexrack::sim::jit {
namespace {

using ptx::Special;

constexpr std::int64_t kFar = 1 << 24;           ///< no lane is as far from the next

bool is_whole_number(Type type) { return is_32(type) || type == Type::u64 || type == Type::s64 || type == Type::b64; }

/// What all lanes have of a constant, with its sign.
std::optional<std::int64_t> number_of(const exec::Code& code, const Use& use) {
  std::uint64_t value = 0;
  if (use.at == kNowhere || !(use.at & kInConstants) || (use.form != Form::word && use.form != Form::wide) ||
      !constant_of(code, use, value))
    return std::nullopt;
  return use.form == Form::wide ? static_cast<std::int64_t>(value) : static_cast<std::int32_t>(value);
}

std::optional<std::int64_t> stride_of(const exec::Code& code, const Use& use, const Strides& strides) {
  if (use.at == kNowhere) return std::nullopt;
  if (use.at & kInConstants) return number_of(code, use) ? std::optional<std::int64_t>(0) : std::nullopt;
  const auto found = strides.find(use.at & ~kNegated);
  return found == strides.end() ? std::nullopt : std::optional(found->second);
}

/// A product of a stride by a number, where it stays near.
std::optional<std::int64_t> times(std::optional<std::int64_t> stride, std::optional<std::int64_t> number) {
  if (!stride) return std::nullopt;
  if (*stride == 0) return 0;
  if (!number || *number <= -kFar || *number >= kFar) return std::nullopt;
  const std::int64_t product = *stride * *number;
  return product > -kFar && product < kFar ? std::optional(product) : std::nullopt;
}

std::optional<std::int64_t> plus(std::optional<std::int64_t> a, std::optional<std::int64_t> b, int sign = 1) {
  if (!a || !b) return std::nullopt;
  const std::int64_t sum = *a + sign * *b;
  return sum > -kFar && sum < kFar ? std::optional(sum) : std::nullopt;
}

bool is_written_alone(const Item& item) {
  return item.guard == kNowhere && !item.is_called && !item.is_exit && !item.is_whole &&
         item.writes[0].at != kNowhere && item.writes[1].at == kNowhere;
}

/// Of types and registers of 32 and 64 bits alone.
bool is_plain_conversion(const Item& item) {
  const auto& from = *item.from;
  const auto fits = [](Type type, Form form) {
    return is_32(type) ? form == Form::word : is_whole_number(type) && form == Form::wide;
  };
  return item.reads[1].at == kNowhere && (from.flags & ~ptx::kUniform) == 0 && fits(from.type, item.writes[0].form) &&
         fits(from.source_type, item.reads[0].form);
}

}  // namespace

std::optional<std::int64_t> stride_of_result(const exec::Code& code, const Item& item, const Strides& strides) {
  if (!is_written_alone(item)) return std::nullopt;
  const auto& from = *item.from;
  const Form form = item.writes[0].form;
  const auto of = [&](unsigned i) { return stride_of(code, item.reads[i], strides); };
  const auto is_even = [&](unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      const auto stride = of(i);
      if (!stride || *stride != 0) return false;
    }
    return true;
  };
  const auto only_even = [&](unsigned count) { return is_even(count) ? std::optional<std::int64_t>(0) : std::nullopt; };
  // A factor of the other source: a number, which unsigned products to twice the width take without a sign.
  const auto product = [&]() -> std::optional<std::int64_t> {
    if (is_even(2)) return 0;
    const bool is_widened = from.op == Op::mul_wide || from.op == Op::mad_wide;
    for (unsigned i = 0; i < 2; ++i) {
      const auto number = number_of(code, item.reads[1 - i]);
      if (number && (*number >= 0 || !is_widened || ptx::is_signed(from.type))) return times(of(i), number);
    }
    return std::nullopt;
  };
  switch (from.op) {
    case Op::mov_param:
    case Op::mov_shared:
    case Op::mov_variable: return 0;
    case Op::mov:
      if (item.reads[0].at & kInConstants && !is_whole_number(from.type)) return std::nullopt;
      return of(0);
    case Op::cvta: return of(0);
    case Op::cvta_to: return item.step->displacement == -1 ? of(0) : std::nullopt;
    case Op::cvt: return is_plain_conversion(item) ? of(0) : std::nullopt;
    case Op::logic_and:
    case Op::logic_or:
    case Op::logic_xor: return form == Form::half ? std::nullopt : only_even(2);
    case Op::logic_not: return form == Form::half ? std::nullopt : only_even(1);
    default: break;
  }
  if (!is_whole_number(from.type) || from.flags != 0) return std::nullopt;
  switch (from.op) {
    case Op::add: return plus(of(0), of(1));
    case Op::sub: return plus(of(0), of(1), -1);
    case Op::mul_lo:
    case Op::mul_wide: return product();
    case Op::mad_lo:
    case Op::mad_wide: return plus(product(), of(2));
    case Op::neg: return times(of(0), -1);
    case Op::shl: {
      const auto by = number_of(code, item.reads[1]);
      return by && *by >= 0 && *by < 24 ? times(of(0), std::int64_t{1} << *by) : std::nullopt;
    }
    case Op::shr: {
      const auto by = number_of(code, item.reads[1]);
      return by && *by >= 0 && *by < 32 ? only_even(1) : std::nullopt;
    }
    case Op::setp: {
      if (item.reads[2].at != kNowhere || from.compare > ptx::Compare::ge) return std::nullopt;
      const auto a = of(0), b = of(1);
      if (!a || !b) return std::nullopt;
      const bool is_order = from.compare != ptx::Compare::eq && from.compare != ptx::Compare::ne;
      return (*a == 0 && *b == 0) || is_order ? std::optional<std::int64_t>(0) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

bool may_wrap(const Item& item, const Strides& strides) {
  const auto parts = [&](unsigned i) {
    const auto found = strides.find(item.reads[i].at & ~kNegated);
    return !(item.reads[i].at & kInConstants) && found != strides.end() && found->second != 0;
  };
  switch (item.from->op) {
    case Op::setp: return parts(0) || parts(1);
    case Op::mul_wide:
    case Op::mad_wide: return parts(0) || parts(1);
    case Op::cvt: return parts(0) && item.writes[0].form == Form::wide && item.reads[0].form == Form::word;
    default: return false;
  }
}

Strides strides_before(const exec::Code& code, const Step* loop) {
  Strides strides;
  for (const Step* step = code.steps.data(); step != loop; ++step) {
    if (step->source == nullptr) continue;
    const auto& from = *step->source;
    const At written = exec::place_of(from.o[0]);
    if (from.op == Op::bra || from.op == Op::st || written == kNowhere || (written & kInConstants)) continue;
    std::optional<std::int64_t> stride;
    Item item;
    if (from.op == Op::mov_special) {
      const auto what = static_cast<Special>(from.detail);
      const bool is_lane = what == Special::tid_x || what == Special::laneid;
      if (is_lane) stride = 1;
      else if (what < Special::lanemask_eq) stride = 0;
    } else if (from.op == Op::ld && (from.space == ptx::Space::param || from.space == ptx::Space::constant)) {
      stride = 0;
    } else if (describe(code, *step, item)) {
      item.guard = kNowhere;
      stride = stride_of_result(code, item, strides);
      const auto of_first = stride_of(code, item.reads[0], strides);
      const auto by = number_of(code, item.reads[1]);
      // What is so for the threads of a block in a row.
      if (!stride && of_first && by && (from.op == Op::logic_and || from.op == Op::rem) && *by >= 31) stride = of_first;
      if (!stride && of_first && by && (from.op == Op::shr || from.op == Op::div) && *by >= 5) stride = 0;
    }
    if (stride) strides[written] = *stride;
    else strides.erase(written);
  }
  return strides;
}

Strides Lines::strides(unsigned item) const {
  Strides all;
  for (const auto& [place, line] : states_[item]) all[place] = line.stride;
  return all;
}

const Line* line_of_access(const Lines& lines, const Item& item, unsigned number) {
  if (item.is_called || (item.from->op != Op::ld && item.from->op != Op::st)) return nullptr;
  const Line* line = lines.find(item.reads[0].at, number);
  if (line == nullptr) return nullptr;
  const bool is_load = item.from->op == Op::ld, is_weak = item.from->order == ptx::Order::weak;
  const auto bytes = std::int64_t{ptx::bytes_of(item.from->type)} * item.from->count;
  return line->stride == bytes || (line->stride == 0 && is_load && is_weak) ? line : nullptr;
}

std::optional<Lines> Lines::of(const exec::Code& code, const Segment& segment, const Strides& guess) {
  const auto count = static_cast<unsigned>(segment.items.size());
  std::map<At, Form> read;             // before it is written
  std::set<At> written;
  std::map<At, unsigned> slots;
  for (const auto& item : segment.items) {
    const auto reads = [&](const Use& use) {
      const At place = use.at & ~kNegated;
      const bool is_number = use.form == Form::word || use.form == Form::wide;
      if (use.at != kNowhere && !(use.at & kInConstants) && is_number && !written.contains(place))
        read.emplace(place, use.form);
    };
    for (const auto& use : item.reads) reads(use);
    for (const auto& use : item.writes) {
      if (use.at != kNowhere) written.insert(use.at);
    }
  }
  const auto slot_of = [&](At place) -> std::optional<unsigned> {
    const auto [found, is_new] = slots.try_emplace(place, static_cast<unsigned>(slots.size()));
    if (found->second < kSlots) return found->second;
    return std::nullopt;
  };
  Lines made;
  for (const auto& [place, form] : read) {
    const auto found = guess.find(place);
    if (found == guess.end()) continue;
    if (const auto slot = slot_of(place)) made.entry_[place] = {*slot, found->second, form, written.contains(place)};
  }
  for (bool is_settled = false; !is_settled;) {
    made.states_.assign(1, made.entry_);
    made.scalar_.assign(count, false);
    for (unsigned i = 0; i < count; ++i) {
      const auto& item = segment.items[i];
      State next = made.states_[i];
      const auto stride = stride_of_result(code, item, made.strides(i));
      const auto slot = stride ? slot_of(item.writes[0].at) : std::nullopt;
      made.scalar_[i] = slot.has_value();
      for (const auto& use : item.writes) {
        if (use.at != kNowhere) next.erase(use.at);
      }
      if (slot) next[item.writes[0].at] = {*slot, *stride, item.writes[0].form, true};
      made.states_.push_back(std::move(next));
    }
    is_settled = true;
    std::erase_if(made.entry_, [&](const auto& one) {
      const Line* at_end = made.find(one.first, count);
      const bool is_kept = at_end != nullptr && at_end->stride == one.second.stride;
      is_settled &= is_kept;
      return !is_kept;
    });
  }
  unsigned accesses = 0;
  for (unsigned i = 0; i < count; ++i) accesses += line_of_access(made, segment.items[i], i) != nullptr;
  if (accesses == 0) return std::nullopt;
  return made;
}

}  // namespace flexrack::sim::jit
