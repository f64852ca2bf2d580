// Every operation of the decoded form and its operands. Instruction::o[] in the order of the brackets; d is written;
// {..} is a list operand; ? may be Kind::none. An executor chooses what carries an instruction out once, by op, type,
// source type and modifiers, and keeps that beside its code. Unless said otherwise: register widths agree with the
// type, sources are lanes or constants, never symbols or special registers (decoding puts mov_* before).
#pragma once

#include <cstdint>

namespace flexrack::sim::ptx {

enum class Op : std::uint16_t {
  nop,           ///< also prefetch, pmevent, setmaxnreg, griddepcontrol, applypriority, discard, pragmas
  unsupported,   ///< faults when a lane executes it; Instruction::index is into Function::texts: the instruction as
                 ///< written
  // Integer and float arithmetic: type
  add,
  sub,  ///< [d, a, b] all types, packed ones too; rounding, kFtz, kSaturate. kCarryIn/kCarryOut (integers): o[4] is the
        ///< carry, a predicate
  mul_lo,
  mul_hi,  ///< [d, a, b] integers
  mul_wide,  ///< [d, a, b] type u16, s16, u32, s32; d twice as wide
  mul,  ///< [d, a, b] floats
  mad_lo,
  mad_hi,  ///< [d, a, b, c] integers; kSaturate (hi.s32); carries as add
  mad_wide,  ///< [d, a, b, c] d and c twice as wide
  mul24_lo,
  mul24_hi,
  mad24_lo,
  mad24_hi,  ///< [d, a, b, c] 24-bit sources, u32/s32; lo: low 32 bits, hi: bits 16..47; kSaturate (mad24.hi.s32)
  sad,  ///< [d, a, b, c] |a-b|+c
  div,  ///< [d, a, b] integers; floats with rounding or kApprox
  rem,  ///< [d, a, b]
  abs,
  neg,  ///< [d, a]
  min,
  max,  ///< [d, a, b, c?] kNan, kXorSign, kRelu (s32, s16x2), kFtz
  fma,  ///< [d, a, b, c] floats (mad.f32/f64 too); rounding, kFtz, kSaturate, kRelu, kOob
  rcp,
  sqrt,  ///< [d, a] rounding or kApprox; rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 have kFtz
  rsqrt,
  sin,
  cos,
  lg2,
  ex2,
  tanh,  ///< [d, a] approximations
  copysign,  ///< [d, a, b] b with the sign of a
  testp,  ///< [d pred, a] detail: TestProperty
  // Bits
  popc,
  clz,  ///< [d 32-bit, a] type b32 or b64
  bfind,  ///< [d 32-bit, a] kShiftAmount
  fns,  ///< [d, mask, base, offset]
  brev,  ///< [d, a]
  bfe,  ///< [d, a, b, c] b, c 32-bit
  bfi,  ///< [d, a, b, c, e] insert a into b at c, length e (32-bit)
  bmsk,  ///< [d, a, b] kWrap or clamp
  szext,  ///< [d, a, b] kWrap or clamp
  dp4a,
  dp2a_lo,
  dp2a_hi,  ///< [d, a, b, c] type: of a, source_type: of b
  logic_and,
  logic_or,
  logic_xor,  ///< [d, a, b] bNN or pred
  logic_not,
  cnot,  ///< [d, a]
  lop3,  ///< [d, a, b, c, table constant, p?] detail: table; with a predicate result: lop3_pred
  lop3_pred,  ///< [d or sink, a, b, c, p, q] p = (d != 0) combine q
  shl,
  shr,  ///< [d, a, b 32-bit] shr: arithmetic where the type is signed; amounts beyond the width clamp
  shf_l,
  shf_r,  ///< [d, a low, b high, c] 32-bit; kWrap or clamp
  prmt,  ///< [d, a, b, c] detail: PermuteMode
  // Compare and select
  set,  ///< [d, a, b, c?] type: of d (u32, s32: all ones; f32: 1.0; f16, bf16, f16x2 ...), source_type: of a and b;
        ///< compare, combine
  setp,  ///< [p, q or none or sink, a, b, c?] type: of a and b; packed halves: p low, q high. p or q may be a sink
  selp,  ///< [d, a, b, p]
  slct,  ///< [d, a, b, c] type: of d; source_type: of c (s32, f32)
  // Move
  mov,  ///< [d, a] any width, pred too
  mov_pack,  ///< [d, {parts}] low part first
  mov_unpack,  ///< [{parts, some may be sinks}, a]
  mov_special,  ///< [d] detail: Special; value zero-extended or cut to d's width
  mov_variable,  ///< [d] address of Module::variables[o[1].at] + displacement
  mov_function,  ///< [d] address of Module::functions[o[1].at]
  mov_local,  ///< [d] local address (an address in .local, not a generic one) of frame offset displacement
  mov_shared,  ///< [d] shared address of displacement in the block's shared memory
  mov_param,  ///< [d] kernels: address of the parameter block + displacement, that ld.param and cvta.param take
  cvt,  ///< [d, a, b?] type: of d; source_type: of a. Registers may be wider than the types: a is cut, d is extended by
        ///< the sign of type. b: packed results, d = (a high, b low). Rounding::rs: one more, random bits (32-bit)
  cvt_pack,  ///< [d, a, b, c?] cvt.pack.sat: type: of each part of d; source_type: s32; detail: has c
  cvta,  ///< [d, a] space to generic
  cvta_to,  ///< [d, a] generic to space
  isspacep,  ///< [p, a] space
  mapa,  ///< [d, a, rank] space shared (d, a are shared::cluster addresses) or generic
  getctarank,  ///< [d 32-bit, a] space as mapa
  alloca_,  ///< [d, bytes] detail: log2 of alignment
  stacksave,
  stackrestore,  ///< [d]; [a]
  // Memory: space, type, order, scope; the address operand with Instruction::displacement
  ld,  ///< [d or {d}, address] count: elements (1, 2, 4, 8). Registers may be wider than the type: extended by its sign
  st,  ///< [address, a or {a}] registers may be wider: cut
  atom,  ///< [d or {d} or sink, address, b or {b}, c?] atomic; c: compare_swap's new value. count for .v2, .v4, .v8.
         ///< red has a sink
  membar,  ///< order, scope; fence, fence.proxy too
  cp_async,  ///< [address shared, source address in a register (global), source bytes?, ignore predicate?] count: bytes
             ///< 4, 8, 16; the rest is zeros
  cp_async_commit,  ///< []
  cp_async_wait,  ///< [n constant?] kAll: wait_all
  cp_async_mbarrier_arrive,  ///< [address] detail: 1 noinc
  cp_async_bulk,  ///< [address destination, source in a register, bytes, mbarrier in a register?] space: destination's,
                  ///< detail: source's Space; mbarrier none: bulk group
  cp_async_bulk_commit,  ///< []
  cp_async_bulk_wait,  ///< [n constant]
  // Other lanes
  shfl,  ///< [d, p or none, a, b, c, mask?] detail: ShuffleMode; kSync
  vote,  ///< [d, p, mask?] detail: VoteMode; d is a predicate or (ballot) 32-bit; kSync
  match,  ///< [d, p or none, a, mask] kAll or any
  activemask,  ///< [d]
  redux,  ///< [d, a, mask] atomic: add, min, max, and, or, xor; kNan and detail 1 (.abs) for f32
  elect,  ///< [d or sink, p, mask]
  // Barriers
  bar_sync,
  bar_arrive,  ///< [barrier, threads?] detail: 1 aligned
  bar_red,  ///< [d, barrier, threads?, p] detail: VoteMode (all, any) or popc (d 32-bit)
  bar_warp,  ///< [mask]
  barrier_cluster_arrive,  ///< order
  barrier_cluster_wait,  ///< order
  mbarrier_init,  ///< [address, count]
  mbarrier_inval,  ///< [address]
  mbarrier_arrive,  ///< [d or sink, address, count?] detail: MbarrierMode bits
  mbarrier_expect_tx,
  mbarrier_complete_tx,  ///< [address, bytes]
  mbarrier_test_wait,  ///< [p, address, state or parity, time?] detail: MbarrierMode bits (parity, try)
  mbarrier_pending_count,  ///< [d, state]
  // Control: Instruction::ways
  bra,  ///< ways
  brx,  ///< [index] Instruction::index is into Function::branch_tables; ways.reconverge
  call,  ///< [target register?] Instruction::index is into Function::calls
  ret,
  exit,  ///< ret of a kernel is decoded to exit
  trap,
  brkpt,
  nanosleep,  ///< [a]
  // Textures and surfaces. The object: o[1] (suld, tex...), o[0] (sust): a 64-bit register (unified or indirect) or
  // Kind::symbol, a variable of type texref or surfref
  tex,  ///< [{d}, texture, sampler?, {coordinates}, lod?, {ddx}?...] index into Function::textures holds the rest
  tld4,  ///< [{d}, texture, sampler?, {coordinates}] detail: component 0..3; index as tex
  txq,
  suq,  ///< [d, object] detail: QueryField
  suld,
  sust,
  sured,  ///< suld [{d}, object, {coordinates}]; sust, sured [object, {coordinates}, {a}] index into Function::textures
  // Matrices: index into Function::matrices holds shape, layouts and types
  mma,
  wmma_mma,  ///< [{d}, {a}, {b}, {c}] kSatFinite; rounding
  wmma_load,  ///< [{d}, address, stride?] detail: Fragment; stride 32-bit, in elements
  wmma_store,  ///< [address, {d}, stride?]
  ldmatrix,  ///< [{d}, address] m8n8 of b16; count: 1, 2, 4 matrices; detail: 1 transposed
  stmatrix,  ///< [address, {a}] as ldmatrix
  movmatrix,  ///< [d, a] m8n8 of b16, transposed
};

constexpr unsigned kOpCount = static_cast<unsigned>(Op::movmatrix) + 1;

enum class TestProperty : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };
enum class PermuteMode : std::uint8_t { index, f4e, b4e, rc8, ecl, ecr, rc16 };
enum class ShuffleMode : std::uint8_t { up, down, bfly, idx };
enum class VoteMode : std::uint8_t { all, any, uni, ballot, popc };
enum class Fragment : std::uint8_t { a, b, c, d };
enum MbarrierMode : std::uint8_t {
  kMbarrierDrop = 1,
  kMbarrierExpectTx = 2,
  kMbarrierNoComplete = 4,
  kMbarrierParity = 8,
  kMbarrierTry = 16
};
enum class QueryField : std::uint8_t {
  width,
  height,
  depth,
  channel_data_type,
  channel_order,
  normalized_coords,
  array_size,
  num_mipmap_levels,
  num_samples,
  memory_layout,
  filter_mode,
  addr_mode_0,
  addr_mode_1,
  addr_mode_2,
  force_unnormalized_coords,
};

}  // namespace flexrack::sim::ptx
