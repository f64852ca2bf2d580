// What each family of instructions becomes.
#include "sim/ptx_text.h"

using namespace flexrack::sim::ptx;

namespace {

struct Case {
  std::string text;
  std::string expected;
};

void check_all(std::initializer_list<Case> cases, const std::string& before = "") {
  for (const auto& each : cases) {
    INFO(each.text);
    CHECK(decoded(each.text, before) == each.expected);
  }
}

const Instruction& first_of(const Module& module) { return module.kernel("k")->code.front(); }

}  // namespace

TEST_CASE("integer arithmetic") {
  check_all({
      {"add.s32 %r1, %r2, %r3;", "add.s32 r, r, r"},
      {"add.sat.s32 %r1, %r2, -1;", "add.sat.s32 r, r, #4294967295"},
      {"add.u16 %h1, %h2, 70000;", "add.u16 r, r, #4464"},
      {"sub.u64 %rd1, %rd2, 0x10;", "sub.u64 r, r, #16"},
      {"add.u16x2 %r1, %r2, %r3;", "add.u16x2 r, r, r"},
      {"mul.lo.s32 %r1, %r2, %r3;", "mul.lo.s32 r, r, r"},
      {"mul.hi.u64 %rd1, %rd2, %rd3;", "mul.hi.u64 r, r, r"},
      {"mul.wide.s32 %rd1, %r2, %r3;", "mul.wide.s32 r, r, r"},
      {"mul.wide.u16 %r1, %h2, %h3;", "mul.wide.u16 r, r, r"},
      {"mad.lo.u32 %r1, %r2, %r3, %r4;", "mad.lo.u32 r, r, r, r"},
      {"mad.hi.sat.s32 %r1, %r2, %r3, %r4;", "mad.hi.sat.s32 r, r, r, r"},
      {"mad.wide.u32 %rd1, %r2, 3, %rd3;", "mad.wide.u32 r, r, #3, r"},
      {"mul24.lo.u32 %r1, %r2, %r3;", "mul24.lo.u32 r, r, r"},
      {"mad24.hi.sat.s32 %r1, %r2, %r3, %r4;", "mad24.hi.sat.s32 r, r, r, r"},
      {"sad.u16 %h1, %h2, %h3, %h4;", "sad.u16 r, r, r, r"},
      {"div.s64 %rd1, %rd2, %rd3;", "div.s64 r, r, r"},
      {"rem.u32 %r1, %r2, 7;", "rem.u32 r, r, #7"},
      {"abs.s16 %h1, %h2;", "abs.s16 r, r"},
      {"neg.s64 %rd1, %rd2;", "neg.s64 r, r"},
      {"min.s32 %r1, %r2, %r3;", "min.s32 r, r, r"},
      {"max.relu.s32 %r1, %r2, %r3;", "max.relu.s32 r, r, r"},
      {"popc.b64 %r1, %rd2;", "popc.b64 r, r"},
      {"clz.b32 %r1, %r2;", "clz.b32 r, r"},
      {"bfind.shiftamt.s32 %r1, %r2;", "bfind.shiftamt.s32 r, r"},
      {"fns.b32 %r1, %r2, 3, -1;", "fns.b32 r, r, #3, #4294967295"},
      {"brev.b64 %rd1, %rd2;", "brev.b64 r, r"},
      {"bfe.s64 %rd1, %rd2, 8, %r3;", "bfe.s64 r, r, #8, r"},
      {"bfi.b32 %r1, %r2, %r3, 4, 8;", "bfi.b32 r, r, r, #4, #8"},
      {"bmsk.wrap.b32 %r1, %r2, %r3;", "bmsk.wrap.b32 r, r, r"},
      {"szext.clamp.s32 %r1, %r2, 8;", "szext.s32 r, r, #8"},
      {"dp4a.u32.s32 %r1, %r2, %r3, %r4;", "dp4a.u32.s32 r, r, r, r"},
      {"dp2a.hi.s32.u32 %r1, %r2, %r3, %r4;", "dp2a.hi.s32.u32 r, r, r, r"},
  });
}

