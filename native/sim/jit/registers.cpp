#include "sim/jit/registers.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "sim/exec/numbers.h"
#include "sim/exec/warp.h"
#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {

Source Pool::wide(std::uint64_t value) {
  const auto [at, is_new] = known_.try_emplace(value, static_cast<std::int32_t>(words_.size() * 4));
  for (unsigned i = 0; is_new && i < 4; ++i)
    words_.push_back(static_cast<std::uint32_t>(value)), words_.push_back(static_cast<std::uint32_t>(value >> 32));
  return Source::pool(at->second);
}

Source Pool::lane_bits() {
  if (lane_bits_ < 0) {
    lane_bits_ = static_cast<std::int32_t>(words_.size() * 4);
    for (unsigned i = 0; i < 8; ++i) words_.push_back(1U << i);
  }
  return Source::pool(lane_bits_);
}

Source Pool::eight(const std::array<std::uint32_t, 8>& values) {
  const auto [at, is_new] = eights_.try_emplace(values, static_cast<std::int32_t>(words_.size() * 4));
  if (is_new) words_.insert(words_.end(), values.begin(), values.end());
  return Source::pool(at->second);
}

Source Pool::series(std::int64_t step, bool is_wide, unsigned first) {
  const auto [at, is_new] =
      series_.try_emplace({step, is_wide ? 1 : 0, first}, static_cast<std::int32_t>(words_.size() * 4));
  for (unsigned i = 0; is_new && i < (is_wide ? 4U : 8U); ++i) {
    const auto value = static_cast<std::uint64_t>((first + i) * step);
    words_.push_back(static_cast<std::uint32_t>(value));
    if (is_wide) words_.push_back(static_cast<std::uint32_t>(value >> 32));
  }
  return Source::pool(at->second);
}

std::int32_t slot_offset(const Line& line) {
  return static_cast<std::int32_t>(offsetof(exec::Warp, lines) + line.slot * sizeof(std::uint64_t));
}

Source Registers::memory(At place, Form form, unsigned part) const {
  const auto at = static_cast<std::int32_t>(place & ~kNegated);
  switch (form) {
    case Form::half: return Source::memory(kHalves, at + 16 * static_cast<std::int32_t>(part));
    case Form::wide: return Source::memory(kWides, at + 32 * static_cast<std::int32_t>(part));
    case Form::mask: return Source::memory(kMasks, at + static_cast<std::int32_t>(part));
    default: return Source::memory(kWords, at + 32 * static_cast<std::int32_t>(part));
  }
}

Source Registers::constant(const Use& use) {
  std::uint64_t value = 0;
  constant_of(code_, use, value);
  return use.form == Form::wide ? pool_.wide(value) : pool_.word(static_cast<std::uint32_t>(value));
}

int Registers::find(At place, unsigned part) const {
  for (unsigned i = 0; i < kCount; ++i) {
    if (held_[i].place == (place & ~kNegated) && held_[i].part == part) return static_cast<int>(i);
  }
  return -1;
}

unsigned Registers::lanes_of(const Held& held) { return held.form == Form::wide ? held.part / 2U : held.part; }

/// The item that reads it next; of the one under way, only for lanes that it has not come to. Later, where other lanes
/// go through several items first.
unsigned Registers::next_need(const Held& held) const {
  constexpr unsigned kLater = 1U << 16;
  if (held.place & kInConstants) return fates_.next_read(held.place, lanes_ + group_ < ways_ ? first_ : item_);
  const unsigned lanes = lanes_of(held);
  const unsigned need = fates_.next_read(held.place, lanes == lanes_ && !held.is_new ? item_ : next_[lanes]);
  const bool is_later = lanes / group_ > lanes_ / group_ && need < Fates::kAtEnd;
  return is_later ? need + kLater * (lanes / group_ - lanes_ / group_) : need;
}

void Registers::expand_mask(unsigned number, const Source& byte) {
  to_.vector(v::spread8, number, 0, byte);
  to_.vector(v::and_, number, number, pool_.lane_bits());
  to_.vector(v::equal32, number, number, pool_.lane_bits());
}

/// Which lanes work, as wide as a value is.
void Registers::lane_mask(unsigned number, Form form, unsigned part) {
  expand_mask(number, Source::memory(kLaneMask, static_cast<std::int32_t>(form == Form::wide ? part / 2 : part)));
  if (form != Form::wide) return;
  if (part % 2 == 1) to_.vector(v::upper_half, number, 0, Source::vector(number), 1);
  to_.vector(v::widen_signed, number, 0, Source::vector(number));
}

