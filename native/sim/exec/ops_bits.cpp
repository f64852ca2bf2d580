// Logic, shifts and what is done to single bits (PTX ISA 9.0, 9.7.1 and 9.7.8).
#include <bit>
#include <type_traits>

#include "sim/exec/ops.h"
#include "sim/exec/shells.h"

namespace flexrack::sim::exec {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

#define FLEXRACK_LOGIC(NAME, EXPRESSION)                                                \
  template <class T>                                                                    \
  struct NAME : Shape<T, T> {                                                           \
    FLEXRACK_OPERATION(NAME, 2, true)                                                   \
    FLEXRACK_INLINE T operator()(T a, T b) const { return static_cast<T>(EXPRESSION); } \
  };
FLEXRACK_LOGIC(And, a& b)
FLEXRACK_LOGIC(Or, a | b)
FLEXRACK_LOGIC(Xor, a ^ b)
#undef FLEXRACK_LOGIC

template <class T>
struct Not : Shape<T, T> {
  FLEXRACK_OPERATION(Not, 1, true)
  FLEXRACK_INLINE T operator()(T a) const { return static_cast<T>(~a); }
};
template <class T>
struct LogicalNot : Shape<T, T> {
  FLEXRACK_OPERATION(LogicalNot, 1, true)
  FLEXRACK_INLINE T operator()(T a) const { return a == 0; }
};

/// Amounts of the width or more shift everything out.
template <class T>
struct ShiftLeft : Shape<T, T, u32> {
  FLEXRACK_OPERATION(ShiftLeft, 2, true)
  FLEXRACK_INLINE T operator()(T a, u32 b) const {
    constexpr u32 kBits = 8 * sizeof(T);
    if constexpr (kBits == 16) return static_cast<T>(b < kBits ? static_cast<u32>(a) << (b & 31) : 0);
    return b < kBits ? static_cast<T>(a << (b & (kBits - 1))) : T{0};
  }
};
template <class T>
struct ShiftRight : Shape<T, T, u32> {
  FLEXRACK_OPERATION(ShiftRight, 2, true)
  FLEXRACK_INLINE T operator()(T a, u32 b) const {
    constexpr u32 kBits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (b < kBits ? b : kBits - 1));
    return b < kBits ? static_cast<T>(a >> (b & (kBits - 1))) : T{0};
  }
};

template <bool Left>
struct Funnel : Shape<u32, u32> {
  static constexpr unsigned kSources = 3;
  static constexpr bool kIsVector = true;
  FLEXRACK_INLINE explicit Funnel(const Step& step) : wraps(step.source->flags & ptx::kWrap) {}
  FLEXRACK_INLINE u32 operator()(u32 low, u32 high, u32 amount) const {
    const u32 by = wraps ? amount & 31 : amount < 32 ? amount : 32;
    const u64 both = static_cast<u64>(high) << 32 | low;
    return static_cast<u32>(Left ? both << by >> 32 : both >> by);
  }
  bool wraps;
};

template <class T>
struct Popc : Shape<u32, T> {
  FLEXRACK_OPERATION(Popc, 1, true)
  FLEXRACK_INLINE u32 operator()(T a) const {
    return static_cast<u32>(sizeof(T) == 8 ? __builtin_popcountll(a) : __builtin_popcount(static_cast<u32>(a)));
  }
};
template <class T>
struct Clz : Shape<u32, T> {
  FLEXRACK_OPERATION(Clz, 1, false)
  u32 operator()(T a) const { return static_cast<u32>(std::countl_zero(a)); }
};

/// The highest bit that is not the sign; all ones where there is none.
template <class T>
struct BitFind : Shape<u32, T> {
  static constexpr unsigned kSources = 1;
  static constexpr bool kIsVector = false;
  explicit BitFind(const Step& step) : is_amount(step.source->flags & ptx::kShiftAmount) {}
  u32 operator()(T a) const {
    using U = std::make_unsigned_t<T>;
    const U looked = static_cast<U>(a < 0 ? static_cast<T>(~a) : a);
    if (looked == 0) return ~0U;
    const auto before = static_cast<u32>(std::countl_zero(looked));
    return is_amount ? before : static_cast<u32>(8 * sizeof(T)) - 1 - before;
  }
  bool is_amount;
};

