// The 64 bytes by which another process of the same lease opens memory or an event of this one: cuIpc* hand them out as
// they are, cuMemExportToShareableHandle in a file that only exists in memory.
#pragma once

#include <array>
#include <cstring>
#include <optional>

#include "client/cuda/driver.h"

namespace flexrack::client::cuda {

struct SharedHandle {
  static constexpr std::uint32_t kMemory = 1, kEvent = 2, kPhysical = 3;
  std::uint64_t magic = 0;
  std::uint64_t lease = 0;  ///< the first half of its name: says which server
  std::array<std::uint8_t, 32> secret{};
  std::uint64_t size = 0;  ///< bytes; 0 of an event
  std::uint32_t kind = 0;
  std::uint32_t is_mapped = 0;  ///< who opens it chooses the address
};
static_assert(sizeof(SharedHandle) == CU_IPC_HANDLE_SIZE);

/// Of what that server has been asked to share.
std::optional<SharedHandle> shared_handle(const CudaServer& server, std::uint32_t kind,
                                          const cu::ShareObjectReply& reply);
/// Null where it is no handle of that kind, or of a lease that this process has not.
CudaServer* server_of(const SharedHandle& handle, std::uint32_t kind);

template <class Given>
SharedHandle as_shared_handle(const Given& given) {
  SharedHandle handle;
  static_assert(sizeof given == sizeof handle);
  std::memcpy(static_cast<void*>(&handle), &given, sizeof handle);
  return handle;
}

/// It may be recorded and waited for by other processes, so nothing that is known here says how far it is.
inline bool is_shared(CUevent event) { return (event->flags & CU_EVENT_INTERPROCESS) != 0; }

}  // namespace flexrack::client::cuda
