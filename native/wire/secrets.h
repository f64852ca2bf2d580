// What both sides compute from the lease's key; the key itself is never sent.
#pragma once

#include <array>
#include <initializer_list>

#include "wire/frame.h"

namespace flexrack::wire {

using Digest = std::array<std::uint8_t, 32>;

/// HMAC-SHA256 of the parts, one after another.
Digest authenticate(View key, std::initializer_list<View> parts);
/// In a time that does not tell where they differ.
bool is_same(View a, View b);
/// Throws Error{gone} where the machine has no random numbers.
void fill_random(std::span<std::uint8_t> bytes);

}  // namespace flexrack::wire
