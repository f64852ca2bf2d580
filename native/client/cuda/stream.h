// Streams: made without asking, and how far they have got as far as it is known here.
#pragma once

#include "client/cuda/objects.h"

namespace flexrack::client::cuda {

/// A stream of that context, told to its server. Null where the link is lost.
CUstream create_stream(CUcontext context, unsigned flags, int priority);

/// Goes up whenever something that was waited for is over: what the application did not have it may have again.
extern std::atomic<std::uint64_t> sync_epoch;

/// Something is put on it; its number.
inline std::uint64_t note_put(CUstream stream) {
  const auto number = stream->context->progress.put.fetch_add(1, std::memory_order_relaxed) + 1;
  Progress::raise(stream->progress->put, number);
  return number;
}

/// The number of the last thing that waiting for the stream waits for: the default stream of all threads stands for all
/// of its context.
inline std::uint64_t last_put(CUstream stream) {
  return stream->is_default ? stream->context->progress.put.load(std::memory_order_relaxed)
                            : stream->progress->put.load(std::memory_order_relaxed);
}
/// All that was put on it is known to be over.
inline bool is_idle(CUstream stream) {
  const auto last = last_put(stream);
  return stream->progress->over.load(std::memory_order_acquire) >= last ||
         stream->context->progress.over.load(std::memory_order_acquire) >= last;
}

/// Nothing is under way that what is put on it would wait for: the default stream waits for others of its context, and
/// they for it.
inline bool is_quiet(CUstream stream) {
  const auto& all = stream->context->progress;
  return (stream->flags & CU_STREAM_NON_BLOCKING) != 0
             ? is_idle(stream)
             : all.over.load(std::memory_order_acquire) >= all.put.load(std::memory_order_relaxed);
}

/// What the next thing put on the stream comes after in this process. Cheap while there is no such work.
HostWorks before_next(CUstream stream);
/// The work belongs to the stream from now on.
void put_host_work(CUstream stream, const std::shared_ptr<HostWork>& work);

/// Waits for the stream, and for what it does in this process; the status that the API gives.
CUresult wait_stream(CUstream stream);

}  // namespace flexrack::client::cuda
