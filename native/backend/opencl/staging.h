// Memory of the worker that payloads pass through, and the events that wait for payloads.
#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <span>

#include "backend/opencl/native_library.h"
#include "backend/opencl/pocl.h"
#include "wire/frame.h"

namespace flexrack::backend::opencl {

/// Untouched until a payload comes, so that what is only reserved costs no memory.
class Staging {
 public:
  static constexpr std::uint64_t kMost = std::uint64_t{16} << 30;   ///< of one client at a time

  /// Null when that is too much.
  static std::shared_ptr<Staging> make(std::uint64_t size) {
    if (size > kMost || total().fetch_add(size) + size > kMost) {
      if (size <= kMost) total().fetch_sub(size);
      return nullptr;
    }
    auto* memory = std::aligned_alloc(128, (size + 128) / 128 * 128);
    if (!memory) {
      total().fetch_sub(size);
      return nullptr;
    }
    return std::shared_ptr<Staging>(new Staging(static_cast<std::uint8_t*>(memory), size));
  }
  ~Staging() {
    std::free(data_);
    total().fetch_sub(size_);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  std::uint8_t* data() const { return data_; }
  std::span<std::uint8_t> span() const { return {data_, static_cast<std::size_t>(size_)}; }
  wire::View view() const { return span(); }

 private:
  Staging(std::uint8_t* data, std::uint64_t size) : data_(data), size_(size) {}
  static std::atomic<std::uint64_t>& total() {
    static std::atomic<std::uint64_t> bytes{0};
    return bytes;
  }
  std::uint8_t* data_;
  std::uint64_t size_;
};

/// The native user events of ours that are not set yet. Whatever happens, each is set at the end, so that no queue
/// hangs.
class Outstanding {
 public:
  /// Null where the driver makes none.
  cl_event make(cl_context context) {
    cl_int status = 0;
    auto* event = native().clCreateUserEvent(context, &status);
    if (!event) return nullptr;
    const std::lock_guard guard(lock_);
    events_.insert(event);
    return event;
  }
  /// Once; later calls do nothing.
  void set(cl_event event, cl_int status) {
    {
      const std::lock_guard guard(lock_);
      if (events_.erase(event) == 0) return;
    }
    native().clSetUserEventStatus(event, status);
    native().clReleaseEvent(event);
  }
  /**
   * At the end of the session. What waits for them fails; with PoCL it runs, for nobody: up to its version 4 at least
   * that aborts the process when a command fails whose event only PoCL holds (it locks the event again after it has let
   * it go: pocl_update_event_failed in lib/CL/pocl_util.c).
   */
  void end_all() {
    std::set<cl_event> left;
    {
      const std::lock_guard guard(lock_);
      left.swap(events_);
    }
    for (auto* event : left) {
      native().clSetUserEventStatus(event, is_pocl(event) ? CL_COMPLETE : CL_DEVICE_NOT_AVAILABLE);
      native().clReleaseEvent(event);
    }
  }

 private:
  std::mutex lock_;
  std::set<cl_event> events_;
};

}  // namespace flexrack::backend::opencl
