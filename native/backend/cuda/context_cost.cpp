#include "backend/cuda/context_cost.h"

#include <algorithm>
#include <vector>

#include "backend/cuda/management.h"

namespace flexrack::backend::cuda {
namespace {

/// What other processes take or give back meanwhile is in the difference of a whole device: the middle of so many is
/// taken.
constexpr std::size_t kRounds = 3;

}  // namespace

std::optional<std::uint64_t> measure_context(const DriverLibrary& driver, CUdevice device, const std::string& uuid) {
  auto* const retain = driver.find<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain");
  auto* const release = driver.find<decltype(cuDevicePrimaryCtxRelease_v2)>("cuDevicePrimaryCtxRelease_v2");
  if (!retain || !release) return std::nullopt;
  const auto* sim = driver.sim();
  const auto own = [&]() -> std::optional<std::uint64_t> {
    std::uint64_t bytes = 0;
    if (sim) return sim->memory(device, &bytes) == CUDA_SUCCESS ? std::optional(bytes) : std::nullopt;
    return read_own_memory(uuid);
  };
  std::vector<std::uint64_t> differences;
  while (differences.size() < kRounds) {
    const auto own_before = own().value_or(0);   // NVML does not list a process that has no context
    const auto used_before = sim ? std::nullopt : read_used_memory(uuid);
    CUcontext made = nullptr;
    if (retain(&made, device) != CUDA_SUCCESS) return std::nullopt;
    const auto own_after = own();
    const auto used_after = sim ? std::nullopt : read_used_memory(uuid);
    release(device);
    if (own_after) return *own_after - std::min(*own_after, own_before);
    if (!used_before || !used_after) return std::nullopt;
    differences.push_back(*used_after - std::min(*used_after, *used_before));
  }
  std::nth_element(differences.begin(), differences.begin() + kRounds / 2, differences.end());
  const auto middle = differences[kRounds / 2];
  return middle > 0 ? std::optional(middle) : std::nullopt;
}

}  // namespace flexrack::backend::cuda