template <class T>
struct Reverse : Shape<T, T> {
  FLEXRACK_OPERATION(Reverse, 1, true)
  FLEXRACK_INLINE T operator()(T a) const {
    constexpr T kAll = static_cast<T>(~T{0});
    a = ((a >> 1) & (kAll / 3)) | ((a & (kAll / 3)) << 1);
    a = ((a >> 2) & (kAll / 5)) | ((a & (kAll / 5)) << 2);
    a = ((a >> 4) & (kAll / 17)) | ((a & (kAll / 17)) << 4);
    if constexpr (sizeof(T) == 8) return __builtin_bswap64(a);
    return __builtin_bswap32(static_cast<u32>(a));
  }
};

/// c bits of a from bit b on; what lies beyond is the sign, of the last bit taken.
template <class T>
struct BitExtract : Shape<T, T, u32, u32> {
  FLEXRACK_OPERATION(BitExtract, 3, false)
  T operator()(T a, u32 b, u32 c) const {
    using U = std::make_unsigned_t<T>;
    constexpr u32 kTop = 8 * sizeof(T) - 1;
    const u32 from = b & 0xff, length = c & 0xff;
    if (length == 0) return 0;
    const u32 last = from + length - 1 < kTop ? from + length - 1 : kTop;
    const bool sign = std::is_signed_v<T> && (static_cast<U>(a) >> last & 1);
    U taken = from <= kTop ? static_cast<U>(a) >> from : 0;
    const u32 count = from <= kTop ? last - from + 1 : 0;
    const U mask = count > kTop ? static_cast<U>(~U{0}) : (U{1} << count) - 1;
    taken &= mask;
    return static_cast<T>(sign ? taken | static_cast<U>(~mask) : taken);
  }
};

/// e low bits of a put into b at bit c.
template <class T>
struct BitInsert : Shape<T, T, T, u32, u32> {
  FLEXRACK_OPERATION(BitInsert, 4, false)
  T operator()(T a, T b, u32 c, u32 e) const {
    constexpr u32 kBits = 8 * sizeof(T);
    const u32 at = c & 0xff, length = e & 0xff;
    if (length == 0 || at >= kBits) return b;
    const T mask =
        static_cast<T>((length >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1)) << at);
    return (b & ~mask) | ((a << at) & mask);
  }
};

/// The offset-th set bit of the mask from base on, up or down.
struct FindNthSet : Shape<u32, u32, u32, s32> {
  FLEXRACK_OPERATION(FindNthSet, 3, false)
  u32 operator()(u32 mask, u32 base, s32 offset) const {
    const s32 step = offset < 0 ? -1 : 1;
    if (offset == 0) return base < 32 && (mask >> base & 1) ? base : ~0U;
    s32 wanted = offset < 0 ? -offset : offset;
    for (s64 at = base; at >= 0 && at < 32; at += step) {
      if ((mask >> at & 1) && --wanted == 0) return static_cast<u32>(at);
    }
    return ~0U;
  }
};

struct BitMask : Shape<u32, u32> {
  static constexpr unsigned kSources = 2;
  static constexpr bool kIsVector = false;
  explicit BitMask(const Step& step) : wraps(step.source->flags & ptx::kWrap) {}
  u32 operator()(u32 a, u32 b) const {
    const u32 from = wraps ? a & 31 : a, count = wraps ? b & 31 : b;
    if (from >= 32 || count == 0) return 0;
    return (count >= 32 ? ~0U : (1U << count) - 1) << from;
  }
  bool wraps;
};

/// a cut to b bits and extended again.
template <class T>
struct CutExtend : Shape<T, T, u32> {
  static constexpr unsigned kSources = 2;
  static constexpr bool kIsVector = false;
  explicit CutExtend(const Step& step) : wraps(step.source->flags & ptx::kWrap) {}
  T operator()(T a, u32 b) const {
    const u32 count = wraps ? b & 31 : b;
    if (count >= 32) return a;
    if (count == 0) return 0;
    return static_cast<T>(static_cast<T>(static_cast<u32>(a) << (32 - count)) >> (32 - count));
  }
  bool wraps;
};

/// Products of four bytes, or of two halves and two bytes, added up.
template <class A8, class B8>
struct Dot4 : Shape<u32, u32> {
  FLEXRACK_OPERATION(Dot4, 3, true)
  FLEXRACK_INLINE u32 operator()(u32 a, u32 b, u32 c) const {
    for (int i = 0; i < 4; ++i)
      c += static_cast<u32>(static_cast<s32>(static_cast<A8>(a >> 8 * i)) *
                            static_cast<s32>(static_cast<B8>(b >> 8 * i)));
    return c;
  }
};
template <class A16, class B8, bool High>
struct Dot2 : Shape<u32, u32> {
  FLEXRACK_OPERATION(Dot2, 3, true)
  FLEXRACK_INLINE u32 operator()(u32 a, u32 b, u32 c) const {
    for (int i = 0; i < 2; ++i)
      c += static_cast<u32>(static_cast<s32>(static_cast<A16>(a >> 16 * i)) *
                            static_cast<s32>(static_cast<B8>(b >> (High ? 16 : 0) >> 8 * i)));
    return c;
  }
};

