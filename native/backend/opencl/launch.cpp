// Launches, and how those on a shared device wait for their turn without holding up anything else.
#include <chrono>

#include "backend/opencl/session.h"

namespace flexrack::backend::opencl {

namespace {

/// One launch on a time-sliced device: the scheduler counts it from admission to its end, exactly once, whichever comes
/// first when a session ends.
class LaunchSlice {
 public:
  LaunchSlice(const Engine& engine, std::size_t device) : account_(engine.account), device_(device) {}

  void admitted(Outstanding& outstanding) {
    began_ = std::chrono::steady_clock::now();
    if (state_.exchange(kAdmitted) == kOver) account_->finished(device_, 0);
    cl_event admission = nullptr;
    {
      const std::lock_guard guard(lock_);
      is_admitted_ = true;
      admission = admission_;
    }
    if (admission) outstanding.set(admission, CL_COMPLETE);
  }
  /// An event that is set on admission, for the caller to release: admission may come, and let it go, before the driver
  /// has been given it. Null with `must_wait` false: admitted already, as nearly always on a device that is not asked
  /// for by others.
  cl_event admission(Outstanding& outstanding, cl_context context, bool& must_wait) {
    const std::lock_guard guard(lock_);
    must_wait = !is_admitted_;
    if (must_wait) admission_ = outstanding.make(context);
    if (admission_) native().clRetainEvent(admission_);
    return admission_;
  }
  /// `nanoseconds` by the device's clock, 0 where it has none.
  void over(std::uint64_t nanoseconds) {
    if (state_.exchange(kOver) != kAdmitted) return;
    const auto since =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - began_).count();
    account_->finished(device_, nanoseconds ? nanoseconds : static_cast<std::uint64_t>(since), nanoseconds);
  }

 private:
  enum State { kWaiting, kAdmitted, kOver };
  const std::shared_ptr<Account> account_;   ///< its turn may come when the session has gone
  std::size_t device_;
  std::atomic<State> state_{kWaiting};
  std::mutex lock_;
  bool is_admitted_ = false;
  cl_event admission_ = nullptr;
  std::chrono::steady_clock::time_point began_{};
};

std::uint64_t device_time(cl_event event) {
  cl_ulong begin = 0, end = 0;
  if (native().clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr) != CL_SUCCESS)
    return 0;
  if (native().clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) != CL_SUCCESS)
    return 0;
  return end > begin ? end - begin : 0;
}

}  // namespace

void Session::on(const cl::Launch& message) {
  auto* kernel = table_.find<KernelRecord>(message.kernel);
  // Whatever becomes of this launch, the next one counts on these.
  cl_int status = kernel ? CL_SUCCESS : CL_INVALID_KERNEL;
  for (const auto& given : message.arguments) {
    const auto error = kernel ? set_argument(*kernel, given) : CL_SUCCESS;
    if (status == CL_SUCCESS) status = error;
  }
  Command command;
  if (!begin(message, command)) return;
  if (status == CL_SUCCESS && kernel->program->context.get() != command.queue->context.get())
    status = CL_INVALID_CONTEXT;
  if (status == CL_SUCCESS) status = check_launch(message, *kernel);
  if (status != CL_SUCCESS) return refuse(command, status);

  const std::size_t offset[] = {message.offset.x, message.offset.y, message.offset.z},
                    global[] = {message.global.x, message.global.y, message.global.z};
  const std::size_t local[] = {message.local.x, message.local.y, message.local.z};
  const auto* groups = message.has_local ? local : nullptr;
  const auto& device = *command.queue->device;
  if (device.is_time_sliced)
    return launch_time_sliced(command, kernel->native, message.dimensions, offset, global, groups);
  status = native().clEnqueueNDRangeKernel(command.queue->native, kernel->native, message.dimensions, offset, global,
                                           groups, command.count(), command.list(), command.out());
  if (status == CL_SUCCESS) device.usage->launched();
  end(command, status);
}

cl_int Session::check_launch(const cl::Launch& message, const KernelRecord& kernel) const {
  if (message.dimensions < 1 || message.dimensions > 3) return CL_INVALID_WORK_DIMENSION;
  // Drivers divide by these.
  if (message.global.x == 0 || message.global.y == 0 || message.global.z == 0) return CL_INVALID_GLOBAL_WORK_SIZE;
  if (message.has_local && (message.local.x == 0 || message.local.y == 0 || message.local.z == 0))
    return CL_INVALID_WORK_GROUP_SIZE;
  for (const auto object : kernel.objects)
    if (object != 0 && !table_.has(object)) return CL_INVALID_KERNEL_ARGS;
  return CL_SUCCESS;
}

void Session::launch_time_sliced(Command& command, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                                 const size_t* global, const size_t* local) {
  const auto device = command.queue->device->share;
  const auto slice = std::make_shared<LaunchSlice>(*engine_, device);
  engine_->admit(device, [slice, outstanding = outstanding_] { slice->admitted(*outstanding); });
  bool must_wait = false;
  auto* admission = slice->admission(*outstanding_, command.queue->context->native, must_wait);
  if (must_wait && !admission) {
    slice->over(0);
    return refuse(command, CL_OUT_OF_RESOURCES);
  }
  if (admission) command.waits->push_back(admission);
  command.wants_event = true;
  const auto status = native().clEnqueueNDRangeKernel(command.queue->native, kernel, dimensions, offset, global, local,
                                                      command.count(), command.list(), command.out());
  if (admission) native().clReleaseEvent(admission);
  if (status != CL_SUCCESS) {
    slice->over(0);   // the scheduler is left to the admission that comes: nobody waits for it
    return refuse(command, status);
  }
  native().clFlush(command.queue->native);
  auto* event = command.made;
  engine_->watcher.await(event, [slice, event](cl_int) { slice->over(device_time(event)); });
  end(command, status);
}

}  // namespace flexrack::backend::opencl
