// The machine's own NVML, for what CUDA's driver does not say. Opened when it is first asked, once a process; a machine
// without it knows less.
#pragma once

#include <optional>
#include <string>

namespace flexrack::backend::cuda {

/// Of a whole device, all leases' work together. Nothing where NVML is missing or does not know.
struct Readings {
  std::optional<unsigned> busy, memory_busy;  ///< percent of NVML's own last sample period
  std::optional<int> temperature;  ///< degrees Celsius
  std::optional<unsigned> power;  ///< milliwatts
  std::optional<unsigned> clock, memory_clock;  ///< MHz
};

/// `uuid`: as the daemon names devices, "GPU-...". May take milliseconds. Any thread.
Readings read_management(const std::string& uuid);
/// The same, but only how busy it is.
std::optional<unsigned> read_busy(const std::string& uuid);
/// Bytes of the device that this process has. Nothing where NVML does not list it: it knows processes by the numbers of
/// the machine, not of a container.
std::optional<std::uint64_t> read_own_memory(const std::string& uuid);
/// The same of all processes together, and of what the driver keeps for itself.
std::optional<std::uint64_t> read_used_memory(const std::string& uuid);
/// "580.65.06"; empty where it is not known.
const std::string& management_driver();

}  // namespace flexrack::backend::cuda
