// The vector instructions that translations are made of.
#pragma once

#include "sim/jit/assembler.h"

namespace flexrack::sim::jit::v {

inline constexpr Vex load{Vex::none, Vex::x0f, false, 0x10}, store{Vex::none, Vex::x0f, false, 0x11},
    move{Vex::none, Vex::x0f, false, 0x28};
inline constexpr Vex store_short{Vex::none, Vex::x0f, false, 0x11, true};
inline constexpr Vex add32{Vex::x66, Vex::x0f, false, 0xfe}, add64{Vex::x66, Vex::x0f, false, 0xd4},
    sub32{Vex::x66, Vex::x0f, false, 0xfa}, sub64{Vex::x66, Vex::x0f, false, 0xfb};
inline constexpr Vex and_{Vex::x66, Vex::x0f, false, 0xdb}, not_and{Vex::x66, Vex::x0f, false, 0xdf},
    or_{Vex::x66, Vex::x0f, false, 0xeb}, xor_{Vex::x66, Vex::x0f, false, 0xef};
inline constexpr Vex mul32{Vex::x66, Vex::x0f38, false, 0x40}, mul_even_unsigned{Vex::x66, Vex::x0f, false, 0xf4},
    mul_even_signed{Vex::x66, Vex::x0f38, false, 0x28};
inline constexpr Vex min_signed{Vex::x66, Vex::x0f38, false, 0x39}, max_signed{Vex::x66, Vex::x0f38, false, 0x3d};
inline constexpr Vex min_unsigned{Vex::x66, Vex::x0f38, false, 0x3b}, max_unsigned{Vex::x66, Vex::x0f38, false, 0x3f},
    abs32{Vex::x66, Vex::x0f38, false, 0x1e};
inline constexpr Vex equal32{Vex::x66, Vex::x0f, false, 0x76}, greater32{Vex::x66, Vex::x0f, false, 0x66},
    equal64{Vex::x66, Vex::x0f38, false, 0x29}, greater64{Vex::x66, Vex::x0f38, false, 0x37};
inline constexpr Vex shl32{Vex::x66, Vex::x0f38, false, 0x47}, shl64{Vex::x66, Vex::x0f38, true, 0x47},
    shr32{Vex::x66, Vex::x0f38, false, 0x45}, shr64{Vex::x66, Vex::x0f38, true, 0x45};
inline constexpr Vex sar32{Vex::x66, Vex::x0f38, false, 0x46};
/// By an immediate: `first` is one of kLeft, kRight, kArithmetic, `second` the result, `last` the source.
inline constexpr Vex shift32{Vex::x66, Vex::x0f, false, 0x72}, shift64{Vex::x66, Vex::x0f, false, 0x73};
inline constexpr unsigned kRight = 2, kArithmetic = 4, kLeft = 6;
inline constexpr Vex widen_unsigned{Vex::x66, Vex::x0f38, false, 0x35}, widen_signed{Vex::x66, Vex::x0f38, false, 0x25},
    widen16{Vex::x66, Vex::x0f38, false, 0x33};
/// The upper half of `first` into the lower of `last`.
inline constexpr Vex upper_half{Vex::x66, Vex::x0f3a, false, 0x39};
inline constexpr Vex permute64{Vex::x66, Vex::x0f3a, true, 0x00}, shuffle{Vex::none, Vex::x0f, false, 0xc6},
    pack16{Vex::x66, Vex::x0f38, false, 0x2b};
inline constexpr Vex blend_by{Vex::x66, Vex::x0f3a, false, 0x4a}, blend32{Vex::x66, Vex::x0f3a, false, 0x02};
inline constexpr Vex spread8{Vex::x66, Vex::x0f38, false, 0x78}, signs{Vex::none, Vex::x0f, false, 0x50};
inline constexpr Vex addf{Vex::none, Vex::x0f, false, 0x58}, mulf{Vex::none, Vex::x0f, false, 0x59},
    subf{Vex::none, Vex::x0f, false, 0x5c}, minf{Vex::none, Vex::x0f, false, 0x5d};
inline constexpr Vex divf{Vex::none, Vex::x0f, false, 0x5e}, maxf{Vex::none, Vex::x0f, false, 0x5f},
    sqrtf{Vex::none, Vex::x0f, false, 0x51}, comparef{Vex::none, Vex::x0f, false, 0xc2};
/// 213: first = first * second + last; 231: first = second * last + first; 132: first = first * last + second.
inline constexpr Vex fma213{Vex::x66, Vex::x0f38, false, 0xa8}, fma231{Vex::x66, Vex::x0f38, false, 0xb8};
inline constexpr Vex from_signed{Vex::none, Vex::x0f, false, 0x5b}, truncate{Vex::xf3, Vex::x0f, false, 0x5b};
inline constexpr Vex from_half{Vex::x66, Vex::x0f38, false, 0x13}, to_half{Vex::x66, Vex::x0f3a, false, 0x1d};

inline constexpr Vex addd{Vex::x66, Vex::x0f, false, 0x58}, muld{Vex::x66, Vex::x0f, false, 0x59},
    subd{Vex::x66, Vex::x0f, false, 0x5c}, divd{Vex::x66, Vex::x0f, false, 0x5e};
inline constexpr Vex sqrtd{Vex::x66, Vex::x0f, false, 0x51}, compared{Vex::x66, Vex::x0f, false, 0xc2},
    fma231d{Vex::x66, Vex::x0f38, true, 0xb8}, fma213d{Vex::x66, Vex::x0f38, true, 0xa8},
    fma132d{Vex::x66, Vex::x0f38, true, 0x98};
/// Four floats, or words, as doubles; four doubles as floats, or cut to words.
inline constexpr Vex widen_float{Vex::none, Vex::x0f, false, 0x5a}, widen_word{Vex::xf3, Vex::x0f, false, 0xe6},
    narrow_double{Vex::x66, Vex::x0f, false, 0x5a}, cut_double{Vex::x66, Vex::x0f, false, 0xe6};
inline constexpr Vex blend_by64{Vex::x66, Vex::x0f3a, false, 0x4b}, round_double{Vex::x66, Vex::x0f3a, false, 0x09},
    round_float{Vex::x66, Vex::x0f3a, false, 0x08};
inline constexpr Vex spread16{Vex::x66, Vex::x0f38, false, 0x79}, widen16_signed{Vex::x66, Vex::x0f38, false, 0x23},
    widen8{Vex::x66, Vex::x0f38, false, 0x31}, widen8_signed{Vex::x66, Vex::x0f38, false, 0x21};
inline constexpr Vex pack8{Vex::x66, Vex::x0f, false, 0x67}, store_half{Vex::x66, Vex::x0f, false, 0xd6, true};
inline constexpr Vex spread32{Vex::x66, Vex::x0f38, false, 0x58}, spread64{Vex::x66, Vex::x0f38, false, 0x59},
    test{Vex::x66, Vex::x0f38, false, 0x17};
/// One or two at a time.
inline constexpr Vex divd_short{Vex::x66, Vex::x0f, false, 0x5e, true};
inline constexpr Vex from_gpr32{Vex::x66, Vex::x0f, false, 0x6e, true}, to_gpr32{Vex::x66, Vex::x0f, false, 0x7e, true},
    to_gpr64{Vex::x66, Vex::x0f, true, 0x7e, true};
inline constexpr Vex from_gpr64{Vex::x66, Vex::x0f, true, 0x6e, true},
    insert32{Vex::x66, Vex::x0f3a, false, 0x22, true}, take64{Vex::x66, Vex::x0f3a, true, 0x16, true},
    signs64{Vex::x66, Vex::x0f, false, 0x50};
inline constexpr Vex load_short{Vex::none, Vex::x0f, false, 0x10, true},
    insert_upper{Vex::x66, Vex::x0f3a, false, 0x38}, upper_to_lower{Vex::x66, Vex::x0f3a, false, 0x46};
/// Of `last`, by the order in `second`.
inline constexpr Vex permute32{Vex::x66, Vex::x0f38, false, 0x36};
inline constexpr Vex pack_signed32{Vex::x66, Vex::x0f, false, 0x6b}, pack_signed16{Vex::x66, Vex::x0f, false, 0x63},
    signs8{Vex::x66, Vex::x0f, false, 0xd7};
inline constexpr Vex unpack_low{Vex::none, Vex::x0f, false, 0x14}, unpack_high{Vex::none, Vex::x0f, false, 0x15};
inline constexpr Vex unpack_low64{Vex::x66, Vex::x0f, false, 0x14}, unpack_high64{Vex::x66, Vex::x0f, false, 0x15};

/// Of comparef.
enum Predicate : int {
  equal_o = 0,
  unordered = 3,
  differs_u = 4,
  ordered = 7,
  equal_u = 8,
  differs_o = 12,
  less_o = 17,
  less_equal_o = 18,
  greater_equal_u = 21,
  greater_u = 22,
  less_u = 25,
  less_equal_u = 26,
  greater_equal_o = 29,
  greater_o = 30
};

}  // namespace flexrack::sim::jit::v
