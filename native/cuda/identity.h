// How a device is called where programs tell devices apart: the same in CUDA's driver and in NVML.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "gen/cuda/cuda.h"

namespace flexrack::cuda {

/// "GPU-" and 8-4-4-4-12 hex digits.
std::string uuid_text(const CUuuid& uuid);

struct PciPlace {
  unsigned domain = 0, bus = 0, device = 0;
  bool operator==(const PciPlace&) const = default;
};

/// "[domain]:[bus]:[device].[function]" in hex, the domain and the function may be missing (cuda.h 13.0,
/// cuDeviceGetByPCIBusId).
std::optional<PciPlace> pci_place(std::string_view text);

/// The places on the PCI bus that a process's devices have. Devices of several servers may say the same one: all but
/// the first get a domain of their own.
class PciPlaces {
 public:
  /// Takes `pci` ("0000:01:00.0"), or the next domain of it that is free, which is what it then says; the domain in
  /// numbers.
  unsigned take(std::string& pci);

 private:
  std::set<std::string> taken_;
};

}  // namespace flexrack::cuda
