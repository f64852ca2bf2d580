#include "backend/cuda/latches.h"

namespace flexrack::backend::cuda {
namespace {
constexpr std::size_t kMost = 1 << 20;
constexpr std::size_t kAtOnce = 1024;          ///< latches a piece of pinned memory
constexpr std::size_t kApart = 64 / sizeof(std::uint32_t);   ///< words from latch to latch: a cache line each
}  // namespace

Latch Latches::make(std::shared_ptr<void> owner) {
  const std::lock_guard guard(lock_);
  if (free_.empty()) {
    if (made_ >= kMost) return {};
    auto* const at = static_cast<std::uint32_t*>(pages_.take(kAtOnce * 64));
    CUdeviceptr address = 0;
    if (!at) return {};
    if (driver_.cuMemHostGetDevicePointer_v2(&address, at, 0) != CUDA_SUCCESS) {
      pages_.give(at);
      return {};
    }
    for (std::size_t i = 0; i < kAtOnce; ++i) free_.push_back({at + i * kApart, address + i * 64, 0});
    made_ += kAtOnce;
  }
  const auto word = free_.back();
  free_.pop_back();
  return {word.at, word.address, word.number + 1, this, std::move(owner)};
}

CUresult Latch::wait(CUstream stream) const {
  auto* const function = latches->driver_.cuStreamWaitValue32_v2;
  return function ? function(stream, address, number, CU_STREAM_WAIT_VALUE_GEQ) : CUDA_ERROR_NOT_SUPPORTED;
}

void Latch::recycle() const {
  const std::lock_guard guard(latches->lock_);
  latches->free_.push_back({word, address, number});
}

void Latch::open_and_recycle() const {
  open();
  recycle();
}

}  // namespace flexrack::backend::cuda
