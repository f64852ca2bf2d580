#include "sim/driver/memory.h"

#include <string>

#include "sim/driver/failure.h"
#include "sim/driver/settings.h"

namespace flexrack::sim {

namespace {

std::shared_ptr<Allocation> made_of(const Ref<Context>& context, std::uint64_t address, std::uint64_t size) {
  auto made = std::make_shared<Allocation>();
  made->address = address;
  made->size = size;
  made->context = context;
  made->device = &context->device;
  made->give_back = [&heap = context->device.heap, address, size] { heap.free(address, size); };
  return made;
}

}  // namespace

Memory& Memory::instance() {
  static auto* one = new Memory;
  return *one;
}

bool Memory::reaches(const Allocation& allocation, const Context& context) const {
  if (!context.is_active()) return false;
  switch (allocation.reach) {
    case Allocation::Reach::everywhere: return true;
    case Allocation::Reach::devices: return (allocation.devices >> context.device.ordinal) & 1;
    case Allocation::Reach::context:
      return allocation.context.get() == &context || context.peers.contains(allocation.context.get());
  }
  return false;
}

/// Under the lock.
void Memory::show(Allocation& allocation, Context& context) {
  if (reaches(allocation, context) && allocation.seen_by.insert(&context).second) {
    context.map.add(allocation.address, allocation.size,
                    allocation.is_read_only ? exec::Access::read : exec::Access::read_write);
  }
}

void Memory::add(std::shared_ptr<Allocation> allocation) {
  const auto contexts = active_contexts();
  const std::lock_guard guard(lock_);
  allocation->id = ++last_id_;
  for (const auto& context : contexts) show(*allocation, *context);
  by_address_[allocation->address] = std::move(allocation);
}

std::shared_ptr<Allocation> Memory::remove(std::uint64_t address) {
  std::shared_ptr<Allocation> removed;
  {
    const std::lock_guard guard(lock_);
    const auto found = by_address_.find(address);
    if (found == by_address_.end()) return nullptr;
    removed = std::move(found->second);
    by_address_.erase(found);
  }
  for (auto* context : removed->seen_by) context->map.remove(address);
  removed->seen_by.clear();
  return removed;
}

std::shared_ptr<Allocation> Memory::find(std::uint64_t address) const {
  const std::shared_lock guard(lock_);
  auto after = by_address_.upper_bound(address);
  if (after == by_address_.begin()) return nullptr;
  --after;
  return address - after->first < after->second->size ? after->second : nullptr;
}

std::vector<std::shared_ptr<Allocation>> Memory::mapped(std::uint64_t address, std::uint64_t size) const {
  std::vector<std::shared_ptr<Allocation>> all;
  const std::shared_lock guard(lock_);
  auto one = by_address_.upper_bound(address);
  if (one == by_address_.begin()) return all;
  --one;
  for (auto at = address; one != by_address_.end() && one->second->kind == Allocation::Kind::mapped && one->first <= at;
       ++one) {
    if (at - one->first >= one->second->size) break;
    all.push_back(one->second);
    at = one->first + one->second->size;
    if (at - address >= size) return all;
  }
  return {};
}

bool Memory::is_taken(std::uint64_t address, std::uint64_t size) const {
  const std::shared_lock guard(lock_);
  auto after = by_address_.lower_bound(address);
  if (after != by_address_.end() && after->first - address < size) return true;
  if (after == by_address_.begin()) return false;
  --after;
  return address - after->first < after->second->size;
}

void Memory::refresh(Context& context) {
  std::vector<std::uint64_t> hidden;
  {
    const std::lock_guard guard(lock_);
    for (const auto& [address, allocation] : by_address_) {
      show(*allocation, context);
      if (!reaches(*allocation, context) && allocation->seen_by.erase(&context) > 0) hidden.push_back(address);
    }
  }
  for (const auto address : hidden) context.map.remove(address);
}

void Memory::change(Allocation& allocation, const std::function<void()>& how) {
  const auto contexts = active_contexts();
  const std::lock_guard guard(lock_);
  how();
  for (auto* context : allocation.seen_by) context->map.remove(allocation.address);
  allocation.seen_by.clear();
  for (const auto& context : contexts) show(allocation, *context);
}

std::vector<std::shared_ptr<Allocation>> Memory::of(const Context& context) const {
  std::vector<std::shared_ptr<Allocation>> all;
  const std::shared_lock guard(lock_);
  for (const auto& [address, allocation] : by_address_)
    if (allocation->context.get() == &context) all.push_back(allocation);
  return all;
}

std::shared_ptr<Allocation> allocation_of(std::uint64_t address, std::uint64_t size) {
  auto found = Memory::instance().find(address);
  if (found && found->kind == Allocation::Kind::mapped && !Memory::instance().mapped(address, size).empty())
    return found;
  if (!found || !found->holds(address, size)) {
    char text[128];
    std::snprintf(text, sizeof text, "%llu bytes at 0x%llx: %s", static_cast<unsigned long long>(size),
                  static_cast<unsigned long long>(address),
                  found ? "over the end of the allocation" : "in no allocation");
    fail(CUDA_ERROR_INVALID_VALUE, text);
  }
  return found;
}

std::shared_ptr<Allocation> allocate_device(const Ref<Context>& context, std::uint64_t size, std::uint64_t align) {
  auto& heap = context->device.heap;
  require(align <= DeviceHeap::kGranularity);
  const auto address = is_fault_due("alloc") ? 0 : heap.allocate(size);
  if (!address) {
    fail(CUDA_ERROR_OUT_OF_MEMORY, "device " + std::to_string(context->device.ordinal) + ": " + std::to_string(size) +
                                       " bytes asked for, " + std::to_string(heap.capacity() - heap.used()) + " left");
  }
  return made_of(context, address, size);
}

std::shared_ptr<Allocation> place_device(const Ref<Context>& context, std::uint64_t address, std::uint64_t size) {
  require(address != 0 && context->device.heap.allocate_at(address, size) == address, CUDA_ERROR_ALREADY_MAPPED,
          "memory cannot be had at the address where it was");
  return made_of(context, address, size);
}

}  // namespace flexrack::sim
