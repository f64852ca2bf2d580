#include "backend/cuda/staging.h"

#include <bit>

namespace flexrack::backend::cuda {
namespace {
constexpr std::size_t kSmallest = 4096;
}

StagingPool::Held StagingPool::take(std::size_t size) {
  const auto room = std::bit_ceil(std::max(size, kSmallest));
  {
    const std::lock_guard guard(lock_);
    auto& same = free_[room];
    if (!same.empty()) {
      auto* at = same.back();
      same.pop_back();
      kept_ -= room;
      return std::make_shared<Piece>(at, size, room, this);
    }
  }
  void* at = nullptr;
  if (driver_.cuMemHostAlloc(&at, room, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS) return nullptr;
  return std::make_shared<Piece>(static_cast<std::uint8_t*>(at), size, room, this);
}

void StagingPool::give(Piece& piece) {
  {
    const std::lock_guard guard(lock_);
    if (kept_ + piece.room <= kKeep) {
      free_[piece.room].push_back(piece.at);
      kept_ += piece.room;
      return;
    }
  }
  driver_.cuMemFreeHost(piece.at);
}

}  // namespace flexrack::backend::cuda
