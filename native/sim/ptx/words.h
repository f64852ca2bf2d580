// What may follow the dots of an instruction or a directive, each word once, with what it means.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/ptx/types.h"

namespace flexrack::sim::ptx {

struct Word {
  enum class Kind : std::uint8_t { unknown, type, vector, space, rounding, compare, flag, scope, order, cache, plain };
  Kind kind = Kind::unknown;
  std::uint16_t value = 0;   ///< Type, elements, Space, Rounding, Compare, Flag, Scope, Order
};

/// A word without its dot.
Word word_of(std::string_view text);

std::optional<Type> type_of(std::string_view text);

}  // namespace flexrack::sim::ptx
