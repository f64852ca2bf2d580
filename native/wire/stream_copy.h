// Copying to memory that nobody reads soon.
#pragma once

#include <cstddef>

namespace flexrack::wire {

/// Like memcpy; large aligned parts bypass the cache, which leaves it to what is on its way and saves reading the
/// target first.
void stream_copy(void* to, const void* from, std::size_t size);

}  // namespace flexrack::wire