TEST_CASE("the carry is a predicate of its own") {
  const auto module = kernel_of(
      "add.cc.u32 %r1, %r2, %r3; addc.cc.u32 %r4, %r5, %r6; addc.u32 %r7, %r8, 0; madc.hi.cc.u64 %rd1, %rd2, %rd3, %rd4; sub.cc.s32 %r1, %r2, 1; subc.u32 %r2, "
      "%r3, %r4;");
  const auto& code = module->kernel("k")->code;
  CHECK(code[0].flags == kCarryOut);
  CHECK(code[1].flags == (kCarryIn | kCarryOut));
  CHECK(code[2].flags == kCarryIn);
  CHECK(code[3].op == Op::mad_hi);
  for (std::size_t at = 0; at < 6; ++at) {
    CHECK(code[at].o[4].kind == Operand::Kind::lanes);
    CHECK(code[at].o[4].width == Width::w1);
    CHECK(code[at].o[4].at == code[0].o[4].at);
  }
}

TEST_CASE("floating arithmetic, with roundings and modifiers") {
  check_all({
      {"add.rn.ftz.sat.f32 %f1, %f2, 0f3F800000;", "add.rn.ftz.sat.f32 r, r, #1065353216"},
      {"add.f64 %fd1, %fd2, 1.0;", "add.f64 r, r, #4607182418800017408"},
      {"sub.rm.f64 %fd1, %fd2, %fd3;", "sub.rm.f64 r, r, r"},
      {"mul.rz.f32 %f1, %f2, 2.0;", "mul.rz.f32 r, r, #1073741824"},
      {"fma.rn.f32 %f1, %f2, %f3, %f4;", "fma.rn.f32 r, r, r, r"},
      {"mad.rn.f32 %f1, %f2, %f3, %f4;", "fma.rn.f32 r, r, r, r"},
      {"fma.rn.relu.f16x2 %r1, %r2, %r3, %r4;", "fma.rn.relu.f16x2 r, r, r, r"},
      {"fma.rn.bf16 %h1, %h2, %h3, %h4;", "fma.rn.bf16 r, r, r, r"},
      {"add.rn.f16 %h1, %h2, %h3;", "add.rn.f16 r, r, r"},
      {"add.rn.bf16x2 %r1, %r2, %r3;", "add.rn.bf16x2 r, r, r"},
      {"fma.rn.f32x2 %rd1, %rd2, %rd3, %rd4;", "fma.rn.f32x2 r, r, r, r"},
      {"div.full.f32 %f1, %f2, %f3;", "div.approx.f32 r, r, r"},
      {"div.rn.f64 %fd1, %fd2, %fd3;", "div.rn.f64 r, r, r"},
      {"abs.ftz.f32 %f1, %f2;", "abs.ftz.f32 r, r"},
      {"neg.f16x2 %r1, %r2;", "neg.f16x2 r, r"},
      {"min.NaN.xorsign.abs.f32 %f1, %f2, %f3;", "min.NaN.xorsign.f32 r, r, r"},
      {"max.ftz.f32 %f1, %f2, %f3;", "max.ftz.f32 r, r, r"},
      {"max.f32 %f1, %f2, %f3, %f4;", "max.f32 r, r, r, r"},
      {"rcp.rn.f32 %f1, %f2;", "rcp.rn.f32 r, r"},
      {"rcp.approx.ftz.f64 %fd1, %fd2;", "rcp.ftz.approx.f64 r, r"},
      {"sqrt.approx.f32 %f1, %f2;", "sqrt.approx.f32 r, r"},
      {"rsqrt.approx.f64 %fd1, %fd2;", "rsqrt.approx.f64 r, r"},
      {"sin.approx.f32 %f1, %f2;", "sin.approx.f32 r, r"},
      {"cos.approx.ftz.f32 %f1, %f2;", "cos.ftz.approx.f32 r, r"},
      {"lg2.approx.f32 %f1, %f2;", "lg2.approx.f32 r, r"},
      {"ex2.approx.f16x2 %r1, %r2;", "ex2.approx.f16x2 r, r"},
      {"tanh.approx.bf16 %h1, %h2;", "tanh.approx.bf16 r, r"},
      {"copysign.f32 %f1, %f2, %f3;", "copysign.f32 r, r, r"},
      {"testp.notanumber.f64 %p1, %fd2;", "testp.f64 p, r"},
  });
  CHECK(first_of(*kernel_of("testp.subnormal.f32 %p1, %f1;")).detail ==
        static_cast<std::uint8_t>(TestProperty::subnormal));
}

