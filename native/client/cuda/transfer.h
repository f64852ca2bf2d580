// Bytes between this process and devices.
#pragma once

#include <cstdint>

#include "client/cuda/addresses.h"
#include "client/cuda/call.h"

namespace flexrack::client::cuda {

/// Payloads travel in pieces of this size, so that one lands while the one before is copied on.
inline constexpr std::size_t kPiece = 4 * 1024 * 1024;

/// When a call comes back.
enum class Until {
  taken,   ///< the source may be written to again, the target is not there yet
  queued,  ///< neither: the memory is pinned, and the application waits for the stream
  done
};

/// The stretch of memory of a device that begins there; a hole or another server's memory inside it is INVALID_VALUE in
/// `call`.
Allocation device_range(Call& call, CUdeviceptr address, std::size_t size);

/// Puts them on the stream, whose server the device memory is at; the call is the caller's, settled.
CUresult write_device(Call& call, CUstream stream, std::uint64_t address, const void* from, std::size_t size,
                      Until until);
CUresult read_device(Call& call, CUstream stream, void* into, std::uint64_t address, std::size_t size, Until until);
/// Between devices of one server.
CUresult copy_device(Call& call, CUstream stream, const Allocation& target, std::uint64_t to, const Allocation& source,
                     std::uint64_t from, std::size_t size);

/// What went wrong where bytes did not arrive.
CUresult why_not_arrived(Call& call, CUstream stream);

}  // namespace flexrack::client::cuda
