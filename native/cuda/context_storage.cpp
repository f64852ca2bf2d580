#include "cuda/context_storage.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <map>
#include <new>
#include <shared_mutex>
#include <utility>

namespace flexrack::cuda {
namespace {

using Place = std::pair<CUcontext, void*>;

struct Stored {
  void* value;
  StorageDestructor destructor;
};

struct Storage {
  std::shared_mutex lock;
  std::map<Place, Stored> values;
  /// One more with every change, inside the lock: what a thread remembers is valid while this is what it was before it
  /// looked.
  std::atomic<std::uint64_t> generation{1};
};

/// Never ended: libraries ask while the process ends.
Storage& storage() {
  static Storage& one = *new Storage;
  return one;
}

struct Remembered {
  std::uint64_t generation;
  CUcontext context;
  void* key;
  void* value;
};
using Memory = std::array<Remembered, 64>;

/// What this thread found last, made when it has found something; only a pointer here, since a driver that is opened
/// late gets a few hundred bytes a thread and no more (glibc, rtld.optional_static_tls).
constinit thread_local Memory* remembered = nullptr;
constinit thread_local bool is_thread_ending = false;

struct Forget {
  ~Forget() {
    is_thread_ending = true;
    delete std::exchange(remembered, nullptr);
  }
};

Remembered& place_in(Memory& memory, CUcontext context, void* key) {
  // One process has six such libraries (PyTorch), one to eight contexts: few of them meet.
  const auto mixed =
      (reinterpret_cast<std::uintptr_t>(context) ^ reinterpret_cast<std::uintptr_t>(key)) * 0x9e3779b97f4a7c15u;
  return memory[mixed >> 58];
}

void remember(const Remembered& found) {
  if (!remembered) {
    if (is_thread_ending) return;
    remembered = new (std::nothrow) Memory{};
    if (!remembered) return;
    static thread_local Forget at_end;
  }
  place_in(*remembered, found.context, found.key) = found;
}

}  // namespace

CUresult storage_put(CUcontext context, void* key, void* value, StorageDestructor destructor) noexcept try {
  auto& all = storage();
  const std::unique_lock held(all.lock);
  all.values.insert_or_assign(Place(context, key), Stored{value, destructor});
  all.generation.fetch_add(1, std::memory_order_release);
  return CUDA_SUCCESS;
} catch (const std::bad_alloc&) { return CUDA_ERROR_OUT_OF_MEMORY; }

CUresult storage_get(CUcontext context, void* key, void** value) noexcept {
  auto& all = storage();
  const auto generation = all.generation.load(std::memory_order_acquire);
  if (remembered) {
    const auto& last = place_in(*remembered, context, key);
    if (last.generation == generation && last.context == context && last.key == key) {
      *value = last.value;
      return CUDA_SUCCESS;
    }
  }
  const std::shared_lock held(all.lock);
  const auto found = all.values.find(Place(context, key));
  if (found == all.values.end()) return CUDA_ERROR_INVALID_HANDLE;
  *value = found->second.value;
  remember({generation, context, key, *value});
  return CUDA_SUCCESS;
}

CUresult storage_remove(CUcontext context, void* key) noexcept {
  auto& all = storage();
  const std::unique_lock held(all.lock);
  if (all.values.erase(Place(context, key)) == 0) return CUDA_ERROR_INVALID_HANDLE;
  all.generation.fetch_add(1, std::memory_order_release);
  return CUDA_SUCCESS;
}

void storage_destroy(CUcontext context) noexcept {
  // Nodes are moved, not copied: nothing here needs memory.
  const auto take = [context] {
    auto& all = storage();
    std::map<Place, Stored> taken;
    const std::unique_lock held(all.lock);
    auto next = all.values.lower_bound(Place(context, nullptr));
    while (next != all.values.end() && next->first.first == context) taken.insert(all.values.extract(next++));
    all.generation.fetch_add(1, std::memory_order_release);
    return taken;
  };
  for (const auto& [place, stored] : take())
    if (stored.destructor) stored.destructor(place.first, place.second, stored.value);
  take();
}

}  // namespace flexrack::cuda