void Registers::load_line(unsigned number, const Line& line, unsigned part) {
  const bool is_wide = line.form == Form::wide;
  to_.vector(is_wide ? v::spread64 : v::spread32, number, 0, Source::memory(rdi, slot_offset(line)));
  if (line.stride != 0)
    to_.vector(is_wide ? v::add64 : v::add32, number, number,
               pool_.series(line.stride, is_wide, part * (is_wide ? 4 : 8)));
}

void Registers::drop(At place) {
  for (auto& held : held_) {
    if (held.place == place) held = {};
  }
}

void Registers::load(unsigned number, const Use& use, unsigned part) {
  if (use.at & kInConstants) return to_.vector(v::load, number, 0, constant(use));
  if (const Line* line = line_of(use.at)) return load_line(number, *line, part);
  const auto from = memory(use.at, use.form, part);
  switch (use.form) {
    case Form::mask: expand_mask(number, from); break;
    case Form::half: to_.vector(v::widen16, number, 0, from); break;
    default: to_.vector(v::load, number, 0, from);
  }
}

/// As PTX has it: the one NaN, no subnormals where they are flushed.
void Registers::put_right(unsigned number) {
  auto& held = held_[number];
  const auto self = Source::vector(number);
  if (held.may_be_tiny) {
    to_.vector(v::and_, kScratch2, number, pool_.word(0x7f800000));
    to_.vector(v::xor_, kScratch, kScratch, Source::vector(kScratch));
    to_.vector(v::equal32, kScratch2, kScratch2, Source::vector(kScratch));
    to_.vector(v::shift32, v::kRight, kScratch2, Source::vector(kScratch2), 1);
    to_.vector(v::not_and, number, kScratch2, self);
  }
  if (held.may_be_nan) {
    to_.vector(v::comparef, kScratch2, number, self, v::unordered);
    to_.vector(v::blend_by, number, number, pool_.word(exec::kNan32), static_cast<int>(kScratch2 << 4));
  }
  held.may_be_nan = held.may_be_tiny = false;
}

void Registers::write_back(unsigned number) {
  auto& held = held_[number];
  put_right(number);
  held.is_dirty = false;
  const auto to = memory(held.place, held.form, held.part);
  if (held.form == Form::mask) {
    to_.vector(v::signs, rax, 0, Source::vector(number));
    if (is_partial_) {
      to_.load8(rcx, kMasks, to.at);
      to_.xor32(rax, rcx);
      to_.and8(rax, kLaneMask, static_cast<std::int32_t>(held.part));
      to_.xor32(rax, rcx);
    }
    return to_.store8(rax, kMasks, to.at);
  }
  unsigned from = number;
  if (is_partial_) {
    lane_mask(kScratch2, held.form, held.part);
    to_.vector(held.form == Form::half ? v::widen16 : v::load, kScratch, 0, to);
    to_.vector(v::blend_by, kScratch, kScratch, Source::vector(number), static_cast<int>(kScratch2 << 4));
    from = kScratch;
  }
  if (held.form != Form::half) return to_.vector(v::store, from, 0, to);
  to_.vector(v::pack16, kScratch, from, Source::vector(from));
  to_.vector(v::permute64, kScratch, 0, Source::vector(kScratch), 0xd8);
  to_.vector(v::store_short, kScratch, 0, to);
}

/// A register for something new: a free one, or that of the value that is needed last.
unsigned Registers::room() {
  unsigned chosen = kCount, latest = 0;
  for (unsigned i = 0; i < kCount; ++i) {
    const auto& held = held_[i];
    if (held.is_taken) continue;
    if (held.place == kNowhere) return i;
    const unsigned need = next_need(held);
    if (chosen == kCount || need > latest || (need == latest && !held.is_dirty)) chosen = i, latest = need;
  }
  if (chosen == kCount) throw std::length_error("an instruction's values do not fit in the registers");
  if (held_[chosen].is_dirty && latest != Fates::kNever) write_back(chosen);
  held_[chosen] = {};
  return chosen;
}

unsigned Registers::fresh() {
  const unsigned number = room();
  held_[number] = {};
  held_[number].is_taken = true;
  return number;
}

unsigned Registers::take_float(const Use& use, unsigned part) {
  if (use.at & kInConstants) part = 0;
  if (const int found = find(use.at, part); found >= 0) {
    held_[static_cast<unsigned>(found)].is_taken = true;
    return static_cast<unsigned>(found);
  }
  const unsigned number = fresh();
  load(number, use, part);
  held_[number] = {use.at & ~kNegated, use.form, static_cast<std::uint8_t>(part), false, false, false, true};
  return number;
}

