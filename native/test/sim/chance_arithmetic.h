// Instructions by chance that compute on registers.
#pragma once

#include <string>

#include "chance_words.h"

namespace flexrack::test {

class ChanceArithmetic : protected ChanceWords {
 protected:
  using ChanceWords::ChanceWords;

  std::string doubles() {
    const std::string d = wide();
    switch (pick(12)) {
      case 0:
      case 1:
        return one_of({"add.rn", "sub.rn", "mul.rn"}) + ".f64 " + d + ", " + double_source() + ", " + double_source() +
               ";\n";
      case 2: return "div.rn.f64 " + d + ", " + double_source() + ", " + wide() + ";\n";
      case 3:
      case 4:
        return "fma.rn.f64 " + d + ", " + double_source() + ", " + double_source() + ", " + double_source() + ";\n";
      case 5: return one_of({"min", "max"}) + ".f64 " + d + ", " + wide() + ", " + double_source() + ";\n";
      case 6: return one_of({"abs.f64 ", "neg.f64 ", "rcp.rn.f64 ", "sqrt.rn.f64 "}) + d + ", " + wide() + ";\n";
      case 7:
        return one_of({"cvt.f64.f32 ", "cvt.ftz.f64.f32 ", "cvt.rn.f64.s32 ", "cvt.rn.f64.u32 "}) + d + ", " + word() +
               ";\n";
      case 8: return one_of({"cvt.rn.f32.f64 ", "cvt.rn.ftz.f32.f64 "}) + word() + ", " + wide() + ";\n";
      case 9:
        return "setp." +
               one_of({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}) +
               ".f64 " + predicate() + ", " + wide() + ", " + double_source() + ";\n";
      case 10: return one_of({"add.rz", "mul.rm", "sub.rp"}) + ".f64 " + d + ", " + wide() + ", " + wide() + ";\n";
      default: return "selp.f64 " + d + ", " + wide() + ", " + double_source() + ", " + predicate() + ";\n";
    }
  }

  std::string narrow() {
    const std::string source = pick(4) == 0 ? one_of({"0", "1", "-1", "0x7fff"}) : half();
    switch (pick(12)) {
      case 8:
        return one_of({"add.rn", "sub.rn", "mul.rn"}) + one_of({".f16x2 ", ".bf16x2 "}) + word() + ", " + word() +
               ", " + word() + ";\n";
      case 9:
        return one_of({"add.rn", "sub.rn", "mul.rn"}) + one_of({".f16 ", ".bf16 "}) + half() + ", " + half() + ", " +
               half() + ";\n";
      case 10:
        return pick(2) == 0 ? "fma.rn" + one_of({".f16x2 ", ".bf16x2 ", ".sat.f16x2 "}) + word() + ", " + word() +
                                  ", " + word() + ", " + word() + ";\n"
                            : "fma.rn.f16 " + half() + ", " + half() + ", " + half() + ", " + half() + ";\n";
      case 11: return one_of({"neg", "abs"}) + one_of({".f16x2 ", ".bf16x2 "}) + word() + ", " + word() + ";\n";
      case 0: return one_of({"and.b16 ", "or.b16 ", "xor.b16 "}) + half() + ", " + half() + ", " + source + ";\n";
      case 1: return "not.b16 " + half() + ", " + half() + ";\n";
      case 2:
        return "setp." + one_of({"eq", "ne", "lt", "le", "gt", "ge"}) + one_of({".u16 ", ".s16 "}) + predicate() +
               ", " + half() + ", " + source + ";\n";
      case 3: return "selp.b16 " + half() + ", " + half() + ", " + source + ", " + predicate() + ";\n";
      case 4:
        return "cvt." + one_of({"u8", "s8", "u16", "s16"}) + "." + one_of({"u32", "s32", "u16", "s8"}) + " " + half() +
               ", " + word() + ";\n";
      case 5:
        return "cvt." + one_of({"u32", "s32"}) + "." + one_of({"u8", "s8", "u16", "s16"}) + " " + word() + ", " +
               half() + ";\n";
      case 6:
        return one_of({"cvt.rn.f16x2.f32 ", "cvt.rn.bf16x2.f32 "}) + word() + ", " + word() + ", " + word() + ";\n";
      default: {
        // By registers, by numbers, and by a number in a register, which all lanes have.
        const bool is_moved = pick(3) == 0;
        const std::string set =
            is_moved ? "mov.u32 %n, " + one_of({"0", "1", "3", "1000", "-7", "0x80000000", "0xffffffff"}) + ";\n" : "";
        return set + one_of({"div", "rem"}) + one_of({".u32 ", ".s32 "}) + word() + ", " + word_source() + ", " +
               (is_moved ? "%n" : word_source()) + ";\n";
      }
    }
  }

