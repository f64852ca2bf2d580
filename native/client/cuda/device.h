// Devices as the application sees them: what the servers said about them, with what is different from here put right.
#pragma once

#include <array>
#include <bitset>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda/fatbin.h"
#include "gen/cuda/cuda.h"
#include "gen/cuda/messages.h"

namespace flexrack::client::cuda {

class CudaServer;

/// One of a server; all its text is its own. Never changes once the process sees it.
struct Device {
  CudaServer* server = nullptr;
  std::uint32_t index = 0;           ///< at its server
  CUdevice ordinal = 0;              ///< as the application counts
  std::string name, pci;             ///< pci: as cuDeviceGetPCIBusId says
  CUuuid uuid{};
  std::uint64_t memory = 0;          ///< bytes of the share
  static constexpr int kMostAttributes = 256;
  std::array<int, kMostAttributes> attributes{};
  std::bitset<kMostAttributes> known;
  struct Peer {
    bool can_access = false;
    std::map<int, int> attributes;   ///< by CUdevice_P2PAttribute
  };
  std::map<std::uint32_t, Peer> peers;   ///< by index at its server
  flexrack::cuda::Target target;     ///< what code it loads
  CUcontext primary = nullptr;       ///< there from the beginning, whether it is active or not
  // What every launch is held against.
  std::array<unsigned, 3> most_grid{}, most_block{};
  unsigned most_threads = 0;         ///< a block

  int attribute(CUdevice_attribute which, int otherwise = 0) const {
    return which > 0 && which < kMostAttributes && known[static_cast<std::size_t>(which)]
               ? attributes[static_cast<std::size_t>(which)]
               : otherwise;
  }
};

/// What a server says about a device, made ours.
std::unique_ptr<Device> take_device(CudaServer& server, const cu::Device& reported);

/// The devices that CUDA_VISIBLE_DEVICES names, in its order; all where it is not set. A number or the beginning of a
/// uuid ("GPU-...", "MIG-...") each; the first that names none ends the list (CUDA C++ Programming Guide, CUDA
/// environment variables).
std::vector<Device*> visible_devices(const std::vector<Device*>& all, const char* wish);

/// "GPU-" and 8-4-4-4-12 hex digits.
std::string uuid_text(const Device& device);

/// Where devices of several servers say the same place on the PCI bus, all but the first get a domain of their own:
/// programs tell devices by it.
void part_pci_places(const std::vector<Device*>& all);

}  // namespace flexrack::client::cuda
