// Tables of our own that cuGetExportTable of our drivers gives: what the API has no function for, told by its name from
// those of other drivers.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "gen/cuda/cuda.h"

namespace flexrack::cuda {

/// Of the driver in software.
struct SimTable {
  static constexpr char kName[] = "flexrack sim v1";
  std::uint64_t size = sizeof(SimTable);
  /// Nanoseconds that kernels of this process have run on the device, those that ran at the same time counted once.
  CUresult (*busy)(CUdevice device, std::uint64_t* nanoseconds) = nullptr;
  /// Bytes of the device that this process has, contexts and code included.
  CUresult (*memory)(CUdevice device, std::uint64_t* bytes) = nullptr;

  /// What is known of a device before the driver is initialised.
  struct Facts {
    std::string name;
    std::array<std::uint8_t, 16> uuid{};
    int pci_domain = 0, pci_bus = 0, pci_device = 0;
    int major = 0, minor = 0;
    int driver = 0;  ///< as cuDriverGetVersion
    std::uint64_t memory = 0;
  };
  /// CUDA_ERROR_INVALID_DEVICE beyond the last one. For who is built with the driver: the structure is of C++.
  CUresult (*describe)(CUdevice device, Facts* facts) = nullptr;

  // For a session that goes to another process (docs/adr/0079).
  /// Device memory of the current context, at the address where another process has it, as cuMemAlloc.
  CUresult (*place_memory)(CUdeviceptr address, std::size_t size) = nullptr;
  /// Where a module's variables lie, for lay_out in another process: the first `room` numbers, and how many there are.
  CUresult (*layout)(CUmodule module, std::uint64_t* numbers, std::size_t room, std::size_t* count) = nullptr;
  /// Puts them there. Before anything of the module is used.
  CUresult (*lay_out)(CUmodule module, const std::uint64_t* numbers, std::size_t count) = nullptr;
  /// For two servers that do the same (docs/adr/0080): where modules lie follows from that number.
  void (*lay_out_alike)(std::uint64_t seed) = nullptr;
};

/// Of the driver that forwards, for the NVML beside it.
struct ClientTable {
  static constexpr char kName[] = "flexrack cli v1";
  std::uint64_t size = sizeof(ClientTable);
  /// Returns when the device's server has given back what this process has freed so far: whoever asks after that, in
  /// whatever session, sees it.
  void (*settle)(const CUuuid& device) = nullptr;
};

template <class Table>
CUuuid id_of() {
  static_assert(sizeof Table::kName == sizeof(CUuuid));
  CUuuid id;
  std::memcpy(id.bytes, Table::kName, sizeof id.bytes);
  return id;
}
template <class Table>
bool is_named(const CUuuid& id) {
  return std::memcmp(id.bytes, Table::kName, sizeof id.bytes) == 0;
}

/// The table of a driver by its cuGetExportTable; null where it has none.
template <class Table>
const Table* find_table(CUresult (*tables)(const void**, const CUuuid*)) {
  const void* table = nullptr;
  const auto id = id_of<Table>();
  return tables && tables(&table, &id) == CUDA_SUCCESS ? static_cast<const Table*>(table) : nullptr;
}

}  // namespace flexrack::cuda
