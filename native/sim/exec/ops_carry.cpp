// Addition, subtraction and multiplication with carries between instructions: add.cc, addc, subc, madc (PTX
// ISA 9.0, 9.7.2). o[4] is the carry, a predicate.
#include <bit>

#include "sim/exec/ops.h"
#include "sim/exec/warp.h"

namespace flexrack::sim::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

/// The product's low or high half.
template <class T>
T half_product(T a, T b, Op op, bool is_signed) {
  if (op == Op::mad_lo) return a * b;
  if (!is_signed) return static_cast<T>((u128{a} * b) >> (8 * sizeof(T)));
  using S = std::make_signed_t<T>;
  return static_cast<T>((s128{static_cast<S>(a)} * static_cast<S>(b)) >> (8 * sizeof(T)));
}

template <class T>
const Step* with_carry(Warp& warp, const Step* step) {
  const Instruction& from = *step->source;
  const bool is_mad = from.op == Op::mad_lo || from.op == Op::mad_hi, is_sub = from.op == Op::sub;
  const bool takes = from.flags & ptx::kCarryIn, gives = from.flags & ptx::kCarryOut;
  auto* d = warp.registers<T>(step->d);
  const auto* a = warp.registers<const T>(step->a);
  const auto* b = warp.registers<const T>(step->b);
  const auto* c = is_mad ? warp.registers<const T>(step->c) : nullptr;
  const u32 carries = takes ? warp.predicate(step->e) : 0;
  u32 carried = 0;
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const T x = is_mad ? half_product<T>(a[lane], b[lane], from.op, ptx::is_signed(from.type)) : a[lane],
            y = is_mad ? c[lane] : b[lane];
    const T in = carries >> lane & 1;
    // The carry of a subtraction is its borrow.
    const u128 sum = is_sub ? u128{x} - y - in : u128{x} + y + in;
    d[lane] = static_cast<T>(sum);
    carried |= static_cast<u32>(static_cast<unsigned>(sum >> (8 * sizeof(T))) & 1) << lane;
  }
  if (gives) warp.set_predicate(step->e, carried);
  return step + 1;
}

}  // namespace

Handler carry_handler(const Instruction& from) {
  if ((from.flags & (ptx::kCarryIn | ptx::kCarryOut)) == 0) return nullptr;
  if (from.op != Op::add && from.op != Op::sub && from.op != Op::mad_lo && from.op != Op::mad_hi) return nullptr;
  return ptx::bytes_of(from.type) == 8 ? with_carry<u64> : with_carry<u32>;
}

}  // namespace flexrack::sim::exec
