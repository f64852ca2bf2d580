// All memory that the API knows, of all contexts, by address. Device addresses are host addresses.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>

#include "sim/driver/context.h"
#include "sim/driver/device.h"
#include "sim/driver/pool.h"

namespace flexrack::sim {

class GraphAddress;

/// One range. What it is made of is given back when nobody uses it any more.
struct Allocation {
  /// opened: another process's.
  enum class Kind : std::uint8_t { device, host, registered, managed, pool, graph, mapped, opened };
  /// Whose kernels may use it.
  enum class Reach : std::uint8_t { context, devices, everywhere };

  Kind kind = Kind::device;
  Reach reach = Reach::context;
  bool is_read_only = false;                   ///< for kernels
  std::uint64_t address = 0, size = 0;         ///< as asked for
  std::uint64_t id = 0;                        ///< CU_POINTER_ATTRIBUTE_BUFFER_ID
  Ref<Context> context;                        ///< it was made in; null: of none
  Device* device = nullptr;                    ///< it lies on; null: host memory
  std::uint64_t devices = 0;                   ///< those that may use it, a bit each, where reach says devices
  unsigned flags = 0;                          ///< as given when it was made
  std::atomic<bool> has_sync_memops{false};
  bool is_module = false;                      ///< a variable of a module
  std::atomic<bool> is_being_freed{false};     ///< by a command in a stream
  Ref<Pool> pool;                              ///< it is from; null: of none
  std::weak_ptr<GraphAddress> graph;           ///< of a graph: the address stays when the memory is freed
  std::function<void()> give_back;             ///< gives the memory itself back; may be empty

  std::set<Context*> seen_by;                  ///< has it in its map; Memory's business

  Allocation() = default;
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  ~Allocation() {
    if (give_back) give_back();
  }
  bool holds(std::uint64_t at, std::uint64_t bytes) const {
    return at >= address && at - address <= size && bytes <= size - (at - address);
  }
  /// By cuMemFree and cuMemFreeAsync.
  bool is_freeable() const {
    return !is_module && (kind == Kind::device || kind == Kind::managed || kind == Kind::pool || kind == Kind::graph);
  }
  bool is_host() const { return kind == Kind::host || kind == Kind::registered; }
};

/// Thread-safe.
class Memory {
 public:
  static Memory& instance();

  /// Kernels that may use it see it from now on. Gives it an id.
  void add(std::shared_ptr<Allocation> allocation);
  /// The one that begins there, taken out: nothing finds it any more, and no kernel touches it once this returns. Null
  /// where none begins there.
  std::shared_ptr<Allocation> remove(std::uint64_t address);
  /// The one that holds the address; null where none does.
  std::shared_ptr<Allocation> find(std::uint64_t address) const;
  /// The mapped ranges, one behind the other, that hold all of a range; empty where there are gaps, or other memory.
  std::vector<std::shared_ptr<Allocation>> mapped(std::uint64_t address, std::uint64_t size) const;
  /// Whether any allocation has a byte in the range.
  bool is_taken(std::uint64_t address, std::uint64_t size) const;

  /// What kernels of the context may use has changed: it was started or stopped, has a peer more or less.
  void refresh(Context& context);
  /// Who may use an allocation has changed.
  void change(Allocation& allocation, const std::function<void()>& how);
  /// Those made in a context.
  std::vector<std::shared_ptr<Allocation>> of(const Context& context) const;
  /// Guards Context::peers; hold it while they change, then refresh().
  std::shared_mutex& lock() const { return lock_; }

 private:
  bool reaches(const Allocation& allocation, const Context& context) const;
  void show(Allocation& allocation, Context& context);

  mutable std::shared_mutex lock_;
  std::map<std::uint64_t, std::shared_ptr<Allocation>> by_address_;
  std::uint64_t last_id_ = 0;
};

/// Gives back what begins at an address. False where nothing does, or a graph's memory is not there at the moment.
bool free_allocation(std::uint64_t address);

/// The allocation that holds all of a range of device-accessible memory; of mapped ones that lie side by side the
/// first. Throws CUDA_ERROR_INVALID_VALUE.
std::shared_ptr<Allocation> allocation_of(std::uint64_t address, std::uint64_t size);

/// Device memory in a context, cuMemAlloc's. Throws CUDA_ERROR_OUT_OF_MEMORY.
std::shared_ptr<Allocation> allocate_device(const Ref<Context>& context, std::uint64_t size,
                                            std::uint64_t align = DeviceHeap::kGranularity);
/// The same at that address. Throws CUDA_ERROR_ALREADY_MAPPED where something is there, or no room is left.
std::shared_ptr<Allocation> place_device(const Ref<Context>& context, std::uint64_t address, std::uint64_t size);

}  // namespace flexrack::sim
