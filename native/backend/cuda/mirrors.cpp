#include "backend/cuda/mirrors.h"

#include <sys/mman.h>

#include <cstring>

#include "cuda/difference.h"
#include "cuda/process_pages.h"

namespace flexrack::backend::cuda {
using flexrack::cuda::map_pages;
using flexrack::cuda::page_bytes;

namespace {

constexpr std::uint64_t kReported = std::uint64_t{1} << 20;      ///< bytes a notice, about
constexpr std::size_t kMostRanges = 16 * 1024;               ///< a notice
constexpr std::uint64_t kMostContent = std::uint64_t{8} << 20;   ///< of a variable, with one reply
constexpr std::uint64_t kStep = std::uint64_t{1} << 20;  ///< compared at a time: others wait for the lock meanwhile

}  // namespace

Mirror::~Mirror() {
  if (pages) ::munmap(pages, page_bytes);
  if (twin) ::munmap(twin, size);
}

void Mirrors::start(std::uint64_t most, Tell tell) {
  most_ = most;
  tell_ = std::move(tell);
}

void Mirrors::keep(std::shared_ptr<Mirror> mirror) {
  mirrored_ += mirror->page_bytes;
  const auto at = reinterpret_cast<std::uint64_t>(mirror->memory);
  all_[at] = std::move(mirror);
  is_empty_.store(false, std::memory_order_relaxed);
}

CUresult Mirrors::make(std::uint64_t context, std::uint64_t at, std::uint64_t size, unsigned flags,
                       std::uint64_t& address) {
  if (size == 0 || at > ~size - page_bytes()) return CUDA_ERROR_INVALID_VALUE;
  if (size > most_) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto first = at / page_bytes() * page_bytes();
  auto made = std::make_shared<Mirror>();
  made->size = size;
  made->context = context;
  made->page_bytes = (at + size - first + page_bytes() - 1) / page_bytes() * page_bytes();
  {
    const std::lock_guard guard(lock_);
    if (made->page_bytes > most_ - std::min(most_, mirrored_)) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  made->pages = map_pages(first, made->page_bytes);
  if (!made->pages) return at != 0 ? CUDA_ERROR_ALREADY_MAPPED : CUDA_ERROR_OUT_OF_MEMORY;
  made->memory = made->pages + (at - first);
  made->twin = map_pages(0, size);
  if (!made->twin) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!driver_.cuMemHostRegister_v2 || !driver_.cuMemHostGetDevicePointer_v2) return CUDA_ERROR_NOT_SUPPORTED;
  const auto kind = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | (flags & CU_MEMHOSTREGISTER_READ_ONLY);
  if (const auto status = driver_.cuMemHostRegister_v2(made->pages, made->page_bytes, kind); status != CUDA_SUCCESS)
    return status;
  CUdeviceptr seen = 0;
  auto status = driver_.cuMemHostGetDevicePointer_v2(&seen, made->pages, 0);
  // With unified addresses the device has it where the host has it; a device that has not cannot use what the
  // application's pointers say.
  if (status == CUDA_SUCCESS && seen != reinterpret_cast<std::uint64_t>(made->pages)) status = CUDA_ERROR_NOT_SUPPORTED;
  if (status != CUDA_SUCCESS) {
    driver_.cuMemHostUnregister(made->pages);
    return status;
  }
  address = reinterpret_cast<std::uint64_t>(made->memory);
  const std::lock_guard guard(lock_);
  keep(std::move(made));
  return CUDA_SUCCESS;
}

CUresult Mirrors::watch(std::uint64_t context, std::uint64_t owner, std::uint64_t at, std::uint64_t size,
                        wire::Bytes& content) {
  const std::lock_guard guard(lock_);
  if (size == 0) return CUDA_ERROR_INVALID_VALUE;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(at);
  auto used = size;
  while (used > 0 && bytes[used - 1] == 0) --used;
  if (used > kMostContent) return CUDA_ERROR_NOT_SUPPORTED;
  content.assign(bytes, bytes + used);
  if (const auto known = all_.find(at); known != all_.end())
    return std::memcpy(known->second->twin, bytes, known->second->size), CUDA_SUCCESS;
  auto made = std::make_shared<Mirror>();
  made->memory = reinterpret_cast<std::uint8_t*>(at);
  made->size = size;
  made->context = context;
  made->owner = owner;
  made->twin = map_pages(0, size);
  if (!made->twin) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memcpy(made->twin, made->memory, size);
  keep(std::move(made));
  return CUDA_SUCCESS;
}

std::shared_ptr<Mirror> Mirrors::take(std::uint64_t address) {
  const std::lock_guard guard(lock_);
  const auto found = all_.find(address);
  if (found == all_.end() || found->second->owner != 0) return nullptr;
  auto taken = std::move(found->second);
  all_.erase(found);
  taken->is_gone = true;
  mirrored_ -= taken->page_bytes;
  return taken;
}

std::vector<std::shared_ptr<Mirror>> Mirrors::take_of_context(std::uint64_t context) {
  std::vector<std::shared_ptr<Mirror>> taken;
  const std::lock_guard guard(lock_);
  std::erase_if(all_, [&](auto& entry) {
    if (entry.second->context != context) return false;
    entry.second->is_gone = true;
    mirrored_ -= entry.second->page_bytes;
    taken.push_back(std::move(entry.second));
    return true;
  });
  std::erase_if(used_, [&](const auto& entry) { return entry.second.context == context; });
  return taken;
}

void Mirrors::forget_owner(std::uint64_t owner) {
  const std::lock_guard guard(lock_);
  std::erase_if(all_, [&](auto& entry) {
    if (entry.second->owner != owner) return false;
    entry.second->is_gone = true;
    return true;
  });
}

CUresult Mirrors::give_back(const Mirror& mirror) {
  return mirror.pages ? driver_.cuMemHostUnregister(mirror.pages) : CUDA_SUCCESS;
}

void Mirrors::abandon() {
  const std::lock_guard guard(lock_);
  for (const auto& [address, mirror] : all_) mirror->pages = mirror->twin = nullptr;
}

bool Mirrors::write(std::span<const cu::Range> ranges, wire::View data) {
  const std::lock_guard guard(lock_);
  for (const auto& range : ranges) {
    auto after = all_.upper_bound(range.address);
    if (range.size > data.size() || after == all_.begin()) return false;
    const auto& mirror = *std::prev(after)->second;
    const auto offset = range.address - std::prev(after)->first;
    if (offset > mirror.size || range.size > mirror.size - offset) return false;
    std::memcpy(mirror.memory + offset, data.data(), range.size);
    std::memcpy(mirror.twin + offset, data.data(), range.size);
    data = data.subspan(range.size);
  }
  return data.empty();
}

void Mirrors::used(std::uint64_t context, std::uint64_t stream) {
  if (is_empty()) return;
  const std::lock_guard guard(lock_);
  used_[key(context, stream)] = {++last_use_, context};
}

bool Mirrors::is_quiet() {
  if (is_empty()) return true;
  const std::lock_guard guard(lock_);
  return used_.empty();
}

std::uint64_t Mirrors::point() {
  const std::lock_guard guard(lock_);
  return last_use_;
}

void Mirrors::tell_changes(std::uint64_t point, std::uint64_t context, std::optional<std::uint64_t> stream) {
  if (is_empty()) return;
  const std::lock_guard one_by_one(telling_);
  std::vector<std::shared_ptr<Mirror>> all;
  {
    const std::lock_guard guard(lock_);
    if (used_.empty()) return;
    for (const auto& [address, mirror] : all_) all.push_back(mirror);
  }
  std::vector<cu::Range> ranges;
  wire::Bytes data;
  const auto tell = [&] {
    if (ranges.empty()) return;
    tell_(cu::Changed{.ranges = ranges, .data = data});
    ranges.clear();
    data.clear();
  };
  for (const auto& mirror : all) {
    for (std::uint64_t at = 0; at < mirror->size; at += kStep) {
      {
        const std::lock_guard guard(lock_);
        if (mirror->is_gone) break;
        flexrack::cuda::take_changes(
            mirror->memory + at, mirror->twin + at, std::min(kStep, mirror->size - at),
            [&](std::size_t offset, wire::View bytes) {
              ranges.push_back({reinterpret_cast<std::uint64_t>(mirror->memory) + at + offset, bytes.size()});
              data.insert(data.end(), bytes.begin(), bytes.end());
            });
      }
      if (data.size() >= kReported || ranges.size() >= kMostRanges) tell();
    }
  }
  tell();
  const std::lock_guard guard(lock_);
  std::erase_if(used_, [&](const auto& entry) {
    const bool is_meant = stream ? entry.first == key(context, *stream) : entry.second.context == context;
    return is_meant && entry.second.number <= point;
  });
}

}  // namespace flexrack::backend::cuda
