// Values that libraries keep with a context. NVIDIA's runtime looks one up on nearly every call, so finding one must
// cost next to nothing.
#pragma once

#include "gen/cuda/cuda.h"

namespace flexrack::cuda {

/// Called with context, key and value when the context is destroyed or reset.
using StorageDestructor = void (*)(CUcontext context, void* key, void* value);

/// Replaces what was there; the destructor may be null. CUDA_ERROR_OUT_OF_MEMORY where there is no room.
CUresult storage_put(CUcontext context, void* key, void* value, StorageDestructor destructor) noexcept;

/// CUDA_ERROR_INVALID_HANDLE where there is none. About 10 ns when this thread asked before.
CUresult storage_get(CUcontext context, void* key, void** value) noexcept;

/// Without calling the destructor. CUDA_ERROR_INVALID_HANDLE where there is none.
CUresult storage_remove(CUcontext context, void* key) noexcept;

/// For the driver, while the context is being destroyed or reset: calls the destructors and forgets the values.
/// No lock is held while they run; they may call the driver. What they put themselves is forgotten too, without a call.
void storage_destroy(CUcontext context) noexcept;

}  // namespace flexrack::cuda
