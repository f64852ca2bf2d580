// What programs by chance are written with: registers, numbers, guards.
#pragma once

#include <initializer_list>
#include <random>
#include <string>

namespace flexrack::test {

inline constexpr unsigned kWordRegisters = 10, kWideRegisters = 5, kHalfRegisters = 3, kPredicateRegisters = 4;

class ChanceWords {
 protected:
  explicit ChanceWords(unsigned seed) : random_(seed) {}

  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }
  static std::string number(const char* name, unsigned i) { return name + std::to_string(i); }
  std::string word() { return number("%r", pick(kWordRegisters)); }
  std::string wide() { return number("%d", pick(kWideRegisters)); }
  std::string half() { return number("%h", pick(kHalfRegisters)); }
  std::string predicate() { return number("%p", pick(kPredicateRegisters)); }
  std::string guard() { return (pick(2) != 0 ? "@" : "@!") + predicate() + " "; }
  std::string maybe_negated() { return (pick(3) == 0 ? "!" : "") + predicate(); }
  std::string one_of(std::initializer_list<const char*> all) {
    return *(all.begin() + pick(static_cast<unsigned>(all.size())));
  }

  /// A register, or now and then a number.
  std::string word_source() {
    static constexpr const char* kNumbers[] = {"0",  "1",          "-1",         "31",    "32",
                                               "33", "0x80000000", "0x7fffffff", "12345", "-77"};
    return pick(4) == 0 ? kNumbers[pick(10)] : word();
  }
  std::string wide_source() { return pick(5) == 0 ? one_of({"0", "-1", "4096", "0x123456789abcdef"}) : wide(); }
  std::string float_source() {
    return pick(5) == 0 ? one_of({"0f00000000", "0f80000000", "0f3F800000", "0fBF000000", "0f7F800000", "0f00000001",
                                  "0f7FFFFFFF", "0fFF800123", "0f4F000000"})
                        : word();
  }

  std::string double_source() {
    return pick(5) == 0
               ? one_of({"0d0000000000000000", "0d8000000000000000", "0d3FF0000000000000", "0d7FF0000000000000",
                         "0d7FF8000000000001", "0dFFF4000000000123", "0d0000000000000001", "0d41F0000000000000"})
               : wide();
  }

 private:
  std::mt19937 random_;
};

}  // namespace flexrack::test
