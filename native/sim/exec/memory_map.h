// Which host addresses are device memory, and which objects exist: what a kernel may touch. One a context. Device
// addresses are host addresses.
//
// Kernels read a snapshot that they take anew at every slice of their work (a Reader each thread that executes);
// whoever removes a range waits until no reader can still have it, so that the memory behind it may go away at once.
// Adding never waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/exec/texture.h"

namespace flexrack::sim::exec {

enum class Access : std::uint8_t { read, read_write };

/// One allocation: [begin, end).
struct Range {
  std::uint64_t begin = 1, end = 0;
  bool is_writable = false;

  bool holds(std::uint64_t address, std::uint64_t size) const {
    return address >= begin && address < end && size <= end - address;
  }
};

/// What was there at one moment; never changes.
struct MemorySnapshot {
  std::vector<Range> ranges;  ///< by address
  std::map<std::uint64_t, std::shared_ptr<const Texture>> textures;
  std::map<std::uint64_t, std::shared_ptr<const Surface>> surfaces;

  /// nullptr: in no allocation.
  const Range* find(std::uint64_t address) const;
  const Texture* texture(std::uint64_t handle) const;
  const Surface* surface(std::uint64_t handle) const;
};

class MemoryMap {
 public:
  MemoryMap() = default;
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;

  /// Ranges never overlap; size 0 is ignored. Any thread.
  void add(std::uint64_t address, std::uint64_t size, Access access = Access::read_write);
  /// False: no range begins there. Returns when no kernel can touch the range any more: at most a slice of work later.
  bool remove(std::uint64_t address);

  /// 64 zeroed bytes of device memory for one cooperative launch, kept for others when it is given back.
  std::uint64_t borrow_workspace();
  void return_workspace(std::uint64_t address);

  /// Objects by handle, not 0; the driver chooses the handles. Removing waits as above.
  void add_texture(std::uint64_t handle, Texture texture);
  void add_surface(std::uint64_t handle, Surface surface);
  bool remove_texture(std::uint64_t handle);
  bool remove_surface(std::uint64_t handle);

  /// One thread's view. Not shared between threads.
  class Reader {
   public:
    explicit Reader(MemoryMap& map);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    /// To be called where no address from before is held any longer. True: something has changed, ranges kept are void.
    bool refresh();
    const MemorySnapshot& now() const { return *snapshot_; }

   private:
    friend class MemoryMap;
    MemoryMap& map_;
    std::shared_ptr<const MemorySnapshot> snapshot_;
    std::uint64_t version_ = 0;
  };

 private:
  std::shared_ptr<const MemorySnapshot> take();
  template <class Change>
  bool change(const Change& make, bool wait);

  std::atomic<std::uint64_t> version_{1};
  std::mutex lock_;
  std::condition_variable moved_on_;
  std::vector<Reader*> readers_;
  std::map<std::uint64_t, Range> ranges_;
  std::map<std::uint64_t, std::shared_ptr<const Texture>> textures_;
  std::map<std::uint64_t, std::shared_ptr<const Surface>> surfaces_;
  struct alignas(64) Workspace {
    std::byte bytes[64];
  };
  std::vector<std::unique_ptr<Workspace>> workspaces_;
  std::vector<std::uint64_t> free_workspaces_;
  std::shared_ptr<const MemorySnapshot> latest_;  ///< null: to be made by the next reader
};

}  // namespace flexrack::sim::exec
