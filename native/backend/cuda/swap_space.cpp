#include "backend/cuda/swap_space.h"

#include <sys/mman.h>
#include <sys/random.h>

#include <algorithm>
#include <vector>

namespace flexrack::backend::cuda {
namespace {

constexpr std::uint64_t kAlignment = 512;
/// Where addresses are asked for, each session somewhere else: the client keeps them free on its side, and little else
/// lies there in any process (sim/driver/device_heap). A driver may choose others.
constexpr std::uint64_t kZone = std::uint64_t{104} << 40, kZoneBytes = std::uint64_t{8} << 40;

std::uint64_t in_steps(std::uint64_t size, std::uint64_t to) { return (size + to - 1) / to * to; }

CUmemAllocationProp memory_of(CUdevice device) {
  CUmemAllocationProp wish{};
  wish.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wish.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wish.location.id = device;
  return wish;
}

}  // namespace

SwapSpace::~SwapSpace() {
  for (auto& [at, block] : blocks_)
    if (block.host) munmap(block.host, block.size);
}

CUresult SwapSpace::find_step() {
  if (step_ != 0) return CUDA_SUCCESS;
  if (!driver_.cuMemAddressReserve || !driver_.cuMemCreate || !driver_.cuMemMap || !driver_.cuMemSetAccess ||
      !driver_.cuMemUnmap || !driver_.cuMemHostRegister_v2)
    return CUDA_ERROR_NOT_SUPPORTED;
  const auto wish = memory_of(device_);
  size_t step = 0;
  const auto status = driver_.cuMemGetAllocationGranularity(&step, &wish, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  if (status == CUDA_SUCCESS && step == 0) return CUDA_ERROR_NOT_SUPPORTED;
  step_ = step;
  return status;
}

/// The host has as much memory for a session as its lease has of the device, in whole steps.
std::uint64_t SwapSpace::most() const { return in_steps(grant_.devices().front().memory, step_); }

std::uint64_t SwapSpace::cost_of(std::uint64_t size) {
  const std::lock_guard guard(lock_);
  const auto share = grant_.devices().front().memory, used = grant_.used(0);
  if (size == 0 || size > share || used > share - size || find_step() != CUDA_SUCCESS) return 0;  // refused anyway
  return in_steps(size, step_);
}

CUresult SwapSpace::allocate(std::uint64_t size, CUdeviceptr& address, std::shared_ptr<void>& held) {
  const std::lock_guard guard(lock_);
  if (const auto status = find_step(); status != CUDA_SUCCESS) return status;
  if (size == 0 || size > ~std::uint64_t{0} - step_) return CUDA_ERROR_INVALID_VALUE;
  if (!grant_.charge_share(size)) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto taken = in_steps(size, kAlignment);
  auto block = blocks_.end();
  auto gap = std::map<std::uint64_t, std::uint64_t>::iterator{};
  for (auto one = blocks_.begin(); taken < step_ && block == blocks_.end() && one != blocks_.end(); ++one)
    for (auto free = one->second.gaps.begin(); free != one->second.gaps.end(); ++free)
      if (free->second >= taken) {
        block = one, gap = free;
        break;
      }
  if (block == blocks_.end()) {
    if (const auto status = make_block(in_steps(taken, step_), block); status != CUDA_SUCCESS) {
      grant_.refund_share(size);
      return status;
    }
    gap = block->second.gaps.begin();
  }
  const auto [offset, room] = *gap;
  block->second.gaps.erase(gap);
  if (room > taken) block->second.gaps[offset + taken] = room - taken;
  block->second.used += taken;
  address = block->first + offset;
  held = {nullptr, [self = shared_from_this(), at = address, taken, size](void*) { self->put(at, taken, size); }};
  return CUDA_SUCCESS;
}

CUresult SwapSpace::make_block(std::uint64_t size, Blocks::iterator& made) {
  if (size > most() || all_ > most() - size || !grant_.hold(size)) return CUDA_ERROR_OUT_OF_MEMORY;
  if (next_ == 0 && getrandom(&next_, sizeof next_, GRND_NONBLOCK) != sizeof next_) next_ = step_;
  const auto wish = kZone + next_ % (kZoneBytes - size) / step_ * step_;
  next_ += size;
  CUdeviceptr at = 0;
  auto status = driver_.cuMemAddressReserve(&at, size, 0, wish, 0);
  Block block{.size = size};
  if (status == CUDA_SUCCESS) {
    status = bring_memory(at, block);
    if (status != CUDA_SUCCESS) driver_.cuMemAddressFree(at, size);
  }
  if (status != CUDA_SUCCESS) {
    grant_.let_go(size);
    return status;
  }
  block.gaps[0] = size;
  all_ += size;
  made = blocks_.emplace(at, std::move(block)).first;
  return CUDA_SUCCESS;
}

CUresult SwapSpace::bring_memory(std::uint64_t at, Block& block) {
  const auto wish = memory_of(device_);
  auto status = driver_.cuMemCreate(&block.memory, block.size, &wish, 0);
  if (status != CUDA_SUCCESS) return status;
  status = driver_.cuMemMap(at, block.size, 0, block.memory, 0);
  if (status == CUDA_SUCCESS) {
    const CUmemAccessDesc who{{CU_MEM_LOCATION_TYPE_DEVICE, device_}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    status = driver_.cuMemSetAccess(at, block.size, &who, 1);
    if (status != CUDA_SUCCESS) driver_.cuMemUnmap(at, block.size);
  }
  if (status != CUDA_SUCCESS) driver_.cuMemRelease(block.memory);
  block.is_there = status == CUDA_SUCCESS;
  return status;
}

/// Pages of the host that the device copies to and from; kept as long as the block is.
CUresult SwapSpace::take_host(Block& block) {
  if (!block.host) {
    auto* const at = mmap(nullptr, block.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    block.host = at;
  }
  if (block.registered) return CUDA_SUCCESS;
  const auto status = driver_.cuMemHostRegister_v2(block.host, block.size, CU_MEMHOSTREGISTER_PORTABLE);
  if (status == CUDA_SUCCESS) driver_.cuCtxGetCurrent(&block.registered);
  return status;
}

CUresult SwapSpace::out() {
  const std::lock_guard guard(lock_);
  for (auto& [at, block] : blocks_) {
    if (!block.is_there) continue;
    if (const auto status = take_host(block); status != CUDA_SUCCESS) return status;
    if (const auto status = driver_.cuMemcpyDtoHAsync_v2(block.host, at, block.size, nullptr); status != CUDA_SUCCESS)
      return status;
  }
  if (const auto status = driver_.cuStreamSynchronize(nullptr); status != CUDA_SUCCESS) return status;
  for (auto& [at, block] : blocks_) {
    if (!block.is_there) continue;
    // What a driver does not unmap is on the device, with what is in it.
    if (driver_.cuMemUnmap(at, block.size) != CUDA_SUCCESS) return CUDA_ERROR_UNMAP_FAILED;
    driver_.cuMemRelease(block.memory);
    block.is_there = false;
    block.is_away = true;
  }
  return CUDA_SUCCESS;
}

CUresult SwapSpace::in() {
  const std::lock_guard guard(lock_);
  auto status = CUDA_SUCCESS;
  std::vector<Block*> copied;
  for (auto& [at, block] : blocks_) {
    if (!block.is_away || block.is_lost) continue;
    if (!block.is_there) status = bring_memory(at, block);
    if (status == CUDA_SUCCESS) status = driver_.cuMemcpyHtoDAsync_v2(at, block.host, block.size, nullptr);
    if (status != CUDA_SUCCESS) break;
    copied.push_back(&block);
  }
  const auto synchronized = driver_.cuStreamSynchronize(nullptr);
  if (synchronized != CUDA_SUCCESS) return synchronized;
  for (auto* const block : copied) block->is_away = false;
  return status;
}

void SwapSpace::lose() {
  const std::lock_guard guard(lock_);
  for (auto& [at, block] : blocks_) block.is_lost = !block.is_there;
}

void SwapSpace::leave_context(CUcontext context) {
  const std::lock_guard guard(lock_);
  for (auto& [at, block] : blocks_)
    if (block.registered == context) {
      driver_.cuMemHostUnregister(block.host);
      block.registered = nullptr;
    }
}

void SwapSpace::abandon() {
  const std::lock_guard guard(lock_);
  is_abandoned_ = true;
}

void SwapSpace::put(std::uint64_t at, std::uint64_t size, std::uint64_t charged) {
  const std::lock_guard guard(lock_);
  auto block = std::prev(blocks_.upper_bound(at));
  auto& gaps = block->second.gaps;
  auto offset = at - block->first, room = size;
  if (const auto after = gaps.find(offset + size); after != gaps.end()) {
    room += after->second;
    gaps.erase(after);
  }
  auto before = gaps.lower_bound(offset);
  if (before != gaps.begin() && (--before)->first + before->second == offset) {
    before->second += room;
  } else {
    gaps[offset] = room;
  }
  block->second.used -= size;
  if (block->second.used == 0) end_block(block);
  grant_.refund_share(charged);
}

void SwapSpace::end_block(Blocks::iterator one) {
  auto& [at, block] = *one;
  if (!is_abandoned_) {
    if (block.is_there && driver_.cuMemUnmap(at, block.size) != CUDA_SUCCESS) return;  // kept, and free in all of it
    if (block.is_there) driver_.cuMemRelease(block.memory);
    driver_.cuMemAddressFree(at, block.size);
    if (block.registered) driver_.cuMemHostUnregister(block.host);
  }
  if (block.is_there || block.is_lost) grant_.let_go(block.size);
  if (block.host) munmap(block.host, block.size);
  all_ -= block.size;
  blocks_.erase(one);
}

}  // namespace flexrack::backend::cuda
