// What both sides compute from the lease's key; the key itself is never sent.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>

#include "wire/frame.h"

namespace flexrack::wire {

using Digest = std::array<std::uint8_t, 32>;

/// HMAC-SHA256 of the parts, one after another.
Digest authenticate(View key, std::initializer_list<View> parts);
/// `text` for who has `key` alone, with proof that it is of somebody who has it: 12 random bytes, AES-256-GCM, 16 bytes
/// of proof. `purpose` goes into the key, so that what is sealed for one thing opens for no other. Throws Error{gone}.
Bytes seal(View key, std::initializer_list<View> purpose, View text);
/// What was sealed. Nothing: it was not sealed with that key for that purpose, or was changed.
std::optional<Bytes> unseal(View key, std::initializer_list<View> purpose, View sealed);
/// In a time that does not tell where they differ.
bool is_same(View a, View b);
/// Throws Error{gone} where the machine has no random numbers.
void fill_random(std::span<std::uint8_t> bytes);

}  // namespace flexrack::wire
