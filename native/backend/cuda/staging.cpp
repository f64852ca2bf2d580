#include "backend/cuda/staging.h"

#include <bit>

namespace flexrack::backend::cuda {
namespace {
constexpr std::size_t kSmallest = 4096, kLargest = std::size_t{1} << 40;
}

std::size_t StagingPool::room_of(std::size_t size) {
  return std::bit_ceil(std::min(std::max(size, kSmallest), kLargest));
}

StagingPool::Held StagingPool::take(StagingPool& pool, std::size_t size, std::shared_ptr<void> owner) {
  if (size > kLargest) return nullptr;
  const auto room = room_of(size);
  void* at = nullptr;
  {
    const std::lock_guard guard(pool.lock_);
    auto& same = pool.free_[room];
    if (!same.empty()) {
      at = same.back();
      same.pop_back();
      pool.kept_ -= room;
    }
  }
  if (!at) at = pool.pages_.take(room);
  // What is kept may be in the way: pieces of other sizes.
  if (!at && pool.trim()) at = pool.pages_.take(room);
  return at ? std::make_shared<Piece>(static_cast<std::uint8_t*>(at), size, room, &pool, std::move(owner)) : nullptr;
}

/// Gives back what nobody uses. False: there was nothing.
bool StagingPool::trim() {
  decltype(free_) gone;
  {
    const std::lock_guard guard(lock_);
    if (kept_ == 0) return false;
    gone.swap(free_);
    kept_ = 0;
  }
  for (auto& [room, pieces] : gone) {
    for (auto* const at : pieces) {
      if (pages_.give(at)) continue;
      const std::lock_guard guard(lock_);
      free_[room].push_back(at);
      kept_ += room;
    }
  }
  return true;
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
  if (pages_.give(piece.at)) return;
  const std::lock_guard guard(lock_);
  free_[piece.room].push_back(piece.at);
  kept_ += piece.room;
}

}  // namespace flexrack::backend::cuda
