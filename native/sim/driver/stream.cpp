#include "sim/driver/stream.h"

#include <algorithm>

namespace flexrack::sim {
namespace {

std::atomic<std::uint64_t> last_stream_id{0};
thread_local bool is_per_thread;

}  // namespace

PerThreadScope::PerThreadScope() : before_(is_per_thread) { is_per_thread = true; }
PerThreadScope::~PerThreadScope() { is_per_thread = before_; }

Stream::Stream(Ref<Context> in, Kind which, unsigned with_flags, int of_priority)
    : context(std::move(in)),
      kind(which),
      flags(with_flags),
      priority(std::clamp(of_priority, kGreatestPriority, kLeastPriority)),
      id(++last_stream_id) {}

void Stream::context_over() noexcept {
  set_capture(nullptr);
  close();
}

void Stream::append(const Ref<Command>& command, std::span<const Ref<Command>> also) {
  command->priority = priority;
  auto before = context->order(*this, command);
  before.insert(before.end(), also.begin(), also.end());
  command->submit(before);
}

void Stream::carry_out(const Ref<Command>& command, std::span<const Ref<Command>> also) {
  append(command, also);
  command->wait();
}

Ref<Command> Stream::last() { return context->last_of(*this); }

std::shared_ptr<Capture> Stream::capture() {
  if (!is_capturing_.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard guard(capture_lock_);
  return capture_;
}

void Stream::set_capture(std::shared_ptr<Capture> capture) {
  const std::lock_guard guard(capture_lock_);
  context->captures += (capture ? 1 : 0) - (capture_ ? 1 : 0);
  is_capturing_ = capture != nullptr;
  capture_ = std::move(capture);
}

Ref<Stream> stream_of_even_failed(CUstream handle) {
  if (!handle) return is_per_thread ? current_even_failed()->per_thread() : current_even_failed()->legacy();
  if (handle == CU_STREAM_LEGACY) return current_even_failed()->legacy();
  if (handle == CU_STREAM_PER_THREAD) return current_even_failed()->per_thread();
  auto found = Stream::find(handle);
  require(static_cast<bool>(found), CUDA_ERROR_INVALID_HANDLE);
  require(found->context->is_active(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return found;
}

Ref<Stream> stream_of(CUstream handle) {
  auto stream = stream_of_even_failed(handle);
  require_working(*stream->context);
  return stream;
}

}  // namespace flexrack::sim
