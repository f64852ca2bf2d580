// atom and red (PTX ISA 9.0, 9.7.13.6 and 7): real atomic operations on host memory, for blocks run on several threads.
// membar and fence.
#include <atomic>
#include <bit>

#include "sim/exec/access.h"
#include "sim/exec/halves.h"
#include "sim/exec/ops.h"
#include "sim/exec/warp.h"

namespace flexrack::sim::exec {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
__extension__ typedef unsigned __int128 u128;
using ptx::AtomicOp;

/// What memory holds after the operation: integers, as words of T.
template <class T, bool Signed>
T combined_integer(AtomicOp op, T old, T b) {
  using S = std::make_signed_t<T>;
  const bool is_less = Signed ? static_cast<S>(b) < static_cast<S>(old) : b < old;
  switch (op) {
    case AtomicOp::add: return static_cast<T>(old + b);
    case AtomicOp::min: return is_less ? b : old;
    case AtomicOp::max: return is_less ? old : b;
    case AtomicOp::inc: return old >= b ? T{0} : static_cast<T>(old + 1);
    case AtomicOp::dec: return old == 0 || old > b ? b : static_cast<T>(old - 1);
    case AtomicOp::logic_and: return old & b;
    case AtomicOp::logic_or: return old | b;
    case AtomicOp::logic_xor: return old ^ b;
    default: return b;
  }
}

template <class T>
T combined_floats(AtomicOp op, T old, T b) {
  return op == AtomicOp::min ? least(old, b) : op == AtomicOp::max ? greatest(old, b) : nan_to_one(old + b);
}

template <class H>
u16 combined_halves(AtomicOp op, u16 old, u16 b) {
  return H::from_float(combined_floats(op, H::to_float(old), H::to_float(b)));
}

template <class H>
u32 combined_pair(AtomicOp op, u32 old, u32 b) {
  return combined_halves<H>(op, static_cast<u16>(old), static_cast<u16>(b)) |
         static_cast<u32>(combined_halves<H>(op, static_cast<u16>(old >> 16), static_cast<u16>(b >> 16))) << 16;
}

/// f32 sums in global memory flush subnormals, in shared memory they do not (9.7.13.6).
u32 combined_f32(AtomicOp op, u32 old, u32 b, bool flushes) {
  if (op != AtomicOp::add || !flushes) return bits<u32>(combined_floats(op, bits<float>(old), bits<float>(b)));
  return bits<u32>(flush(combined_floats(op, flush(bits<float>(old)), flush(bits<float>(b)))));
}

/// One operation of a step, on words of T.
template <class T>
struct Combine {
  AtomicOp op;
  Type type;
  bool flushes;
  explicit Combine(const Instruction& from)
      : op(from.atomic),
        type(from.type),
        flushes(from.space != ptx::Space::shared && from.space != ptx::Space::shared_cluster) {}

