// Arithmetic of f16, bf16 and pairs of them (PTX ISA 9.0, 9.7.4).
#include "sim/exec/halves.h"
#include "sim/exec/ops.h"
#include "sim/exec/shells.h"

namespace flexrack::sim::exec {
namespace {

using u16 = std::uint16_t;

/// The plain forms, in vector code.
template <class H>
struct AddH : Shape<u16, u16> {
  FLEXRACK_OPERATION(AddH, 2, true)
  FLEXRACK_INLINE u16 operator()(u16 a, u16 b) const { return H::from_float(H::to_float(a) + H::to_float(b)); }
};
template <class H>
struct SubH : Shape<u16, u16> {
  FLEXRACK_OPERATION(SubH, 2, true)
  FLEXRACK_INLINE u16 operator()(u16 a, u16 b) const { return H::from_float(H::to_float(a) - H::to_float(b)); }
};
template <class H>
struct MulH : Shape<u16, u16> {
  FLEXRACK_OPERATION(MulH, 2, true)
  FLEXRACK_INLINE u16 operator()(u16 a, u16 b) const { return H::from_float(H::to_float(a) * H::to_float(b)); }
};
template <class H>
struct FmaH : Shape<u16, u16> {
  FLEXRACK_OPERATION(FmaH, 3, true)
  FLEXRACK_INLINE u16 operator()(u16 a, u16 b, u16 c) const {
    return H::from_float(fma_odd(H::to_float(a), H::to_float(b), H::to_float(c)));
  }
};
template <class H>
struct NegH : Shape<u16, u16> {
  static constexpr unsigned kSources = 1;
  static constexpr bool kIsVector = true;
  FLEXRACK_INLINE explicit NegH(const Step& step) : ftz(step.source->flags & ptx::kFtz) {}
  FLEXRACK_INLINE u16 operator()(u16 a) const { return static_cast<u16>((ftz ? H::flush(a) : a) ^ 0x8000); }
  bool ftz;
};
template <class H>
struct AbsH : Shape<u16, u16> {
  static constexpr unsigned kSources = 1;
  static constexpr bool kIsVector = true;
  FLEXRACK_INLINE explicit AbsH(const Step& step) : ftz(step.source->flags & ptx::kFtz) {}
  FLEXRACK_INLINE u16 operator()(u16 a) const { return static_cast<u16>((ftz ? H::flush(a) : a) & 0x7fff); }
  bool ftz;
};

/// With .ftz, .sat, .relu or .oob around a plain form.
template <class H, template <class> class F>
struct ModifiedH : Shape<u16, u16> {
  static constexpr unsigned kSources = F<H>::kSources;
  static constexpr bool kIsVector = false;
  explicit ModifiedH(const Step& step) : plain(step), flags(step.source->flags) {}
  u16 in(u16 value) const { return flags & ptx::kFtz ? H::flush(value) : value; }
  u16 out(u16 value) const {
    const bool is_nan = (value & 0x7fff) > H::kInfinity;
    if (flags & ptx::kFtz) value = H::flush(value);
    if (flags & ptx::kSaturate) return is_nan || value & 0x8000 ? u16{0} : value > H::kOne ? H::kOne : value;
    if (flags & ptx::kRelu) return is_nan ? kNan16 : value & 0x8000 ? u16{0} : value;
    return value;
  }
  u16 operator()(u16 a, u16 b) const { return out(plain(in(a), in(b))); }
  u16 operator()(u16 a, u16 b, u16 c) const {
    // The NaN that marks what lies out of bounds makes zero.
    if (flags & ptx::kOob && (a == 0xffff || b == 0xffff)) return 0;
    return out(plain(in(a), in(b), in(c)));
  }
  F<H> plain;
  std::uint16_t flags;
};

template <class F>
Handler one_or_two(bool is_pair) {
  return is_pair ? handler<BothHalves<F>>() : handler<F>();
}

template <class H, template <class> class F>
Handler maybe_modified(const Instruction& from, bool is_pair) {
  if (from.flags & (ptx::kFtz | ptx::kSaturate | ptx::kRelu | ptx::kOob)) return one_or_two<ModifiedH<H, F>>(is_pair);
  return one_or_two<F<H>>(is_pair);
}

template <class H>
Handler of_format(const Instruction& from, bool is_pair) {
  switch (from.op) {
    case Op::add: return maybe_modified<H, AddH>(from, is_pair);
    case Op::sub: return maybe_modified<H, SubH>(from, is_pair);
    case Op::mul: return maybe_modified<H, MulH>(from, is_pair);
    case Op::fma: return maybe_modified<H, FmaH>(from, is_pair);
    case Op::neg: return one_or_two<NegH<H>>(is_pair);
    case Op::abs: return one_or_two<AbsH<H>>(is_pair);
    default: return nullptr;
  }
}

}  // namespace

Handler half_handler(const Instruction& from) {
  switch (from.type) {
    case Type::f16: return of_format<HalfFormat>(from, false);
    case Type::f16x2: return of_format<HalfFormat>(from, true);
    case Type::bf16: return of_format<BfloatFormat>(from, false);
    case Type::bf16x2: return of_format<BfloatFormat>(from, true);
    default: return nullptr;
  }
}

}  // namespace flexrack::sim::exec
