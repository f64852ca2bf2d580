// Shared virtual memory as the context knows it.
#pragma once

#include "client/opencl/objects.h"

namespace flexrack::client::opencl {

/// One allocation: the same addresses here and at the device, the bytes the application's while it is mapped.
struct SvmRange {
  std::byte* start = nullptr;
  std::size_t size = 0;               ///< 0: there is none
  std::uint64_t handle = 0;           ///< at place 0 of its context
};

/// The allocation of that context that holds the address.
SvmRange find_svm(cl_context context, const void* address);

}  // namespace flexrack::client::opencl
