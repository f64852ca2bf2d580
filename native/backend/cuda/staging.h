// Pinned host memory for what comes and goes over the wire: from there a device copies while the program goes on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "backend/cuda/pages.h"

namespace flexrack::backend::cuda {

/// Thread-safe. Pieces are kept for the next who wants that size, up to a limit; needs a current context to make new
/// ones.
class StagingPool {
 public:
  explicit StagingPool(Pages& pages) : pages_(pages) {}

  struct Piece {
    std::uint8_t* at = nullptr;
    std::size_t size = 0, room = 0;
    StagingPool* pool = nullptr;
    std::shared_ptr<void> owner{};   ///< of the pool

    Piece(std::uint8_t* where, std::size_t bytes, std::size_t all, StagingPool* of, std::shared_ptr<void> kept)
        : at(where), size(bytes), room(all), pool(of), owner(std::move(kept)) {}
    Piece(const Piece&) = delete;
    ~Piece() { pool->give(*this); }
    std::span<std::uint8_t> span() const { return {at, size}; }
  };
  using Held = std::shared_ptr<Piece>;

  /// What a piece of that size takes.
  static std::size_t room_of(std::size_t size);
  /// Null where there is no more.
  static Held take(StagingPool& pool, std::size_t size, std::shared_ptr<void> owner);

 private:
  static constexpr std::size_t kKeep = std::size_t{256} << 20;

  void give(Piece& piece);
  bool trim();

  Pages& pages_;
  std::mutex lock_;
  std::map<std::size_t, std::vector<std::uint8_t*>> free_;   ///< by room
  std::size_t kept_ = 0;
};

}  // namespace flexrack::backend::cuda