struct Lop3 : Shape<u32, u32> {
  static constexpr unsigned kSources = 3;
  static constexpr bool kIsVector = true;
  FLEXRACK_INLINE explicit Lop3(const Step& step) {
    for (unsigned i = 0; i < 8; ++i) ones[i] = step.source->detail >> i & 1 ? ~0U : 0U;
  }
  FLEXRACK_INLINE u32 operator()(u32 a, u32 b, u32 c) const {
    // A tree of choices by c, b and a: bit i of the table is for a's bit 2, b's bit 1, c's bit 0 of i.
    const u32 low = (~c & ones[0]) | (c & ones[1]), next = (~c & ones[2]) | (c & ones[3]),
              third = (~c & ones[4]) | (c & ones[5]), high = (~c & ones[6]) | (c & ones[7]);
    return (~a & ((~b & low) | (b & next))) | (a & ((~b & third) | (b & high)));
  }
  u32 ones[8];
};

u32 permute(u64 bytes, u32 selector) {
  u32 made = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 choice = selector >> (4 * i) & 0xf;
    u32 byte = static_cast<u32>(bytes >> (8 * (choice & 7))) & 0xff;
    if (choice & 8) byte = byte & 0x80 ? 0xff : 0;
    made |= byte << (8 * i);
  }
  return made;
}
struct Permute : Shape<u32, u32> {
  static constexpr unsigned kSources = 3;
  static constexpr bool kIsVector = false;
  explicit Permute(const Step& step) : mode(static_cast<ptx::PermuteMode>(step.source->detail)) {}
  u32 operator()(u32 a, u32 b, u32 c) const {
    // Selectors by the two low bits of c (PTX ISA 9.0, 9.7.9.7).
    static constexpr u32 kForward[4] = {0x3210, 0x4321, 0x5432, 0x6543},
                         kBackward[4] = {0x5670, 0x6701, 0x7012, 0x0123},
                         kReplicate[4] = {0x0000, 0x1111, 0x2222, 0x3333},
                         kClampLeft[4] = {0x3210, 0x3211, 0x3222, 0x3333},
                         kClampRight[4] = {0x0000, 0x1110, 0x2210, 0x3210},
                         kReplicate16[4] = {0x1010, 0x3232, 0x1010, 0x3232};
    const u64 bytes = static_cast<u64>(b) << 32 | a;
    switch (mode) {
      case ptx::PermuteMode::index: return permute(bytes, c);
      case ptx::PermuteMode::f4e: return permute(bytes, kForward[c & 3]);
      case ptx::PermuteMode::b4e: return permute(bytes, kBackward[c & 3]);
      case ptx::PermuteMode::rc8: return permute(bytes, kReplicate[c & 3]);
      case ptx::PermuteMode::ecl: return permute(bytes, kClampLeft[c & 3]);
      case ptx::PermuteMode::ecr: return permute(bytes, kClampRight[c & 3]);
      case ptx::PermuteMode::rc16: return permute(bytes, kReplicate16[c & 3]);
    }
    return 0;
  }
  ptx::PermuteMode mode;
};

template <template <class> class F>
Handler by_bits(Type type) {
  switch (ptx::bytes_of(type)) {
    case 2: return handler<F<u16>>();
    case 4: return handler<F<u32>>();
    case 8: return handler<F<u64>>();
    default: return nullptr;
  }
}

template <template <class> class F>
Handler by_bits_32(Type type) {
  return ptx::bytes_of(type) == 4 ? handler<F<u32>>() : ptx::bytes_of(type) == 8 ? handler<F<u64>>() : nullptr;
}

template <template <class> class F>
Handler by_sign_32(Type type) {
  switch (type) {
    case Type::u32:
    case Type::b32: return handler<F<u32>>();
    case Type::s32: return handler<F<s32>>();
    case Type::u64:
    case Type::b64: return handler<F<u64>>();
    case Type::s64: return handler<F<s64>>();
    default: return nullptr;
  }
}

