// What NVML in this process asks of the driver: it has a session of its own, which knows nothing of what is on its way
// in the driver's.
#include <cstring>

#include "client/cuda/driver.h"
#include "client/cuda/settle.h"

namespace flexrack::client::cuda {
namespace {

/// Frees are sent and not answered; an answer about the device's use comes behind them.
void settle(const CUuuid& uuid) {
  const auto* known = process();
  if (!known) return;
  for (const auto* device : known->devices) {
    if (std::memcmp(&device->uuid, &uuid, sizeof uuid) != 0) continue;
    device->server->session->call(cu::Usage{.device = device->index}, [](const cu::UsageReply&) {});
  }
}

constexpr flexrack::cuda::ClientTable kClientTable{.settle = settle};

}  // namespace

const flexrack::cuda::ClientTable& client_table() { return kClientTable; }

}  // namespace flexrack::client::cuda
