// Programs by chance, as the interpreter runs them and as machine code (sim/jit): the same bits in every register and in memory.
#include <random>
#include <set>

#include "exec_lanes.h"
#include "sim/jit/translate.h"

namespace {

using namespace flexrack::test;

constexpr unsigned kWordRegisters = 10, kWideRegisters = 5, kHalfRegisters = 3, kPredicateRegisters = 4;

/// A kernel (in, out) whose thread loads all its registers, goes through instructions chosen by chance, some guarded, some behind branches that part the lanes, and stores all registers.
class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {}

  std::string text(unsigned count) {
    std::string body;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned kind = pick(100);
      if (kind < 6) {
        body += branch();
      } else if (kind < 10) {
        body += pick(3) == 0 ? sum_in_shared() : pick(2) == 0 ? numbered_shuffle() : "shfl.sync.bfly.b32 " + word() + ", " + word() + ", " + std::to_string(1 + pick(31)) + ", 31, -1;\n";
      } else if (kind < 13) {
        body += moved_access();
      } else if (kind < 25) {
        body += (pick(4) == 0 ? guard() : "") + access();
      } else {
        body += (pick(6) == 0 ? guard() : "") + instruction();
      }
    }
    for (const auto& label : open_) body += label + ":\n";
    return head() + body + tail();
  }

 private:
  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }
  static std::string number(const char* name, unsigned i) { return name + std::to_string(i); }
  std::string word() { return number("%r", pick(kWordRegisters)); }
  std::string wide() { return number("%d", pick(kWideRegisters)); }
  std::string half() { return number("%h", pick(kHalfRegisters)); }
  std::string predicate() { return number("%p", pick(kPredicateRegisters)); }
  std::string guard() { return (pick(2) != 0 ? "@" : "@!") + predicate() + " "; }
  std::string maybe_negated() { return (pick(3) == 0 ? "!" : "") + predicate(); }
  std::string one_of(std::initializer_list<const char*> all) { return *(all.begin() + pick(static_cast<unsigned>(all.size()))); }

  /// As nvcc writes it: what it takes is in registers, whose numbers may have been replaced before.
  std::string numbered_shuffle() {
    const auto by = number("%r", pick(3)), within = number("%r", 3 + pick(3)), all = number("%r", 6 + pick(3));
    const std::string set = "mov.u32 " + within + ", " + one_of({"31", "0x181f", "7199"}) + ";\nmov.u32 " + all + ", -1;\nmov.u32 " + by + ", " + std::to_string(pick(32)) + ";\n";
    const std::string between = pick(3) == 0 ? instruction() : pick(3) == 0 ? "add.u32 " + by + ", " + by + ", 1;\n" : "";
    return set + between + "mov.u32 " + all + ", -1;\nshfl.sync." + one_of({"bfly", "down", "up", "idx"}) + ".b32 " + word() + (pick(2) == 0 ? "|" + predicate() : "") + ", " + word() + ", " + by + ", " + within + ", " + all + ";\n";
  }

  /// A register, or now and then a number.
  std::string word_source() {
    static constexpr const char* kNumbers[] = {"0", "1", "-1", "31", "32", "33", "0x80000000", "0x7fffffff", "12345", "-77"};
    return pick(4) == 0 ? kNumbers[pick(10)] : word();
  }
  std::string wide_source() { return pick(5) == 0 ? one_of({"0", "-1", "4096", "0x123456789abcdef"}) : wide(); }
  std::string float_source() {
    return pick(5) == 0 ? one_of({"0f00000000", "0f80000000", "0f3F800000", "0fBF000000", "0f7F800000", "0f00000001", "0f7FFFFFFF", "0fFF800123", "0f4F000000"}) : word();
  }

  /// Side by side, at one place for some or all lanes, anyhow; each warp has memory of its own.
  std::string access() {
    if (pick(3) == 0) return lone_access();
    if (pick(5) == 0) return strong_access();
    const unsigned count = pick(3), elements = count == 0 ? 1 : 2 * count;
    const std::string size = elements == 1 ? "" : ".v" + std::to_string(elements), offset = "+" + std::to_string(16 * pick(3));
    // Different registers: one may be loaded once only.
    const unsigned first = pick(kWordRegisters);
    std::string list;
    for (unsigned i = 0; i < elements; ++i) list += (i == 0 ? "" : ", ") + number("%r", (first + 3 * i) % kWordRegisters);
    if (elements > 1) list = "{" + list + "}";
    const bool is_shared = pick(2) == 0;
    // Aligned for as many.
    static constexpr const char* kShared[] = {"%same", "%same8", "%apart", "%sh16", "%sh8", "%sh4"};
    static constexpr const char* kGlobal[] = {"%gsame", "%gapart", "%g16", "%g8", "%g4"};
    const std::string place = is_shared ? kShared[pick(6 - count)] : kGlobal[pick(5 - count)];
    const std::string space = is_shared ? ".shared" : one_of({".global", ""});
    return pick(2) == 0 ? "ld" + space + size + ".b32 " + list + ", [" + place + offset + "];\n" : "st" + space + size + ".b32 [" + place + offset + "], " + list + ";\n";
  }

  /// Atomic sums in shared memory, whose lanes may meet: of a number, of a register.
  std::string sum_in_shared() {
    return (pick(4) == 0 ? guard() : "") + "red.shared.add." + one_of({"u32", "s32"}) + " [" + one_of({"%same", "%same8", "%apart", "%sh4", "%sh16"}) + "+" + std::to_string(4 * pick(4)) + "], " + word_source() + ";\n";
  }

  /// Two of 64 bits; volatile and relaxed ones, of which each lane's is one access. Where two lanes would write to one place the last one's stays: only side by side.
  std::string strong_access() {
    const std::string order = one_of({".volatile", ".relaxed.gpu", ""});
    if (pick(2) == 0) {
      const std::string place = one_of({"%g16", "%sh16"}), space = place[1] == 'g' ? ".global" : ".shared", at = "[" + place + "+" + std::to_string(16 * pick(3)) + "]";
      const unsigned first = pick(kWideRegisters);
      const std::string list = "{" + number("%d", first) + ", " + number("%d", (first + 2) % kWideRegisters) + "}";
      return pick(2) == 0 ? "ld" + order + space + ".v2.u64 " + list + ", " + at + ";\n" : "st" + order + space + ".v2.u64 " + at + ", " + list + ";\n";
    }
    const std::string at = std::string("[") + one_of({"%g4", "%g8", "%g16"}) + "+" + std::to_string(16 * pick(3)) + "]";
    return pick(2) == 0 ? "ld" + order + ".global.u32 " + word() + ", " + at + ";\n" : "st" + order + ".global.u32 " + at + ", " + word() + ";\n";
  }

  /// A register that accesses go by is moved on in between, and back.
  std::string moved_access() {
    const std::string more = std::to_string(16 * (1 + pick(4)));
    const bool is_shared = pick(2) == 0;
    const std::string place = is_shared ? "%sh4" : "%g4", type = is_shared ? ".u32 " : ".s64 ", space = is_shared ? ".shared" : ".global", by = place + ", " + place + ", " + more + ";\n";
    const auto one = [&] { return pick(2) == 0 ? "ld" + space + ".b32 " + word() + ", [" + place + "+" + std::to_string(4 * pick(3)) + "];\n" : "st" + space + ".b32 [" + place + "], " + word() + ";\n"; };
    return one() + "add" + type + by + one() + (pick(2) == 0 ? instruction() : "") + one() + "sub" + type + by + one();
  }

  /// Of a byte, 16 or 64 bits.
  std::string lone_access() {
    const unsigned size = pick(3);
    static constexpr const char* kShared[] = {"%same", "%same8", "%apart", "%sh16", "%sh8", "%sh4", "%sh2", "%sh1"};
    static constexpr const char* kGlobal[] = {"%gsame", "%gapart", "%g16", "%g8", "%g4", "%g2", "%g1"};
    const bool is_shared = pick(2) == 0, is_load = pick(2) == 0;
    static constexpr unsigned kLeast[] = {0, 1, 3};
    const std::string place = std::string("[") + (is_shared ? kShared[pick(8 - kLeast[size])] : kGlobal[pick(7 - kLeast[size])]) + "+" + std::to_string(8 * pick(4)) + "]";
    const std::string space = is_shared ? ".shared" : one_of({".global", ""});
    const std::string type = size == 2 ? one_of({".b64 ", ".f64 ", ".u64 "}) : size == 1 ? one_of({".b16 ", ".u16 ", ".s16 "}) : one_of({".b8 ", ".u8 ", ".s8 "});
    const std::string value = size == 2 ? wide() : pick(2) == 0 ? word() : half();
    return is_load ? "ld" + space + type + value + ", " + place + ";\n" : "st" + space + type + place + ", " + value + ";\n";
  }

  std::string double_source() {
    return pick(5) == 0 ? one_of({"0d0000000000000000", "0d8000000000000000", "0d3FF0000000000000", "0d7FF0000000000000", "0d7FF8000000000001", "0dFFF4000000000123", "0d0000000000000001", "0d41F0000000000000"}) : wide();
  }
  std::string doubles() {
    const std::string d = wide();
    switch (pick(12)) {
      case 0: case 1: return one_of({"add.rn", "sub.rn", "mul.rn"}) + ".f64 " + d + ", " + double_source() + ", " + double_source() + ";\n";
      case 2: return "div.rn.f64 " + d + ", " + double_source() + ", " + wide() + ";\n";
      case 3: case 4: return "fma.rn.f64 " + d + ", " + double_source() + ", " + double_source() + ", " + double_source() + ";\n";
      case 5: return one_of({"min", "max"}) + ".f64 " + d + ", " + wide() + ", " + double_source() + ";\n";
      case 6: return one_of({"abs.f64 ", "neg.f64 ", "rcp.rn.f64 ", "sqrt.rn.f64 "}) + d + ", " + wide() + ";\n";
      case 7: return one_of({"cvt.f64.f32 ", "cvt.ftz.f64.f32 ", "cvt.rn.f64.s32 ", "cvt.rn.f64.u32 "}) + d + ", " + word() + ";\n";
      case 8: return one_of({"cvt.rn.f32.f64 ", "cvt.rn.ftz.f32.f64 "}) + word() + ", " + wide() + ";\n";
      case 9: return "setp." + one_of({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}) + ".f64 " + predicate() + ", " + wide() + ", " + double_source() + ";\n";
      case 10: return one_of({"add.rz", "mul.rm", "sub.rp"}) + ".f64 " + d + ", " + wide() + ", " + wide() + ";\n";
      default: return "selp.f64 " + d + ", " + wide() + ", " + double_source() + ", " + predicate() + ";\n";
    }
  }

  std::string narrow() {
    const std::string source = pick(4) == 0 ? one_of({"0", "1", "-1", "0x7fff"}) : half();
    switch (pick(12)) {
      case 8: return one_of({"add.rn", "sub.rn", "mul.rn"}) + one_of({".f16x2 ", ".bf16x2 "}) + word() + ", " + word() + ", " + word() + ";\n";
      case 9: return one_of({"add.rn", "sub.rn", "mul.rn"}) + one_of({".f16 ", ".bf16 "}) + half() + ", " + half() + ", " + half() + ";\n";
      case 10: return pick(2) == 0 ? "fma.rn" + one_of({".f16x2 ", ".bf16x2 ", ".sat.f16x2 "}) + word() + ", " + word() + ", " + word() + ", " + word() + ";\n"
                                   : "fma.rn.f16 " + half() + ", " + half() + ", " + half() + ", " + half() + ";\n";
      case 11: return one_of({"neg", "abs"}) + one_of({".f16x2 ", ".bf16x2 "}) + word() + ", " + word() + ";\n";
      case 0: return one_of({"and.b16 ", "or.b16 ", "xor.b16 "}) + half() + ", " + half() + ", " + source + ";\n";
      case 1: return "not.b16 " + half() + ", " + half() + ";\n";
      case 2: return "setp." + one_of({"eq", "ne", "lt", "le", "gt", "ge"}) + one_of({".u16 ", ".s16 "}) + predicate() + ", " + half() + ", " + source + ";\n";
      case 3: return "selp.b16 " + half() + ", " + half() + ", " + source + ", " + predicate() + ";\n";
      case 4: return "cvt." + one_of({"u8", "s8", "u16", "s16"}) + "." + one_of({"u32", "s32", "u16", "s8"}) + " " + half() + ", " + word() + ";\n";
      case 5: return "cvt." + one_of({"u32", "s32"}) + "." + one_of({"u8", "s8", "u16", "s16"}) + " " + word() + ", " + half() + ";\n";
      case 6: return one_of({"cvt.rn.f16x2.f32 ", "cvt.rn.bf16x2.f32 "}) + word() + ", " + word() + ", " + word() + ";\n";
      default: return one_of({"div", "rem"}) + one_of({".u32 ", ".s32 "}) + word() + ", " + word_source() + ", " + word_source() + ";\n";
    }
  }

  std::string branch() {
    if (!open_.empty() && pick(2) == 0) {
      const auto label = open_.back();
      open_.pop_back();
      return label + ":\n";
    }
    open_.push_back("L" + std::to_string(labels_++));
    return guard() + "bra " + open_.back() + ";\n";
  }

  std::string floating() {
    const std::string ftz = pick(3) == 0 ? ".ftz" : "", sat = pick(5) == 0 ? ".sat" : "", d = word();
    switch (pick(12)) {
      case 0: case 1: return "add.rn" + ftz + sat + ".f32 " + d + ", " + float_source() + ", " + float_source() + ";\n";
      case 2: return "sub" + ftz + sat + ".f32 " + d + ", " + float_source() + ", " + float_source() + ";\n";
      case 3: return "mul.rn" + ftz + sat + ".f32 " + d + ", " + float_source() + ", " + float_source() + ";\n";
      case 4: case 5: case 6: return "fma.rn" + ftz + sat + ".f32 " + d + ", " + float_source() + ", " + float_source() + ", " + float_source() + ";\n";
      case 7: return one_of({"div.rn", "div.full"}) + ftz + ".f32 " + d + ", " + word() + ", " + word() + ";\n";
      case 8:
        if (pick(2) == 0) return one_of({"ex2.approx", "rsqrt.approx", "lg2.approx", "sin.approx", "cos.approx"}) + ftz + ".f32 " + d + ", " + word() + ";\n";
        return one_of({"rcp.rn", "sqrt.rn", "rcp.approx", "sqrt.approx"}) + ftz + ".f32 " + d + ", " + word() + ";\n";
      case 9: return one_of({"abs", "neg"}) + ftz + ".f32 " + d + ", " + word() + ";\n";
      case 10: return one_of({"min", "max"}) + ftz + ".f32 " + d + ", " + word() + ", " + word() + ";\n";
      default: {
        const std::string way = one_of({".rz", ".rm", ".rp"}) + ftz;
        switch (pick(4)) {
          case 0: return "fma" + way + sat + ".f32 " + d + ", " + float_source() + ", " + float_source() + ", " + float_source() + ";\n";
          case 1: return one_of({"rcp", "sqrt"}) + way + ".f32 " + d + ", " + word() + ";\n";
          default: return one_of({"add", "sub", "mul", "div"}) + way + ".f32 " + d + ", " + float_source() + ", " + word() + ";\n";
        }
      }
    }
  }

  std::string integer() {
    const std::string sign = one_of({"u32", "s32"}), d = word();
    switch (pick(14)) {
      case 0: case 1: return one_of({"add.", "sub."}) + sign + " " + d + ", " + word() + ", " + word_source() + ";\n";
      case 2: return "mul.lo." + sign + " " + d + ", " + word() + ", " + word_source() + ";\n";
      case 3: return "mad.lo." + sign + " " + d + ", " + word() + ", " + word() + ", " + word_source() + ";\n";
      case 4: return "mul.hi." + sign + " " + d + ", " + word() + ", " + word() + ";\n";
      case 5: return one_of({"and.b32 ", "or.b32 ", "xor.b32 "}) + d + ", " + word() + ", " + word_source() + ";\n";
      case 6: return one_of({"shl.b32 ", "shr.u32 ", "shr.s32 "}) + d + ", " + word() + ", " + word_source() + ";\n";
      case 7: return one_of({"shf.l.wrap.b32 ", "shf.r.wrap.b32 ", "shf.l.clamp.b32 ", "shf.r.clamp.b32 "}) + d + ", " + word() + ", " + word() + ", " + word_source() + ";\n";
      case 8: case 9: return "lop3.b32 " + d + ", " + word() + ", " + word() + ", " + word() + ", " + std::to_string(pick(256)) + ";\n";
      case 10: return one_of({"min.", "max."}) + sign + " " + d + ", " + word() + ", " + word_source() + ";\n";
      case 11: return one_of({"neg.s32 ", "abs.s32 ", "not.b32 ", "popc.b32 ", "brev.b32 "}) + d + ", " + word() + ";\n";
      case 12: return "prmt.b32 " + d + ", " + word() + ", " + word() + ", 0x5410;\n";
      default: return "mov.b32 " + d + ", " + word_source() + ";\n";
    }
  }

  std::string wide_integer() {
    const std::string sign = one_of({"u32", "s32"}), d = wide();
    switch (pick(11)) {
      case 9: return one_of({"div.s64 ", "rem.s64 ", "div.u64 ", "rem.u64 ", "mul.hi.u64 ", "min.s64 ", "max.u64 "}) + d + ", " + wide() + ", " + wide_source() + ";\n";
      case 10: return pick(2) == 0 ? one_of({"cvt.rn.f64.s64 ", "cvt.rn.f64.u64 ", "cvt.rzi.s64.f64 ", "cvt.rzi.u64.f64 "}) + d + ", " + wide() + ";\n" : "bfi.b32 " + word() + ", " + word() + ", " + word() + ", 5, 9;\n";
      case 0: return one_of({"add.s64 ", "sub.s64 ", "mul.lo.s64 "}) + d + ", " + wide() + ", " + wide_source() + ";\n";
      case 1: return one_of({"and.b64 ", "or.b64 ", "xor.b64 "}) + d + ", " + wide() + ", " + wide_source() + ";\n";
      case 2: return one_of({"shl.b64 ", "shr.u64 ", "shr.s64 "}) + d + ", " + wide() + ", " + word_source() + ";\n";
      case 3: return "mul.wide." + sign + " " + d + ", " + word() + ", " + word_source() + ";\n";
      case 4: return "mad.wide." + sign + " " + d + ", " + word() + ", " + word_source() + ", " + wide() + ";\n";
      case 5: return one_of({"mov.b64 ", "not.b64 ", "neg.s64 "}) + d + ", " + wide() + ";\n";
      case 6: return "mov.b64 " + d + ", {" + word() + ", " + word() + "};\n";
      case 7: return one_of({"cvt.u64.u32 ", "cvt.s64.s32 ", "cvt.u64.s32 ", "cvt.s64.u32 "}) + d + ", " + word() + ";\n";
      default: return "selp.b64 " + d + ", " + wide() + ", " + wide() + ", " + predicate() + ";\n";
    }
  }

  std::string comparing() {
    const std::string combine = pick(4) == 0 ? one_of({".and", ".or", ".xor"}) : "", second = combine.empty() ? "" : ", " + maybe_negated();
    // Two different results.
    const unsigned first = pick(kPredicateRegisters), other = (first + 1 + pick(kPredicateRegisters - 1)) % kPredicateRegisters;
    const std::string d = number("%p", first) + (pick(3) == 0 ? "|" + number("%p", other) : "");
    switch (pick(5)) {
      case 0: return "setp." + one_of({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}) + combine + (pick(3) == 0 ? ".ftz" : "") + ".f32 " + d + ", " +
                     word() + ", " + float_source() + second + ";\n";
      case 1: return "setp." + one_of({"eq", "ne", "lt", "le", "gt", "ge"}) + combine + "." + one_of({"s32", "u32"}) + " " + d + ", " + word() + ", " + word_source() + second + ";\n";
      case 2: return "setp." + one_of({"eq", "ne", "lt", "le", "gt", "ge"}) + combine + "." + one_of({"s64", "u64"}) + " " + d + ", " + wide() + ", " + wide_source() + second + ";\n";
      case 3: return one_of({"and.pred ", "or.pred ", "xor.pred "}) + predicate() + ", " + predicate() + ", " + predicate() + ";\n";
      default: return one_of({"not.pred ", "mov.pred "}) + predicate() + ", " + predicate() + ";\n";
    }
  }

  std::string converting() {
    switch (pick(10)) {
      case 0: return one_of({"cvt.rn.f32.s32 ", "cvt.rn.f32.u32 ", "cvt.rzi.s32.f32 ", "cvt.rzi.ftz.s32.f32 ", "cvt.rzi.u32.f32 ", "cvt.rni.s32.f32 ", "cvt.rmi.s32.f32 ", "cvt.rpi.ftz.s32.f32 ", "cvt.rni.f32.f32 ",
                                   "cvt.rmi.f32.f32 ", "cvt.rpi.ftz.f32.f32 ", "cvt.rzi.ftz.f32.f32 "}) + word() + ", " + word() + ";\n";
      case 1: return one_of({"cvt.u32.u64 ", "cvt.s32.s64 "}) + word() + ", " + wide() + ";\n";
      case 2: return one_of({"cvt.rn.f16.f32 ", "cvt.rn.bf16.f32 "}) + half() + ", " + word() + ";\n";
      case 3: return one_of({"cvt.f32.f16 ", "cvt.f32.bf16 "}) + word() + ", " + half() + ";\n";
      case 4: return "mov.b32 " + word() + ", {" + half() + ", " + half() + "};\n";
      case 5: {
        const unsigned first = pick(kHalfRegisters), other = (first + 1) % kHalfRegisters;
        return "mov.b32 {" + number("%h", first) + ", " + (pick(4) == 0 ? "_" : number("%h", other)) + "}, " + word() + ";\n";
      }
      case 6: {
        const unsigned first = pick(kWordRegisters), other = (first + 1) % kWordRegisters;
        return "mov.b64 {" + number("%r", first) + ", " + (pick(4) == 0 ? "_" : number("%r", other)) + "}, " + wide() + ";\n";
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
    return kind < 7 ? floating() : kind < 12 ? integer() : kind < 15 ? wide_integer() : kind < 18 ? comparing() : converting();
  }

  template <class F>
  static std::string each(unsigned count, const F& text) {
    std::string all;
    for (unsigned i = 0; i < count; ++i) all += text(i);
    return all;
  }

  static std::string head() {
    return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 scratch) {\n"
           ".reg .b32 %r<10>, %i, %n, %w, %l, %sh1, %sh2, %sh4, %sh8, %sh16, %same, %same8, %apart; .reg .b64 %d<5>, %in, %out, %g, %g1, %g2, %g4, %g8, %g16, %gsame, %gapart; .reg .b16 %h<3>; .reg .pred %p<4>; .shared .align 16 .b8 kept[3072];\n"
           "mov.u32 %i, %tid.x; and.b32 %l, %i, 31; shr.u32 %w, %i, 5; mov.u32 %same, kept; mad.lo.u32 %same, %w, 1024, %same;\n"
           "add.u32 %sh1, %l, %same; mad.lo.u32 %sh2, %l, 2, %same; mad.lo.u32 %sh4, %l, 4, %same; mad.lo.u32 %sh8, %l, 8, %same; mad.lo.u32 %sh16, %l, 16, %same; shr.u32 %n, %l, 3; mad.lo.u32 %same8, %n, 32, %same;\n"
           "mul.lo.u32 %n, %l, 5; and.b32 %n, %n, 31; mad.lo.u32 %apart, %n, 16, %same;\n"
           "ld.param.u64 %g, [scratch]; mov.u32 %n, %ctaid.x; mad.lo.u32 %w, %n, 3, %w; mad.wide.u32 %gsame, %w, 1024, %g; mad.wide.u32 %g1, %l, 1, %gsame; mad.wide.u32 %g2, %l, 2, %gsame; mad.wide.u32 %g4, %l, 4, %gsame; mad.wide.u32 %g8, %l, 8, %gsame;\n"
           "mad.wide.u32 %g16, %l, 16, %gsame; mul.lo.u32 %n, %l, 5; and.b32 %n, %n, 31; mad.wide.u32 %gapart, %n, 16, %gsame; mov.u32 %n, %ctaid.x; mad.lo.u32 %i, %n, 96, %i;\n"
           "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mad.wide.u32 %in, %i, 128, %in; mad.wide.u32 %out, %i, 128, %out;\n" +
           each(kWordRegisters, [](unsigned i) { return "ld.global.b32 %r" + std::to_string(i) + ", [%in+" + std::to_string(4 * i) + "];\n"; }) +
           each(kWideRegisters, [](unsigned i) { return "ld.global.b64 %d" + std::to_string(i) + ", [%in+" + std::to_string(40 + 8 * i) + "];\n"; }) +
           each(kHalfRegisters, [](unsigned i) { return "ld.global.b16 %h" + std::to_string(i) + ", [%in+" + std::to_string(80 + 2 * i) + "];\n"; }) +
           each(kPredicateRegisters, [](unsigned i) { return "ld.global.b32 %n, [%in+" + std::to_string(88 + 4 * i) + "]; and.b32 %n, %n, 1; setp.ne.u32 %p" + std::to_string(i) + ", %n, 0;\n"; });
  }
  static std::string tail() {
    return each(kWordRegisters, [](unsigned i) { return "st.global.b32 [%out+" + std::to_string(4 * i) + "], %r" + std::to_string(i) + ";\n"; }) +
           each(kWideRegisters, [](unsigned i) { return "st.global.b64 [%out+" + std::to_string(40 + 8 * i) + "], %d" + std::to_string(i) + ";\n"; }) +
           each(kHalfRegisters, [](unsigned i) { return "st.global.b16 [%out+" + std::to_string(80 + 2 * i) + "], %h" + std::to_string(i) + ";\n"; }) +
           each(kPredicateRegisters, [](unsigned i) { return "selp.b32 %n, 1, 0, %p" + std::to_string(i) + "; st.global.b32 [%out+" + std::to_string(88 + 4 * i) + "], %n;\n"; }) + "ret;\n}\n";
  }

  std::mt19937 random_;
  std::vector<std::string> open_;
  unsigned labels_ = 0;
};

std::vector<u32> results(const std::string& text, std::vector<u32> values, bool translated) {
  flexrack::sim::jit::use_translations(translated);
  Rig rig(text);
  rig.is_repeatable = false;  // compared here
  Buffer<u32> in(rig.map, std::move(values)), out(rig.map, in.size(), 0x5a5a5a5a), scratch(rig.map, in.all());
  // The last warp of a block has no more than 13 lanes.
  rig.go("k", {1, 1, 1}, {77, 1, 1}, in.address(), out.address(), scratch.address());
  flexrack::sim::jit::use_translations(true);
  auto all = out.all();
  all.insert(all.end(), scratch.all().begin(), scratch.all().end());
  return all;
}

TEST_CASE("programs by chance, translated and not") {
  const auto before = flexrack::sim::jit::translated_segments();
  std::set<unsigned> wrong;
  for (unsigned seed = 1; seed <= 250; ++seed) {
    const auto text = Program(seed).text(20 + seed % 60);
    std::vector<u32> values;
    const auto floats = reals<float>(173 * 32, seed);
    const auto whole = integers<u32>(173 * 32, seed);
    for (std::size_t i = 0; i < floats.size(); ++i) values.push_back(i % 5 == 0 ? whole[i] : std::bit_cast<u32>(floats[i]));
    if (results(text, values, true) == results(text, values, false)) continue;
    wrong.insert(seed);
    if (wrong.size() == 1) MESSAGE(text);
  }
  CHECK(wrong == std::set<unsigned>{});
#if defined(__x86_64__)
  if (exec::has_avx2()) CHECK(flexrack::sim::jit::translated_segments() > before + 300);
#else
  CHECK(flexrack::sim::jit::translated_segments() == before);
#endif
}

/// What a kernel with one access of `type` at `offset` ends with: of global memory behind a buffer of 512 bytes, or of 512 bytes of shared memory.
std::string end_of(const std::string& access, int offset, bool translated) {
  flexrack::sim::jit::use_translations(translated);
  Rig rig(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 at) {\n.reg .b32 %i, %r, %s; .reg .b64 %a, %g, %d; .reg .b16 %h; .reg .pred %p; .shared .align 16 .b8 kept[512];\n"
          "mov.u32 %i, %tid.x; ld.param.u64 %g, [at]; mov.u32 %s, kept; mad.lo.u32 %s, %i, 8, %s; mad.wide.u32 %a, %i, 8, %g; mov.u64 %d, 5; cvt.u16.u64 %h, %d; cvt.u32.u16 %r, %h; setp.ne.u32 %p, %i, 99;\n"
          "ld.global.b32 %r, [%g]; st.global.b32 [%g], %r;\n" + access + "+" + std::to_string(offset) + "]" + (access.find("st.") == std::string::npos ? "" : access.find("64") != std::string::npos ? ", %d" : ", %h") + ";\nadd.u64 %d, %d, 1;\nret;\n}\n");
  flexrack::sim::jit::use_translations(true);
  Buffer<u64> memory(rig.map, 64);
  const auto fault = rig.run(rig.launch("k", {1, 1, 1}, {32, 1, 1}), Parameters(memory.address()));
  if (!fault) return "none";
  // Two runs have different buffers: of addresses in one only how far from its beginning.
  const bool is_global = fault->address >= memory.address() - 16384 && fault->address < memory.address() + 16384;
  return std::to_string(static_cast<int>(fault->kind)) + " at " + std::to_string(is_global ? fault->address - memory.address() : fault->address) + " of " + std::to_string(fault->size);
}

TEST_CASE("accesses of a byte, 16 and 64 bits outside of memory are refused as the interpreter refuses them") {
  for (const std::string guard : {"", "@%p "}) {
    for (const std::string access : {"ld.global.b64 %d, [%a", "st.global.b64 [%a", "ld.b16 %h, [%a", "st.global.b16 [%a", "ld.global.u8 %h, [%a", "st.global.b8 [%a", "ld.shared.b64 %d, [%s", "st.shared.b64 [%s",
                                     "ld.shared.s16 %h, [%s", "st.shared.b16 [%s", "ld.shared.s8 %h, [%s", "st.shared.b8 [%s"}) {
      for (const int offset : {0, 256, 264, 4, 1, 3, 257, 262, -8, 4096}) {
        CAPTURE(access);
        CAPTURE(offset);
        const auto found = end_of(guard + access, offset, true), wanted = end_of(guard + access, offset, false);
        CHECK(found == wanted);
        if (offset == 0 || offset == 256) CHECK(found == "none");
        if (offset == 264 || offset == 4096) CHECK(found != "none");
      }
    }
  }
}

}  // namespace
