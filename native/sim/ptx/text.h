// The decoded form in words: for faults, logs and tests.
#pragma once

#include <string>
#include <string_view>

#include "sim/ptx/program.h"

namespace flexrack::sim::ptx {

/// As PTX spells it, without types: "mad.lo".
std::string_view name_of(Op op);
std::string_view name_of(Type type);
std::string_view name_of(Space space);
std::string_view name_of(Rounding rounding);

/// `@!p12 ld.global.v2.f32 {r128, r0}, [r256+8]`: registers by their offset in the frame, constants by value. Branches:
/// `bra -> target | reconvergence`.
std::string to_text(const Function& function, std::size_t instruction);

}  // namespace flexrack::sim::ptx