Handler shift_right(Type type) {
  switch (type) {
    case Type::s16: return handler<ShiftRight<s16>>();
    case Type::s32: return handler<ShiftRight<s32>>();
    case Type::s64: return handler<ShiftRight<s64>>();
    default: return by_bits<ShiftRight>(type);
  }
}

template <class A8>
Handler dot4(Type b) {
  return ptx::is_signed(b) ? handler<Dot4<A8, s8>>() : handler<Dot4<A8, u8>>();
}
template <class A16, bool High>
Handler dot2(Type b) {
  return ptx::is_signed(b) ? handler<Dot2<A16, s8, High>>() : handler<Dot2<A16, u8, High>>();
}

/// Predicates: 32 lanes at once.
template <class F>
const Step* on_predicates(Warp& warp, const Step* step) {
  warp.set_predicate(step->d, F()(warp.predicate(step->a), step->b == kNowhere ? 0 : warp.predicate(step->b)));
  return step + 1;
}
struct AndBits {
  u32 operator()(u32 a, u32 b) const { return a & b; }
};
struct OrBits {
  u32 operator()(u32 a, u32 b) const { return a | b; }
};
struct XorBits {
  u32 operator()(u32 a, u32 b) const { return a ^ b; }
};
struct NotBits {
  u32 operator()(u32 a, u32) const { return ~a; }
};

/// d = the table of a, b, c (a sink where it is nowhere); p (o[4]) = (d != 0) combined with q (o[5]).
const Step* lop3_with_predicate(Warp& warp, const Step* step) {
  const Lop3 operation(*step);
  const auto* a = warp.registers<const u32>(step->a);
  const auto* b = warp.registers<const u32>(step->b);
  const auto* c = warp.registers<const u32>(step->c);
  auto* d = step->d == kNowhere ? nullptr : warp.registers<u32>(step->d);
  u32 holds = 0;
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const u32 value = operation(a[lane], b[lane], c[lane]);
    holds |= static_cast<u32>(value != 0) << lane;
    if (d != nullptr) d[lane] = value;
  }
  const At with = place_of(step->source->o[5]);
  if (with != kNowhere)
    holds =
        step->source->combine == ptx::Combine::logic_or ? holds | warp.predicate(with) : holds & warp.predicate(with);
  warp.set_predicate(step->e, holds);
  return step + 1;
}

}  // namespace

Handler bit_handler(const Instruction& from) {
  const Type type = from.type;
  if (type == Type::pred) {
    switch (from.op) {
      case Op::logic_and: return on_predicates<AndBits>;
      case Op::logic_or: return on_predicates<OrBits>;
      case Op::logic_xor: return on_predicates<XorBits>;
      case Op::logic_not: return on_predicates<NotBits>;
      default: return nullptr;
    }
  }
  switch (from.op) {
    case Op::logic_and: return by_bits<And>(type);
    case Op::logic_or: return by_bits<Or>(type);
    case Op::logic_xor: return by_bits<Xor>(type);
    case Op::logic_not: return by_bits<Not>(type);
    case Op::cnot: return by_bits<LogicalNot>(type);
    case Op::shl: return by_bits<ShiftLeft>(type);
    case Op::shr: return shift_right(type);
    case Op::shf_l: return handler<Funnel<true>>();
    case Op::shf_r: return handler<Funnel<false>>();
    case Op::popc: return by_bits_32<Popc>(type);
    case Op::clz: return by_bits_32<Clz>(type);
    case Op::bfind: return by_sign_32<BitFind>(type);
    case Op::fns: return handler<FindNthSet>();
    case Op::brev: return by_bits_32<Reverse>(type);
    case Op::bfe: return by_sign_32<BitExtract>(type);
    case Op::bfi: return by_bits_32<BitInsert>(type);
    case Op::bmsk: return handler<BitMask>();
    case Op::szext: return type == Type::s32 ? handler<CutExtend<s32>>() : handler<CutExtend<u32>>();
    case Op::dp4a: return ptx::is_signed(type) ? dot4<s8>(from.source_type) : dot4<u8>(from.source_type);
    case Op::dp2a_lo:
      return ptx::is_signed(type) ? dot2<s16, false>(from.source_type) : dot2<u16, false>(from.source_type);
    case Op::dp2a_hi:
      return ptx::is_signed(type) ? dot2<s16, true>(from.source_type) : dot2<u16, true>(from.source_type);
    case Op::lop3: return handler<Lop3>();
    case Op::lop3_pred: return lop3_with_predicate;
    case Op::prmt: return handler<Permute>();
    default: return nullptr;
  }
}

}  // namespace flexrack::sim::exec
