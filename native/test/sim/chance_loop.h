// Loops by chance whose registers lie evenly, mostly: counters, indices, addresses, and whatever ends that.
#pragma once

#include <initializer_list>
#include <random>
#include <string>

namespace flexrack::test {

/// A kernel (in, out, scratch, rounds): registers that are a base and lane times a stride go through a loop of
/// instructions by chance with others that are of no order, and all are stored at the end. `%x0` to `%x5` are words,
/// `%y0` to `%y5` of 64 bits; of each the last is of no order, and `%y0`, `%y1`, `%y2` are addresses in the warp's own
/// memory, which has room for each round.
class ChanceLoop {
 public:
  static constexpr unsigned kRoom = 16384;        ///< bytes of scratch for a warp
  static constexpr unsigned kKept = 128;          ///< bytes of results, of a thread

  explicit ChanceLoop(unsigned seed) : random_(seed) {}

  /// `has_shared`: some accesses are of shared memory; without it blocks may go on together.
  std::string text(bool has_shared) {
    has_shared_ = has_shared;
    std::string body;
    moves_ = 0;
    for (unsigned i = 4 + pick(16); i > 0; --i) body += instruction();
    const bool is_apart = pick(4) == 0;            // lanes leave at different times
    const std::string at_end = is_apart ? "and.b32 %t, %l, 3; add.u32 %n, %n, %t;\n" : "";
    std::string loop = "loop:\n" + body;
    // What counts the rounds goes down, or up as a compiler's does.
    loop += pick(2) == 0 ? "sub.u32 %n, %n, 1; setp.ne.s32 %q, %n, 0; @%q bra loop;\n"
                         : "add.s32 %c, %c, 1; setp.lt.s32 %q, %c, %n; @!%q bra over;\nbra loop;\nover:\n";
    // Where lanes may meet is the loop's first step then.
    const std::string before = pick(3) == 0 ? "setp.gt.u32 %p0, %l, 40; @%p0 bra loop; add.u32 %x1, %x1, 1;\n" : "";
    return head(has_shared) + at_end + before + loop + tail();
  }

 private:
  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
  std::string one_of(std::initializer_list<const char*> all) {
    return *(all.begin() + pick(static_cast<unsigned>(all.size())));
  }
  std::string name(const char* kind, unsigned count) { return std::string("%") + kind + std::to_string(pick(count)); }
  std::string word() { return name("x", 6); }
  /// Written: not what the others begin with, so that these stay as they are in half of the loops.
  std::string target() { return pick(8) == 0 ? word() : name("x", 2); }
  std::string wide() { return name("y", 6); }
  std::string wide_target() { return "%y" + std::to_string(3 + pick(3)); }
  std::string predicate() { return name("p", 3); }
  std::string number() { return one_of({"1", "4", "32", "77", "-3", "0", "1000", "128"}); }
  std::string operand() { return pick(2) == 0 ? number() : word(); }
  std::string guard() { return pick(5) == 0 ? (pick(2) == 0 ? "@" : "@!") + predicate() + " " : ""; }

