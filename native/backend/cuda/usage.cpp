// What watchers are told of a lease, and how that comes to be known: who has contexts, and how long a whole device was at work.
#include <cmath>

#include "backend/cuda/management.h"
#include "backend/cuda/session.h"

namespace flexrack::backend::cuda {

/// The client has one more context there: the others of the lease see it from now on.
void Session::entered(std::uint32_t device) {
  if (devices_[device].contexts++ > 0) return;
  grant_.use(device, process_, true);
  if (devices_[device].is_whole) meter_.start(device);
}

void Session::left(std::uint32_t device) {
  if (devices_[device].contexts == 0 || --devices_[device].contexts > 0) return;
  meter_.stop(device);
  grant_.use(device, process_, false);
}

/// Kernels of a share are timed by their events. Those of a whole device the driver in software adds up; of a real one NVML says for all processes together
/// how busy it is, so one of the lease's does it for all.
void Session::look(std::uint32_t device, std::chrono::nanoseconds past) {
  auto& at = devices_[device];
  if (const auto* sim = library_.sim()) {
    std::uint64_t total = 0;
    if (sim->busy(at.native, &total) != CUDA_SUCCESS || total <= at.busy_seen) return;
    grant_.finished(device, total - at.busy_seen);
    at.busy_seen = total;
    return;
  }
  const auto users = grant_.users(device);
  if (users.empty() || users.front().process != process_) return;
  if (const auto busy = read_busy(grant_.devices()[device].native_id)) grant_.finished(device, static_cast<std::uint64_t>(past.count()) / 100 * *busy);
}

void Session::on(const cu::Usage& m, Respond<cu::UsageReply> respond) {
  if (m.device >= devices_.size()) return respond({.status = as_wire(CUDA_ERROR_INVALID_DEVICE)});
  const auto tell = [this, device = m.device](Respond<cu::UsageReply>& answer, const Readings& read, std::string_view driver) {
    const auto& at = devices_[device];
    constexpr auto kUnknown = ~0u;
    cu::UsageReply reply{.total = at.memory,
                         .used = grant_.used(device),
                         .busy = kUnknown,
                         .memory_busy = at.is_whole ? read.memory_busy.value_or(kUnknown) : kUnknown,   // others' work would be in it
                         .temperature = read.temperature.value_or(-1),
                         .power = read.power.value_or(kUnknown),
                         .clock = read.clock.value_or(kUnknown),
                         .memory_clock = read.memory_clock.value_or(kUnknown),
                         .driver = driver};
    const bool is_timed = !at.is_whole || library_.sim() || read.busy;
    if (const auto part = grant_.utilization(device); part && is_timed) reply.busy = static_cast<unsigned>(std::lround(*part * 100));
    for (const auto& user : grant_.users(device)) reply.processes.push_back({user.process, user.memory});
    answer(reply);
  };
  // Behind what this client has freed.
  behind_frees([this, tell, device = m.device, answer = std::make_shared<Respond<cu::UsageReply>>(std::move(respond))] {
    if (library_.sim()) return tell(*answer, {}, {});
    // NVML may take its time.
    waiters_.run([this, tell, device, answer] { tell(*answer, read_management(grant_.devices()[device].native_id), management_driver()); });
  });
}

}  // namespace flexrack::backend::cuda
