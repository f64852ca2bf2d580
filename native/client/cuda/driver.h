// This process as a user of leased CUDA devices: opened by cuInit, closed when the process ends.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "client/cuda/device.h"
#include "client/cuda/fence.h"
#include "client/cuda/inbox.h"
#include "client/cuda/objects.h"
#include "client/servers.h"

namespace flexrack::client::cuda {

class CudaServer final : public Server {
 public:
  client::Notices& notices() override { return inbox; }
  std::optional<std::size_t> describe(Session& with) override;
  std::unique_ptr<Session> connect(const wire::Api& api) override;
  /// Two servers do the same.
  bool is_mirrored() const { return replica.has_value(); }

  Inbox inbox{*this};
  Fences fences;
  std::vector<std::unique_ptr<Device>> devices;
  int driver_version = 0;
  std::size_t number = 0;            ///< among this process's servers
};

/// What cuInit made. Never changes, never goes.
struct Process {
  std::vector<CudaServer*> servers;
  std::vector<Device*> devices;      ///< by ordinal
  int driver_version = 0;            ///< the lowest of the servers'
  std::mutex lock;                   ///< of primary contexts' references
};

/// CUDA_ERROR_NO_DEVICE where there is no lease, no server can be reached or no device is visible.
CUresult open_process();

/// Null before cuInit was successful, and in a child after fork().
Process* process();
/// What process() being null means.
inline CUresult not_open() { return CUDA_ERROR_NOT_INITIALIZED; }

/// Null for what is no device.
Device* device_of(CUdevice ordinal);

/// A handle that nothing in this process has or had.
std::uint64_t mint();

/// What the API says once a server is lost for good.
inline constexpr CUresult kLost = CUDA_ERROR_DEVICE_UNAVAILABLE;

}  // namespace flexrack::client::cuda
