// Addresses and memory: every byte is taken from the share before the driver is asked for it.
#include "backend/cuda/memory.h"

#include "backend/cuda/call_context.h"

namespace flexrack::backend::cuda {
namespace {

constexpr std::size_t kMostReservations = 1 << 16;

bool is_within(std::uint64_t at, std::uint64_t size, std::uint64_t start, std::uint64_t room) {
  return at >= start && size <= room && at - start <= room - size;
}

std::uint64_t rounded(std::uint64_t size, std::uint64_t to) { return (size + to - 1) / to * to; }

/// Memory of that device; flags as create_memory says.
CUmemAllocationProp device_memory(CUdevice device, std::uint32_t flags) {
  CUmemAllocationProp wish{};
  wish.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wish.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wish.location.id = device;
  if ((flags & 1) != 0) wish.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
  if ((flags & 2) != 0) wish.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return wish;
}

}  // namespace

void Memory::on(const cu::ReserveAddresses& m, Respond<cu::ReserveAddressesReply> respond) {
  CUdeviceptr at = 0;
  const bool is_range = m.size != 0 && m.at != 0 && m.at + m.size > m.at;
  auto status = !is_range || !core_.table.cuMemAddressReserve ? CUDA_ERROR_INVALID_VALUE
                : reservations_.size() >= kMostReservations   ? CUDA_ERROR_OUT_OF_MEMORY
                                                              : CUDA_SUCCESS;
  if (status == CUDA_SUCCESS) status = core_.table.cuMemAddressReserve(&at, m.size, 0, m.at, 0);
  if (status == CUDA_SUCCESS && at != m.at) {  // a wish the driver may ignore
    core_.table.cuMemAddressFree(at, m.size);
    status = CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (status == CUDA_SUCCESS) reservations_[m.at] = m.size;
  respond({.status = as_wire(status)});
}

void Memory::on(const cu::FreeAddresses& m) {
  CallContext call(core_, m.kOp, 0);
  const auto found = reservations_.find(m.at);
  // What lies there is unmapped first: its addresses are the client's to name, and must not become somebody else's.
  call.check(found != reservations_.end() && found->second == m.size && core_.allocations.is_free(m.at, m.size));
  if (call.run(core_.table.cuMemAddressFree, m.at, static_cast<size_t>(m.size))) reservations_.erase(found);
  call.end();
}

void Memory::on(const cu::Allocate& m, Respond<cu::AllocateReply> respond) {
  core_.behind_frees(
      [this, m, answer = std::make_shared<Respond<cu::AllocateReply>>(std::move(respond))] { allocate(m, *answer); });
}

void Memory::allocate(const cu::Allocate& m, Respond<cu::AllocateReply>& respond) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  if (call.is_good() && m.kind == 1) {
    std::uint64_t address = 0;
    call.fail(core_.mirrors.make(m.context, m.at, m.size, m.flags, address));
    if (call.is_good())
      core_.know(address, {.sort = Allocation::Sort::pinned,
                           .device = core_.device_of(m.context),
                           .context = m.context,
                           .size = m.size});
    return respond({.status = as_wire(call.status()), .address = address});
  }
  if (!call.is_good()) return respond({.status = as_wire(call.status())});
  Allocation made{
      .sort = Allocation::Sort::plain, .device = core_.device_of(m.context), .context = m.context, .size = m.size};
  call.check(m.size > 0 && m.kind == 0);
  std::uint64_t address = 0;
  // What is mapped costs whole pages, and is charged there.
  const auto price = m.at == 0 ? m.size : 0;
  if (call.is_good() && !core_.charge(made.device, price)) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  else if (call.is_good()) made.charged = price;
  if (call.is_good() && m.at != 0) {
    address = m.at;
    map_at(call, m, made);
  } else if (call.is_good()) {
    CUdeviceptr at = 0;
    call.run(core_.table.cuMemAlloc_v2, &at, static_cast<size_t>(m.size));
    address = at;
  }
  if (call.is_good()) core_.know(address, made);
  else core_.refund(made.device, made.charged);
  respond({.status = as_wire(call.status()), .address = address});
}

/// At an address the client has chosen, inside of what it has reserved here.
void Memory::map_at(CallContext& call, const cu::Allocate& m, Allocation& made) {
  // So that other sessions can have it too, as they can have what the driver places.
  const auto wish = device_memory(core_.devices[made.device].native, can_share(made.device) ? 2 : 0);
  size_t step = 0;
  call.run(core_.table.cuMemGetAllocationGranularity, &step, &wish, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  if (!call.is_good()) return;
  call.check(step != 0 && m.size <= ~std::uint64_t{0} - step);
  if (!call.is_good()) return;
  const auto whole = rounded(m.size, step);
  call.check(m.at % step == 0 && may_map(m.at, whole));
  if (call.is_good()) {
    if (!core_.charge(made.device, whole)) return call.fail(CUDA_ERROR_OUT_OF_MEMORY);
    made.charged = whole;
  }
  if (!call.run(core_.table.cuMemCreate, &made.memory, static_cast<size_t>(whole), &wish, 0ull)) return;
  map_whole(call, m.at, whole, made);
  if (!call.is_good()) core_.table.cuMemRelease(made.memory);
}

/// With access for its own device, and for peers where they can.
void Memory::map_whole(CallContext& call, std::uint64_t at, std::uint64_t whole, Allocation& made) {
  if (call.run(core_.table.cuMemMap, at, static_cast<size_t>(whole), size_t{0}, made.memory, 0ull)) {
    std::vector<CUmemAccessDesc> who(core_.devices.size());
    for (std::size_t i = 0; i < core_.devices.size(); ++i)
      who[i] = {{CU_MEM_LOCATION_TYPE_DEVICE, core_.devices[i].native}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    std::swap(who[0], who[made.device]);
    call.run(core_.table.cuMemSetAccess, at, static_cast<size_t>(whole), who.data(), size_t{1});
    for (std::size_t i = 1; call.is_good() && i < who.size(); ++i) {
      int can = 0;
      core_.table.cuDeviceCanAccessPeer(&can, who[i].location.id, who[0].location.id);
      if (can != 0) core_.table.cuMemSetAccess(at, whole, &who[i], 1);
    }
    if (!call.is_good()) core_.table.cuMemUnmap(at, whole);
  }
  made.sort = Allocation::Sort::mapped;
  made.mapped = whole;
}

bool Memory::can_share(std::uint32_t device) const {
  int can = 0;
  return core_.table.cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                                          core_.devices[device].native) == CUDA_SUCCESS &&
         can != 0;
}

bool Memory::may_map(std::uint64_t at, std::uint64_t size) const {
  auto arena = reservations_.upper_bound(at);
  if (size == 0 || arena == reservations_.begin()) return false;
  --arena;
  return is_within(at, size, arena->first, arena->second) && core_.allocations.is_free(at, size);
}

void Memory::on(const cu::Free& m) {
  CallContext call(core_, m.kOp, m.context);
  if (const auto mirror = call.is_good() ? core_.mirrors.take(m.address) : nullptr) {
    if (const auto known = core_.allocations.find(m.address); known != core_.allocations.end())
      core_.allocations.erase(known);
    return free_later(m.context, [this, mirror] { return core_.mirrors.give_back(*mirror); });
  }
  const auto found = core_.allocations.find(m.address);
  // What another session shares is closed instead.
  call.check(found != core_.allocations.end() && found->second.is_freeable() && found->second.context == m.context &&
             !(found->second.share && found->second.share->is_opened));
  if (!call.is_good()) return call.end();
  auto one = found->second;
  core_.allocations.erase(found);
  // The driver waits for what uses it; the share is free when it has.
  free_later(m.context, [this, one, address = m.address]() mutable {
    auto status = CUDA_SUCCESS;
    switch (one.sort) {
      case Allocation::Sort::plain:
      case Allocation::Sort::from_pool: status = core_.table.cuMemFree_v2(address); break;
      case Allocation::Sort::mapped:
        core_.table.cuCtxSynchronize();  // of a context that is broken there is nothing to wait for
        status = core_.table.cuMemUnmap(address, one.mapped);
        if (status == CUDA_SUCCESS) core_.table.cuMemRelease(one.memory);
        break;
      default: status = CUDA_ERROR_INVALID_VALUE;  // none of these is freed so
    }
    const std::lock_guard guard(core_.lock);
    // What the driver has not freed is there until its context goes.
    if (status == CUDA_SUCCESS) core_.refund(one.device, one.charged);
    else core_.know(address, one);
    one.share.reset();
    return status;
  });
}

void Memory::free_later(std::uint64_t context, std::function<CUresult()> give_back) {
  core_.frees.begin();
  core_.later(context, [this, context, give_back = std::move(give_back)]() mutable {
    const auto status = give_back();
    give_back = nullptr;  // with what it holds
    if (status != CUDA_SUCCESS) {
      const std::lock_guard guard(core_.lock);
      core_.refused(context, cu::Free::kOp, status, 0);
    }
    core_.frees.end();
  });
}

void Memory::on(const cu::CreateMemory& m, Respond<cu::CreateMemoryReply> respond) {
  core_.behind_frees([this, m, answer = std::make_shared<Respond<cu::CreateMemoryReply>>(std::move(respond))] {
    CallContext call(core_, m.kOp, 0);
    const auto wish = device_memory(call.device(m.device), m.flags);
    if (!call.is_good())
      return (*answer)({.status = as_wire(call.status())});  // no device: nothing is charged or given back
    if (!core_.charge(m.device, m.size)) return (*answer)({.status = as_wire(CUDA_ERROR_OUT_OF_MEMORY)});
    const auto share = core_.hold(m.device, m.size);
    CUmemGenericAllocationHandle memory = 0;
    if (call.run(core_.table.cuMemCreate, &memory, static_cast<size_t>(m.size), &wish, 0ull) &&
        !core_.handles.insert(m.memory, {.kind = Kind::memory,
                                         .native = reinterpret_cast<void*>(memory),
                                         .device = m.device,
                                         .charged = 0,
                                         .share = share})) {
      core_.table.cuMemRelease(memory);
      call.fail(CUDA_ERROR_INVALID_HANDLE);
    }
    (*answer)({.status = as_wire(call.status())});
  });
}

void Memory::on(const cu::MapMemory& m) {
  CallContext call(core_, m.kOp, 0);
  auto* memory = call.record(m.memory, Kind::memory);
  call.check(may_map(m.at, m.size));
  if (call.is_good() && call.run(core_.table.cuMemMap, m.at, static_cast<size_t>(m.size), static_cast<size_t>(m.offset),
                                 reinterpret_cast<CUmemGenericAllocationHandle>(memory->native), 0ull)) {
    core_.allocations.add(
        m.at, {.sort = Allocation::Sort::mapping, .device = memory->device, .size = m.size, .share = memory->share});
  }
  call.end();
}

/// The driver may wait for what uses it: not in dispatch.
void Memory::on(const cu::UnmapMemory& m, Respond<cu::UnmapMemoryReply> respond) {
  // Whole mappings that lie side by side, as the driver wants it, and nothing else: what allocate() has mapped goes
  // with `free`.
  auto end = m.at;
  auto one = core_.allocations.find(m.at);
  for (; one != core_.allocations.end() && one->first == end && one->second.sort == Allocation::Sort::mapping &&
         end - m.at < m.size;
       ++one)
    end += one->second.size;
  if (m.size == 0 || end - m.at != m.size) return respond({.status = as_wire(CUDA_ERROR_INVALID_VALUE)});
  if (!core_.waiters.has_room()) return respond({.status = as_wire(CUDA_ERROR_OUT_OF_MEMORY)});
  core_.later(0, [this, at = m.at, size = m.size,
                  answer = std::make_shared<Respond<cu::UnmapMemoryReply>>(std::move(respond))] {
    const auto status = core_.table.cuMemUnmap(at, size);
    if (status == CUDA_SUCCESS) {
      const std::lock_guard guard(core_.lock);
      core_.allocations.erase_if([&](std::uint64_t address, const Allocation& mapping) {
        return mapping.sort == Allocation::Sort::mapping && address >= at && address - at < size;
      });
    }
    (*answer)({.status = as_wire(status)});
  });
}

void Memory::on(const cu::SetAccess& m) {
  CallContext call(core_, m.kOp, 0);
  call.address(m.at, m.size);
  std::vector<CUmemAccessDesc> who;
  for (const auto& one : m.accesses) {
    const auto type = static_cast<CUmemLocationType>(one.kind);
    const int id = type == CU_MEM_LOCATION_TYPE_DEVICE ? call.device(one.device) : static_cast<int>(one.device);
    who.push_back({{type, id}, static_cast<CUmemAccess_flags>(one.flags)});
  }
  call.run(core_.table.cuMemSetAccess, m.at, static_cast<size_t>(m.size), who.data(), who.size());
  call.end();
}

void Memory::on(const cu::MemoryGranularity& m, Respond<cu::MemoryGranularityReply> respond) {
  CallContext call(core_, m.kOp, 0);
  const auto wish = device_memory(call.device(m.device), m.flags);
  size_t size = 0;
  call.run(core_.table.cuMemGetAllocationGranularity, &size, &wish,
           static_cast<CUmemAllocationGranularity_flags>(m.option));
  respond({.status = as_wire(call.status()), .size = size});
}

}  // namespace flexrack::backend::cuda
