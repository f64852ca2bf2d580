// Copies of plain memory.
#pragma once

#include "client/cuda/addresses.h"

namespace flexrack::client::cuda {

/// In the order of the stream.
CUresult copy_between_servers(CUstream stream, const Allocation& target, std::uint64_t to, const Allocation& source, std::uint64_t from, std::size_t size);

}  // namespace flexrack::client::cuda