unsigned Registers::take(const Use& use, unsigned part) {
  const unsigned number = take_float(use, part);
  put_right(number);
  return number;
}

Source Registers::last_float(const Use& use, unsigned part) {
  const bool is_constant = use.at & kInConstants,
             may_be_memory =
                 is_constant || ((use.form == Form::word || use.form == Form::wide) && line_of(use.at) == nullptr);
  // Read again soon: worth a register, a constant only one that is free.
  const bool is_worth = fates_.next_read(use.at & ~kNegated, item_ + 1) < Fates::kAtEnd && (!is_constant || has_room());
  if (find(use.at, is_constant ? 0 : part) >= 0 || !may_be_memory || is_worth)
    return Source::vector(take_float(use, part));
  return is_constant ? constant(use) : memory(use.at, use.form, part);
}

bool Registers::has_room() const {
  return std::count_if(held_.begin(), held_.end(),
                       [](const Held& held) { return held.place == kNowhere && !held.is_taken; }) > 2;
}

Source Registers::last(const Use& use, unsigned part) {
  const auto source = last_float(use, part);
  if (source.kind == Source::Kind::vector) put_right(source.number);
  return source;
}

unsigned Registers::copy_float(const Use& use, unsigned part, const Item& item) {
  const bool is_constant = use.at & kInConstants;
  if (const int found = find(use.at, is_constant ? 0 : part); found >= 0) {
    auto& held = held_[static_cast<unsigned>(found)];
    if (!held.is_taken && is_last_read(use, item)) {
      held = {};
      held.is_taken = true;
      return static_cast<unsigned>(found);
    }
    held.is_taken = true;
    const unsigned number = fresh();
    to_.vector(v::move, number, 0, Source::vector(static_cast<unsigned>(found)));
    return number;
  }
  const unsigned number = fresh();
  load(number, use, part);
  return number;
}

/// Nobody reads it after the item, which reads it once.
bool Registers::is_last_read(const Use& use, const Item& item) const {
  if (use.at & kInConstants) return false;
  unsigned readers = 0;
  for (const auto& read : item.reads) readers += read.at == use.at;
  const bool is_replaced = item.guard == kNowhere && item.writes[0].at == use.at;
  return readers == 1 && (is_replaced || fates_.next_read(use.at, item_ + 1) == Fates::kNever);
}

void Registers::put(const Item& item, const Use& use, unsigned part, unsigned value, bool may_be_nan,
                    bool may_be_tiny) {
  held_[value].may_be_nan = may_be_nan, held_[value].may_be_tiny = may_be_tiny;
  if (item.guard != kNowhere) {
    // Lanes whose guard does not hold keep what they have.
    put_right(value);
    const unsigned old = take(use, part);
    const unsigned guard = take({item.guard, Form::mask}, use.form == Form::wide ? part / 2 : part);
    unsigned by = guard;
    if (use.form == Form::wide) {
      by = fresh();
      if (part % 2 == 1) to_.vector(v::upper_half, guard, 0, Source::vector(by), 1);
      to_.vector(v::widen_signed, by, 0, Source::vector(part % 2 == 1 ? by : guard));
    }
    const bool is_negated = item.guard & kNegated;
    to_.vector(v::blend_by, value, is_negated ? value : old, Source::vector(is_negated ? old : value),
               static_cast<int>(by << 4));
  }
  if (const int old = find(use.at, part); old >= 0 && static_cast<unsigned>(old) != value)
    held_[static_cast<unsigned>(old)] = {};
  auto& held = held_[value];
  held = {use.at, use.form, static_cast<std::uint8_t>(part), true, held.may_be_nan, held.may_be_tiny, true, true};
}

void Registers::release(unsigned but) {
  for (unsigned i = 0; i < kCount; ++i) held_[i].is_taken = i == but;
}

void Registers::forget() {
  release();
  for (auto& held : held_) {
    if (held.place == kNowhere) continue;
    const bool is_constant = held.place & kInConstants;
    if ((is_constant ? next_need(held) : fates_.next_read(held.place, next_[lanes_of(held)])) == Fates::kNever)
      held = {};
  }
}

void Registers::save(const State& state) {
  const State kept = held_;
  held_ = state;
  for (unsigned i = 0; i < kCount; ++i) {
    if (held_[i].place != kNowhere && held_[i].is_dirty && fates_.next_read(held_[i].place, item_) != Fates::kNever)
      write_back(i);
  }
  held_ = kept;
}

void Registers::restore(const State& state) {
  for (unsigned i = 0; i < kCount; ++i) {
    if (state[i].place != kNowhere) load(i, {state[i].place, state[i].form}, state[i].part);
  }
}

