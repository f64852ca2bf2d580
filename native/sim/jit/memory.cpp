#include "sim/jit/memory.h"

#include <algorithm>
#include <cstddef>

#include "sim/exec/count.h"
#include "sim/exec/warp.h"
#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {

/// Whether lines that are asked for wait in the second cache: the first one holds those of a few accesses until the
/// warps come again; those of more push each other out of it.
bool MemoryEmitter::are_many(const Segment& segment) {
  constexpr std::ptrdiff_t kFew = 4;
  const auto is_asked_for = [](const Item& item) {
    return item.is_in_loop && !item.is_called && (item.from->op == Op::ld || item.from->op == Op::st) &&
           item.reads[0].form == Form::wide;
  };
  return std::count_if(segment.items.begin(), segment.items.end(), is_asked_for) > kFew;
}

/// Asks for the lines as far behind the least address, in rax, as that is behind the last one: of the warp in a loop,
/// else of any warp, as the next one goes. The processor takes any address.
void MemoryEmitter::bring_next(const Item& item, std::size_t number, unsigned bytes) {
  constexpr unsigned kLine = 64;
  const auto met = item.is_in_loop
                       ? offset(offsetof(exec::Warp, met) + number * sizeof(std::uint64_t))
                       : offset(number * sizeof(exec::RangeCache::Entry) + offsetof(exec::RangeCache::Entry, met));
  const Gpr base = item.is_in_loop ? rdi : rcx;
  to_.move64(rdx, rax);
  to_.sub64(rdx, base, met);
  to_.store64(rax, base, met);
  to_.bytes({0x48, 0x01, 0xc2});  // add rdx, rax
  for (unsigned at = 0; at < bytes * exec::kLanes; at += kLine) to_.prefetch(rdx, offset(at), are_many_);
}

/// All within what the step may touch, and aligned.
void MemoryEmitter::check_range(const Item& item, const Plan& how, unsigned bytes, Call& call) {
  using When = Assembler::Condition;
  auto& jumps = call.jumps;
  if (how.line != nullptr) return check_line(item, *how.line, bytes, jumps);
  const bool is_load = item.from->op == Op::ld, is_strong = item.from->order != ptx::Order::weak;
  const auto displacement = displacement_of(item, how), plan = how.at;
  // Others than 0 and 1 have bit 1; for stores anything but side by side is left to the handler: the last lane's value
  // is to stay.
  to_.test8(rsp, plan + kOthers, is_load && !is_strong ? kApart : kApart | 1);
  const auto others = to_.jump(When::differs);
  if (is_load && !is_strong && bytes == 4 && ptx::bytes_of(item.from->type) == 4 && item.reads[0].form == Form::wide)
    call.scattered = others, call.plan = plan, call.displacement = displacement;
  else jumps.push_back(others);
  if (bytes > 1) {
    to_.test8(rsp, plan + kLowBits, static_cast<std::uint8_t>(bytes - 1));
    jumps.push_back(to_.jump(When::differs));
  }
  to_.load64(rax, rsp, plan + kLeast);
  to_.load64(rsi, rsp, plan + kGreatest);
  to_.add64(rax, displacement);
  to_.add64(rsi, displacement + static_cast<std::int32_t>(bytes));
  check_bounds(item, bytes, jumps);
}

/// The same of addresses on a line: the first lane's is the least. It stays in rdx.
void MemoryEmitter::check_line(const Item& item, const Line& line, unsigned bytes, std::vector<std::size_t>& jumps) {
  const bool is_wide = line.form == Form::wide;
  if (is_wide) {
    to_.load64(rdx, rdi, slot_offset(line));
  } else {
    to_.load32(rdx, rdi, slot_offset(line));
    to_.add64(rdx, rdi, offset(offsetof(exec::Warp, shared_memory)));
  }
  if (bytes > 1) {
    to_.bytes({0xf6, 0xc2, static_cast<std::uint8_t>(bytes - 1)});  // test dl, ...
    jumps.push_back(to_.jump(Assembler::Condition::differs));
  }
  const auto displacement = static_cast<std::int32_t>(item.step->displacement);
  to_.lea64(rax, rdx, displacement);
  to_.lea64(rsi, rdx, displacement + offset((exec::kLanes - 1) * line.stride) + static_cast<std::int32_t>(bytes));
  check_bounds(item, bytes, jumps);
  if (is_wide) to_.load64(rdx, rdi, slot_offset(line));  // which held another address meanwhile
}

