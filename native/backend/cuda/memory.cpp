// Addresses and memory: every byte is taken from the share before the driver is asked for it.
#include "backend/cuda/turn.h"

namespace flexrack::backend::cuda {
namespace {

bool is_within(std::uint64_t at, std::uint64_t size, std::uint64_t start, std::uint64_t room) { return at >= start && size <= room && at - start <= room - size; }

std::uint64_t rounded(std::uint64_t size, std::uint64_t to) { return (size + to - 1) / to * to; }

/// Memory of that device; flags as create_memory says.
CUmemAllocationProp device_memory(CUdevice device, std::uint32_t flags) {
  CUmemAllocationProp wish{};
  wish.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wish.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wish.location.id = device;
  if ((flags & 1) != 0) wish.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
  return wish;
}

}  // namespace

void Session::on(const cu::ReserveAddresses& m, Respond<cu::ReserveAddressesReply> respond) {
  CUdeviceptr at = 0;
  auto status = m.size == 0 || m.at == 0 || !table_.cuMemAddressReserve ? CUDA_ERROR_INVALID_VALUE : table_.cuMemAddressReserve(&at, m.size, 0, m.at, 0);
  if (status == CUDA_SUCCESS && at != m.at) {  // a wish the driver may ignore
    table_.cuMemAddressFree(at, m.size);
    status = CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (status == CUDA_SUCCESS) reservations_[m.at] = m.size;
  respond({.status = as_wire(status)});
}

void Session::on(const cu::FreeAddresses& m) {
  Turn turn(*this, m.kOp, 0);
  const auto found = reservations_.find(m.at);
  turn.check(found != reservations_.end() && found->second == m.size);
  if (turn.run(table_.cuMemAddressFree, m.at, static_cast<size_t>(m.size))) reservations_.erase(found);
  turn.end();
}

/// What is freed is the share's again only when the driver has it back: what asks for memory comes behind it.
void Session::behind_frees(std::uint64_t context, std::function<void()> work) {
  const auto is_nothing_freed = [this] {
    const std::lock_guard guard(frees_lock_);
    return frees_ == 0;
  };
  if (is_nothing_freed()) return work();
  later(context, [this, work = std::move(work)] {
    {
      std::unique_lock guard(frees_lock_);
      frees_over_.wait(guard, [this] { return frees_ == 0; });
    }
    const std::lock_guard guard(lock_);
    work();
  });
}

void Session::on(const cu::Allocate& m, Respond<cu::AllocateReply> respond) {
  behind_frees(m.context, [this, m, answer = std::make_shared<Respond<cu::AllocateReply>>(std::move(respond))] { allocate(m, *answer); });
}

void Session::allocate(const cu::Allocate& m, Respond<cu::AllocateReply>& respond) {
  Turn turn(*this, m.kOp, m.context);
  if (!turn.is_good()) return respond({.status = as_wire(turn.status())});
  Allocation made{.sort = m.kind == 1 ? Allocation::Sort::pinned : Allocation::Sort::plain, .device = device_of(m.context), .context = m.context, .size = m.size};
  turn.check(m.size > 0 && m.kind <= 1);
  std::uint64_t address = 0;
  // Memory of the host is not of the device's share; what is mapped costs whole pages, and is charged there.
  const auto price = m.kind == 0 && m.at == 0 ? m.size : 0;
  if (turn.is_good() && !charge(made.device, price)) turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
  else if (turn.is_good()) made.charged = price;
  if (turn.is_good() && m.at != 0) {
    address = m.at;
    map_at(turn, m, made);
  } else if (turn.is_good() && m.kind == 1) {
    void* at = nullptr;
    turn.run(table_.cuMemHostAlloc, &at, static_cast<size_t>(m.size), m.flags | CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    address = reinterpret_cast<std::uint64_t>(at);
  } else if (turn.is_good()) {
    CUdeviceptr at = 0;
    turn.run(table_.cuMemAlloc_v2, &at, static_cast<size_t>(m.size));
    address = at;
  }
  if (turn.is_good()) allocations_[address] = made;
  else refund(made.device, made.charged);
  respond({.status = as_wire(turn.status()), .address = address});
}

/// At an address the client has chosen, inside of what it has reserved here.
void Session::map_at(Turn& turn, const cu::Allocate& m, Allocation& made) {
  auto arena = reservations_.upper_bound(m.at);
  if (arena == reservations_.begin()) return turn.fail(CUDA_ERROR_INVALID_VALUE);
  --arena;
  CUmemAllocationProp wish{};
  wish.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wish.location.type = m.kind == 1 ? CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT : CU_MEM_LOCATION_TYPE_DEVICE;
  wish.location.id = m.kind == 1 ? 0 : devices_[made.device].native;
  size_t step = 0;
  turn.run(table_.cuMemGetAllocationGranularity, &step, &wish, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  if (!turn.is_good()) return;
  const auto whole = rounded(m.size, step);
  turn.check(m.at % step == 0 && is_within(m.at, whole, arena->first, arena->second) && is_free(m.at, whole));
  if (turn.is_good() && m.kind == 0) {
    if (!charge(made.device, whole)) return turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
    made.charged = whole;
  }
  if (!turn.run(table_.cuMemCreate, &made.memory, static_cast<size_t>(whole), &wish, 0ull)) return;
  if (turn.run(table_.cuMemMap, m.at, static_cast<size_t>(whole), size_t{0}, made.memory, 0ull)) {
    std::vector<CUmemAccessDesc> who(devices_.size());
    for (std::size_t i = 0; i < devices_.size(); ++i) who[i] = {{CU_MEM_LOCATION_TYPE_DEVICE, {devices_[i].native}}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    // Its own device first; peers only where they can.
    std::swap(who[0], who[made.device]);
    turn.run(table_.cuMemSetAccess, m.at, static_cast<size_t>(whole), who.data(), size_t{1});
    for (std::size_t i = 1; turn.is_good() && i < who.size(); ++i) {
      int can = 0;
      table_.cuDeviceCanAccessPeer(&can, who[i].location.id, who[0].location.id);
      if (can != 0) table_.cuMemSetAccess(m.at, whole, &who[i], 1);
    }
    if (!turn.is_good()) table_.cuMemUnmap(m.at, whole);
  }
  made.sort = Allocation::Sort::mapped;
  made.mapped = whole;
  if (!turn.is_good()) table_.cuMemRelease(made.memory);
}

bool Session::is_free(std::uint64_t at, std::uint64_t size) const {
  const auto after = allocations_.lower_bound(at);
  if (after != allocations_.end() && after->first - at < size) return false;
  if (after == allocations_.begin()) return true;
  const auto before = std::prev(after);
  return before->first + std::max(before->second.size, before->second.mapped) <= at;
}

void Session::on(const cu::Free& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto found = allocations_.find(m.address);
  turn.check(found != allocations_.end());
  if (!turn.is_good()) return turn.end();
  const auto one = found->second;
  allocations_.erase(found);
  // The driver waits for what uses it; the share is free when it has.
  {
    const std::lock_guard guard(frees_lock_);
    ++frees_;
  }
  later(m.context, [this, one, context = m.context, address = m.address] {
    auto status = CUDA_SUCCESS;
    switch (one.sort) {
      case Allocation::Sort::plain: status = table_.cuMemFree_v2(address); break;
      case Allocation::Sort::pinned: status = table_.cuMemFreeHost(reinterpret_cast<void*>(address)); break;
      case Allocation::Sort::from_pool: status = table_.cuMemFree_v2(address); break;
      case Allocation::Sort::mapped:
        status = table_.cuCtxSynchronize();
        table_.cuMemUnmap(address, one.mapped);
        table_.cuMemRelease(one.memory);
        break;
    }
    {
      const std::lock_guard guard(lock_);
      refund(one.device, one.charged);
      if (status != CUDA_SUCCESS) refused(context, cu::Free::kOp, status, 0);
    }
    const std::lock_guard guard(frees_lock_);
    if (--frees_ == 0) frees_over_.notify_all();
  });
}

void Session::on(const cu::CreateMemory& m, Respond<cu::CreateMemoryReply> respond) {
  Turn turn(*this, m.kOp, 0);
  const auto wish = device_memory(turn.device(m.device), m.flags);
  if (!turn.is_good()) return respond({.status = as_wire(turn.status())});  // no device: nothing is charged or given back
  if (!charge(m.device, m.size)) return respond({.status = as_wire(CUDA_ERROR_OUT_OF_MEMORY)});
  CUmemGenericAllocationHandle memory = 0;
  if (turn.run(table_.cuMemCreate, &memory, static_cast<size_t>(m.size), &wish, 0ull) &&
      !handles_.insert(m.memory, {.kind = Kind::memory, .native = reinterpret_cast<void*>(memory), .device = m.device, .charged = m.size})) {
    table_.cuMemRelease(memory);
    turn.fail(CUDA_ERROR_INVALID_HANDLE);
  }
  if (!turn.is_good()) refund(m.device, m.size);
  respond({.status = as_wire(turn.status())});
}

void Session::on(const cu::MapMemory& m) {
  Turn turn(*this, m.kOp, 0);
  auto* memory = turn.record(m.memory, Kind::memory);
  if (memory) turn.run(table_.cuMemMap, m.at, static_cast<size_t>(m.size), static_cast<size_t>(m.offset), reinterpret_cast<CUmemGenericAllocationHandle>(memory->native), 0ull);
  turn.end();
}

void Session::on(const cu::UnmapMemory& m) {
  Turn turn(*this, m.kOp, 0);
  turn.run(table_.cuMemUnmap, m.at, static_cast<size_t>(m.size));
  turn.end();
}

void Session::on(const cu::SetAccess& m) {
  Turn turn(*this, m.kOp, 0);
  std::vector<CUmemAccessDesc> who;
  for (const auto& one : m.accesses) {
    const auto type = static_cast<CUmemLocationType>(one.kind);
    const int id = type == CU_MEM_LOCATION_TYPE_DEVICE ? turn.device(one.device) : static_cast<int>(one.device);
    who.push_back({{type, {id}}, static_cast<CUmemAccess_flags>(one.flags)});
  }
  turn.run(table_.cuMemSetAccess, m.at, static_cast<size_t>(m.size), who.data(), who.size());
  turn.end();
}

void Session::on(const cu::MemoryGranularity& m, Respond<cu::MemoryGranularityReply> respond) {
  Turn turn(*this, m.kOp, 0);
  const auto wish = device_memory(turn.device(m.device), m.flags);
  size_t size = 0;
  turn.run(table_.cuMemGetAllocationGranularity, &size, &wish, static_cast<CUmemAllocationGranularity_flags>(m.option));
  respond({.status = as_wire(turn.status()), .size = size});
}

}  // namespace flexrack::backend::cuda
