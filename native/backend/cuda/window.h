// How much a stream has staged at one time. A copy of any size goes through a window of memory: what is beyond it
// waits, on its stream, for the memory of an earlier copy of the same stream. Never for one of another stream, which
// may be waiting for this one.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "backend/cuda/staging.h"

namespace flexrack::backend::cuda {

/// Thread-safe. Of the streams of one context.
class Windows {
 public:
  /// A copy's memory, from when the use before has ended until over().
  class Use : public std::enable_shared_from_this<Use> {
   public:
    Use(Windows& all, std::shared_ptr<void> owner, CUstream stream)
        : all_(all), owner_(std::move(owner)), stream_(stream) {}
    ~Use() { over(); }
    Use(const Use&) = delete;

    std::span<std::uint8_t> span() const { return {piece_->at, bytes_}; }
    /// The memory itself, for as long as somebody else might still write there.
    const StagingPool::Held& piece() const { return piece_; }
    /// There was one before: nothing may touch the memory until start() runs its action.
    bool is_behind() const { return is_behind_; }
    /// Runs the action once the memory is this use's: now, or by whoever ends the use before.
    void start(std::function<void()> action);
    /// Nothing touches the memory any more; the next use begins.
    void over();
    /// Nothing ever will.
    void give_up() {
      start([self = shared_from_this()] { self->over(); });
    }

   private:
    friend class Windows;
    Windows& all_;
    const std::shared_ptr<void> owner_;   ///< of `all`
    const CUstream stream_;
    StagingPool::Held piece_;
    std::size_t bytes_ = 0, room_ = 0;    ///< asked for, and what the piece has
    bool is_behind_ = false;
    // Under the lock of `all`.
    bool is_free_ = false, is_over_ = true;
    std::function<void()> action_;
    std::shared_ptr<Use> next_;
  };

  explicit Windows(StagingPool& pool) : pool_(pool) {}

  /// Memory for the next copy on that stream. Null where the driver has no more, or too many copies wait. With a
  /// current context.
  std::shared_ptr<Use> take(CUstream stream, std::size_t size, const std::shared_ptr<void>& owner);

 private:
  struct Window {
    std::deque<Use*> last;      ///< of each piece of memory the use that nothing is behind yet, the oldest first
    std::size_t bytes = 0;      ///< of all its pieces
  };
  bool has_room(const Window& window, std::size_t room) const;
  void remove(Use& use);

  StagingPool& pool_;
  std::mutex lock_;
  std::map<CUstream, Window> windows_;   ///< of streams with something staged
  std::size_t uses_ = 0;
};

}  // namespace flexrack::backend::cuda
