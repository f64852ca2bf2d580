// Values as the bytes they are in memory, which stays the caller's.
#pragma once

#include <ranges>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wire/frame.h"

namespace flexrack::wire {

/// Of a structure, and of nothing that only refers to its bytes.
template <class T>
  requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::ranges::range<T>)
View bytes_of(const T& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

template <class T>
  requires(std::is_trivially_copyable_v<T>)
View bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)};
}

/// Without the zero that ends a literal.
inline View bytes_of_text(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace flexrack::wire
