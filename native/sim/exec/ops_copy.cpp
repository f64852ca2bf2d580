// cp.async, cp.async.bulk and mbarrier objects (PTX ISA 9.0, 9.7.9.25 and 9.7.13.15). Copies are done when they are
// asked for, so that waiting for groups is is_done_already.
//
// An mbarrier, 64 bits: the phase's parity in bit 63, in 20 bits each the arrivals that a phase expects, those still
// pending, and (signed) the bytes still to come.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "sim/exec/access.h"
#include "sim/exec/block.h"
#include "sim/exec/ops.h"

namespace flexrack::sim::exec {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using ptx::Width;

u64 word_of(const Warp& warp, const ptx::Operand& operand, unsigned lane) {
  const At at = place_of(operand);
  if (operand.width == Width::w1) return warp.predicate(at) >> lane & 1;
  return operand.width == Width::w64 ? warp.registers<const u64>(at)[lane] : u64{warp.registers<const u32>(at)[lane]};
}

/// A register that is an address by itself.
Address plain_address(const ptx::Operand& operand, ptx::Space space) {
  return {space, place_of(operand), operand.width, 0};
}

struct Places {
  std::byte* of[kLanes];
};

bool locate_into(Warp& warp, const Step* step, const Address& address, u32 size, bool is_write, u32 align,
                 Places& places) {
  if (!locate(warp, step, address, size, is_write, align)) return false;
  std::memcpy(places.of, warp.targets, sizeof places.of);
  return true;
}

/// So many bytes for each lane.
template <u32 Size>
void copy_each(u32 lanes, const Places& to, std::byte* const* from) {
  each_lane(lanes, [&](unsigned lane) { std::memcpy(to.of[lane], from[lane], Size); });
}

const Step* copies(Warp& warp, const Step* step) {
  const Instruction& from = *step->source;
  const u32 size = from.count, mask = warp.mask;
  Places to{};
  if (!locate_into(warp, step, address_in(warp, from, from.o[0], ptx::Space::shared), size, true, size, to))
    return nullptr;
  const bool has_size = from.o[2].kind != ptx::Operand::Kind::none,
             has_ignore = from.o[3].kind != ptx::Operand::Kind::none;
  // Lanes that copy all, and those that copy anything.
  u32 bytes[kLanes], whole = mask, reading = mask;
  if (has_size || has_ignore) {
    whole = reading = 0;
    each_lane(mask, [&](unsigned lane) {
      bytes[lane] = has_size ? std::min(static_cast<u32>(word_of(warp, from.o[2], lane)), size) : size;
      if (has_ignore && word_of(warp, from.o[3], lane)) bytes[lane] = 0;
      if (bytes[lane] != 0) reading |= 1U << lane;
      if (bytes[lane] == size) whole |= 1U << lane;
    });
  }
  // What is not read need not exist.
  warp.mask = reading;
  const bool is_found = locate(warp, step, plain_address(from.o[1], ptx::Space::global), size, false, size);
  warp.mask = mask;
  if (!is_found) return nullptr;
  switch (size) {
    case 16: copy_each<16>(whole, to, warp.targets); break;
    case 8: copy_each<8>(whole, to, warp.targets); break;
    default: copy_each<4>(whole, to, warp.targets); break;
  }
  each_lane(mask & ~whole, [&](unsigned lane) {
    std::memset(to.of[lane], 0, size);
    if (bytes[lane] != 0) std::memcpy(to.of[lane], warp.targets[lane], bytes[lane]);
  });
  return step + 1;
}

// ---- mbarriers

constexpr unsigned kPendingShift = 20, kExpectedShift = 0, kBytesShift = 40;
constexpr u64 kCountMask = (1U << 20) - 1, kBytesMask = (u64{1} << 23) - 1;

struct Mbarrier {
  u32 expected = 0, pending = 0;
  s32 bytes = 0;
  bool parity = false;

