// What watchers are told of a lease, and how that comes to be known: who has contexts, and how long a whole device was
// at work.
#include <cmath>

#include "backend/cuda/contexts.h"
#include "backend/cuda/management.h"

namespace flexrack::backend::cuda {

/// The client has one more context there: the others of the lease see it from now on.
void Contexts::entered(std::uint32_t device) {
  if (core_.devices[device].contexts++ > 0) return;
  core_.grant.use(device, process_, true);
  if (core_.devices[device].is_whole) meter_.start(device);
}

void Contexts::left(std::uint32_t device) {
  if (core_.devices[device].contexts == 0 || --core_.devices[device].contexts > 0) return;
  meter_.stop(device);
  core_.grant.use(device, process_, false);
}

/// Kernels of a share are timed by their events. Those of a whole device the driver in software adds up; of a real one
/// NVML says for all processes together how busy it is, so one of the lease's does it for all.
void Contexts::look(std::uint32_t device, std::chrono::nanoseconds past) {
  auto& at = core_.devices[device];
  if (const auto* sim = core_.library.sim()) {
    std::uint64_t total = 0;
    if (sim->busy(at.native, &total) != CUDA_SUCCESS || total <= at.busy_seen) return;
    core_.grant.finished(device, total - at.busy_seen);
    at.busy_seen = total;
    return;
  }
  const auto users = core_.grant.users(device);
  if (users.empty() || users.front().process != process_) return;
  if (const auto busy = read_busy(core_.grant.devices()[device].native_id))
    core_.grant.finished(device, static_cast<std::uint64_t>(past.count()) / 100 * *busy);
}

void Contexts::on(const cu::Usage& m, Respond<cu::UsageReply> respond) {
  if (m.device >= core_.devices.size()) return respond({.status = as_wire(CUDA_ERROR_INVALID_DEVICE)});
  const auto describe = [this, device = m.device](Respond<cu::UsageReply>& answer, const Readings& read,
                                                  std::string_view driver) {
    const auto& at = core_.devices[device];
    constexpr auto kUnknown = ~0u;
    cu::UsageReply reply{
        .total = at.memory,
        .used = core_.grant.used(device),
        .busy = kUnknown,
        .memory_busy = at.is_whole ? read.memory_busy.value_or(kUnknown) : kUnknown,   // others' work would be in it
        .temperature = read.temperature.value_or(-1),
        .power = read.power.value_or(kUnknown),
        .clock = read.clock.value_or(kUnknown),
        .memory_clock = read.memory_clock.value_or(kUnknown),
        .driver = driver};
    const bool is_timed = !at.is_whole || core_.library.sim() || read.busy;
    if (const auto part = core_.grant.utilization(device); part && is_timed)
      reply.busy = static_cast<unsigned>(std::lround(*part * 100));
    for (const auto& user : core_.grant.users(device)) reply.processes.push_back({user.process, user.memory});
    answer(reply);
  };
  // Behind what this client has freed.
  core_.behind_frees(
      [this, describe, device = m.device, answer = std::make_shared<Respond<cu::UsageReply>>(std::move(respond))] {
        if (core_.library.sim()) return describe(*answer, {}, {});
        // NVML may take its time.
        core_.waiters.run([this, describe, device, answer] {
          describe(*answer, read_management(core_.grant.devices()[device].native_id), management_driver());
        });
      });
}

}  // namespace flexrack::backend::cuda