TEST_CASE("logic, shifts and permutations") {
  check_all({
      {"and.b32 %r1, %r2, 0xff;", "and.b32 r, r, #255"},
      {"or.pred %p1, %p2, !%p3;", "or.pred p, p, !p"},
      {"xor.b16 %h1, %h2, %h3;", "xor.b16 r, r, r"},
      {"not.b64 %rd1, %rd2;", "not.b64 r, r"},
      {"cnot.b32 %r1, %r2;", "cnot.b32 r, r"},
      {"shl.b64 %rd1, %rd2, %r3;", "shl.b64 r, r, r"},
      {"shr.s16 %h1, %h2, 3;", "shr.s16 r, r, #3"},
      {"shf.l.wrap.b32 %r1, %r2, %r3, %r4;", "shf.l.wrap.b32 r, r, r, r"},
      {"shf.r.clamp.b32 %r1, %r2, %r3, 7;", "shf.r.b32 r, r, r, #7"},
      {"lop3.b32 %r1, %r2, %r3, %r4, 0xe8;", "lop3.b32 r, r, r, r, #232"},
      {"lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x3f, !%p2;", "lop3.or.b32 r, r, r, r, p, !p"},
      {"lop3.and.b32 _|%p1, %r2, %r3, %r4, 1, 1;", "lop3.and.b32 _, r, r, r, p, #1"},
      {"prmt.b32 %r1, %r2, %r3, 0x5410;", "prmt.b32 r, r, r, #21520"},
  });
  CHECK(first_of(*kernel_of("prmt.b32.rc8 %r1, %r2, %r3, %r4;")).detail == static_cast<std::uint8_t>(PermuteMode::rc8));
  CHECK(first_of(*kernel_of("lop3.b32 %r1, %r2, %r3, %r4, 0xe8;")).detail == 0xe8);
}

TEST_CASE("comparisons and selections") {
  check_all({
      {"setp.lt.s32 %p1, %r1, %r2;", "setp.lt.s32 p, , r, r"},
      {"setp.lo.u32 %p1|%p2, %r1, 5;", "setp.lt.u32 p, p, r, #5"},
      {"setp.hs.and.u64 %p1, %rd1, %rd2, !%p3;", "setp.ge.and.u64 p, , r, r, !p"},
      {"setp.neu.ftz.f32 %p1, %f1, 0f00000000;", "setp.neu.ftz.f32 p, , r, #0"},
      {"setp.nan.f64 %p1, %fd1, %fd1;", "setp.nan.f64 p, , r, r"},
      {"setp.gt.f16x2 %p1|%p2, %r1, %r2;", "setp.gt.f16x2 p, p, r, r"},
      {"setp.eq.b16 %p1, %h1, 0;", "setp.eq.b16 p, , r, #0"},
      {"set.gt.u32.f32 %r1, %f1, %f2;", "set.gt.u32.f32 r, r, r"},
      {"set.ltu.or.f32.f32 %f1, %f2, %f3, %p1;", "set.ltu.or.f32.f32 r, r, r, p"},
      {"set.eq.f16x2.f16x2 %r1, %r2, %r3;", "set.eq.f16x2.f16x2 r, r, r"},
      {"selp.b32 %r1, %r2, 0, %p1;", "selp.b32 r, r, #0, p"},
      {"selp.f64 %fd1, %fd2, %fd3, %p1;", "selp.f64 r, r, r, p"},
      {"slct.u64.f32 %rd1, %rd2, %rd3, %f1;", "slct.u64.f32 r, r, r, r"},
      {"slct.s32.s32 %r1, %r2, %r3, %r4;", "slct.s32.s32 r, r, r, r"},
  });
}