  static Mbarrier unpack(u64 raw) {
    Mbarrier made;
    made.expected = raw >> kExpectedShift & kCountMask;
    made.pending = raw >> kPendingShift & kCountMask;
    made.bytes = static_cast<s32>(static_cast<u32>(raw >> kBytesShift & kBytesMask) << 9) >> 9;
    made.parity = raw >> 63;
    return made;
  }
  u64 pack() const {
    return u64{expected} << kExpectedShift | u64{pending} << kPendingShift |
           (static_cast<u64>(static_cast<u32>(bytes)) & kBytesMask) << kBytesShift | u64{parity} << 63;
  }
  void complete_if_done() {
    if (pending != 0 || bytes != 0) return;
    parity = !parity;
    pending = expected;
  }
};

/// Changes the object at `at`; returns what it was before.
template <class Change>
u64 change(std::byte* at, const Change& make) {
  auto* word = reinterpret_cast<u64*>(at);
  u64 old = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  for (;;) {
    Mbarrier next = Mbarrier::unpack(old);
    make(next);
    if (__atomic_compare_exchange_n(word, &old, next.pack(), false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)) return old;
  }
}

bool locate_barrier(Warp& warp, const Step* step, const ptx::Operand& operand, bool is_write = true) {
  return locate(warp, step, address_in(warp, *step->source, operand, step->source->space), 8, is_write, 8);
}

const Step* initialises(Warp& warp, const Step* step) {
  if (!locate_barrier(warp, step, step->source->o[0])) return nullptr;
  each_lane(warp.mask, [&](unsigned lane) {
    Mbarrier made;
    made.expected = made.pending = static_cast<u32>(word_of(warp, step->source->o[1], lane)) & kCountMask;
    __atomic_store_n(reinterpret_cast<u64*>(warp.targets[lane]), made.pack(), __ATOMIC_SEQ_CST);
  });
  return step + 1;
}

const Step* invalidates(Warp& warp, const Step* step) {
  if (!locate_barrier(warp, step, step->source->o[0])) return nullptr;
  each_lane(warp.mask,
            [&](unsigned lane) { __atomic_store_n(reinterpret_cast<u64*>(warp.targets[lane]), 0, __ATOMIC_SEQ_CST); });
  return step + 1;
}

const Step* arrives_at_mbarrier(Warp& warp, const Step* step) {
  const Instruction& from = *step->source;
  if (!locate_barrier(warp, step, from.o[1])) return nullptr;
  const bool has_count = from.o[2].kind != ptx::Operand::Kind::none, expects = from.detail & ptx::kMbarrierExpectTx,
             drops = from.detail & ptx::kMbarrierDrop;
  each_lane(warp.mask, [&](unsigned lane) {
    const u32 count = has_count ? static_cast<u32>(word_of(warp, from.o[2], lane)) : 1;
    const u64 before = change(warp.targets[lane], [&](Mbarrier& barrier) {
      const u32 arriving = expects ? 1 : count;
      if (expects) barrier.bytes += static_cast<s32>(count);
      barrier.pending -= std::min(arriving, barrier.pending);
      if (drops) barrier.expected -= std::min(arriving, barrier.expected);
      barrier.complete_if_done();
    });
    if (step->d != kNowhere) warp.registers<u64>(step->d)[lane] = before;
  });
  return step + 1;
}

const Step* counts_bytes(Warp& warp, const Step* step) {
  const Instruction& from = *step->source;
  if (!locate_barrier(warp, step, from.o[0])) return nullptr;
  const s32 sign = from.op == Op::mbarrier_expect_tx ? 1 : -1;
  each_lane(warp.mask, [&](unsigned lane) {
    change(warp.targets[lane], [&](Mbarrier& barrier) {
      barrier.bytes += sign * static_cast<s32>(word_of(warp, from.o[1], lane));
      if (sign < 0) barrier.complete_if_done();
    });
  });
  return step + 1;
}

/// Whether the phase of a state or parity is over.
const Step* tests(Warp& warp, const Step* step) {
  const Instruction& from = *step->source;
  if (!locate_barrier(warp, step, from.o[1], false)) return nullptr;
  u32 over = 0;
  each_lane(warp.mask, [&](unsigned lane) {
    const bool now = __atomic_load_n(reinterpret_cast<const u64*>(warp.targets[lane]), __ATOMIC_ACQUIRE) >> 63;
    const u64 requested = word_of(warp, from.o[2], lane);
    const bool of = from.detail & ptx::kMbarrierParity ? requested & 1 : requested >> 63;
    over |= static_cast<u32>(now != of) << lane;
  });
  warp.set_predicate(step->d, over);
  return warp.polled_at(step, over);
}

const Step* tells_pending(Warp& warp, const Step* step) {
  each_lane(warp.mask, [&](unsigned lane) {
    warp.registers<u32>(step->d)[lane] = Mbarrier::unpack(word_of(warp, step->source->o[1], lane)).pending;
  });
  return step + 1;
}

/// The copies have been made, so the arrival is now; but for .noinc the thread was not counted.
const Step* arrives_for_copies(Warp& warp, const Step* step) {
  const Instruction& from = *step->source;
  if (!locate_barrier(warp, step, from.o[0])) return nullptr;
  if (from.detail == 0) return step + 1;  // the pending count would be raised and lowered again
  each_lane(warp.mask, [&](unsigned lane) {
    change(warp.targets[lane], [&](Mbarrier& barrier) {
      barrier.pending -= std::min(1U, barrier.pending);
      barrier.complete_if_done();
    });
  });
  return step + 1;
}

const Step* copies_bulk(Warp& warp, const Step* step) {
  const Instruction& from = *step->source;
  for (u32 left = warp.mask, all = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const auto bytes = static_cast<u32>(word_of(warp, from.o[2], lane));
    warp.mask = 1U << lane;
    Places to{}, source{};
    bool is_found = locate_into(warp, step, address_in(warp, from, from.o[0], from.space), bytes, true, 16, to) &&
                    locate_into(warp, step, plain_address(from.o[1], static_cast<ptx::Space>(from.detail)), bytes,
                                false, 16, source);
    if (is_found) std::memcpy(to.of[lane], source.of[lane], bytes);
    if (is_found && from.o[3].kind != ptx::Operand::Kind::none) {
      is_found = locate(warp, step, plain_address(from.o[3], ptx::Space::shared), 8, true, 8);
      if (is_found) {
        change(warp.targets[lane], [&](Mbarrier& barrier) {
          barrier.bytes -= static_cast<s32>(bytes);
          barrier.complete_if_done();
        });
      }
    }
    warp.mask = all;
    if (!is_found) return nullptr;
  }
  return step + 1;
}

const Step* is_done_already(Warp&, const Step* step) { return step + 1; }

}  // namespace

Handler copy_handler(const Making&, const Instruction& from, Step&) {
  switch (from.op) {
    case Op::cp_async: return copies;
    case Op::cp_async_commit:
    case Op::cp_async_wait:
    case Op::cp_async_bulk_commit:
    case Op::cp_async_bulk_wait: return is_done_already;
    case Op::cp_async_mbarrier_arrive: return arrives_for_copies;
    case Op::cp_async_bulk: return copies_bulk;
    case Op::mbarrier_init: return initialises;
    case Op::mbarrier_inval: return invalidates;
    case Op::mbarrier_arrive: return arrives_at_mbarrier;
    case Op::mbarrier_expect_tx:
    case Op::mbarrier_complete_tx: return counts_bytes;
    case Op::mbarrier_test_wait: return tests;
    case Op::mbarrier_pending_count: return tells_pending;
    default: return nullptr;
  }
}

}  // namespace flexrack::sim::exec