  std::string floating() {
    const std::string ftz = pick(3) == 0 ? ".ftz" : "", sat = pick(5) == 0 ? ".sat" : "", d = word();
    switch (pick(12)) {
      case 0:
      case 1: return "add.rn" + ftz + sat + ".f32 " + d + ", " + float_source() + ", " + float_source() + ";\n";
      case 2: return "sub" + ftz + sat + ".f32 " + d + ", " + float_source() + ", " + float_source() + ";\n";
      case 3: return "mul.rn" + ftz + sat + ".f32 " + d + ", " + float_source() + ", " + float_source() + ";\n";
      case 4:
      case 5:
      case 6:
        return "fma.rn" + ftz + sat + ".f32 " + d + ", " + float_source() + ", " + float_source() + ", " +
               float_source() + ";\n";
      case 7: return one_of({"div.rn", "div.full"}) + ftz + ".f32 " + d + ", " + word() + ", " + word() + ";\n";
      case 8:
        if (pick(2) == 0)
          return one_of({"ex2.approx", "rsqrt.approx", "lg2.approx", "sin.approx", "cos.approx"}) + ftz + ".f32 " + d +
                 ", " + word() + ";\n";
        return one_of({"rcp.rn", "sqrt.rn", "rcp.approx", "sqrt.approx"}) + ftz + ".f32 " + d + ", " + word() + ";\n";
      case 9: return one_of({"abs", "neg"}) + ftz + ".f32 " + d + ", " + word() + ";\n";
      case 10: return one_of({"min", "max"}) + ftz + ".f32 " + d + ", " + word() + ", " + word() + ";\n";
      default: {
        const std::string way = one_of({".rz", ".rm", ".rp"}) + ftz;
        switch (pick(4)) {
          case 0:
            return "fma" + way + sat + ".f32 " + d + ", " + float_source() + ", " + float_source() + ", " +
                   float_source() + ";\n";
          case 1: return one_of({"rcp", "sqrt"}) + way + ".f32 " + d + ", " + word() + ";\n";
          default:
            return one_of({"add", "sub", "mul", "div"}) + way + ".f32 " + d + ", " + float_source() + ", " + word() +
                   ";\n";
        }
      }
    }
  }

  std::string integer() {
    const std::string sign = one_of({"u32", "s32"}), d = word();
    switch (pick(14)) {
      case 0:
      case 1: return one_of({"add.", "sub."}) + sign + " " + d + ", " + word() + ", " + word_source() + ";\n";
      case 2: return "mul.lo." + sign + " " + d + ", " + word() + ", " + word_source() + ";\n";
      case 3: return "mad.lo." + sign + " " + d + ", " + word() + ", " + word() + ", " + word_source() + ";\n";
      case 4: return "mul.hi." + sign + " " + d + ", " + word() + ", " + word() + ";\n";
      case 5: return one_of({"and.b32 ", "or.b32 ", "xor.b32 "}) + d + ", " + word() + ", " + word_source() + ";\n";
      case 6: return one_of({"shl.b32 ", "shr.u32 ", "shr.s32 "}) + d + ", " + word() + ", " + word_source() + ";\n";
      case 7:
        return one_of({"shf.l.wrap.b32 ", "shf.r.wrap.b32 ", "shf.l.clamp.b32 ", "shf.r.clamp.b32 "}) + d + ", " +
               word() + ", " + word() + ", " + word_source() + ";\n";
      case 8:
      case 9:
        return "lop3.b32 " + d + ", " + word() + ", " + word() + ", " + word() + ", " + std::to_string(pick(256)) +
               ";\n";
      case 10: return one_of({"min.", "max."}) + sign + " " + d + ", " + word() + ", " + word_source() + ";\n";
      case 11:
        return one_of({"neg.s32 ", "abs.s32 ", "not.b32 ", "popc.b32 ", "brev.b32 "}) + d + ", " + word() + ";\n";
      case 12: return "prmt.b32 " + d + ", " + word() + ", " + word() + ", 0x5410;\n";
      default: return "mov.b32 " + d + ", " + word_source() + ";\n";
    }
  }

  std::string wide_integer() {
    const std::string sign = one_of({"u32", "s32"}), d = wide();
    switch (pick(11)) {
      case 9:
        return one_of({"div.s64 ", "rem.s64 ", "div.u64 ", "rem.u64 ", "mul.hi.u64 ", "min.s64 ", "max.u64 "}) + d +
               ", " + wide() + ", " + wide_source() + ";\n";
      case 10:
        return pick(2) == 0 ? one_of({"cvt.rn.f64.s64 ", "cvt.rn.f64.u64 ", "cvt.rzi.s64.f64 ", "cvt.rzi.u64.f64 "}) +
                                  d + ", " + wide() + ";\n"
                            : "bfi.b32 " + word() + ", " + word() + ", " + word() + ", 5, 9;\n";
      case 0: return one_of({"add.s64 ", "sub.s64 ", "mul.lo.s64 "}) + d + ", " + wide() + ", " + wide_source() + ";\n";
      case 1: return one_of({"and.b64 ", "or.b64 ", "xor.b64 "}) + d + ", " + wide() + ", " + wide_source() + ";\n";
      case 2: return one_of({"shl.b64 ", "shr.u64 ", "shr.s64 "}) + d + ", " + wide() + ", " + word_source() + ";\n";
      case 3: return "mul.wide." + sign + " " + d + ", " + word() + ", " + word_source() + ";\n";
      case 4: return "mad.wide." + sign + " " + d + ", " + word() + ", " + word_source() + ", " + wide() + ";\n";
      case 5: return one_of({"mov.b64 ", "not.b64 ", "neg.s64 "}) + d + ", " + wide() + ";\n";
      case 6: return "mov.b64 " + d + ", {" + word() + ", " + word() + "};\n";
      case 7:
        return one_of({"cvt.u64.u32 ", "cvt.s64.s32 ", "cvt.u64.s32 ", "cvt.s64.u32 "}) + d + ", " + word() + ";\n";
      default: return "selp.b64 " + d + ", " + wide() + ", " + wide() + ", " + predicate() + ";\n";
    }
  }