namespace {

bool is_same(const Registers::Held& one, const Registers::Held& other) {
  return one.place == other.place && one.part == other.part;
}

}  // namespace

void Registers::restore_but(const State& state, const State& other, At place) {
  State wanted = state;
  for (unsigned i = 0; i < kCount; ++i) {
    if (wanted[i].place == place || is_same(wanted[i], other[i])) wanted[i] = {};
  }
  restore(wanted);
}

void Registers::save_but(const State& state, const State& other) {
  State wanted = state;
  for (unsigned i = 0; i < kCount; ++i) {
    if (is_same(wanted[i], other[i])) wanted[i] = {};
  }
  save(wanted);
}

unsigned Registers::seen_in(const State& state, const Use& use, unsigned part) {
  for (unsigned i = 0; i < kCount; ++i) {
    if (state[i].place == use.at && state[i].part == part) return i;
  }
  load(kScratch, use, part);
  return kScratch;
}

/// A predicate of all 32 lanes at once: read as one word it must not lie there as four bytes just written.
void Registers::write_back_whole(const std::array<unsigned, 4>& parts) {
  const At place = held_[parts[0]].place;
  const auto pack = [&](unsigned to, unsigned a, unsigned b) {
    to_.vector(v::pack_signed32, to, a, Source::vector(b));
  };
  pack(kScratch, parts[0], parts[1]);
  pack(kScratch2, parts[2], parts[3]);
  to_.vector(v::pack_signed16, kScratch, kScratch, Source::vector(kScratch2));
  to_.vector(v::load, kScratch2, 0, pool_.eight({0, 4, 1, 5, 2, 6, 3, 7}));
  to_.vector(v::permute32, kScratch, kScratch2, Source::vector(kScratch));
  to_.vector(v::signs8, rax, 0, Source::vector(kScratch));
  const auto at = static_cast<std::int32_t>(place);
  if (is_partial_) {
    to_.load32(rcx, kMasks, at);
    to_.xor32(rax, rcx);
    to_.and32(rax, kLaneMask, 0);
    to_.xor32(rax, rcx);
  }
  to_.store32(rax, kMasks, at);
  for (const unsigned part : parts) held_[part].is_dirty = false;
}

/// The same by the turns of a loop, for one predicate: its bits are shifted into a register, which is written behind
/// the loop.
void Registers::collect_mask(const std::array<unsigned, 4>& parts) {
  collected_ = held_[parts[0]].place;
  const auto bits_of_turn = static_cast<std::uint8_t>(8 * ways_);
  to_.vector(v::signs, rax, 0, Source::vector(parts[0]));
  if (ways_ == 2) {
    to_.vector(v::signs, rcx, 0, Source::vector(parts[1]));
    to_.bytes({0xc1, 0xe1, 8, 0x09, 0xc8});                                  // shl ecx, 8; or eax, ecx
  }
  to_.bytes({0xc1, 0xe0, static_cast<std::uint8_t>(32 - bits_of_turn)});     // shl eax, ...
  to_.bytes({0xc1, 0xef, bits_of_turn, 0x09, 0xc7});                         // shr edi, ...; or edi, eax
  for (unsigned part = 0; part < ways_; ++part) held_[parts[part]].is_dirty = false;
}

void Registers::finish_loop() {
  if (collected_ != kNowhere) to_.store32(rdi, kMasks, static_cast<std::int32_t>(collected_) - 4);
}

void Registers::finish() {
  for (unsigned i = 0; i < kCount; ++i) {
    if (held_[i].form != Form::mask || held_[i].place == kNowhere || !held_[i].is_dirty ||
        fates_.next_read(held_[i].place, item_ + 1) == Fates::kNever)
      continue;
    std::array<unsigned, 4> parts{};
    bool are_all = true;
    for (unsigned part = 0; part < ways_; ++part) {
      const int found = find(held_[i].place, part);
      are_all &= found >= 0 && held_[static_cast<unsigned>(found)].is_dirty;
      parts[part] = static_cast<unsigned>(found);
    }
    if (are_all && ways_ == 4) write_back_whole(parts);
    else if (are_all && !is_partial_ && collected_ == kNowhere) collect_mask(parts);
  }
  for (unsigned i = 0; i < kCount; ++i) {
    if (held_[i].place == kNowhere || !held_[i].is_dirty) continue;
    if (fates_.next_read(held_[i].place, item_ + 1) != Fates::kNever) write_back(i);
  }
}

}  // namespace flexrack::sim::jit
