// The objects of a session as the backend keeps them: the native object, and what is checked before the driver is
// asked.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/opencl/engine.h"
#include "backend/opencl/handle_table.h"

namespace flexrack::backend::opencl {

/// An event that is held.
class HeldEvent {
 public:
  explicit HeldEvent(cl_event event) : event_(event) {
    if (event_) opencl::native().clRetainEvent(event_);
  }
  HeldEvent(HeldEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  HeldEvent& operator=(HeldEvent&& other) noexcept { return std::swap(event_, other.event_), *this; }
  ~HeldEvent() {
    if (event_) opencl::native().clReleaseEvent(event_);
  }
  cl_event get() const { return event_; }

 private:
  cl_event event_;
};

/// A write that every later command of the context comes after, whatever its queue. `queue`: its own, by the client's
/// handle, where that keeps the order itself; else 0.
struct Fence {
  HeldEvent event;
  std::uint64_t queue = 0;
};

struct ContextRecord : Record {
  static constexpr Kind kKind = Kind::context;
  ContextRecord() : Record(kKind) {}
  ~ContextRecord() override {
    if (native) opencl::native().clReleaseContext(native);
  }
  cl_context native = nullptr;
  Engine* engine = nullptr;
  std::vector<Fence> fences;   ///< writes that are over as far as the application knows
  std::vector<std::shared_ptr<const Device>> devices;
  std::uint64_t largest = 0;   ///< a buffer may have so many bytes: the most of any device
  /// Null for one that is not of this context.
  std::shared_ptr<const Device> device(std::uint32_t index) const {
    for (const auto& one : devices)
      if (one->index == index) return one;
    return nullptr;
  }
};

struct QueueRecord : Record {
  static constexpr Kind kKind = Kind::queue;
  QueueRecord() : Record(kKind) {}
  ~QueueRecord() override {
    if (native) opencl::native().clReleaseCommandQueue(native);
  }
  cl_command_queue native = nullptr;
  Ref<ContextRecord> context;
  std::shared_ptr<const Device> device;
  bool is_profiled = false;    ///< the client asked for it
  bool is_in_order = true;
  HeldEvent last_write{nullptr};
};

/// Bytes taken from the shares of devices, given back when the driver has really freed what they were taken for.
class Charge {
 public:
  Charge(std::shared_ptr<Account> account, std::uint64_t bytes) : account_(std::move(account)), bytes_(bytes) {}
  ~Charge() {
    for (const auto device : devices_) account_->refund(device, bytes_);
  }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;

  /// `device`: its position in the grant.
  bool take(std::uint32_t device);
  /// More than was thought; false leaves it as it was.
  bool raise(std::uint64_t bytes);

 private:
  std::shared_ptr<Account> account_;
  std::uint64_t bytes_;
  std::mutex lock_;
  std::vector<std::uint32_t> devices_;
};

struct MemoryRecord : Record {
  static constexpr Kind kKind = Kind::memory;
  enum class Sort : std::uint8_t { buffer, image, pipe };
  MemoryRecord() : Record(kKind) {}
  ~MemoryRecord() override {
    if (native) opencl::native().clReleaseMemObject(native);
  }
  cl_mem native = nullptr;
  Ref<ContextRecord> context;
  Sort sort = Sort::buffer;
  std::uint64_t size = 0;
  std::uint64_t element_size = 0;    ///< of an image
  /// Held by the native object's destructor callback too; null for sub-buffers and images of a buffer.
  std::shared_ptr<Charge> charge;
  Ref<MemoryRecord> parent;
};

struct SamplerRecord : Record {
  static constexpr Kind kKind = Kind::sampler;
  SamplerRecord() : Record(kKind) {}
  ~SamplerRecord() override {
    if (native) opencl::native().clReleaseSampler(native);
  }
  cl_sampler native = nullptr;
  Ref<ContextRecord> context;
};

struct ProgramRecord : Record {
  static constexpr Kind kKind = Kind::program;
  ProgramRecord() : Record(kKind) {}
  ~ProgramRecord() override {
    if (native) opencl::native().clReleaseProgram(native);
  }
  cl_program native = nullptr;
  Ref<ContextRecord> context;
};

struct KernelRecord : Record {
  static constexpr Kind kKind = Kind::kernel;
  KernelRecord() : Record(kKind) {}
  ~KernelRecord() override {
    if (native) opencl::native().clReleaseKernel(native);
  }
  cl_kernel native = nullptr;
  Ref<ProgramRecord> program;
  /// The memory object or sampler set as each argument: drivers keep a bare pointer, so it must still be there at each
  /// launch.
  std::vector<std::uint64_t> objects;
  /// What each argument is, as far as it was found out: no number of the client's is ever taken for a pointer.
  std::vector<std::uint32_t> kinds;
};

struct EventRecord : Record {
  static constexpr Kind kKind = Kind::event;
  EventRecord() : Record(kKind) {}
  ~EventRecord() override {
    if (native) opencl::native().clReleaseEvent(native);
    if (first) opencl::native().clReleaseEvent(first);
  }
  cl_event native = nullptr;         ///< null: it failed before the driver had it
  cl_event first = nullptr;  ///< where a command is several native ones: the first, which knows when it began
  std::atomic<cl_int> status{CL_QUEUED};  ///< as far as known; final from CL_COMPLETE down
  bool is_user = false;
  Ref<QueueRecord> queue;  ///< null for a user event
  std::uint64_t launches = 0;  ///< of the device, when this was enqueued
};

struct SvmRecord : Record {
  static constexpr Kind kKind = Kind::svm;
  SvmRecord() : Record(kKind) {}
  ~SvmRecord() override {
    if (address) opencl::native().clSVMFree(context->native, address);
  }
  void* address = nullptr;
  std::uint64_t size = 0;
  Ref<ContextRecord> context;
  std::shared_ptr<Charge> charge;
};

}  // namespace flexrack::backend::opencl
