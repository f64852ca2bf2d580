// shfl, vote, match, redux, elect, bar.warp.sync (PTX ISA 9.0, 9.7.9.5 to 6, 9.7.13). With a member mask the lanes that
// it names must all have come: most often they are one strand; else strands wait (Strand::State::lanes) until the last
// one comes. Lanes of one strand may name different masks: each mask is a group of its own.
#include <array>
#include <atomic>
#include <bit>
#include <span>

#include "sim/exec/collective.h"
#include "sim/exec/numbers.h"
#include "sim/exec/ops.h"
#include "sim/exec/warp.h"

namespace flexrack::sim::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ptx::Width;

/// Lanes of one strand that take part.
struct Party {
  std::byte* bases[2];
  const Step* step;
  u32 lanes;

  template <class T>
  typename RawOf<T>::type* registers(At place) const {
    return reinterpret_cast<typename RawOf<T>::type*>(bases[place & kInConstants] + (place & ~3U));
  }
  u32 predicate(At place) const {
    const u32 holds = *registers<u32>(place);
    return place & kNegated ? ~holds : holds;
  }
  void set_predicate(At place, u32 holds, u32 of) const {
    if (place == kNowhere) return;
    auto* const to = registers<u32>(place);
    *to = (*to & ~of) | (holds & of);
  }
};

Party party_of(Frame* frame, const Step* step, u32 lanes) {
  return {{frame->registers, frame->code->constants.get()}, step, lanes};
}

/// One value a lane, from whichever strand it is in.
struct Values {
  std::array<u64, kLanes> of{};
};

Values gather(std::span<const Party> parties, At Step::* place, Width width) {
  Values values;
  for (const auto& party : parties) {
    const At at = party.step->*place;
    for (u32 left = party.lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      values.of[lane] =
          width == Width::w64 ? u64{party.registers<const u64>(at)[lane]} : party.registers<const u32>(at)[lane];
    }
  }
  return values;
}

u32 gather_predicate(std::span<const Party> parties, At Step::* place) {
  u32 holds = 0;
  for (const auto& party : parties) holds |= party.predicate(party.step->*place) & party.lanes;
  return holds;
}

void shuffle(std::span<const Party> parties, u32 group) {
  const auto values = gather(parties, &Step::a, Width::w32);
  for (const auto& party : parties) {
    const auto& step = *party.step;
    const auto mode = static_cast<ptx::ShuffleMode>(step.source->detail);
    const auto* b = party.registers<const u32>(step.b);
    const auto* c = party.registers<const u32>(step.c);
    auto* d = party.registers<u32>(step.d);
    u32 within = 0;
    std::array<u32, kLanes> found{};
    for (u32 left = party.lanes & group; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      bool is_within = false;
      found[lane] = static_cast<u32>(values.of[source_lane(mode, lane, b[lane], c[lane], is_within)]);
      within |= static_cast<u32>(is_within) << lane;
    }
    for (u32 left = party.lanes & group; left != 0; left &= left - 1)
      d[std::countr_zero(left)] = found[static_cast<unsigned>(std::countr_zero(left))];
    party.set_predicate(step.e, within, party.lanes & group);
  }
}

void vote(std::span<const Party> parties, u32 group) {
  const u32 holds = gather_predicate(parties, &Step::a) & group;
  for (const auto& party : parties) {
    const u32 lanes = party.lanes & group;
    switch (static_cast<ptx::VoteMode>(party.step->source->detail)) {
      case ptx::VoteMode::all: party.set_predicate(party.step->d, holds == group ? ~0U : 0, lanes); break;
      case ptx::VoteMode::any: party.set_predicate(party.step->d, holds != 0 ? ~0U : 0, lanes); break;
      case ptx::VoteMode::uni: party.set_predicate(party.step->d, holds == group || holds == 0 ? ~0U : 0, lanes); break;
      default: {
        auto* d = party.registers<u32>(party.step->d);
        for (u32 left = lanes; left != 0; left &= left - 1) d[std::countr_zero(left)] = holds;
      }
    }
  }
}

