#include "backend/cuda/gates.h"

namespace flexrack::backend::cuda {
namespace {
constexpr std::size_t kAtOnce = 1024;          ///< gates a piece of pinned memory
constexpr std::size_t kApart = 64 / sizeof(std::uint32_t);   ///< words from gate to gate: a cache line each
}  // namespace

Gates::Gate Gates::make() {
  const std::lock_guard guard(lock_);
  if (free_.empty()) {
    void* at = nullptr;
    if (driver_.cuMemHostAlloc(&at, kAtOnce * 64, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS) return {};
    CUdeviceptr address = 0;
    if (driver_.cuMemHostGetDevicePointer_v2(&address, at, 0) != CUDA_SUCCESS) {
      driver_.cuMemFreeHost(at);
      return {};
    }
    for (std::size_t i = 0; i < kAtOnce; ++i) free_.push_back({static_cast<std::uint32_t*>(at) + i * kApart, address + i * 64});
  }
  const auto gate = free_.back();
  free_.pop_back();
  __atomic_store_n(gate.word, 0u, __ATOMIC_RELEASE);
  return gate;
}

CUresult Gates::wait(CUstream stream, const Gate& gate) const {
  if (!driver_.cuStreamWaitValue32_v2) return CUDA_ERROR_NOT_SUPPORTED;
  return driver_.cuStreamWaitValue32_v2(stream, gate.address, 1, CU_STREAM_WAIT_VALUE_EQ);
}

void Gates::recycle(const Gate& gate) {
  const std::lock_guard guard(lock_);
  free_.push_back(gate);
}

}  // namespace flexrack::backend::cuda
