// cuIpcGetEventHandle, cuIpcOpenEventHandle, and how such events are waited for.
#include "sim/driver/ipc_event.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <map>

#include "sim/driver/device.h"
#include "sim/driver/event.h"

namespace flexrack::sim {

struct SharedEvent::Page {
  std::atomic<std::uint64_t> recorded, reached;
  std::atomic<std::int32_t> recorder;   ///< the process of the latest record
};

namespace {

constexpr std::uint64_t kBytes = 4096;
/// Between two looks whether another process lives.
constexpr auto kLook = std::chrono::milliseconds(50);

/// True too where its process is only waited for by its parent.
bool has_ended(std::int32_t process) {
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (descriptor < 0) return true;
  pollfd look{descriptor, POLLIN, 0};
  const bool is_over = poll(&look, 1, 0) == 1;
  close(descriptor);
  return is_over;
}

/// What is known of processes: however many events wait for one, it is looked at once in a while.
class Lives {
 public:
  bool has_ended(std::int32_t process) {
    const std::lock_guard guard(lock_);
    const auto now = std::chrono::steady_clock::now();
    auto& life = lives_[process];
    if (!life.is_over && now >= life.next) life = {now + kLook, sim::has_ended(process)};
    const bool is_over = life.is_over;
    if (is_over) lives_.erase(process);   // another one may have its number by and by
    return is_over;
  }

 private:
  struct Life {
    std::chrono::steady_clock::time_point next{};
    bool is_over = false;
  };
  std::mutex lock_;
  std::map<std::int32_t, Life> lives_;
};

Lives& lives() {
  static auto* const all = new Lives;
  return *all;
}

}  // namespace

std::shared_ptr<SharedEvent> SharedEvent::make() {
  auto file = make_file(kBytes, 0);
  auto* const page = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0);
  require(page != MAP_FAILED, CUDA_ERROR_OPERATING_SYSTEM, "no memory for an event");
  return std::shared_ptr<SharedEvent>(new SharedEvent(std::move(file), static_cast<Page*>(page)));
}

std::shared_ptr<SharedEvent> SharedEvent::open(const FileHandle& handle) {
  auto file = open_file(handle, FileHandle::kEvent);
  auto* const page = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0);
  require(page != MAP_FAILED, CUDA_ERROR_MAP_FAILED);
  return std::shared_ptr<SharedEvent>(new SharedEvent(std::move(file), static_cast<Page*>(page)));
}

SharedEvent::~SharedEvent() { munmap(page_, kBytes); }

std::uint64_t SharedEvent::record() {
  page_->recorder.store(getpid(), std::memory_order_relaxed);
  return page_->recorded.fetch_add(1, std::memory_order_acq_rel) + 1;
}

void SharedEvent::reached(std::uint64_t number) {
  auto known = page_->reached.load(std::memory_order_relaxed);
  while (known < number && !page_->reached.compare_exchange_weak(known, number, std::memory_order_release)) {}
}

std::uint64_t SharedEvent::latest() const { return page_->recorded.load(std::memory_order_acquire); }

bool SharedEvent::is_reached(std::uint64_t number) const {
  return page_->reached.load(std::memory_order_acquire) >= number;
}

/// Any number of them on the one thread that looks at words of memory: a wait that has a thread for itself would be one
/// of so many, and the next one may be what all of these wait for.
Ref<Command> SharedEvent::awaits(const Ref<Context>& context, std::uint64_t number) {
  // The event may be destroyed while a stream waits for it.
  auto made = Command::awaited(context, &context->device.waits, [self = shared_from_this(), number] {
    if (self->is_reached(number)) return true;
    const bool is_lost = lives().has_ended(self->page_->recorder.load(std::memory_order_relaxed));
    require(!is_lost || self->is_reached(number), CUDA_ERROR_LAUNCH_FAILED,
            "the process that recorded an event has ended before it was reached");
    return is_lost;
  });
  made->submit({});
  return made;
}

}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuIpcGetEventHandle(CUipcEventHandle* given, CUevent event) {
  return call([&] {
    require(given);
    const auto found = event_of(event);
    require(static_cast<bool>(found->shared), CUDA_ERROR_INVALID_VALUE, "an event without CU_EVENT_INTERPROCESS");
    const auto handle = found->shared->handle();
    std::memcpy(given, &handle, sizeof handle);
  });
}

CUresult cuIpcOpenEventHandle(CUevent* made, CUipcEventHandle given) {
  return call([&] {
    require(made);
    const auto context = current();
    FileHandle handle;
    std::memcpy(&handle, &given, sizeof handle);
    const auto event = Event::make(context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, SharedEvent::open(handle));
    event->open();
    context->keep(*event);
    *made = event->handle();
  });
}

}  // extern "C"
