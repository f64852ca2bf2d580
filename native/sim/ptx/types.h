// The small vocabularies of PTX as the decoded form uses them: types, state spaces, roundings, comparisons. Facts: PTX
// ISA 9.0, chapters 5 and 9.
#pragma once

#include <cstdint>

namespace flexrack::sim::ptx {

/// What an instruction computes with, or what lies in memory.
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  e2m3x2,
  e3m2x2,
  e2m1x2,
  ue8m0x2,
  u16x2,
  s16x2,
  texref,
  samplerref,
  surfref,
  other,
};

/// Bytes that one value of the type has in memory; 0 for none and pred.
constexpr unsigned bytes_of(Type type) {
  switch (type) {
    case Type::b8:
    case Type::u8:
    case Type::s8:
    case Type::e4m3:
    case Type::e5m2:
    case Type::e2m1x2: return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16: return 2;
    case Type::e4m3x2:
    case Type::e5m2x2:
    case Type::e2m3x2:
    case Type::e3m2x2:
    case Type::ue8m0x2: return 2;
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f32:
    case Type::f16x2:
    case Type::bf16x2:
    case Type::tf32: return 4;
    case Type::u16x2:
    case Type::s16x2: return 4;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
    case Type::f32x2: return 8;
    case Type::texref:
    case Type::samplerref:
    case Type::surfref: return 8;
    case Type::b128: return 16;
    default: return 0;
  }
}

constexpr bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
constexpr bool is_floating(Type type) {
  return type == Type::f16 || type == Type::f16x2 || type == Type::bf16 || type == Type::bf16x2 || type == Type::f32 ||
         type == Type::f32x2 || type == Type::f64 || type == Type::tf32;
}

enum class Space : std::uint8_t { generic, global, constant, shared, shared_cluster, local, param, reg, special };

/// The i forms (rni, ...) round to an integral value and apply to cvt only.
enum class Rounding : std::uint8_t { none, rn, rz, rm, rp, rna, rs, rni, rzi, rmi, rpi };

/// eq..ge are ordered for floats (signed or unsigned by the type for integers: lo, ls, hi, hs are decoded to lt, le,
/// gt, ge); *u are true for a NaN too; num: neither is a NaN; nan: one is.
enum class Compare : std::uint8_t { none, eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

/// How set and setp combine the comparison with the predicate operand.
enum class Combine : std::uint8_t { none, logic_and, logic_or, logic_xor };

enum class Scope : std::uint8_t { none, cta, cluster, gpu, sys };

/// volatile_ and mmio are at least relaxed; what says nothing is weak.
enum class Order : std::uint8_t { weak, relaxed, acquire, release, acq_rel, seq_cst, volatile_, mmio };

enum class AtomicOp : std::uint8_t {
  none,
  add,
  min,
  max,
  inc,
  dec,
  logic_and,
  logic_or,
  logic_xor,
  exchange,
  compare_swap
};

/// .extern is resolved by name to a .visible, .weak or .common one of another unit.
enum class Linkage : std::uint8_t { internal, visible, external, weak, common };

/// Named registers that the machine fills. x, y, z follow each other.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  warp_size,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  is_explicit_cluster,
  total_smem_size,
  aggr_smem_size,
  dynamic_smem_size,
  reserved_smem,
  current_graph_exec,
  envreg0,
  envreg31 = envreg0 + 31,
  pm0,
  pm7 = pm0 + 7,
  pm0_64,
  pm7_64 = pm0_64 + 7,
};

/// A bit each, in Instruction::flags.
enum Flag : std::uint16_t {
  kFtz = 1 << 0,          ///< subnormal inputs and results become zero of their sign
  kSaturate = 1 << 1,     ///< .sat: floats to [0, 1]; integers to the range of their type
  kApprox = 1 << 2,       ///< .approx (and .full of div)
  kRelu = 1 << 3,         ///< negative results and NaN become 0
  kSatFinite = 1 << 4,    ///< cvt to narrow floats: the greatest finite value instead of infinity
  kNan = 1 << 5,          ///< min and max: a NaN operand makes a NaN
  kXorSign = 1 << 6,      ///< min and max .xorsign.abs
  kUniform = 1 << 7,      ///< bra.uni, call.uni, ret.uni: all active lanes agree
  kSync = 1 << 8,         ///< shfl, vote with a member mask
  kCarryIn = 1 << 9,      ///< addc, subc, madc
  kCarryOut = 1 << 10,    ///< .cc
  kNoFtz = 1 << 11,       ///< .noftz of atom and red on halves: subnormals are kept
  kAll = 1 << 12,         ///< match.all; cp.async.wait_all
  kWrap = 1 << 13,        ///< shf.wrap; else .clamp. Of bmsk too
  kShiftAmount = 1 << 14, ///< bfind.shiftamt
  kOob = 1 << 15,         ///< fma.oob: an out-of-bounds NaN operand makes 0
};

}  // namespace flexrack::sim::ptx
