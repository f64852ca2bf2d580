// Addresses of device memory that are chosen here: a stretch of address space that is free in this process and at a
// server, cut into pieces. Servers do not know of each other, so with several of them each has one.
#pragma once

#include "client/cuda/call.h"

namespace flexrack::client::cuda {

/// True where memory of that server has been put at chosen addresses before.
bool has_arena(CudaServer& server);
/// Memory of that server is put at addresses chosen here: several would give the same address to different memory, and
/// two that do the same would give different ones.
bool chooses_addresses(CudaServer& server);

/// A free stretch for that many bytes at the device's server, in whole pages of the device.
CUresult take_addresses(Call& call, const Device& device, std::uint64_t size, std::uint64_t& address);
void give_addresses(CudaServer& server, std::uint64_t address);

}  // namespace flexrack::client::cuda