TEST_CASE("moves: packing, predicates, special registers") {
  check_all({
      {"mov.u32 %r1, 7;", "mov.u32 r, #7"},
      {"mov.b32 %r1, {%h1, %h2};", "mov.v2.b32.b16 r, {r, r}"},
      {"mov.b64 {%r1, _}, %rd1;", "mov.v2.b64.b32 {r, _}, r"},
      {"mov.b128 %q1, {%rd1, %rd2};", "mov.v2.b128.b64 r, {r, r}"},
      {"mov.b64 %rd1, {%h1, %h2, %h3, 5};", "mov.v4.b64.b16 r, {r, r, r, #5}"},
      {"mov.pred %p1, %p2;", "mov.pred p, p"},
      {"mov.u32 %r1, WARP_SZ;", "mov.u32 r, #32"},
      {"mov.u32 %r1, %tid.x;", "mov.u32 r"},
      {"mov.u64 %rd1, %clock64;", "mov.u64 r"},
      {"add.u32 %r1, %r1, %tid.y;", "mov.u32 r\nadd.u32 r, r, r"},
      {"mov.u32 %r1, %ctaid.w;", "mov.u32 r, #0"},
      {"@%p1 mov.v4.u32 {%r1,%r2,%r3,%r4}, %tid;", "@p mov.u32 r\n@p mov.u32 r\n@p mov.u32 r\n@p mov.u32 r, #0"},
  });
  CHECK(first_of(*kernel_of("mov.u32 %r1, %ntid.z;")).detail == static_cast<std::uint8_t>(Special::ntid_z));
  CHECK(first_of(*kernel_of("mov.u32 %r1, %envreg2;")).detail == static_cast<std::uint8_t>(Special::envreg0) + 2);
  CHECK(first_of(*kernel_of("mov.u64 %rd1, %pm3_64;")).detail == static_cast<std::uint8_t>(Special::pm0_64) + 3);
  CHECK(first_of(*kernel_of("mov.u32 %r1, %cluster_ctarank;")).op == Op::mov_special);
}

TEST_CASE("addresses of variables, in a register at once") {
  const std::string before = ".global .u32 g[8]; .shared .align 8 .b8 s[16]; .visible .func f() { ret; }\n";
  check_all(
      {
          {"mov.u64 %rd1, g;", "mov.u64 r, s"},
          {"mov.u64 %rd1, g+8;", "mov.u64 r, s"},
          {"mov.u32 %r1, s;", "mov.u32 r"},
          {"mov.u64 %rd1, f;", "mov.u64 r, s"},
          {"mov.b64 %rd1, big;", "mov.u64 r"},
          {"cvta.shared.u64 %rd1, s;", "mov.u64 r\ncvta.shared.u64 r, r"},
          {"cvta.to.global.u64 %rd1, %rd2;", "cvta.to.global.u64 r, r"},
          {"cvta.param.u64 %rd1, big;", "mov.u64 r\ncvta.param.u64 r, r"},
          {"isspacep.shared::cta %p1, %rd1;", "isspacep.shared.u64 p, r"},
          {"mapa.shared::cluster.u32 %r1, s, 1;", "mov.u32 r\nmapa.shared::cluster.u32 r, r, #1"},
          {"getctarank.u64 %r1, %rd1;", "getctarank.u64 r, r"},
      },
      before);
  const auto module = kernel_of("mov.u64 %rd1, g[3];", before);
  CHECK(first_of(*module).op == Op::mov_variable);
  CHECK(first_of(*module).displacement == 12);
  CHECK(first_of(*kernel_of("mov.u64 %rd1, big;", before)).op == Op::mov_param);
  CHECK(first_of(*kernel_of("mov.u64 %rd1, big+4;", before)).displacement == 12);
  const auto local = kernel_of(".local .align 16 .b8 depot[40]; .local .b32 x; mov.u64 %rd1, x;", before);
  CHECK(first_of(*local).op == Op::mov_local);
  CHECK(first_of(*local).displacement == 40);
  CHECK(local->kernel("k")->local_bytes == 48);
}