/// From rax until before rsi.
void MemoryEmitter::check_bounds(const Item& item, unsigned bytes, std::vector<std::size_t>& jumps) {
  using When = Assembler::Condition;
  const bool is_load = item.from->op == Op::ld, is_strong = item.from->order != ptx::Order::weak;
  if (item.reads[0].form == Form::wide) {
    // The entry of the cache of ranges that the handler uses for this step.
    const auto number = (reinterpret_cast<std::uintptr_t>(item.step) >> 6) % 64;
    const auto entry = offset(number * sizeof(exec::RangeCache::Entry));
    to_.load64(rcx, rdi, offset(offsetof(exec::Warp, ranges)));
    if (is_load && is_strong) {
      // The same place again: a strand may be waiting for what is there, and the handler counts how often.
      const auto last = entry + offset(offsetof(exec::RangeCache::Entry, last));
      to_.compare64(rax, rcx, last);
      to_.store64(rax, rcx, last);
      jumps.push_back(to_.jump(When::equal));
    }
    bring_next(item, number, bytes);
    to_.sub64(rax, rcx, entry + offset(offsetof(exec::RangeCache::Entry, begin)));
    to_.sub64(rsi, rcx, entry + offset(offsetof(exec::RangeCache::Entry, begin)));
    to_.bytes({0x48, 0x39, 0xf0});  // cmp rax, rsi
    jumps.push_back(to_.jump(When::above));
    to_.compare64(rsi, rcx,
                  entry + offset(is_load ? offsetof(exec::RangeCache::Entry, read_span)
                                         : offsetof(exec::RangeCache::Entry, write_span)));
  } else {
    to_.sub64(rax, rdi, offset(offsetof(exec::Warp, shared_memory)));
    jumps.push_back(to_.jump(When::negative));
    to_.compare64(rsi, rdi, offset(offsetof(exec::Warp, shared_end)));
  }
  jumps.push_back(to_.jump(When::above));
}

/// rax: the pointer for eight lanes, where it is not known already.
void MemoryEmitter::point(const Plan& how, unsigned part) {
  if (how.line == nullptr) to_.load64(rax, rsp, how.at + kPointers + 8 * offset(part));
}

/// A guard that does not hold for all.
void MemoryEmitter::check_guard(const Item& item, std::vector<std::size_t>& jumps) {
  const bool is_negated = item.guard & kNegated;
  if (const Line* line = lines_ == nullptr ? nullptr : lines_->find(item.guard, number_)) {
    to_.compare_with_zero32(rdi, slot_offset(*line));
    jumps.push_back(to_.jump(is_negated ? Assembler::Condition::differs : Assembler::Condition::equal));
    return;
  }
  const unsigned all = at_.fresh();
  for (unsigned eight = 0; eight < kEights; ++eight) {
    const unsigned holds = at_.take({item.guard, Form::mask}, eight);
    if (eight == 0) to_.vector(v::move, all, 0, Source::vector(holds));
    else to_.vector(is_negated ? v::or_ : v::and_, all, all, Source::vector(holds));
  }
  to_.vector(v::signs, rax, 0, Source::vector(all));
  if (is_negated) to_.bytes({0x84, 0xc0});  // test al, al
  else to_.bytes({0x3c, 0xff});             // cmp al, 0xff
  jumps.push_back(to_.jump(Assembler::Condition::differs));
  at_.release();
}

