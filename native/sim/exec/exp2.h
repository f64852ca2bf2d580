// 2^x as the interpreter and the machine code of sim/jit compute it, operation by operation.
#pragma once

namespace flexrack::sim::exec {

/// 2^f for |f| <= 1/2 within 1e-12, by Chebyshev's points: the coefficient of f^8 first.
inline constexpr double kExp2Series[] = {0x1.63d136366db24p-20, 0x1.00dc4a532fb8ep-16, 0x1.4308ac85aa947p-13,
                                         0x1.5d8745a728441p-10, 0x1.3b2ab7181b755p-7,  0x1.c6b08dd6fd234p-5,
                                         0x1.ebfbdff823cedp-3,  0x1.62e42fef84cf0p-1,  0x1.0000000000000p+0};
/// What x is clamped to: beyond, a float is infinite or zero.
inline constexpr float kExp2Least = -160.0f, kExp2Greatest = 130.0f;
/// 1.5 * 2^52: added, it leaves no bits for a fraction, and the whole number in the low ones.
inline constexpr double kNoFraction = 6755399441055744.0;

}  // namespace flexrack::sim::exec