TEST_CASE("conversions; registers may be wider than the types") {
  check_all({
      {"cvt.u32.u64 %r1, %rd1;", "cvt.u32.u64 r, r"},
      {"cvt.s64.s8 %rd1, %h1;", "cvt.s64.s8 r, r"},
      {"cvt.u8.u32 %h1, %r1;", "cvt.u8.u32 r, r"},
      {"cvt.u8.u32 %r2, %r1;", "cvt.u8.u32 r, r"},
      {"cvt.rzi.ftz.sat.s32.f32 %r1, %f1;", "cvt.rzi.ftz.sat.s32.f32 r, r"},
      {"cvt.rn.f16.f32 %h1, %f1;", "cvt.rn.f16.f32 r, r"},
      {"cvt.rpi.f64.f64 %fd1, %fd2;", "cvt.rpi.f64.f64 r, r"},
      {"cvt.rna.tf32.f32 %r1, %f1;", "cvt.rna.tf32.f32 r, r"},
      {"cvt.rn.relu.bf16x2.f32 %r1, %f1, %f2;", "cvt.rn.relu.bf16x2.f32 r, r, r"},
      {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;", "cvt.rn.satfinite.e4m3x2.f32 r, r, r"},
      {"cvt.rn.f16x2.e5m2x2 %r1, %h1;", "cvt.rn.f16x2.e5m2x2 r, r"},
      {"cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4;", "cvt.pack.sat.u8.s32 r, r, r, r"},
      {"cvt.pack.sat.s16.s32 %r1, %r2, %r3;", "cvt.pack.sat.s16.s32 r, r, r"},
  });
}

TEST_CASE("loads and stores") {
  const std::string before =
      ".global .f32 g[8]; .const .u32 c; .shared .u32 s[4]; .extern .shared .align 16 .b8 dyn[];\n";
  check_all(
      {
          {"ld.global.f32 %f1, [%rd1+16];", "ld.global.f32 r, [r+16]"},
          {"ld.global.f32 %f1, [%rd1+-4];", "ld.global.f32 r, [r+-4]"},
          {"ld.global.f32 %f1, [%rd1 - 4*2];", "ld.global.f32 r, [r+-8]"},
          {"ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];",
           "ld.global.v4.f32 {r, r, r, r}, [r]"},
          {"ld.global.v2.u64 {%rd1, _}, [%rd2];", "ld.global.v2.u64 {r, _}, [r]"},
          {"ld.u8 %r1, [%rd1];", "ld.u8 r, [r]"},
          {"ld.global.s8 %rd1, [%rd2];", "ld.global.s8 r, [r]"},
          {"ld.volatile.shared.b32 %r1, [%r2];", "ld.volatile.shared.b32 r, [r]"},
          {"ld.acquire.gpu.global.b64 %rd1, [%rd2];", "ld.acquire.gpu.global.b64 r, [r]"},
          {"ld.relaxed.sys.b32 %r1, [%rd2].unified;", "ld.relaxed.sys.b32 r, [r]"},
          {"ld.global.L2::cache_hint.b32 %r1, [%rd2], %rd3;", "ld.global.b32 r, [r]"},
          {"ld.global.b128 %q1, [%rd1];", "ld.global.b128 r, [r]"},
          {"ldu.global.f32 %f1, [%rd1];", "ld.global.f32 r, [r]"},
          {"ld.global.f32 %f1, [g+4];", "ld.global.f32 r, [v+4]"},
          {"ld.f32 %f1, [g];", "ld.global.f32 r, [v]"},
          {"ld.const.u32 %r1, [c];", "ld.const.u32 r, [v]"},
          {"ld.global.f32 %f1, g[2];", "ld.global.f32 r, [v+8]"},
          {"ld.shared.u32 %r1, [s+8];", "ld.shared.u32 r, [8]"},
          {"ld.shared.u32 %r1, [dyn+8]; st.shared.u32 [s], %r1;", "ld.shared.u32 r, [24]\nst.shared.u32 [0], r"},
          {"ld.param.u64 %rd1, [p];", "ld.param.u64 r, [0]"},
          {"ld.param.b8 %h1, [big+3];", "ld.param.b8 r, [11]"},
          {"ld.global.u32 %r1, [0x100];", "ld.global.u32 r, [256]"},
          {"st.global.wb.f32 [%rd1], 0f3F800000;", "st.global.f32 [r], #1065353216"},
          {"st.shared.v2.b32 [%r1+8], {%r2, 7};", "st.shared.v2.b32 [r+8], {r, #7}"},
          {"st.release.cta.shared.u32 [%r1], %r2;", "st.release.cta.shared.u32 [r], r"},
          {"st.global.u8 [%rd1], %r2;", "st.global.u8 [r], r"},
          {"prefetch.global.L2 [%rd1];", "nop"},
          {"createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;", "mov.b64 r, #0"},
      },
      before);
}

TEST_CASE("atomics and fences") {
  check_all({
      {"atom.global.add.u32 %r1, [%rd1], 1;", "atom.global.add.u32 r, [r], #1"},
      {"atom.acq_rel.sys.global.cas.b64 %rd1, [%rd2], %rd3, %rd4;", "atom.acq_rel.sys.global.cas.b64 r, [r], r, r"},
      {"atom.shared.cas.b16 %h1, [%r1], %h2, %h3;", "atom.shared.cas.b16 r, [r], r, r"},
      {"atom.exch.b128 %q1, [%rd1], %q2;", "atom.exch.b128 r, [r], r"},
      {"atom.global.add.noftz.f16x2 %r1, [%rd1], %r2;", "atom.global.add.noftz.f16x2 r, [r], r"},
      {"atom.relaxed.gpu.global.inc.u32 _, [%rd1+4], 7;", "atom.relaxed.gpu.global.inc.u32 _, [r+4], #7"},
      {"atom.global.v2.f32.add {%f1,%f2}, [%rd1], {%f3,%f4};", "atom.global.add.v2.f32 {r, r}, [r], {r, r}"},
      {"red.global.max.s64 [%rd1], %rd2;", "atom.global.max.s64 _, [r], r"},
      {"red.release.gpu.global.add.f64 [%rd1], 1.0;", "atom.release.gpu.global.add.f64 _, [r], #4607182418800017408"},
      {"red.shared.or.b32 [%r1], %r2;", "atom.shared.or.b32 _, [r], r"},
      {"membar.gl;", "membar.sc.gpu"},
      {"fence.acq_rel.cta;", "membar.acq_rel.cta"},
      {"fence.sc.sys;", "membar.sc.sys"},
      {"fence.proxy.async.shared::cta;", "membar.sc"},
      {"fence.mbarrier_init.release.cluster;", "membar.release.cluster"},
  });
}

TEST_CASE("lanes of a warp") {
  check_all({
      {"shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;", "shfl.sync.b32 r, p, r, #16, #31, #4294967295"},
      {"shfl.sync.idx.b32 %r1, %f2, %r3, 0x1f, %r4;", "shfl.sync.b32 r, , r, r, #31, r"},
      {"shfl.bfly.b32 %r1, %r2, 1, 31;", "shfl.b32 r, , r, #1, #31"},
      {"vote.sync.ballot.b32 %r1, %p1, -1;", "vote.sync.b32 r, p, #4294967295"},
      {"vote.sync.all.pred %p1, !%p2, %r1;", "vote.sync.pred p, !p, r"},
      {"match.any.sync.b64 %r1, %rd1, %r2;", "match.sync.b64 r, , r, r"},
      {"match.all.sync.b32 %r1|%p1, %r2, %r3;", "match.sync.all.b32 r, p, r, r"},
      {"activemask.b32 %r1;", "activemask.b32 r"},
      {"redux.sync.min.s32 %r1, %r2, %r3;", "redux.min.s32 r, r, r"},
      {"redux.sync.max.abs.NaN.f32 %f1, %f2, %r3;", "redux.max.NaN.f32 r, r, r"},
      {"elect.sync _|%p1, -1;", "elect _, p, #4294967295"},
  });
  CHECK(first_of(*kernel_of("shfl.sync.up.b32 %r1, %r2, 1, 0, -1;")).detail ==
        static_cast<std::uint8_t>(ShuffleMode::up));
  CHECK(first_of(*kernel_of("vote.uni.pred %p1, %p2;")).detail == static_cast<std::uint8_t>(VoteMode::uni));
}

TEST_CASE("barriers, copies that are under way, waiting") {
  check_all({
      {"bar.sync 0;", "bar.sync #0"},
      {"barrier.cta.sync.aligned %r1, 64;", "bar.sync r, #64"},
      {"bar.arrive 1, %r2;", "bar.arrive #1, r"},
      {"bar.red.popc.u32 %r1, 0, %p1;", "bar.red.u32 r, #0, , p"},
      {"barrier.cta.red.and.pred %p1, 2, 64, !%p2;", "bar.red.pred p, #2, #64, !p"},
      {"bar.warp.sync -1;", "bar.warp.sync #4294967295"},
      {"barrier.cluster.arrive.relaxed.aligned;", "barrier.cluster.arrive.relaxed"},
      {"barrier.cluster.wait.acquire;", "barrier.cluster.wait.acquire"},
      {"cp.async.ca.shared.global [%r1+4], [%rd1+8], 16;", "add.u64 r, r, #8\ncp.async.shared.v16 [r+4], r"},
      {"cp.async.cg.shared::cta.global.L2::128B [%r1], [%rd1], 16, %r2;", "cp.async.shared.v16 [r], r, r"},
      {"cp.async.commit_group;", "cp.async.commit_group"},
      {"cp.async.wait_group 2;", "cp.async.wait_group #2"},
      {"cp.async.wait_all;", "cp.async.wait_group.all"},
      {"cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];", "cp.async.mbarrier.arrive.shared [r]"},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];",
       "cp.async.bulk.shared::cluster [r], r, r, r"},
      {"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64;", "cp.async.bulk.global [r], r, #64"},
      {"cp.async.bulk.wait_group.read 0;", "cp.async.bulk.wait_group #0"},
      {"mbarrier.init.shared::cta.b64 [%r1], 4;", "mbarrier.init.shared [r], #4"},
      {"mbarrier.arrive.expect_tx.shared.b64 %rd1, [%r1], 64;", "mbarrier.arrive.shared r, [r], #64"},
      {"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];",
       "mbarrier.arrive.release.cluster.shared::cluster _, [r]"},
      {"mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2, 100;", "mbarrier.test_wait.shared p, [r], r, #100"},
      {"mbarrier.test_wait.shared.b64 %p1, [%r1], %rd2;", "mbarrier.test_wait.shared p, [r], r"},
      {"mbarrier.pending_count.b64 %r1, %rd1;", "mbarrier.pending_count.b64 r, r"},
      {"mbarrier.inval.shared.b64 [%r1];", "mbarrier.inval.shared [r]"},
      {"nanosleep.u32 100;", "nanosleep.u32 #100"},
      {"griddepcontrol.wait;", "nop"},
      {"setmaxnreg.inc.sync.aligned.u32 64;", "nop"},
      {"alloca.u64 %rd1, 64, 16;", "alloca.u64 r, #64"},
      {"stacksave.u64 %rd1; stackrestore.u64 %rd1;", "stacksave.u64 r\nstackrestore.u64 r"},
  });
}

