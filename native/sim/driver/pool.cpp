#include "sim/driver/pool.h"

#include <algorithm>
#include <cstring>

#include "sim/driver/device.h"
#include "sim/driver/failure.h"
#include "sim/driver/memory.h"
#include "sim/driver/settings.h"

namespace flexrack::sim {

Pool::Pool(Device& on, Kind which, std::uint64_t most)
    : device(on), kind(which), most_(most), devices_(std::uint64_t{1} << on.ordinal) {}
Pool::~Pool() { trim_locked(0); }

std::uint64_t Pool::take(std::uint64_t size) {
  const std::lock_guard guard(lock_);
  // What is a little larger than asked for is as good as what fits.
  const auto found = cache_.lower_bound(size);
  std::uint64_t address = 0;
  if (found != cache_.end() && found->first == size) {
    address = found->second;
    cached_ -= size;
    cache_.erase(found);
  } else if (most_ == 0 || used_ + size <= most_) {
    if (most_ > 0 && used_ + cached_ + size > most_) trim_locked(most_ - used_ - size);
    address = device.heap.allocate(size);
    if (!address && cached_ > 0) {
      trim_locked(0);
      address = device.heap.allocate(size);
    }
  }
  if (!address) return 0;
  used_ += size;
  used_high_ = std::max(used_high_, used_);
  reserved_high_ = std::max(reserved_high_, used_ + cached_);
  return address;
}

void Pool::put(std::uint64_t address, std::uint64_t size) {
  const std::lock_guard guard(lock_);
  allocations_.erase(address);
  used_ -= size;
  cached_ += size;
  cache_.emplace(size, address);
  if (cached_ + used_ > threshold_) trim_locked(threshold_ > used_ ? threshold_ - used_ : 0);
}

void Pool::trim_locked(std::uint64_t keep) {
  while (cached_ > keep) {
    const auto largest = std::prev(cache_.end());
    device.heap.free(largest->second, largest->first);
    cached_ -= largest->first;
    cache_.erase(largest);
  }
}

void Pool::trim(std::uint64_t keep) {
  const std::lock_guard guard(lock_);
  trim_locked(keep > used_ ? keep - used_ : 0);
}

std::shared_ptr<Allocation> Pool::allocate(const Ref<Context>& context, std::uint64_t size) {
  const auto charged = DeviceHeap::charged(size);
  require(charged >= size && !is_fault_due("alloc"), CUDA_ERROR_OUT_OF_MEMORY);
  auto address = take(charged);
  if (!address) {
    // What streams have yet to free may be enough.
    context->settle();
    address = take(charged);
  }
  require(address, CUDA_ERROR_OUT_OF_MEMORY, "the pool's device has not that much memory left");
  auto made = std::make_shared<Allocation>();
  made->kind = Allocation::Kind::pool;
  made->reach = Allocation::Reach::devices;
  made->address = address;
  made->size = size;
  made->context = context;
  made->device = &device;
  made->pool = Ref<Pool>(this);
  made->give_back = [pool = Ref<Pool>(this), address, charged] { pool->put(address, charged); };
  {
    const std::lock_guard guard(lock_);
    made->devices = devices_;
    allocations_[address] = made;
  }
  Memory::instance().add(made);
  return made;
}

bool Pool::get(CUmemPool_attribute which, void* value) {
  const std::lock_guard guard(lock_);
  const auto number = [&](std::uint64_t it) {
    std::memcpy(value, &it, sizeof it);
    return true;
  };
  switch (which) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      std::memcpy(value, &reuse_[which - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES], sizeof(int));
      return true;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: return number(threshold_);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: return number(used_ + cached_);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: return number(reserved_high_);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return number(used_);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return number(used_high_);
    default: return false;
  }
}

bool Pool::set(CUmemPool_attribute which, const void* value) {
  const std::lock_guard guard(lock_);
  std::uint64_t number = 0;
  switch (which) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      std::memcpy(&reuse_[which - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES], value, sizeof(int));
      return true;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: std::memcpy(&threshold_, value, sizeof threshold_); return true;
    // The high-water marks can be set back, to zero only: cuda.h 13.0, CUmemPool_attribute.
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      std::memcpy(&number, value, sizeof number);
      if (number == 0) reserved_high_ = used_ + cached_;
      return number == 0;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      std::memcpy(&number, value, sizeof number);
      if (number == 0) used_high_ = used_;
      return number == 0;
    default: return false;
  }
}

CUmemAccess_flags Pool::access(int ordinal) {
  const std::lock_guard guard(lock_);
  return (devices_ >> ordinal) & 1 ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

void Pool::set_access(int ordinal, CUmemAccess_flags flags) {
  require(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
          CUDA_ERROR_INVALID_VALUE, "memory of pools is readable and writable, or not accessible");
  require(ordinal != device.ordinal || flags != CU_MEM_ACCESS_FLAGS_PROT_NONE, CUDA_ERROR_INVALID_DEVICE);
  std::vector<std::shared_ptr<Allocation>> affected;
  std::uint64_t devices = 0;
  {
    const std::lock_guard guard(lock_);
    const auto bit = std::uint64_t{1} << ordinal;
    devices_ = flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ? devices_ & ~bit : devices_ | bit;
    devices = devices_;
    for (const auto& [address, weak] : allocations_)
      if (auto one = weak.lock()) affected.push_back(std::move(one));
  }
  for (const auto& one : affected) Memory::instance().change(*one, [&] { one->devices = devices; });
}

}  // namespace flexrack::sim
