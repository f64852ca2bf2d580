// Memory of the application that kernels use here: pinned memory at the same address, kept like the application's by
// what both sides tell each other.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gen/cuda/driver_table.h"
#include "gen/cuda/messages.h"

namespace flexrack::backend::cuda {

/// One stretch, and its twin: what both sides last agreed on.
struct Mirror {
  std::uint8_t* memory = nullptr;
  std::uint64_t size = 0;
  std::uint64_t context = 0;           ///< in which it is registered
  std::uint64_t owner = 0;             ///< handle of the module whose variable it is; 0: it was made here
  std::uint8_t* pages = nullptr;       ///< of its own, that go with it
  std::uint64_t page_bytes = 0;
  std::uint8_t* twin = nullptr;
  bool is_gone = false;                ///< under the lock of all: its bytes may not be looked at any more

  Mirror() = default;
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;
  ~Mirror();
};

/// Thread-safe.
class Mirrors {
 public:
  using Tell = std::function<void(const cu::Changed&)>;
  explicit Mirrors(const cu::DriverTable& driver) : driver_(driver) {}
  /// `most`: bytes that may be mirrored at a time. Before anything else.
  void start(std::uint64_t most, Tell tell);

  /// Pinned memory at that address, or wherever (0); with the context current. CUDA_ERROR_ALREADY_MAPPED: something
  /// else is there; CUDA_ERROR_OUT_OF_MEMORY: more than may be mirrored.
  CUresult make(std::uint64_t context, std::uint64_t at, std::uint64_t size, unsigned flags, std::uint64_t& address);
  /// Memory that the driver has anyway: a module's managed variable. `content`: what it holds, without the zeros at its
  /// end, of which there may be much.
  CUresult watch(std::uint64_t context, std::uint64_t owner, std::uint64_t at, std::uint64_t size,
                 wire::Bytes& content);
  /// No more of it is told. Who unregisters it calls give_back() with its context current.
  std::shared_ptr<Mirror> take(std::uint64_t address);
  std::vector<std::shared_ptr<Mirror>> take_of_context(std::uint64_t context);
  void forget_owner(std::uint64_t owner);
  CUresult give_back(const Mirror& mirror);
  /// Their pages stay as long as the process: something may still use them.
  void abandon();

  /// What the application has changed. False: it is not in any mirror.
  bool write(std::span<const cu::Range> ranges, wire::View data);

  bool is_empty() const { return is_empty_.load(std::memory_order_relaxed); }
  /// Something that may change mirrors is put on a stream.
  void used(std::uint64_t context, std::uint64_t stream);
  /// True where nothing can have changed since the client was told.
  bool is_quiet();
  /// Where all streams are now, for told().
  std::uint64_t point();
  /// Tells the client what has changed here since it was last told. Whatever was on those streams at that point is
  /// over.
  void tell_changes() { tell_changes(0, 0, 0); }
  void tell_changes(std::uint64_t point, std::uint64_t context, std::optional<std::uint64_t> stream);

 private:
  struct Use {
    std::uint64_t number = 0, context = 0;
  };
  std::uint64_t key(std::uint64_t context, std::uint64_t stream) const { return stream != 0 ? stream : context; }
  void keep(std::shared_ptr<Mirror> mirror);

  const cu::DriverTable& driver_;
  std::uint64_t most_ = 0;
  Tell tell_;
  std::atomic<bool> is_empty_{true};
  std::mutex telling_;  ///< held over looking and telling: who finds nothing new comes after what was
  std::mutex lock_;  ///< of the rest, and of the bytes while they are compared or written
  std::map<std::uint64_t, std::shared_ptr<Mirror>> all_;  ///< by address
  std::map<std::uint64_t, Use>
      used_;  ///< streams by handle, default streams by their context's, that may still change mirrors
  std::uint64_t last_use_ = 0, mirrored_ = 0;
};

}  // namespace flexrack::backend::cuda