  std::string comparing() {
    const std::string combine = pick(4) == 0 ? one_of({".and", ".or", ".xor"}) : "",
                      second = combine.empty() ? "" : ", " + maybe_negated();
    // Two different results.
    const unsigned first = pick(kPredicateRegisters),
                   other = (first + 1 + pick(kPredicateRegisters - 1)) % kPredicateRegisters;
    const std::string d = number("%p", first) + (pick(3) == 0 ? "|" + number("%p", other) : "");
    switch (pick(5)) {
      case 0:
        return "setp." +
               one_of({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}) +
               combine + (pick(3) == 0 ? ".ftz" : "") + ".f32 " + d + ", " + word() + ", " + float_source() + second +
               ";\n";
      case 1:
        return "setp." + one_of({"eq", "ne", "lt", "le", "gt", "ge"}) + combine + "." + one_of({"s32", "u32"}) + " " +
               d + ", " + word() + ", " + word_source() + second + ";\n";
      case 2:
        return "setp." + one_of({"eq", "ne", "lt", "le", "gt", "ge"}) + combine + "." + one_of({"s64", "u64"}) + " " +
               d + ", " + wide() + ", " + wide_source() + second + ";\n";
      case 3:
        return one_of({"and.pred ", "or.pred ", "xor.pred "}) + predicate() + ", " + predicate() + ", " + predicate() +
               ";\n";
      default: return one_of({"not.pred ", "mov.pred "}) + predicate() + ", " + predicate() + ";\n";
    }
  }

  std::string converting() {
    switch (pick(10)) {
      case 0:
        return one_of({"cvt.rn.f32.s32 ", "cvt.rn.f32.u32 ", "cvt.rzi.s32.f32 ", "cvt.rzi.ftz.s32.f32 ",
                       "cvt.rzi.u32.f32 ", "cvt.rni.s32.f32 ", "cvt.rmi.s32.f32 ", "cvt.rpi.ftz.s32.f32 ",
                       "cvt.rni.f32.f32 ", "cvt.rmi.f32.f32 ", "cvt.rpi.ftz.f32.f32 ", "cvt.rzi.ftz.f32.f32 "}) +
               word() + ", " + word() + ";\n";
      case 1: return one_of({"cvt.u32.u64 ", "cvt.s32.s64 "}) + word() + ", " + wide() + ";\n";
      case 2: return one_of({"cvt.rn.f16.f32 ", "cvt.rn.bf16.f32 "}) + half() + ", " + word() + ";\n";
      case 3: return one_of({"cvt.f32.f16 ", "cvt.f32.bf16 "}) + word() + ", " + half() + ";\n";
      case 4: return "mov.b32 " + word() + ", {" + half() + ", " + half() + "};\n";
      case 5: {
        const unsigned first = pick(kHalfRegisters), other = (first + 1) % kHalfRegisters;
        return "mov.b32 {" + number("%h", first) + ", " + (pick(4) == 0 ? "_" : number("%h", other)) + "}, " + word() +
               ";\n";
      }
      case 6: {
        const unsigned first = pick(kWordRegisters), other = (first + 1) % kWordRegisters;
        return "mov.b64 {" + number("%r", first) + ", " + (pick(4) == 0 ? "_" : number("%r", other)) + "}, " + wide() +
               ";\n";
      }
      case 7: return "mov.b16 " + half() + ", " + half() + ";\n";
      case 8: return "cvt.u16.u32 " + half() + ", " + word() + ";\ncvt.u32.u16 " + word() + ", " + half() + ";\n";
      default: return "selp.b32 " + word() + ", " + word_source() + ", " + word() + ", " + predicate() + ";\n";
    }
  }

  std::string instruction() {
    const unsigned kind = pick(28);
    if (kind >= 24) return narrow();
    if (kind >= 20) return doubles();
    return kind < 7    ? floating()
           : kind < 12 ? integer()
           : kind < 15 ? wide_integer()
           : kind < 18 ? comparing()
                       : converting();
  }
};

}  // namespace flexrack::test
