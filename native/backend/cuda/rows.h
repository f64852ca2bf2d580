// Copies of rows, between the wire's form and the driver's.
#pragma once

#include <cstdint>
#include <optional>

#include "backend/cuda/call_context.h"

namespace flexrack::backend::cuda {

/// Both sides of a copy of rows; null where that side is host memory, which the caller fills in.
CUDA_MEMCPY3D rows(CallContext& call, const cu::Place* source, const cu::Place* target, const cu::Extent& extent);
/// Packed bytes in host memory, on the side of a copy that has none yet.
void from_host(CUDA_MEMCPY3D& copy, const void* source);
void to_host(CUDA_MEMCPY3D& copy, void* target);
/// Bytes of a box of rows; nothing where there are too many to be true.
std::optional<std::uint64_t> box_bytes(const cu::Extent& extent);

}  // namespace flexrack::backend::cuda