void match(std::span<const Party> parties, u32 group) {
  const auto& from = *parties.front().step->source;
  const bool is_all = from.flags & ptx::kAll;
  const auto values = gather(parties, &Step::a, ptx::bytes_of(from.type) == 8 ? Width::w64 : Width::w32);
  for (const auto& party : parties) {
    auto* d = party.registers<u32>(party.step->d);
    u32 agree = 0;
    for (u32 left = party.lanes & group; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      u32 same = 0;
      for (u32 rest = group; rest != 0; rest &= rest - 1) {
        const auto other = static_cast<unsigned>(std::countr_zero(rest));
        if (values.of[other] == values.of[lane]) same |= 1U << other;
      }
      d[lane] = is_all ? (same == group ? group : 0) : same;
      if (same == group) agree |= 1U << lane;
    }
    if (is_all) party.set_predicate(party.step->e, agree, party.lanes & group);
  }
}

u32 reduced_float(const Instruction& from, u32 a, u32 b) {
  auto x = bits<float>(a), y = bits<float>(b);
  if (from.flags & ptx::kNan && (x != x || y != y)) return kNan32;
  return bits<u32>(from.atomic == ptx::AtomicOp::min ? least(x, y) : greatest(x, y));
}

u32 reduced(const Instruction& from, u32 a, u32 b) {
  if (from.type == Type::f32) return reduced_float(from, a, b);
  const bool is_less = ptx::is_signed(from.type) ? static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) : a < b;
  switch (from.atomic) {
    case ptx::AtomicOp::add: return a + b;
    case ptx::AtomicOp::min: return is_less ? a : b;
    case ptx::AtomicOp::max: return is_less ? b : a;
    case ptx::AtomicOp::logic_and: return a & b;
    case ptx::AtomicOp::logic_or: return a | b;
    default: return a ^ b;
  }
}

void reduce(std::span<const Party> parties, u32 group) {
  const auto& from = *parties.front().step->source;
  auto values = gather(parties, &Step::a, Width::w32);
  if (from.type == Type::f32 && from.detail == 1) {
    for (auto& value : values.of) value &= 0x7fffffff;
  }
  u32 left = group;
  auto sum = static_cast<u32>(values.of[static_cast<unsigned>(std::countr_zero(left)) % kLanes]);
  if (from.type == Type::f32) sum = reduced_float(from, sum, sum);
  for (left &= left - 1; left != 0; left &= left - 1)
    sum = reduced(from, sum, static_cast<u32>(values.of[static_cast<unsigned>(std::countr_zero(left)) % kLanes]));
  for (const auto& party : parties) {
    auto* d = party.registers<u32>(party.step->d);
    for (u32 lanes = party.lanes & group; lanes != 0; lanes &= lanes - 1) d[std::countr_zero(lanes)] = sum;
  }
}

void elect(std::span<const Party> parties, u32 group) {
  const auto leader = static_cast<u32>(std::countr_zero(group));
  for (const auto& party : parties) {
    if (party.step->d != kNowhere) {
      auto* d = party.registers<u32>(party.step->d);
      for (u32 left = party.lanes & group; left != 0; left &= left - 1) d[std::countr_zero(left)] = leader;
    }
    party.set_predicate(party.step->e, 1U << leader, party.lanes & group);
  }
}

void perform(std::span<const Party> parties, u32 group) {
  switch (parties.front().step->source->op) {
    case Op::shfl: shuffle(parties, group); break;
    case Op::vote: vote(parties, group); break;
    case Op::match: match(parties, group); break;
    case Op::redux: reduce(parties, group); break;
    case Op::elect: elect(parties, group); break;
    default: std::atomic_thread_fence(std::memory_order_seq_cst); break;  // bar.warp.sync orders memory
  }
}

/// Which operand is the member mask.
At member_mask(const Step& step) { return static_cast<At>(step.displacement); }

/// All lanes name the same mask and have come: the one way that is taken but for rare programs.
bool is_simple(const Warp& warp, const Step* step) {
  const At place = member_mask(*step);
  if (place == kNowhere) return true;
  const auto* wanted = warp.registers<const u32>(place);
  const u32 first = wanted[std::countr_zero(warp.mask)];
  if ((first & warp.live & ~warp.mask) != 0) return false;
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    if (wanted[std::countr_zero(left)] != first) return false;
  }
  return true;
}