TEST_CASE("textures and surfaces") {
  const std::string before = ".global .texref t; .global .surfref s; .global .samplerref m;\n";
  check_all(
      {
          {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5,%f6}];", "tex.v4.f32.f32 {r, r, r, r}, r, {r, r}"},
          {"tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4}, [t, {%r5}];", "tex.v4.s32.s32 {r, r, r, r}, s, {r}"},
          {"tex.level.a2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1,%f5,%f6,%f6}], %f7;",
           "tex.v4.f32.f32 {r, r, r, r}, r, {r, r, r, r}"},
          {"tld4.b.2d.v4.u32.f32 {%r1,%r2,%r3,%r4}, [%rd1, {%f5,%f6}];", "tld4.v4.u32.f32 {r, r, r, r}, r, {r, r}"},
          {"txq.width.b32 %r1, [t];", "txq.b32 r, s"},
          {"suq.height.b32 %r1, [%rd1];", "suq.b32 r, r"},
          {"suld.b.2d.v2.b32.trap {%r1,%r2}, [s, {%r3,%r4}];", "suld.v2.b32 {r, r}, s, {r, r}"},
          {"sust.b.1d.b32.zero [%rd1, {%r3}], {%r4};", "sust.b32 r, {r}, {r}"},
          {"sured.b.add.2d.u32.clamp [%rd1, {%r3,%r4}], %r5;", "sured.add.u32 r, {r, r}, {r}"},
      },
      before);
  const auto module = kernel_of(
      "tex.grad.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [t, m, {%f5,%f6}], {%f7,%f8}, {%f9,%f10}, {%r1,%r2}, %f11;", before);
  const auto& texture = module->kernel("k")->textures.at(first_of(*module).index);
  CHECK(texture.geometry == Geometry::d2);
  CHECK(texture.sampler.kind == Operand::Kind::symbol);
  CHECK(texture.dpdx.count == 2);
  CHECK(texture.dpdy.count == 2);
  CHECK(texture.offset.count == 2);
  CHECK(texture.compare.kind == Operand::Kind::lanes);
  CHECK(texture.level.kind == Operand::Kind::none);
}

