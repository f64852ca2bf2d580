// Streams: made without asking, and how far they have got as far as it is known here.
#pragma once

#include "client/cuda/objects.h"

namespace flexrack::client::cuda {

/// A stream of that context, told to its server. Null where the link is lost.
CUstream create_stream(CUcontext context, unsigned flags, int priority);

/// Something is put on it.
inline void note_put(CUstream stream) {
  stream->progress->put.fetch_add(1, std::memory_order_relaxed);
  stream->context->put.fetch_add(1, std::memory_order_relaxed);
}

/// What the next thing put on the stream comes after in this process. Cheap while there is no such work.
HostWorks before_next(CUstream stream);
/// The work belongs to the stream from now on.
void put_host_work(CUstream stream, const std::shared_ptr<HostWork>& work);

/// Waits for the stream, and for what it does in this process; the status that the API gives.
CUresult wait_stream(CUstream stream);

}  // namespace flexrack::client::cuda
