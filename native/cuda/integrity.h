// The answer to the question by which NVIDIA's runtime library makes sure that it talks to a driver.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace flexrack::cuda {

/// A device as cuDeviceGetUuid and cuDeviceGetAttribute(PCI_DOMAIN_ID, PCI_BUS_ID, PCI_DEVICE_ID) tell it: the runtime
/// compares.
struct DeviceIdentity {
  std::array<std::uint8_t, 16> uuid{};
  std::int32_t pci_domain = 0;
  std::int32_t pci_bus = 0;
  std::int32_t pci_device = 0;
};

/// What both sides know when the question is asked.
struct IntegrityQuestion {
  std::uint32_t version = 0;          ///< what the runtime asks by: 13000, 13001, 13002
  std::uint64_t seconds = 0;          ///< the time, by the asker
  std::uint32_t driver_version = 0;   ///< as cuDriverGetVersion says
  std::uint32_t process = 0;
  std::uint32_t thread = 0;           ///< the lower half of pthread_self()
  const void* cudart_table = nullptr;
  const void* integrity_table = nullptr;
  const void* integrity_function = nullptr;   ///< slot 1 of integrity_table
  std::span<const DeviceIdentity> devices;
};

/// 16 bytes as the two words that the runtime takes. It depends on the asking process's addresses, so only that process
/// can give it.
std::array<std::uint64_t, 2> integrity_answer(const IntegrityQuestion& question);

}  // namespace flexrack::cuda
