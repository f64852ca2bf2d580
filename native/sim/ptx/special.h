// The names of special registers. Facts: PTX ISA 9.0, chapter 10.
#pragma once

#include <optional>
#include <string_view>

#include "sim/ptx/types.h"

namespace flexrack::sim::ptx {

/// `%tid` with component `x`, `%laneid` without; nullopt: no special register.
std::optional<Special> special_register(std::string_view name, std::string_view component);

}  // namespace flexrack::sim::ptx
