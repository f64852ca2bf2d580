// Streams: commands one after the other.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "gen/cuda/cuda.h"
#include "sim/driver/context.h"

namespace flexrack::sim {

class Capture;

/// Thread-safe.
class Stream : public Object<Stream>, public Owned {
 public:
  enum class Kind : std::uint8_t { legacy, per_thread, own };
  Stream(Ref<Context> context, Kind kind, unsigned flags, int priority);

  CUstream handle() { return reinterpret_cast<CUstream>(this); }
  void context_over() noexcept override;

  const Ref<Context> context;
  const Kind kind;
  const unsigned flags;                        ///< CU_STREAM_NON_BLOCKING
  const int priority;                          ///< 0 is the least, -5 the greatest
  const std::uint64_t id;

  /// Orders it behind what is in the stream, and what that waits for.
  void append(const Ref<Command>& command, std::span<const Ref<Command>> also = {});
  /// Appends and waits.
  void carry_out(const Ref<Command>& command, std::span<const Ref<Command>> also = {});
  /// Null or over: nothing is left to do.
  Ref<Command> last();
  bool is_blocking() const { return kind != Kind::legacy && !(flags & CU_STREAM_NON_BLOCKING); }

  // Capture: what is appended becomes a graph. Guarded by capture's own lock; see capture.h.
  std::shared_ptr<Capture> capture();
  void set_capture(std::shared_ptr<Capture> capture);

  std::atomic<int> synchronization_policy{CU_SYNC_POLICY_AUTO};

 private:
  friend class Context;
  Ref<Command> last_;                          ///< guarded by the context's order
  std::mutex capture_lock_;
  std::shared_ptr<Capture> capture_;
  std::atomic<bool> is_capturing_{false};
};

/// The stream of a handle. 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are of the current context; 0 is the calling
/// thread's in a PerThreadScope. Throws CUDA_ERROR_INVALID_HANDLE, what current() throws, and the error of a context
/// that has failed.
Ref<Stream> stream_of(CUstream handle);
/// The same without the last.
Ref<Stream> stream_of_even_failed(CUstream handle);

/// Where the streams of a context lie between: cuCtxGetStreamPriorityRange.
inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;

/// While one lives, the default stream is the calling thread's: what _ptds and _ptsz mean.
class PerThreadScope {
 public:
  PerThreadScope();
  ~PerThreadScope();

 private:
  bool before_;
};

}  // namespace flexrack::sim
