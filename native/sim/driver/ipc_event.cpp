// cuIpcGetEventHandle, cuIpcOpenEventHandle, and how such events are waited for.
#include "sim/driver/ipc_event.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

#include "sim/driver/event.h"
#include "sim/driver/worker.h"

namespace flexrack::sim {

struct SharedEvent::Page {
  std::atomic<std::uint64_t> recorded, reached;
  std::atomic<std::uint32_t> changes;   ///< a futex
  std::atomic<std::int32_t> recorder;   ///< the process of the latest record
};

namespace {

constexpr std::uint64_t kBytes = 4096;
constexpr long kLook = 50'000'000;   ///< nanoseconds between two looks whether the other process lives

/// True too where its process is only waited for by its parent.
bool has_ended(std::int32_t process) {
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (descriptor < 0) return true;
  pollfd look{descriptor, POLLIN, 0};
  const bool is_over = poll(&look, 1, 0) == 1;
  close(descriptor);
  return is_over;
}

Worker& waits() {
  static auto* const worker = new Worker("sim-ipc-wait", 128);
  return *worker;
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
  page_->changes.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &page_->changes, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

std::uint64_t SharedEvent::latest() const { return page_->recorded.load(std::memory_order_acquire); }

bool SharedEvent::is_reached(std::uint64_t number) const {
  return page_->reached.load(std::memory_order_acquire) >= number;
}

Ref<Command> SharedEvent::awaits(const Ref<Context>& context, std::uint64_t number) {
  // The event may be destroyed while a stream waits for it.
  auto made =
      Command::make(context, &waits(), [self = shared_from_this(), context, number] { self->wait(*context, number); });
  made->submit({});
  return made;
}

void SharedEvent::wait(Context& context, std::uint64_t number) {
  for (;;) {
    const auto changes = page_->changes.load(std::memory_order_acquire);
    if (is_reached(number) || context.has_failed()) return;
    const timespec patience{0, kLook};
    syscall(SYS_futex, &page_->changes, FUTEX_WAIT, changes, &patience, nullptr, 0);
    if (is_reached(number)) return;
    require(!has_ended(page_->recorder.load(std::memory_order_relaxed)) || is_reached(number), CUDA_ERROR_LAUNCH_FAILED,
            "the process that recorded an event has ended before it was reached");
  }
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