const Step* together(Warp& warp, const Step* step) {
  Party self = party_of(warp.frame, step, warp.mask);
  if (is_simple(warp, step)) {
    perform({&self, 1}, warp.mask);
    return step + 1;
  }
  const auto* wanted = warp.registers<const u32>(member_mask(*step));
  bool are_all_there = true;
  for (u32 left = warp.mask; left != 0; left &= left - 1)
    are_all_there &= (wanted[std::countr_zero(left)] & warp.live & ~warp.mask) == 0;
  const auto group_of_first = [&](u32 among) {
    const u32 first = wanted[std::countr_zero(among)];
    u32 group = 0;
    for (u32 left = among; left != 0; left &= left - 1) {
      if (wanted[std::countr_zero(left)] == first) group |= left & (0 - left);
    }
    return group;
  };
  if (are_all_there) {
    // Groups of this strand: results of one are no sources of another, but the mask may be overwritten.
    std::array<u32, kLanes> groups{};
    unsigned count = 0;
    for (u32 left = warp.mask; left != 0; left &= ~groups[count++]) groups[count] = group_of_first(left);
    for (unsigned i = 0; i < count; ++i) perform({&self, 1}, groups[i]);
    return step + 1;
  }
  const u32 group = group_of_first(warp.mask), first = wanted[std::countr_zero(warp.mask)];
  if (group != warp.mask) warp.split(step, warp.mask & ~group);
  return warp.wait(step, Strand::State::lanes, first);
}

const Step* tells_active(Warp& warp, const Step* step) {
  auto* d = warp.registers<u32>(step->d);
  for (u32 left = warp.mask; left != 0; left &= left - 1) d[std::countr_zero(left)] = warp.mask;
  return step + 1;
}

}  // namespace

unsigned source_lane(ptx::ShuffleMode mode, unsigned lane, std::uint32_t b, std::uint32_t c, bool& is_within) {
  const std::uint32_t by = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const std::uint32_t greatest = (lane & segment) | (clamp & ~segment), least = lane & segment;
  int from = 0;
  switch (mode) {
    case ptx::ShuffleMode::up:
      from = static_cast<int>(lane) - static_cast<int>(by);
      is_within = from >= static_cast<int>(greatest);
      break;
    case ptx::ShuffleMode::down:
      from = static_cast<int>(lane + by);
      is_within = from <= static_cast<int>(greatest);
      break;
    case ptx::ShuffleMode::bfly:
      from = static_cast<int>(lane ^ by);
      is_within = from <= static_cast<int>(greatest);
      break;
    case ptx::ShuffleMode::idx:
      from = static_cast<int>(least | (by & ~segment));
      is_within = from <= static_cast<int>(greatest);
      break;
  }
  return is_within ? static_cast<unsigned>(from) : lane;
}

bool complete_meetings(Warp& warp) {
  bool is_any = false;
  for (std::size_t i = 0; i < warp.others.size(); ++i) {
    const Strand first = warp.others[i];
    if (first.state != Strand::State::lanes) continue;
    const auto belongs = [&](const Strand& strand) {
      return strand.state == Strand::State::lanes && strand.waits_for == first.waits_for &&
             strand.at->source->op == first.at->source->op;
    };
    std::array<Party, kLanes> parties;
    std::size_t count = 0;
    u32 there = 0;
    for (const auto& strand : warp.others) {
      if (!belongs(strand)) continue;
      parties[count++] = party_of(strand.frame, strand.at, strand.mask);
      there |= strand.mask;
    }
    if ((first.waits_for & warp.live & ~there) != 0) continue;
    perform({parties.data(), count}, there);
    for (auto& strand : warp.others) {
      if (!belongs(strand)) continue;
      strand.state = Strand::State::ready;
      ++strand.at;
    }
    is_any = true;
  }
  return is_any;
}

Handler collective_handler(const Instruction& from, Step& step) {
  const auto& o = from.o;
  const bool has_mask = from.flags & ptx::kSync;
  At mask = kNowhere;
  switch (from.op) {
    case Op::activemask: return tells_active;
    case Op::shfl:
      step.d = place_of(o[0]), step.e = place_of(o[1]), step.a = place_of(o[2]), step.b = place_of(o[3]),
      step.c = place_of(o[4]);
      if (has_mask) mask = place_of(o[5]);
      break;
    case Op::vote:
      if (has_mask) mask = place_of(o[2]);
      break;
    case Op::match:
      step.d = place_of(o[0]), step.e = place_of(o[1]), step.a = place_of(o[2]), mask = place_of(o[3]);
      break;
    case Op::redux: mask = place_of(o[2]); break;
    case Op::elect: step.d = place_of(o[0]), step.e = place_of(o[1]), mask = place_of(o[2]); break;
    case Op::bar_warp: mask = place_of(o[0]); break;
    default: return nullptr;
  }
  step.displacement = mask;
  return together;
}

}  // namespace flexrack::sim::exec