  std::string sum_of_words() {
    switch (pick(6)) {
      case 0: return "mad.lo.s32 " + target() + ", " + word() + ", " + number() + ", " + word() + ";\n";
      case 1: return "mul.lo.u32 " + target() + ", " + word() + ", " + operand() + ";\n";
      case 2: return "shl.b32 " + target() + ", " + word() + ", " + std::to_string(pick(34)) + ";\n";
      case 3: return "mov.b32 " + target() + ", " + operand() + ";\n";
      case 4: return "neg.s32 " + target() + ", " + word() + ";\n";
      default:
        return std::string(pick(2) == 0 ? "add" : "sub") + (pick(2) == 0 ? ".s32 " : ".u32 ") + target() + ", " +
               word() + ", " + operand() + ";\n";
    }
  }
  std::string sum_of_wides() {
    const std::string sign = pick(2) == 0 ? "s" : "u";
    switch (pick(6)) {
      case 0: return "mul.wide." + sign + "32 " + wide_target() + ", " + word() + ", " + operand() + ";\n";
      case 1:
        return "mad.wide." + sign + "32 " + wide_target() + ", " + word() + ", " + number() + ", " + wide() + ";\n";
      case 2: return "cvt." + sign + "64." + (pick(2) == 0 ? "s32 " : "u32 ") + wide_target() + ", " + word() + ";\n";
      case 3: return "cvt.u32." + sign + "64 " + target() + ", %y" + std::to_string(3 + pick(3)) + ";\n";
      case 4:
        return "shr.u64 " + wide_target() + ", %y" + std::to_string(3 + pick(3)) + ", " + std::to_string(pick(40)) +
               ";\n";
      default:
        return "add." + sign + "64 " + wide_target() + ", %y" + std::to_string(3 + pick(3)) + ", " + number() + ";\n";
    }
  }
  std::string comparison() {
    const std::string how = one_of({"eq", "ne", "lt", "le", "gt", "ge"});
    if (pick(3) == 0)
      return "setp." + how + (pick(2) == 0 ? ".s64 " : ".u64 ") + predicate() + ", %y" + std::to_string(3 + pick(3)) +
             ", " + number() + ";\n";
    return "setp." + how + (pick(2) == 0 ? ".s32 " : ".u32 ") + predicate() + ", " + word() + ", " + operand() + ";\n";
  }
  std::string of_predicates() {
    if (pick(3) == 0) return "not.pred " + predicate() + ", " + predicate() + ";\n";
    return one_of({"and", "or", "xor"}) + ".pred " + predicate() + ", " + predicate() + ", " + predicate() + ";\n";
  }
  std::string of_no_order() {
    switch (pick(4)) {
      case 0: return guard() + "xor.b32 %x5, %x5, " + word() + ";\n";
      case 1: return guard() + "selp.b32 " + target() + ", " + word() + ", " + operand() + ", " + predicate() + ";\n";
      case 2: return guard() + "xor.b64 %y5, %y5, " + wide() + ";\n";
      default: return guard() + "add.u32 " + target() + ", " + word() + ", " + word() + ";\n";
    }
  }
  /// Anywhere in the warp's memory: two lanes may go to one place, or all do.
  std::string far() {
    const auto index =
        "and.b32 %t, " + word() + ", " + one_of({"4092", "508", "60"}) + "; mad.wide.u32 %z, %t, 1, %b;\n";
    return index + (pick(3) == 0 ? guard() + "st.global.b32 [%z+12288], " + word() + ";\n"
                                 : guard() + "ld.global.b32 " + target() + ", [%z+4096];\n");
  }
  /// y0 lies by words, y1 by 64 bits, y2 is the same for all.
  std::string access() {
    switch (pick(has_shared_ ? 9 : 7)) {
      case 0: return guard() + "ld.global.b32 %x5, [%y0+" + std::to_string(4 * pick(40)) + "];\n";
      case 1: return guard() + "st.global.b32 [%y0+" + std::to_string(4 * pick(40)) + "], " + word() + ";\n";
      case 2: return guard() + "ld.global.b64 %y5, [%y1+" + std::to_string(8 * pick(40)) + "];\n";
      case 3:
        return guard() + "st.global.v2.b32 [%y1+" + std::to_string(8 * pick(40)) + "], {" + word() + ", " + word() +
               "};\n";
      case 4: return guard() + "ld.global.b32 %x5, [%y2+" + std::to_string(4 * pick(40)) + "];\n";
      case 5:
      case 6: return far();
      case 7: return guard() + "st.shared.b32 [%s], " + word() + ";\n";
      default: return guard() + "ld.shared.b32 %x5, [%s];\n";
    }
  }
  std::string instruction() {
    switch (pick(12)) {
      case 0:
      case 1:
      case 2: return sum_of_words();
      case 3:
      case 4: return sum_of_wides();
      case 5: return comparison();
      case 6: return of_predicates();
      case 7: return of_no_order();
      case 8: {
        if (moves_++ >= 3) return access();
        const auto at = "%y" + std::to_string(pick(3));
        return "add.s64 " + at + ", " + at + ", " + one_of({"128", "64", "256"}) + ";\n";
      }
      case 9: {
        const auto over = "over" + std::to_string(labels_++);
        return "@" + std::string(pick(2) == 0 ? "!" : "") + predicate() + " bra " + over + ";\n" + access() +
               sum_of_words() + over + ":\n";
      }
      default: return access();
    }
  }

