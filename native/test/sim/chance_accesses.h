// Accesses to memory, sums in it and shuffles by chance. Each warp has memory of its own (chance_program.h).
#pragma once

#include <string>

#include "chance_arithmetic.h"

namespace flexrack::test {

class ChanceAccesses : protected ChanceArithmetic {
 protected:
  using ChanceArithmetic::ChanceArithmetic;

  /// As nvcc writes it: what it takes is in registers, whose numbers may have been replaced before.
  std::string numbered_shuffle() {
    const auto by = number("%r", pick(3)), within = number("%r", 3 + pick(3)), all = number("%r", 6 + pick(3));
    const std::string set = "mov.u32 " + within + ", " + one_of({"31", "0x181f", "7199"}) + ";\nmov.u32 " + all +
                            ", -1;\nmov.u32 " + by + ", " + std::to_string(pick(32)) + ";\n";
    const std::string between = pick(3) == 0   ? instruction()
                                : pick(3) == 0 ? "add.u32 " + by + ", " + by + ", 1;\n"
                                               : "";
    return set + between + "mov.u32 " + all + ", -1;\nshfl.sync." + one_of({"bfly", "down", "up", "idx"}) + ".b32 " +
           word() + (pick(2) == 0 ? "|" + predicate() : "") + ", " + word() + ", " + by + ", " + within + ", " + all +
           ";\n";
  }

  /// Side by side, at one place for some or all lanes, anyhow; each warp has memory of its own.
  std::string access() {
    if (pick(3) == 0) return lone_access();
    if (pick(5) == 0) return strong_access();
    const unsigned count = pick(3), elements = count == 0 ? 1 : 2 * count;
    const std::string size = elements == 1 ? "" : ".v" + std::to_string(elements),
                      offset = "+" + std::to_string(16 * pick(3));
    // Different registers: one may be loaded once only.
    const unsigned first = pick(kWordRegisters);
    std::string list;
    for (unsigned i = 0; i < elements; ++i)
      list += (i == 0 ? "" : ", ") + number("%r", (first + 3 * i) % kWordRegisters);
    if (elements > 1) list = "{" + list + "}";
    const bool is_shared = pick(2) == 0;
    // Aligned for as many.
    static constexpr const char* kShared[] = {"%same", "%same8", "%apart", "%sh16", "%sh8", "%sh4"};
    static constexpr const char* kGlobal[] = {"%gsame", "%gapart", "%g16", "%g8", "%g4"};
    const std::string place = is_shared ? kShared[pick(6 - count)] : kGlobal[pick(5 - count)];
    const std::string space = is_shared ? ".shared" : one_of({".global", ""});
    return pick(2) == 0 ? "ld" + space + size + ".b32 " + list + ", [" + place + offset + "];\n"
                        : "st" + space + size + ".b32 [" + place + offset + "], " + list + ";\n";
  }

  /// Atomic sums in shared memory, whose lanes may meet: of a number, of a register.
  std::string sum_in_shared() {
    return (pick(4) == 0 ? guard() : "") + "red.shared.add." + one_of({"u32", "s32"}) + " [" +
           one_of({"%same", "%same8", "%apart", "%sh4", "%sh16"}) + "+" + std::to_string(4 * pick(4)) + "], " +
           word_source() + ";\n";
  }

  /// Two of 64 bits; volatile and relaxed ones, of which each lane's is one access. Where two lanes would write to one
  /// place the last one's stays: only side by side.
  std::string strong_access() {
    const std::string order = one_of({".volatile", ".relaxed.gpu", ""});
    if (pick(2) == 0) {
      const std::string place = one_of({"%g16", "%sh16"}), space = place[1] == 'g' ? ".global" : ".shared",
                        at = "[" + place + "+" + std::to_string(16 * pick(3)) + "]";
      const unsigned first = pick(kWideRegisters);
      const std::string list = "{" + number("%d", first) + ", " + number("%d", (first + 2) % kWideRegisters) + "}";
      return pick(2) == 0 ? "ld" + order + space + ".v2.u64 " + list + ", " + at + ";\n"
                          : "st" + order + space + ".v2.u64 " + at + ", " + list + ";\n";
    }
    const std::string at = std::string("[") + one_of({"%g4", "%g8", "%g16"}) + "+" + std::to_string(16 * pick(3)) + "]";
    return pick(2) == 0 ? "ld" + order + ".global.u32 " + word() + ", " + at + ";\n"
                        : "st" + order + ".global.u32 " + at + ", " + word() + ";\n";
  }

  /// A register that accesses go by is moved on in between, and back.
  std::string moved_access() {
    const std::string more = std::to_string(16 * (1 + pick(4)));
    const bool is_shared = pick(2) == 0;
    const std::string place = is_shared ? "%sh4" : "%g4", type = is_shared ? ".u32 " : ".s64 ",
                      space = is_shared ? ".shared" : ".global", by = place + ", " + place + ", " + more + ";\n";
    const auto one = [&] {
      return pick(2) == 0 ? "ld" + space + ".b32 " + word() + ", [" + place + "+" + std::to_string(4 * pick(3)) + "];\n"
                          : "st" + space + ".b32 [" + place + "], " + word() + ";\n";
    };
    return one() + "add" + type + by + one() + (pick(2) == 0 ? instruction() : "") + one() + "sub" + type + by + one();
  }

  /// Of a byte, 16 or 64 bits.
  std::string lone_access() {
    const unsigned size = pick(3);
    static constexpr const char* kShared[] = {"%same", "%same8", "%apart", "%sh16", "%sh8", "%sh4", "%sh2", "%sh1"};
    static constexpr const char* kGlobal[] = {"%gsame", "%gapart", "%g16", "%g8", "%g4", "%g2", "%g1"};
    const bool is_shared = pick(2) == 0, is_load = pick(2) == 0;
    static constexpr unsigned kLeast[] = {0, 1, 3};
    const std::string place = std::string("[") +
                              (is_shared ? kShared[pick(8 - kLeast[size])] : kGlobal[pick(7 - kLeast[size])]) + "+" +
                              std::to_string(8 * pick(4)) + "]";
    const std::string space = is_shared ? ".shared" : one_of({".global", ""});
    const std::string type = size == 2   ? one_of({".b64 ", ".f64 ", ".u64 "})
                             : size == 1 ? one_of({".b16 ", ".u16 ", ".s16 "})
                                         : one_of({".b8 ", ".u8 ", ".s8 "});
    const std::string value = size == 2 ? wide() : pick(2) == 0 ? word() : half();
    return is_load ? "ld" + space + type + value + ", " + place + ";\n"
                   : "st" + space + type + place + ", " + value + ";\n";
  }
};

}  // namespace flexrack::test
