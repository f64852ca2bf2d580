#include "client/cuda/device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "cuda/identity.h"

namespace flexrack::client::cuda {
namespace {

constexpr std::string_view kSimulated = "Flexrack Simulated GPU";

/// What is so at the server and not for a program elsewhere: memory of the application is not the server's, nor are its
/// processes, its network cards and its display.
constexpr CUdevice_attribute kNotFromHere[] = {
    CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT,
    CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
    CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
    CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,
    CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS,
    CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING,
    CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES,
    CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK,
    CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
    CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED,
};

void put(Device& device, int which, int value) {
  if (which <= 0 || which >= Device::kMostAttributes) return;
  device.attributes[static_cast<std::size_t>(which)] = value;
  device.known.set(static_cast<std::size_t>(which));
}

}  // namespace

std::unique_ptr<Device> take_device(CudaServer& server, const cu::Device& reported) {
  auto device = std::make_unique<Device>();
  device->server = &server;
  device->index = reported.index;
  device->name = reported.name;
  device->pci = reported.pci;
  device->memory = reported.memory;
  if (reported.uuid.size() == sizeof device->uuid)
    std::memcpy(&device->uuid, reported.uuid.data(), sizeof device->uuid);
  for (const auto& one : reported.attributes) put(*device, one.which, one.value);
  for (const auto which : kNotFromHere) {
    if (device->known[static_cast<std::size_t>(which)]) put(*device, which, 0);
  }
  for (const auto& one : reported.peers) {
    auto& peer = device->peers[one.device];
    peer.can_access = one.can_access != 0;
    for (const auto& attribute : one.attributes) peer.attributes[attribute.which] = attribute.value;
  }
  device->target.architecture = {device->attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                                 device->attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 0};
  device->target.runs_elf = !std::string_view(device->name).starts_with(kSimulated);
  const char* prefers = std::getenv("CUDA_FORCE_PTX_JIT");
  device->target.prefers_ptx = prefers && std::string_view(prefers) == "1";
  constexpr CUdevice_attribute kGrid[] = {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                          CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
  constexpr CUdevice_attribute kBlock[] = {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                           CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
  for (std::size_t i = 0; i < 3; ++i) {
    device->most_grid[i] = static_cast<unsigned>(device->attribute(kGrid[i]));
    device->most_block[i] = static_cast<unsigned>(device->attribute(kBlock[i]));
  }
  device->most_threads = static_cast<unsigned>(device->attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  return device;
}

std::string uuid_text(const Device& device) { return flexrack::cuda::uuid_text(device.uuid); }

std::vector<Device*> visible_devices(const std::vector<Device*>& all, const char* wish) {
  if (!wish) return all;
  std::vector<Device*> chosen;
  std::string_view rest = wish;
  while (!rest.empty()) {
    auto word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    Device* found = nullptr;
    if (word.starts_with("GPU-") || word.starts_with("MIG-")) {
      const auto beginning = "GPU-" + std::string(word.substr(4));
      for (auto* device : all) {
        if (!uuid_text(*device).starts_with(beginning)) continue;
        if (found) return chosen;  // it may be either
        found = device;
      }
    } else if (!word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos && word.size() < 9) {
      const auto number = static_cast<std::size_t>(std::atoi(std::string(word).c_str()));
      if (number < all.size()) found = all[number];
    }
    if (!found) break;
    if (std::find(chosen.begin(), chosen.end(), found) != chosen.end()) return {};  // named twice: none at all
    chosen.push_back(found);
  }
  return chosen;
}

void part_pci_places(const std::vector<Device*>& all) {
  flexrack::cuda::PciPlaces places;
  for (auto* device : all) put(*device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, static_cast<int>(places.take(device->pci)));
}

}  // namespace flexrack::client::cuda
