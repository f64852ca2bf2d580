#include "sim/driver/pool_work.h"

#include <sys/mman.h>

#include <algorithm>

#include "sim/driver/settings.h"

namespace flexrack::sim {

void FreeWork::execute(Context&) const {
  if (!free_allocation(address)) fail(CUDA_ERROR_INVALID_VALUE, "a stream frees what is not there any more");
}

std::shared_ptr<GraphAddress> GraphAddress::make(const Ref<Context>& context, std::uint64_t bytes,
                                                 std::uint64_t for_devices) {
  auto& device = context->device;
  require(bytes > 0 && bytes <= device.heap.capacity(), CUDA_ERROR_OUT_OF_MEMORY);
  const auto mapped = (bytes + 4095) / 4096 * 4096;
  auto* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(memory != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
  auto allocation = std::make_shared<Allocation>();
  allocation->give_back = [memory, mapped] { munmap(memory, mapped); };
  auto made = std::shared_ptr<GraphAddress>(new GraphAddress(device, bytes, for_devices));
  made->address = reinterpret_cast<std::uint64_t>(memory);
  allocation->kind = Allocation::Kind::graph;
  allocation->reach = Allocation::Reach::devices;
  allocation->address = made->address;
  allocation->size = bytes;
  allocation->device = &device;
  allocation->graph = made;
  made->allocation_ = allocation;
  Memory::instance().add(std::move(allocation));
  return made;
}

GraphAddress::~GraphAddress() {
  release();
  Memory::instance().remove(address);
}

void GraphAddress::take() {
  require(!is_there_.exchange(true), CUDA_ERROR_INVALID_VALUE,
          "a graph is launched again before what it allocated was freed");
  if (is_fault_due("alloc") || !device.heap.charge(size)) {
    is_there_ = false;
    fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory left for a graph's allocation");
  }
  const auto now = device.graph_bytes += DeviceHeap::charged(size);
  for (auto high = device.graph_bytes_high.load();
       high < now && !device.graph_bytes_high.compare_exchange_weak(high, now);) {}
  allocation_->is_being_freed = false;
  self_ = shared_from_this();
  Memory::instance().change(*allocation_, [&] { allocation_->devices = devices; });
}

bool GraphAddress::release() {
  if (!is_there_.load()) return false;
  const auto self = std::move(self_);
  // The addresses stay readable for the host, so that nothing is pulled from under a copy; kernels do not see them any
  // more.
  Memory::instance().change(*allocation_, [&] { allocation_->devices = 0; });
  madvise(reinterpret_cast<void*>(address), (size + 4095) / 4096 * 4096, MADV_DONTNEED);
  device.graph_bytes -= DeviceHeap::charged(size);
  device.heap.refund(size);
  return is_there_.exchange(false);
}

bool GraphAddress::is_kept() const { return is_there_.load() && !allocation_->is_being_freed.load(); }

void AllocateWork::execute(Context&) const { place->take(); }

bool free_allocation(std::uint64_t address) {
  const auto found = Memory::instance().find(address);
  if (!found || found->address != address) return false;
  if (found->kind != Allocation::Kind::graph) return Memory::instance().remove(address) != nullptr;
  const auto graph = found->graph.lock();
  return graph && graph->release();
}

}  // namespace flexrack::sim
