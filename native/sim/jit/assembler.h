// Writes x86-64 machine code: the vector instructions of AVX2, FMA and F16C in their VEX form, and the few others that
// a loop needs. Facts: Intel's Software Developer's Manual, volume 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace flexrack::sim::jit {

/// General registers by their number in the encoding.
enum Gpr : std::uint8_t { rax = 0, rcx = 1, rdx = 2, rsp = 4, rsi = 6, rdi = 7, r8 = 8, r9 = 9, r10 = 10, r11 = 11 };

/// The last source of an instruction: a vector register, memory behind a general register, or 32 bytes of the pool that
/// lies behind the code.
struct Source {
  enum class Kind : std::uint8_t { vector, memory, pool };
  Kind kind = Kind::vector;
  std::uint8_t number = 0;     ///< of the vector register, or the base
  std::int32_t at = 0;         ///< displacement; in the pool

  static Source vector(unsigned number) { return {Kind::vector, static_cast<std::uint8_t>(number), 0}; }
  static Source memory(Gpr base, std::int32_t displacement) { return {Kind::memory, base, displacement}; }
  static Source pool(std::int32_t at) { return {Kind::pool, 0, at}; }
};

/// A vector instruction: the prefix that tells it from others of its opcode, the map that the opcode is in, VEX.W.
struct Vex {
  enum Prefix : std::uint8_t { none = 0, x66 = 1, xf3 = 2, xf2 = 3 };
  enum Map : std::uint8_t { x0f = 1, x0f38 = 2, x0f3a = 3 };
  Prefix prefix;
  Map map;
  bool is_wide;
  std::uint8_t opcode;
  bool is_short = false;       ///< 128 bits
};

class Assembler {
 public:
  enum class Condition : std::uint8_t {
    always,
    overflows = 0x80,
    below = 0x82,
    not_below = 0x83,
    equal = 0x84,
    differs = 0x85,
    above = 0x87,
    negative = 0x88,
    less = 0x8c,
    not_less = 0x8d,
    not_greater = 0x8e,
    greater = 0x8f,
    not_above = 0x86
  };

  /// `second` is the source in VEX.vvvv; 0 where there is none.
  void vector(const Vex& what, unsigned first, unsigned second, const Source& last, int immediate = -1);

  void bytes(std::initializer_list<std::uint8_t> all) { code_.insert(code_.end(), all); }
  void word(std::uint32_t value);

  /// mov r64, [base + displacement]; mov r32, the same; mov [base + displacement], r8.
  void load64(Gpr to, Gpr base, std::int32_t displacement) { general(0x8b, true, to, base, displacement); }
  void load32(Gpr to, Gpr base, std::int32_t displacement) { general(0x8b, false, to, base, displacement); }
  void store8(Gpr from, Gpr base, std::int32_t displacement) { general(0x88, false, from, base, displacement); }
  void compare32(Gpr left, Gpr base, std::int32_t displacement) { general(0x3b, false, left, base, displacement); }
  /// movzx r32, byte [base + displacement].
  void load8(Gpr to, Gpr base, std::int32_t displacement);
  void and8(Gpr to, Gpr base, std::int32_t displacement) { general(0x22, false, to, base, displacement); }
  void and32(Gpr to, Gpr base, std::int32_t displacement) { general(0x23, false, to, base, displacement); }
  void move64(Gpr to, Gpr from);
  void xor32(Gpr to, Gpr from);
  void add64(Gpr to, std::int32_t value);
  void set32(Gpr to, std::uint32_t value);
  void set64(Gpr to, std::uint64_t value);
  /// One of the lower eight registers with another, or with itself: add, sub, and, or, xor, cmp by their opcodes.
  enum Arithmetic : std::uint8_t { add = 0x01, or_ = 0x09, and_ = 0x21, sub = 0x29, xor_ = 0x31, compare = 0x39 };
  void scalar(Arithmetic what, bool is_wide, Gpr to, Gpr from);
  void multiply(bool is_wide, Gpr to, Gpr from);
  /// `how` as of vector shifts: 4 left, 5 right, 7 with the sign.
  void shift(unsigned how, bool is_wide, Gpr what, std::uint8_t by);
  void negate(bool is_wide, Gpr what);
  /// movsxd.
  void widen_signed(Gpr to, Gpr from);
  /// The lowest byte of what becomes 0 or 1, by a condition; then all of it.
  void set_if(Condition when, Gpr to);
  void store64(Gpr from, Gpr base, std::int32_t displacement) { general(0x89, true, from, base, displacement); }
  void store32(Gpr from, Gpr base, std::int32_t displacement) { general(0x89, false, from, base, displacement); }
  void add64(Gpr to, Gpr base, std::int32_t displacement) { general(0x03, true, to, base, displacement); }
  void sub64(Gpr to, Gpr base, std::int32_t displacement) { general(0x2b, true, to, base, displacement); }
  void or_into32(Gpr from, Gpr base, std::int32_t displacement) { general(0x09, false, from, base, displacement); }
  void compare64(Gpr left, Gpr base, std::int32_t displacement) { general(0x3b, true, left, base, displacement); }
  /// cmp dword [base + displacement], 0.
  void compare_with_zero32(Gpr base, std::int32_t displacement);
  void lea64(Gpr to, Gpr base, std::int32_t displacement) { general(0x8d, true, to, base, displacement); }
  /// cmp qword [base + displacement], 0.
  void compare_with_zero64(Gpr base, std::int32_t displacement);
  void subtract_from64(Gpr what, Gpr base, std::int32_t displacement) { general(0x29, true, what, base, displacement); }
  /// prefetcht0 [base + displacement], or prefetcht1, which goes as far as the second cache.
  void prefetch(Gpr base, std::int32_t displacement, bool is_second = false);
  /// cmp byte [base + displacement], a number; test byte.
  void compare8(Gpr base, std::int32_t displacement, std::uint8_t value);
  void test8(Gpr base, std::int32_t displacement, std::uint8_t bits);
  /// inc qword [base + displacement].
  void increment64(Gpr base, std::int32_t displacement) { general(0xff, true, 0, base, displacement); }
  /// lock add qword [address], value.
  void add_to_counter(const void* address, std::uint32_t value);
  void call(const void* function);
  void decrement32(Gpr what);
  /// jmp [base + displacement].
  void jump_through(Gpr base, std::int8_t displacement);
  void finish() { bytes({0xc5, 0xf8, 0x77, 0xc3}); }  // vzeroupper; ret

  // Jumps: forward ones are put right when their target is known.
  std::size_t jump(Condition when);
  void land(std::size_t jump);
  void jump_back(Condition when, std::size_t to);

  std::size_t size() const { return code_.size(); }
  /// The pool's offset from the code's start has to be known for this: code, then the pool at a multiple of 32.
  std::vector<std::uint8_t> finished(const std::vector<std::uint32_t>& pool);

 private:
  struct PoolUse {
    std::size_t field, end;
    std::int32_t at;
  };
  void general(std::uint8_t opcode, bool is_wide, unsigned reg, Gpr base, std::int32_t displacement);
  void memory(unsigned reg, unsigned base, std::int32_t displacement);

  std::vector<std::uint8_t> code_;
  std::vector<PoolUse> pool_uses_;
};

}  // namespace flexrack::sim::jit