  T operator()(T old, T b) const {
    if (op == AtomicOp::exchange) return b;
    if constexpr (sizeof(T) == 2) {
      if (type == Type::f16) return combined_halves<HalfFormat>(op, old, b);
      if (type == Type::bf16) return combined_halves<BfloatFormat>(op, old, b);
    } else if constexpr (sizeof(T) == 4) {
      if (type == Type::f32) return combined_f32(op, old, b, flushes);
      if (type == Type::f16x2) return combined_pair<HalfFormat>(op, old, b);
      if (type == Type::bf16x2) return combined_pair<BfloatFormat>(op, old, b);
    } else {
      if (type == Type::f64) return bits<u64>(combined_floats(op, bits<double>(old), bits<double>(b)));
    }
    return ptx::is_signed(type) ? combined_integer<T, true>(op, old, b) : combined_integer<T, false>(op, old, b);
  }
};

template <class T>
T update(T* at, const Combine<T>& combine, T b) {
  T old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(at, &old, combine(old, b), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
  return old;
}

template <class T>
const Step* atomics(Warp& warp, const Step* step) {
  if (!locate(warp, step, sizeof(T), true)) return nullptr;
  const Combine<T> combine(*step->source);
  const auto* b = warp.registers<const T>(step->b);
  auto* d = step->d == kNowhere ? nullptr : warp.registers<T>(step->d);
  T last{};
  each_lane(warp.mask, [&](unsigned lane) {
    last = update(reinterpret_cast<T*>(warp.targets[lane]), combine, T{b[lane]});
    if (d != nullptr) d[lane] = last;
  });
  return d == nullptr ? step + 1 : warp.polled_at(step, last);
}

/// Vectors: one element after the other, each an operation of its own. Operands are in Step::extra, results in
/// Step::others.
template <class T>
const Step* vector_atomics(Warp& warp, const Step* step) {
  const unsigned count = step->source->count;
  if (!locate(warp, step, static_cast<u32>(sizeof(T)) * count, true)) return nullptr;
  const Combine<T> combine(*step->source);
  const auto* results = step->source->o[0].kind == ptx::Operand::Kind::list ? step->others : nullptr;
  for (unsigned k = 0; k < count; ++k) {
    const auto* b = warp.registers<const T>(place_of(step->extra[k]));
    const At place = results == nullptr ? kNowhere : place_of(results[k]);
    auto* d = place == kNowhere ? nullptr : warp.registers<T>(place);
    each_lane(warp.mask, [&](unsigned lane) {
      const T old = update(reinterpret_cast<T*>(warp.targets[lane]) + k, combine, T{b[lane]});
      if (d != nullptr) d[lane] = old;
    });
  }
  return step + 1;
}

/// The same in the block's own shared memory, which one thread at a time works on: nobody can come in between.
template <class T>
const Step* adds_in_shared(Warp& warp, const Step* step) {
  if (!locate(warp, step, sizeof(T), true)) return nullptr;
  const auto* b = warp.registers<const T>(step->b);
  auto* d = step->d == kNowhere ? nullptr : warp.registers<T>(step->d);
  T last{};
  each_lane(warp.mask, [&](unsigned lane) {
    auto* const at = reinterpret_cast<typename RawOf<T>::type*>(warp.targets[lane]);
    last = *at;
    *at = static_cast<T>(last + b[lane]);
    if (d != nullptr) d[lane] = last;
  });
  return d == nullptr ? step + 1 : warp.polled_at(step, last);
}

/// Sums of integers: what most atomics are.
template <class T>
const Step* adds(Warp& warp, const Step* step) {
  if (!locate(warp, step, sizeof(T), true)) return nullptr;
  const auto* b = warp.registers<const T>(step->b);
  if (step->d == kNowhere) {
    each_lane(warp.mask, [&](unsigned lane) {
      __atomic_fetch_add(reinterpret_cast<T*>(warp.targets[lane]), b[lane], __ATOMIC_RELAXED);
    });
    return step + 1;
  }
  auto* d = warp.registers<T>(step->d);
  T last{};
  each_lane(warp.mask, [&](unsigned lane) {
    d[lane] = last = __atomic_fetch_add(reinterpret_cast<T*>(warp.targets[lane]), b[lane], __ATOMIC_SEQ_CST);
  });
  return warp.polled_at(step, last);
}

template <class T>
const Step* swaps_if_equal(Warp& warp, const Step* step) {
  if (!locate(warp, step, sizeof(T), true)) return nullptr;
  const auto* b = warp.registers<const T>(step->b);
  const auto* c = warp.registers<const T>(step->c);
  T last{};
  auto* d = step->d == kNowhere ? nullptr : warp.registers<T>(step->d);
  each_lane(warp.mask, [&](unsigned lane) {
    T expected = b[lane];
    __atomic_compare_exchange_n(reinterpret_cast<T*>(warp.targets[lane]), &expected, c[lane], false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    last = expected;
    if (d != nullptr) d[lane] = expected;
  });
  return warp.polled_at(step, last);
}

#if defined(__x86_64__)
__attribute__((target("cx16")))
#endif
u128 swap_if_equal_128(u128* at, u128 expected, u128 desired) {
  return __sync_val_compare_and_swap(at, expected, desired);
}

const Step* on_128_bits(Warp& warp, const Step* step) {
  if (!locate(warp, step, 16, true)) return nullptr;
  const auto* b = warp.registers<const u128>(step->b);
  const auto* c = step->source->atomic == AtomicOp::compare_swap ? warp.registers<const u128>(step->c) : nullptr;
  auto* d = step->d == kNowhere ? nullptr : warp.registers<u128>(step->d);
  u128 last{};
  each_lane(warp.mask, [&](unsigned lane) {
    auto* at = reinterpret_cast<u128*>(warp.targets[lane]);
    if (c != nullptr) {
      last = swap_if_equal_128(at, b[lane], c[lane]);
    } else {
      for (u128 seen = swap_if_equal_128(at, 0, 0);; seen = last) {
        last = swap_if_equal_128(at, seen, b[lane]);
        if (last == seen) break;
      }
    }
    if (d != nullptr) d[lane] = last;
  });
  return warp.polled_at(step, static_cast<u64>(last) ^ static_cast<u64>(last >> 64));
}

const Step* fences(Warp&, const Step* step) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return step + 1;
}

bool is_plain_sum(const Instruction& from) {
  return from.atomic == AtomicOp::add && from.count == 1 &&
         (from.type == Type::u32 || from.type == Type::s32 || from.type == Type::u64 || from.type == Type::s64);
}

Handler vector_handler(const Making& making, const Instruction& from, Step& step) {
  step.extra = &making.listed(from.o[2], 0);
  step.others = from.o[0].kind == ptx::Operand::Kind::list ? &making.listed(from.o[0], 0) : nullptr;
  switch (ptx::bytes_of(from.type)) {
    case 2: return vector_atomics<u16>;
    case 4: return vector_atomics<u32>;
    case 8: return vector_atomics<u64>;
    default: return nullptr;
  }
}

}  // namespace

Handler atomic_handler(const Making& making, const Instruction& from, Step& step) {
  if (from.op == Op::membar) return fences;
  if (from.op != Op::atom) return nullptr;
  const auto& address = from.o[1];
  step.d = place_of(from.o[0]);
  step.a = address.kind == ptx::Operand::Kind::address_register ? address.at : kNowhere;
  step.displacement = from.displacement;
  if (address.kind == ptx::Operand::Kind::address_variable)
    step.displacement += static_cast<std::int64_t>(making.image.variable(address.at));
  step.b = place_of(from.o[2]);
  step.c = place_of(from.o[3]);
  const unsigned bytes = ptx::bytes_of(from.type);
  if (from.o[2].kind == ptx::Operand::Kind::list) return vector_handler(making, from, step);
  if (from.atomic == AtomicOp::compare_swap && bytes != 16)
    return bytes == 2 ? swaps_if_equal<u16> : bytes == 4 ? swaps_if_equal<u32> : swaps_if_equal<u64>;
  if (is_plain_sum(from) && from.space == ptx::Space::shared)
    return bytes == 4 ? adds_in_shared<u32> : adds_in_shared<u64>;
  if (is_plain_sum(from)) return bytes == 4 ? adds<u32> : adds<u64>;
  switch (bytes) {
    case 2: return atomics<u16>;
    case 4: return atomics<u32>;
    case 8: return atomics<u64>;
    case 16: return on_128_bits;
    default: return nullptr;
  }
}

}  // namespace flexrack::sim::exec
