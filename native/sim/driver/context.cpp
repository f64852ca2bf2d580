#include "sim/driver/context.h"

#include "cuda/context_storage.h"
#include "sim/driver/error_log.h"
#include "sim/driver/memory.h"
#include "sim/driver/settings.h"
#include "sim/driver/stream.h"

namespace flexrack::sim {
namespace {

std::atomic<std::uint64_t> last_context_id{0};

struct Actives {
  std::mutex lock;
  std::vector<Ref<Context>> all;
};

Actives& actives() {
  static auto* one = new Actives;
  return *one;
}

std::uint64_t thread_number() {
  static std::atomic<std::uint64_t> last{0};
  thread_local const auto own = ++last;
  return own;
}

}  // namespace

std::recursive_mutex& lifetimes_lock() {
  static auto* one = new std::recursive_mutex;
  return *one;
}

std::vector<Ref<Context>> active_contexts() {
  const std::lock_guard guard(actives().lock);
  return actives().all;
}

Context::Context(Device& on, bool is_the_primary, unsigned with_flags)
    : device(on), is_primary(is_the_primary), flags(with_flags) {}
Context::~Context() = default;

void Context::start() {
  {
    const std::lock_guard guard(settings_lock);
    take_own(settings().context_memory);
  }
  id = ++last_context_id;
  error_ = CUDA_SUCCESS;
  {
    const std::lock_guard guard(settings_lock);
    stop_ = std::stop_source();
    limits = Limits{};
    printing.set_capacity(limits.printf_fifo);
  }
  const Ref<Context> self(this);
  auto stream = Stream::make(self, Stream::Kind::legacy, 0u, 0);
  {
    const std::lock_guard guard(order_lock_);
    streams_.insert(stream.get());
    legacy_ = std::move(stream);
  }
  {
    const std::lock_guard guard(actives().lock);
    actives().all.push_back(self);
  }
  is_active_ = true;
  Memory::instance().refresh(*this);
}

void Context::stop() {
  cuda::storage_destroy(handle());
  settle();
  is_active_ = false;
  settle();
  std::unordered_set<Owned*> owned;
  {
    const std::lock_guard guard(owned_lock_);
    owned.swap(owned_);
  }
  for (auto* one : owned) one->context_over();
  {
    const std::lock_guard guard(settings_lock);
    heap_ = nullptr;
    heap_memory_ = nullptr;
    for (const auto bytes : own_memory_) device.heap.refund(bytes);
    own_memory_.clear();
  }
  auto& memory = Memory::instance();
  for (const auto& allocation : memory.of(*this)) memory.remove(allocation->address);
  const auto others = active_contexts();
  {
    const std::lock_guard guard(memory.lock());
    peers.clear();
    for (const auto& other : others) other->peers.erase(this);
  }
  for (const auto& other : others) memory.refresh(*other);
  {
    const std::lock_guard guard(actives().lock);
    std::erase_if(actives().all, [&](const Ref<Context>& one) { return one.get() == this; });
  }
  const std::lock_guard guard(order_lock_);
  streams_.clear();
  orphans_.clear();
  per_thread_.clear();
  legacy_ = nullptr;
}

void Context::fail_with(CUresult error, const std::string& text) {
  auto none = CUDA_SUCCESS;
  if (!error_.compare_exchange_strong(none, error)) return;
  log_fault(text);
  std::stop_source stop;
  {
    const std::lock_guard guard(settings_lock);
    stop = stop_;
  }
  stop.request_stop();
}

void Context::fail_from_exception() noexcept {
  try {
    throw;
  } catch (const Failure& failure) { fail_with(failure.result, failure.text); } catch (const std::bad_alloc&) {
    fail_with(CUDA_ERROR_OUT_OF_MEMORY, "the host has no memory left");
  } catch (const std::exception& error) { fail_with(CUDA_ERROR_UNKNOWN, error.what()); } catch (...) {
    fail_with(CUDA_ERROR_UNKNOWN, "unknown exception");
  }
}

std::stop_token Context::stop_token() {
  const std::lock_guard guard(settings_lock);
  return stop_.get_token();
}

exec::Heap& Context::heap() {
  const std::lock_guard guard(settings_lock);
  if (!heap_) {
    heap_memory_ = allocate_device(Ref<Context>(this), limits.malloc_heap);
    Memory::instance().add(heap_memory_);
    heap_ = std::make_unique<exec::Heap>(heap_memory_->address, heap_memory_->size);
  }
  return *heap_;
}

void Context::take_own(std::uint64_t bytes) {
  if (bytes == 0) return;
  require(device.heap.charge(bytes), CUDA_ERROR_OUT_OF_MEMORY, "the device has no memory left for the context itself");
  own_memory_.push_back(bytes);
}

void Context::reserve(std::size_t& highest, std::size_t wanted, std::uint64_t each) {
  if (wanted <= highest) return;
  std::uint64_t bytes = 0;
  require(!__builtin_mul_overflow(wanted - highest, each, &bytes), CUDA_ERROR_OUT_OF_MEMORY);
  take_own(bytes);
  highest = wanted;
}

Ref<Stream> Context::legacy() {
  const std::lock_guard guard(order_lock_);
  if (!legacy_) fail(CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return legacy_;
}

Ref<Stream> Context::per_thread() {
  const std::lock_guard guard(order_lock_);
  if (!legacy_) fail(CUDA_ERROR_CONTEXT_IS_DESTROYED);
  auto& own = per_thread_[thread_number()];
  if (!own) {
    own = Stream::make(Ref<Context>(this), Stream::Kind::per_thread, 0u, 0);
    streams_.insert(own.get());
  }
  return own;
}

void Context::add(Stream& stream) {
  const std::lock_guard guard(order_lock_);
  streams_.insert(&stream);
}

void Context::remove(Stream& stream) {
  const std::lock_guard guard(order_lock_);
  streams_.erase(&stream);
  std::erase_if(orphans_, [](const Orphan& one) { return one.last->is_over(); });
  if (stream.last_ && !stream.last_->is_over()) orphans_.push_back({stream.last_, stream.is_blocking()});
}

Ref<Command> Context::last_of(const Stream& stream) {
  const std::lock_guard guard(order_lock_);
  return stream.last_;
}

std::vector<Ref<Command>> Context::order(Stream& stream, Ref<Command> command) {
  std::vector<Ref<Command>> before;
  const auto wait_for = [&](const Ref<Command>& last) {
    if (last && !last->is_over()) before.push_back(last);
  };
  const std::lock_guard guard(order_lock_);
  wait_for(stream.last_);
  // "CUDA C++ Programming Guide", default stream: the legacy one waits for all blocking streams, and they for it.
  if (stream.kind == Stream::Kind::legacy) {
    for (const auto* other : streams_)
      if (other->is_blocking()) wait_for(other->last_);
    for (const auto& orphan : orphans_)
      if (orphan.is_blocking) wait_for(orphan.last);
  } else if (stream.is_blocking() && legacy_) {
    wait_for(legacy_->last_);
  }
  stream.last_ = std::move(command);
  return before;
}

std::vector<Ref<Command>> Context::under_way() {
  std::vector<Ref<Command>> all;
  const std::lock_guard guard(order_lock_);
  for (const auto* stream : streams_)
    if (stream->last_ && !stream->last_->is_over()) all.push_back(stream->last_);
  for (const auto& orphan : orphans_)
    if (!orphan.last->is_over()) all.push_back(orphan.last);
  return all;
}

std::vector<Ref<Stream>> Context::streams() {
  std::vector<Ref<Stream>> all;
  const std::lock_guard guard(order_lock_);
  for (auto* stream : streams_) all.emplace_back(stream);
  return all;
}

void Context::settle() {
  for (const auto& command : under_way()) command->wait();
  printing.flush();
}

void Context::keep(Owned& owned) {
  const std::lock_guard guard(owned_lock_);
  owned_.insert(&owned);
}

bool Context::forget(Owned& owned) {
  const std::lock_guard guard(owned_lock_);
  return owned_.erase(&owned) > 0;
}

}  // namespace flexrack::sim