  static std::string head(bool has_shared) {
    return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 scratch, .param .u32 rounds) {\n"
           ".reg .b32 %x<6>, %i, %n, %c, %t, %l, %w, %s; .reg .b64 %y<6>, %in, %out, %b; .reg .b64 %z; .reg .pred %p<3>, %q;\n" +
           std::string(has_shared ? ".shared .align 16 .b8 kept[512];\n" : "") +
           // Of a block of rows the threads' numbers along one of them do not lie evenly in a warp.
           "mov.u32 %i, %tid.x; mov.u32 %t, %tid.y; mov.u32 %n, %ntid.x; mad.lo.u32 %w, %t, %n, %i; mov.u32 %x0, %i; and.b32 %l, %w, 31; shr.u32 %w, %w, 5;\n" +
           (has_shared ? "mov.u32 %s, kept; mad.lo.u32 %s, %w, 128, %s; mad.lo.u32 %s, %l, 4, %s;\n" : "") +
           "mov.u32 %t, %ctaid.x; mad.lo.u32 %w, %t, 4, %w; mad.lo.u32 %i, %w, 32, %l;\n"
           "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mad.wide.u32 %in, %i, 32, %in; mad.wide.u32 %out, %i, 128, %out;\n"
           "ld.param.u64 %y2, [scratch]; mad.wide.u32 %y2, %w, 16384, %y2; mov.b64 %b, %y2; mad.wide.u32 %y0, %l, 4, %y2; add.u64 %y0, %y0, 4096; mad.wide.u32 %y1, %l, 8, %y2; add.u64 %y1, %y1, 8192;\n"
           "mul.lo.u32 %x1, %t, 3; mul.lo.u32 %x2, %x0, 4; add.u32 %x3, %x0, 0x7fffffd8; add.u32 %x4, %x0, 0xffffff90; ld.global.b32 %x5, [%in];\n"
           "cvt.s64.s32 %y3, %x0; mul.wide.s32 %y4, %x3, 8; ld.global.b64 %y5, [%in+8];\n"
           "setp.lt.u32 %p0, %x0, 40; setp.eq.u32 %p1, %x1, 0; setp.lt.u32 %p2, %x5, 1000; " +
           std::string(has_shared ? "st.shared.b32 [%s], %x5;\n" : "") + "ld.param.u32 %n, [rounds]; mov.u32 %c, 0;\n";
  }
  static std::string tail() {
    std::string text;
    for (unsigned i = 0; i < 6; ++i)
      text += "st.global.b32 [%out+" + std::to_string(4 * i) + "], %x" + std::to_string(i) + ";\n";
    for (unsigned i = 0; i < 6; ++i)
      text += "st.global.b64 [%out+" + std::to_string(32 + 8 * i) + "], %y" + std::to_string(i) + ";\n";
    for (unsigned i = 0; i < 3; ++i)
      text += "selp.b32 %t, 1, 0, %p" + std::to_string(i) + "; st.global.b32 [%out+" + std::to_string(80 + 4 * i) +
              "], %t;\n";
    return text + "st.global.b32 [%out+92], %n; st.global.b32 [%out+96], %c;\nret;\n}\n";
  }

  std::mt19937 random_;
  bool has_shared_ = false;
  unsigned labels_ = 0, moves_ = 0;
};

}  // namespace flexrack::test
