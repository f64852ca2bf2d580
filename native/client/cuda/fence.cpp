#include "client/cuda/fence.h"

#include <algorithm>

#include "client/cuda/call.h"

namespace flexrack::client::cuda {
namespace {

/// Under the lock of its server's fences, so that no stream comes to be between the copy and what it leaves behind.
CUresult leave_fence(Call& call, Fences& fences, CUstream stream) {
  const auto context = stream->context;
  auto known =
      std::find_if(fences.all.begin(), fences.all.end(), [&](const auto& one) { return one.context == context; });
  if (known == fences.all.end()) {
    const auto event = mint();
    const cu::CreateEvent message{.context = stream->context_handle, .event = event, .flags = CU_EVENT_DISABLE_TIMING};
    if (const auto status = call.send(message); status != CUDA_SUCCESS) return status;
    known = fences.all.insert(known, {context, event});
  }
  cu::EventRecord record{};
  record.context = stream->context_handle;
  record.stream = stream->handle;
  record.event = known->event;
  return call.send(record);
}

/// Under the lock.
void come_after(const Fences& fences, CUstream stream) {
  for (const auto& one : fences.all) {
    if (one.context == stream->context && stream->is_default) continue;
    stream->server->session->send(cu::StreamWaitEvent{
        .context = stream->context_handle, .stream = stream->handle, .event = one.event, .flags = 0});
    note_put(stream);
  }
}

}  // namespace

CUresult end_blocking_copy(Call& call, CUstream stream) {
  auto& fences = stream->server->fences;
  {
    const std::lock_guard guard(fences.lock);
    // A thread's own default stream is not waited for by other threads'.
    if (!fences.is_apart && stream->is_default) return leave_fence(call, fences, stream);
  }
  const auto last = last_put(stream);
  const auto status = call.wait(cu::WaitStream{.context = stream->context_handle, .stream = stream->handle});
  if (status == CUDA_SUCCESS) Progress::raise(stream->progress->over, last);
  return status;
}

void begin_apart(CUstream stream) {
  auto& fences = stream->server->fences;
  const std::lock_guard guard(fences.lock);
  fences.is_apart = true;
  come_after(fences, stream);
}

void enter_fences(CUcontext context) {
  auto& fences = context->server->fences;
  const std::lock_guard guard(fences.lock);
  if (++fences.contexts == 1) return;
  fences.is_apart = true;
  come_after(fences, context->default_stream);
}

void leave_fences(CUcontext context) {
  auto& fences = context->server->fences;
  const std::lock_guard guard(fences.lock);
  --fences.contexts;
  std::erase_if(fences.all, [&](const auto& one) { return one.context == context; });
}

}  // namespace flexrack::client::cuda
