#include "client/cuda/thread.h"

#include "client/cuda/stream.h"

namespace flexrack::client::cuda {

constinit thread_local ThreadState thread_state;

namespace {

struct Own {
  std::vector<CUcontext> earlier;
  std::vector<CUstream> streams;
  /// Other threads may have them, as the API allows nobody to tell one thread's from another's after its end.
  ~Own() {
    for (const auto stream : streams) {
      if (!is_live(stream) || stream->context->handle != stream->context_handle) continue;
      const std::lock_guard guard(stream->context->lock);
      stream->context->spare_streams.push_back(stream);
    }
    thread_state.stream = nullptr;
    thread_state.stream_context = 0;
  }
};

thread_local Own own;

}  // namespace

std::vector<CUcontext>& earlier_contexts() { return own.earlier; }

CUstream thread_stream(CUcontext context) {
  if (thread_state.stream_context == context->handle && thread_state.stream) return thread_state.stream;
  CUstream found = nullptr;
  for (const auto stream : own.streams) {
    if (is_live(stream) && stream->context_handle == context->handle) found = stream;
  }
  if (!found) {
    {
      const std::lock_guard guard(context->lock);
      if (!context->spare_streams.empty()) {
        found = context->spare_streams.back();
        context->spare_streams.pop_back();
      }
    }
    // It waits for the default stream of all threads and the other way round, as blocking streams do.
    if (!found) found = create_stream(context, CU_STREAM_DEFAULT, 0);
    if (!found) return nullptr;
    own.streams.push_back(found);
  }
  thread_state.stream = found;
  thread_state.stream_context = context->handle;
  return found;
}

}  // namespace flexrack::client::cuda