TEST_CASE("matrices") {
  check_all({
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};",
       "mma.f32 {r, r, r, r}, {r, r, r, r}, {r, r}, {r, r, r, r}"},
      {"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1,%r2}, [%r3+16];", "ldmatrix.shared.v2.b16 {r, r}, [r+16]"},
      {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%r1};", "stmatrix.shared.b16 [r], {r}"},
      {"movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;", "movmatrix.b32 r, r"},
      {"wmma.load.a.sync.aligned.col.m16n16k16.global.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd1], 16;",
       "wmma.load.global.f16 {r, r, r, r, r, r, r, r}, [r], #16"},
      {"wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd1], {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, %r1;",
       "wmma.store.f32 [r], {r, r, r, r, r, r, r, r}, r"},
  });
  const auto module = kernel_of(
      "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r1,%r2,%r3,%r4};");
  const auto& matrix = module->kernel("k")->matrices.at(first_of(*module).index);
  CHECK(matrix.m == 16);
  CHECK(matrix.n == 8);
  CHECK(matrix.k == 32);
  CHECK(matrix.is_b_column);
  CHECK_FALSE(matrix.is_a_column);
  CHECK(matrix.a == Type::u8);
  CHECK(matrix.b == Type::s8);
  CHECK(matrix.c == Type::s32);
  CHECK(first_of(*module).flags == kSatFinite);
}

