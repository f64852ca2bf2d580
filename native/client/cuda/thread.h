// What a thread of the application has: its stack of contexts, and default streams of its own.
#pragma once

#include <vector>

#include "client/cuda/objects.h"

namespace flexrack::client::cuda {

/// On the path of every call, so plain data at a fixed place of the thread's own (a library of a few words may have
/// them there).
struct ThreadState {
  CUcontext current = nullptr;         ///< the top of the stack
  unsigned per_thread = 0;             ///< not 0: stream 0 means the thread's own
  unsigned host_functions = 0;  ///< not 0: it is inside a function that a stream called, which may not call the driver
  std::uint64_t stream_context = 0;  ///< handle of the context of `stream`
  CUstream stream = nullptr;  ///< the default stream it used last
};
extern __attribute__((tls_model("initial-exec"))) constinit thread_local ThreadState thread_state;

/// Below the top of the stack.
std::vector<CUcontext>& earlier_contexts();

/// The thread's own default stream in that context, made at first use. Throws std::bad_alloc. Null where the link is
/// lost.
CUstream thread_stream(CUcontext context);

/// While one lives on this thread, stream 0 is the thread's own.
struct PerThread {
  PerThread() { ++thread_state.per_thread; }
  ~PerThread() { --thread_state.per_thread; }
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;
};

inline CUstream per_thread(CUstream stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

}  // namespace flexrack::client::cuda