void MemoryEmitter::load(const Item& item, const Plan& how, unsigned part) {
  const unsigned count = item.from->count;
  const auto displacement = displacement_of(item, how, part);
  const auto at = [&](unsigned bytes) {
    return Source::memory(how.base(), displacement + static_cast<std::int32_t>(bytes));
  };
  std::array<unsigned, 4> d{}, x{};
  for (unsigned k = 0; k < count; ++k) d[k] = at_.fresh();
  for (unsigned k = 0; count > 1 && k < count; ++k) x[k] = at_.fresh();
  point(how, part);
  const auto op = [&](const Vex& what, unsigned to, unsigned first, unsigned second, int immediate = -1) {
    to_.vector(what, to, first, Source::vector(second), immediate);
  };
  const auto side_by_side = [&] {
    if (count == 1) {
      to_.vector(v::load, d[0], 0, at(0));
    } else if (count == 2) {
      for (unsigned i = 0; i < 2; ++i) to_.vector(v::load, x[i], 0, at(32 * i));
      op(v::shuffle, d[0], x[0], x[1], 0x88);
      op(v::shuffle, d[1], x[0], x[1], 0xdd);
      for (unsigned i = 0; i < 2; ++i) op(v::permute64, d[i], 0, d[i], 0xd8);
    } else {
      // Four lanes, and the four behind them in the upper halves, turned over their diagonal.
      for (unsigned i = 0; i < 4; ++i) {
        to_.vector(v::load_short, x[i], 0, at(16 * i));
        to_.vector(v::insert_upper, x[i], x[i], at(64 + 16 * i), 1);
      }
      op(v::unpack_low, d[0], x[0], x[1]);
      op(v::unpack_low, d[1], x[2], x[3]);
      op(v::unpack_high, d[2], x[0], x[1]);
      op(v::unpack_high, d[3], x[2], x[3]);
      op(v::unpack_low64, x[0], d[0], d[1]);
      op(v::unpack_high64, d[1], d[0], d[1]);
      op(v::unpack_low64, x[2], d[2], d[3]);
      op(v::unpack_high64, d[3], d[2], d[3]);
      op(v::move, d[0], 0, x[0]);
      op(v::move, d[2], 0, x[2]);
    }
  };
  either(how, part, side_by_side, [&] {
    for (unsigned k = 0; k < count; ++k) to_.vector(v::spread32, d[k], 0, at(4 * k));
  });
  Item plain = item;
  plain.guard = kNowhere;  // it holds for all
  for (unsigned k = 0; k < count; ++k) at_.put(plain, item.writes[k], part, d[k]);
}

void MemoryEmitter::store(const Item& item, const Plan& how, unsigned part) {
  const unsigned count = item.from->count;
  const auto displacement = displacement_of(item, how, part);
  const auto at = [&](unsigned bytes) {
    return Source::memory(how.base(), displacement + static_cast<std::int32_t>(bytes));
  };
  const auto op = [&](const Vex& what, unsigned to, unsigned first, unsigned second, int immediate = -1) {
    to_.vector(what, to, first, Source::vector(second), immediate);
  };
  std::array<unsigned, 4> d{}, x{};
  for (unsigned k = 0; k < count; ++k) d[k] = at_.take(item.reads[1 + k], part);
  for (unsigned k = 0; count > 1 && k < count; ++k) x[k] = at_.fresh();
  const unsigned t = count > 1 ? at_.fresh() : 0, u = count > 1 ? at_.fresh() : 0;
  point(how, part);  // behind what may have to be written back for room
  if (count == 1) return to_.vector(v::store, d[0], 0, at(0));
  if (count == 2) {
    op(v::unpack_low, x[0], d[0], d[1]);
    op(v::unpack_high, x[1], d[0], d[1]);
    op(v::upper_to_lower, t, x[0], x[1], 0x20);
    to_.vector(v::store, t, 0, at(0));
    op(v::upper_to_lower, t, x[0], x[1], 0x31);
    return to_.vector(v::store, t, 0, at(32));
  }
  op(v::unpack_low, t, d[0], d[1]);
  op(v::unpack_low, u, d[2], d[3]);
  op(v::unpack_low64, x[0], t, u);
  op(v::unpack_high64, x[1], t, u);
  op(v::unpack_high, t, d[0], d[1]);
  op(v::unpack_high, u, d[2], d[3]);
  op(v::unpack_low64, x[2], t, u);
  op(v::unpack_high64, x[3], t, u);
  for (unsigned i = 0; i < 4; ++i) {
    to_.vector(v::store_short, x[i], 0, at(16 * i));
    to_.vector(v::upper_half, x[i], 0, at(64 + 16 * i), 1);
  }
}

