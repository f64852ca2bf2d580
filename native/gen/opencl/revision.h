// Which messages of opencl these are.
// Generated from native/spec/opencl.* by native/codegen/generate.ts; change those.
#pragma once

#include "wire/api.h"

namespace flexrack::cl {

/// The revision is a hash over the ops, names and fields of all messages: two ends that differ in it do not understand each other.
inline constexpr wire::Api kApi{"opencl", 0x1000, 0x2da6b15fbea57877};

}  // namespace flexrack::cl
