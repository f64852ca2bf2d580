#include "sim/exec/memory_map.h"

#include <algorithm>
#include <cstring>

namespace flexrack::sim::exec {

const Range* MemorySnapshot::find(std::uint64_t address) const {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                [](std::uint64_t at, const Range& range) { return at < range.begin; });
  if (after == ranges.begin()) return nullptr;
  --after;
  return address < after->end ? &*after : nullptr;
}

const Texture* MemorySnapshot::texture(std::uint64_t handle) const {
  const auto found = textures.find(handle);
  return found == textures.end() ? nullptr : found->second.get();
}

const Surface* MemorySnapshot::surface(std::uint64_t handle) const {
  const auto found = surfaces.find(handle);
  return found == surfaces.end() ? nullptr : found->second.get();
}

template <class Change>
bool MemoryMap::change(const Change& make, bool wait) {
  std::unique_lock held(lock_);
  if (!make()) return false;
  latest_.reset();
  const auto version = ++version_;
  if (!wait) return true;
  moved_on_.wait(held, [&] {
    return std::all_of(readers_.begin(), readers_.end(),
                       [&](const Reader* reader) { return reader->version_ >= version; });
  });
  return true;
}

void MemoryMap::add(std::uint64_t address, std::uint64_t size, Access access) {
  if (size == 0) return;
  change(
      [&] {
        return ranges_.insert_or_assign(address, Range{address, address + size, access == Access::read_write}), true;
      },
      false);
}

bool MemoryMap::remove(std::uint64_t address) {
  return change([&] { return ranges_.erase(address) != 0; }, true);
}

std::uint64_t MemoryMap::borrow_workspace() {
  std::uint64_t address = 0;
  {
    const std::scoped_lock held(lock_);
    if (!free_workspaces_.empty()) {
      address = free_workspaces_.back();
      free_workspaces_.pop_back();
    } else {
      workspaces_.push_back(std::make_unique<Workspace>());
      address = reinterpret_cast<std::uint64_t>(workspaces_.back().get());
      ranges_.insert_or_assign(address, Range{address, address + sizeof(Workspace), true});
      latest_.reset();
      ++version_;
    }
  }
  std::memset(reinterpret_cast<void*>(address), 0, sizeof(Workspace));
  return address;
}

void MemoryMap::return_workspace(std::uint64_t address) {
  const std::scoped_lock held(lock_);
  free_workspaces_.push_back(address);
}

void MemoryMap::add_texture(std::uint64_t handle, Texture texture) {
  change([&] { return textures_.insert_or_assign(handle, std::make_shared<const Texture>(std::move(texture))), true; },
         false);
}

void MemoryMap::add_surface(std::uint64_t handle, Surface surface) {
  change([&] { return surfaces_.insert_or_assign(handle, std::make_shared<const Surface>(surface)), true; }, false);
}

bool MemoryMap::remove_texture(std::uint64_t handle) {
  return change([&] { return textures_.erase(handle) != 0; }, true);
}

bool MemoryMap::remove_surface(std::uint64_t handle) {
  return change([&] { return surfaces_.erase(handle) != 0; }, true);
}

/// Under the lock.
std::shared_ptr<const MemorySnapshot> MemoryMap::take() {
  if (latest_ == nullptr) {
    auto made = std::make_shared<MemorySnapshot>();
    made->ranges.reserve(ranges_.size());
    for (const auto& [address, range] : ranges_) made->ranges.push_back(range);
    made->textures = textures_;
    made->surfaces = surfaces_;
    latest_ = std::move(made);
  }
  return latest_;
}

MemoryMap::Reader::Reader(MemoryMap& map) : map_(map) {
  const std::scoped_lock held(map_.lock_);
  snapshot_ = map_.take();
  version_ = map_.version_;
  map_.readers_.push_back(this);
}

MemoryMap::Reader::~Reader() {
  const std::scoped_lock held(map_.lock_);
  std::erase(map_.readers_, this);
  map_.moved_on_.notify_all();
}

bool MemoryMap::Reader::refresh() {
  if (map_.version_.load(std::memory_order_acquire) == version_) return false;
  const std::scoped_lock held(map_.lock_);
  snapshot_ = map_.take();
  version_ = map_.version_;
  map_.moved_on_.notify_all();
  return true;
}

}  // namespace flexrack::sim::exec