/// Leaves where it returns another step than the next: that jump.
std::size_t MemoryEmitter::call_handler(const Item& item) {
  const bool is_guarded = item.guard != kNowhere;
  const auto steps = offset(item.step - first_);
  const auto bytes = static_cast<std::int32_t>(sizeof(Step));
  to_.load64(rdi, rsp, StackFrame::kWarp);
  to_.load64(rsi, rsp, StackFrame::kStep);
  to_.add64(rsi, (steps - (is_guarded ? 1 : 0)) * bytes);
  to_.bytes({0xc5, 0xf8, 0x77});  // vzeroupper
  const bool is_kept = flushes_ && item.is_called;
  if (is_kept) to_.bytes({0x0f, 0xae, 0x14, 0x24});        // ldmxcsr [rsp]
  const bool is_counted = !code_.counted.empty();
  if (is_counted) to_.add_to_counter(&exec::all_counts().called, 1);
  to_.call(reinterpret_cast<const void*>(is_counted && !is_guarded ? exec::counts : item.handler));
  if (is_kept) to_.bytes({0x0f, 0xae, 0x54, 0x24, 0x04});  // ldmxcsr [rsp + 4]
  to_.load64(rdi, rsp, StackFrame::kWarp);
  to_.load64(rcx, rsp, StackFrame::kStep);
  to_.add64(rcx, (steps + 1) * bytes);
  to_.bytes({0x48, 0x39, 0xc8});  // cmp rax, rcx
  const auto leaving = to_.jump(Assembler::Condition::differs);
  to_.load64(kWords, rdi, offset(offsetof(exec::Warp, bases)));
  to_.move64(kWides, kWords);
  to_.move64(kMasks, kWords);
  to_.move64(kHalves, kWords);
  to_.lea64(kLaneMask, rdi, offset(offsetof(exec::Warp, mask)));
  return leaving;
}

/// A permutation that is known: of the registers of eight lanes each that it takes from, what it wants from each.
void MemoryEmitter::exchange(const Item& item) {
  const auto known = exchange_of(code_, item);
  std::array<unsigned, kEights> made{}, from{};
  at_.at_lanes(0);
  for (unsigned eight = 0; eight < kEights; ++eight) from[eight] = at_.take(item.reads[0], eight);
  for (unsigned eight = 0; eight < kEights; ++eight) {
    const auto* wanted = &known.from[8 * eight];
    made[eight] = at_.fresh();
    bool is_first = true;
    for (unsigned other = 0; other < kEights; ++other) {
      std::array<std::uint32_t, 8> order{};
      int chosen = 0;
      bool is_same = true;
      for (unsigned lane = 0; lane < 8; ++lane) {
        order[lane] = wanted[lane] % 8;
        is_same &= order[lane] == lane;
        if (wanted[lane] / 8 == other) chosen |= 1 << lane;
      }
      if (chosen == 0) continue;
      unsigned moved = from[other];
      if (!is_same) {
        moved = is_first ? made[eight] : at_.fresh();
        to_.vector(v::load, moved, 0, pool_.eight(order));
        to_.vector(v::permute32, moved, moved, Source::vector(from[other]));
      }
      if (is_first && is_same) to_.vector(v::move, made[eight], 0, Source::vector(moved));
      if (!is_first) to_.vector(v::blend32, made[eight], made[eight], Source::vector(moved), chosen);
      is_first = false;
    }
    // Moved ones of several are for a moment only.
    at_.release_fresh(from, made);
  }
  for (unsigned eight = 0; eight < kEights; ++eight) {
    at_.put(item, item.writes[0], eight, made[eight]);
    if (item.writes[1].at == kNowhere) continue;
    const unsigned within = at_.fresh();
    std::array<std::uint32_t, 8> holds{};
    for (unsigned lane = 0; lane < 8; ++lane) holds[lane] = known.within >> (8 * eight + lane) & 1 ? ~0U : 0U;
    to_.vector(v::load, within, 0, pool_.eight(holds));
    at_.put(item, item.writes[1], eight, within);
  }
}

/// Anything that does not fit is carried out behind the rest of the code, by the handler.
void MemoryEmitter::access(const Item& item) {
  const unsigned size = ptx::bytes_of(item.from->type), bytes = size * item.from->count;
  const bool is_load = item.from->op == Op::ld, is_pair = size == 8 && item.from->count == 2, is_lone = size != 4;
  Call call{&item, number_, {}, {}, {}, 0};
  at_.at_lanes(0);
  const Line* line = lines_ == nullptr ? nullptr : line_of_access(*lines_, item, number_);
  Plan plan;
  if (line != nullptr) plan.line = line;
  else plan = plan_for(item, bytes);
  if (item.guard != kNowhere) check_guard(item, call.jumps);
  call.before = at_.state();
  check_range(item, plan, bytes, call);
  for (unsigned part = 0; part < kEights; ++part) {
    at_.at_lanes(part);
    if (is_pair) is_load ? load_pair(item, plan, part) : store_pair(item, plan, part);
    else if (is_lone) is_load ? load_lone(item, plan, part) : store_lone(item, plan, part);
    else is_load ? load(item, plan, part) : store(item, plan, part);
  }
  at_.release();
  call.after = at_.state();
  call.back = to_.size();
  calls_.push_back(std::move(call));
}

