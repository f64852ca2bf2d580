// Which messages of cuda these are.
// Generated from native/spec/cuda.* by native/codegen/generate.ts; change those.
#pragma once

#include "wire/api.h"

namespace flexrack::cu {

/// The revision is a hash over the ops, names and fields of all messages: two ends that differ in it do not understand each other.
inline constexpr wire::Api kApi{"cuda", 0x2000, 0xa5a0a79b24a4a89f};

}  // namespace flexrack::cu