TEST_CASE("what is not supported faults when it runs, and leaves the rest alone") {
  check_all({
      {"wgmma.fence.sync.aligned;", "unsupported: wgmma.fence.sync.aligned"},
      {"multimem.u32.nothing %zz, [%yy, {1, %xx}], _|%q;",
       "unsupported: multimem.u32.nothing %zz, [%yy, {1, %xx}], _|%q"},
      {"vset4.lt.u32.u32 %r1, %r2, %r3, %r4;", "unsupported: vset4.lt.u32.u32 %r1, %r2, %r3, %r4"},
      {"@!%p1 add.approx.u32 %r1, %r2, %r3;", "@!p unsupported: @!%p1 add.approx.u32 %r1, %r2, %r3"},
      {"vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1;", "unsupported: vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1"},
      {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, {%f1,%f2,%f3,%f4}, %r1, 0;",
       "unsupported: mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6,%r7,%r8}, {%f1,%f2,%f3,%f4}, %r1, 0"},
      {"tcgen05.wait::ld.sync.aligned;", "unsupported: tcgen05.wait::ld.sync.aligned"},
  });
}

TEST_CASE("guards, control, ends") {
  check_all({
      {"@%p1 add.u32 %r1, %r2, %r3;", "@p add.u32 r, r, r"},
      {"@!%p1 trap;", "@!p trap"},
      {"brkpt; @%p1 exit; @%p2 ret.uni;", "brkpt\n@p exit\n@p exit.uni"},
      {"pmevent 3;", "nop"},
  });
}