/// Sums that nobody reads at once, in the block's own shared memory, which one thread at a time works on: lane by lane,
/// where all are within and aligned.
void MemoryEmitter::add_in_shared(const Item& item) {
  using When = Assembler::Condition;
  const auto displacement = static_cast<std::uint32_t>(item.step->displacement);
  const Use& base = item.reads[0];
  const Use& value = item.reads[1];
  Call call{&item, number_, {}, {}, {}, 0};
  at_.at_lanes(0);
  const unsigned limit = at_.fresh(), most = at_.fresh(), low = at_.fresh(), here = at_.fresh();
  const std::array<unsigned, 4> kept{limit, most, low, here};
  for (unsigned part = 0; part < kEights; ++part) {
    to_.vector(v::load, here, 0, at_.last(base, part));
    if (displacement != 0) to_.vector(v::add32, here, here, pool_.word(displacement));
    to_.vector(v::store, here, 0, Source::memory(rsp, StackFrame::kOffsets + 32 * offset(part)));
    to_.vector(part == 0 ? v::move : v::max_unsigned, most, part == 0 ? 0 : most, Source::vector(here));
    to_.vector(part == 0 ? v::move : v::or_, low, part == 0 ? 0 : low, Source::vector(here));
    at_.release_fresh(kept, kept);
  }
  // From here on until all is checked no value changes its place.
  call.before = at_.state();
  to_.load64(rax, rdi, offset(offsetof(exec::Warp, shared_end)));
  to_.sub64(rax, rdi, offset(offsetof(exec::Warp, shared_memory)));
  to_.add64(rax, -4);
  call.jumps.push_back(to_.jump(When::negative));
  to_.vector(v::from_gpr32, limit, 0, Source::vector(rax));
  to_.vector(v::spread32, limit, 0, Source::vector(limit));
  to_.vector(v::max_unsigned, most, most, Source::vector(limit));
  to_.vector(v::xor_, most, most, Source::vector(limit));
  to_.vector(v::and_, low, low, pool_.word(3));
  to_.vector(v::or_, most, most, Source::vector(low));
  to_.vector(v::test, most, 0, Source::vector(most));
  call.jumps.push_back(to_.jump(When::differs));
  std::uint64_t number = 0;
  const bool is_number = (value.at & kInConstants) != 0;
  if (is_number) constant_of(code_, value, number);
  for (unsigned part = 0; !is_number && part < kEights; ++part) {
    at_.at_lanes(part);
    to_.vector(v::store, at_.take(value, part), 0, Source::memory(rsp, StackFrame::kValues + 32 * offset(part)));
  }
  to_.load64(rsi, rdi, offset(offsetof(exec::Warp, shared_memory)));
  for (unsigned lane = 0; lane < exec::kLanes; ++lane) {
    to_.load32(rax, rsp, StackFrame::kOffsets + 4 * offset(lane));
    if (is_number) {
      to_.bytes({0x81, 0x04, 0x06});                   // add dword [rsi + rax], ...
      to_.word(static_cast<std::uint32_t>(number));
    } else {
      to_.load32(rcx, rsp, StackFrame::kValues + 4 * offset(lane));
      to_.bytes({0x01, 0x0c, 0x06});                   // add [rsi + rax], ecx
    }
  }
  at_.release();
  call.after = at_.state();
  call.back = to_.size();
  calls_.push_back(std::move(call));
}

void MemoryEmitter::emit(const Item& item) {
  if (!is_partial_ && item.from->op == Op::shfl) {
    exchange(item);
  } else if (is_partial_ || item.is_called) {
    at_.save(at_.state());
    write_back_lines(number_);
    at_.forget_all();
    leaving_.push_back(call_handler(item));
  } else if (item.from->op == Op::atom) {
    add_in_shared(item);
  } else {
    access(item);
  }
  for (const auto& use : item.writes) {
    if (use.at != kNowhere) wrote(use.at);
  }
}

}  // namespace flexrack::sim::jit
