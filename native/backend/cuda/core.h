// What all parts of a session share: the driver, what the client may name, its share, and how it is told.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/cuda/address_map.h"
#include "backend/cuda/driver_library.h"
#include "backend/cuda/frees.h"
#include "backend/cuda/handles.h"
#include "backend/cuda/mirrors.h"
#include "backend/cuda/swap_space.h"
#include "backend/cuda/waiters.h"
#include "backend/peer_links.h"
#include "backend/printing.h"
#include "cuda/sticky.h"
#include "gen/cuda/driver_table.h"
#include "gen/cuda/requests.h"
#include "gen/cuda/revision.h"

namespace flexrack::backend::cuda {

using flexrack::cuda::is_sticky;
/// A result as messages carry it.
inline std::int32_t as_wire(CUresult status) { return static_cast<std::int32_t>(status); }

template <class Reply>
using Respond = wire::Respond<Reply>;

/// A device of the lease.
struct Device {
  CUdevice native = 0;
  std::string name, pci;
  CUuuid uuid{};
  std::uint64_t memory = 0;        ///< the share
  bool is_whole = true;
  std::size_t contexts = 0;        ///< that the client has there
  std::uint64_t context_memory = 0;   ///< bytes that a context is expected to take
  std::uint64_t threads = 0;       ///< that it runs at a time, at most: each has local memory
  std::uint64_t busy_seen = 0;     ///< nanoseconds that the driver in software has reported so far
  std::uint64_t primary = 0;       ///< handle of its primary context, while there is one
};

/// Bytes of the share that several have: they go back with the last of them. What other sessions of the lease have too,
/// or have shared, goes back when all are done with it.
struct Held {
  Grant& grant;
  std::uint32_t device = 0;
  std::uint64_t bytes = 0;
  std::optional<ShareSecret> secret{};   ///< under which it is shared
  bool is_opened = false;                ///< another session shares it
  int descriptor = -1;                   ///< of the driver's, that others open

  Held(Grant& of, std::uint32_t on, std::uint64_t charged) : grant(of), device(on), bytes(charged) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held();
};

class Core {
 public:
  /// Throws std::runtime_error where the driver does not start, or lacks a device of the grant.
  Core(Grant& grant, const std::string& driver);

  Grant& grant;
  DriverLibrary library;
  cu::DriverTable table;
  std::vector<Device> devices;
  wire::Link* link = nullptr;
  std::unique_ptr<PeerLinks> peers;
  std::unique_ptr<Printing> printing;
  Mirrors mirrors{table};
  Waiters waiters;
  Frees frees;
  Frees pool_frees;  ///< of what is swappable, in the order of streams
  std::shared_ptr<SwapSpace> swap;  ///< of a session that takes turns; else null
  std::atomic<std::size_t> loads{0};   ///< under way at the driver

  /// Held during a message, and wherever what follows is touched; recursive because a payload that is there already may
  /// finish a message at once.
  std::recursive_mutex lock;
  HandleTable handles;
  AddressMap allocations;
  std::map<std::pair<bool, std::uint64_t>, std::uint64_t>
      shown;  ///< textures (false) and surfaces by their numbers, and the contexts they are in
  bool is_replica = false;  ///< another server does the same (docs/adr/0080)
  std::set<std::uint64_t> broken;  ///< contexts in which something failed for good, told to the client
  std::map<std::uint64_t, CUresult>
      lost;  ///< contexts whose memory did not come back to the device, and what every message in them answers
  // Of a session that has come from another server: how long before the move an event was reached, in milliseconds, and
  // in each context an event that was recorded when it came.
  std::map<std::uint64_t, double> reached_before;
  std::map<std::uint64_t, CUevent> moved_at;
  std::uint64_t current = 0;  ///< handle of the context that is current on the dispatching thread
  std::thread::id dispatcher{};

  /// What the parts have to do where another one finds that a context has failed, or drops an object of theirs. Under
  /// the lock.
  std::function<void(std::uint64_t context, CUresult status)> on_broken = [](std::uint64_t, CUresult) {};
  std::function<void(const Record& gone)> on_dropped = [](const Record&) {};

  // ---- contexts
  bool make_current(std::uint64_t context);
  std::uint32_t device_of(std::uint64_t context) const;
  std::shared_ptr<HostSide> host_of(std::uint64_t context) const;
  /// A message that names a stream: it may put something there that changes mirrored memory.
  void put_on(std::uint16_t op, std::uint64_t context, std::uint64_t stream);
  /// The code of a module, or of a library as the current context has it.
  CUresult module_of(const Record& one, CUmodule& module) const;
  /// An event of that context that is recorded and reached now; null where none can be made.
  CUevent reached_now(std::uint64_t context);

  // ---- telling the client
  template <class Notice>
  void tell(const Notice& notice) {
    link->send(Notice::kOp, 0, [&](wire::Bytes& out) { encode(out, notice); });
    link->flush();
  }
  /// A status the client is about to see: one that breaks its context is told once more as such.
  void noticed(std::uint64_t context, CUresult status);
  /// The same from another thread than the dispatching one.
  void noticed_elsewhere(std::uint64_t context, CUresult status) {
    const std::lock_guard guard(lock);
    noticed(context, status);
  }
  void refused(std::uint64_t context, std::uint16_t op, CUresult status, std::uint64_t object);
  void printed();
  /// Waits that are not over when a session ends ask for its printing all the same.
  void end_printing();

  // ---- off the dispatch
  /// Under the context: what blocks in the driver.
  void later(std::uint64_t context, std::function<void()> work);
  /// The same of what waits for an event, first of all.
  void later_behind(CUevent event, std::uint64_t context, std::function<void()> work);
  /// The same as `later` when what is returned is called, once, on whatever thread. The context stays until then.
  /// `is_over`: as Waiters::run_when has it, under the context.
  std::function<void()> to_run_later(std::uint64_t context, std::function<void()> work,
                                     std::function<bool()> is_over = nullptr);
  std::function<bool()> is_reached(CUevent event);
  /// What is freed is the share's again only when the driver has it back: what asks for memory comes behind it.
  void behind_frees(std::function<void()> work);

  // ---- the share
  bool charge(std::uint32_t device, std::uint64_t bytes) { return bytes == 0 || grant.charge(device, bytes); }
  void refund(std::uint32_t device, std::uint64_t bytes) {
    if (bytes) grant.refund(device, bytes);
  }
  /// Of what has been charged.
  std::shared_ptr<Held> hold(std::uint32_t device, std::uint64_t bytes);
  /// The driver has it there: from now on the client may name it.
  void know(std::uint64_t at, Allocation one);
  /// What belongs to an object that is gone, and what belongs to that.
  void drop_owned(std::uint64_t owner, Kind kind);

  // ---- what the driver takes for itself (overhead.cpp)
  /// Bytes of the device that this process has, where the driver or NVML tells of one process; nothing while something
  /// else may change it.
  std::optional<std::uint64_t> own_memory(std::uint32_t device);
  /// Of a context that was made: the share is charged what it took instead of what was expected. False: that is more
  /// than there is.
  bool settle(std::uint32_t device, std::optional<std::uint64_t> before, std::uint64_t& charged);
  /// Charges what loading an image takes, and, where it calls malloc, what that takes from once in a context.
  /// CUDA_ERROR_OUT_OF_MEMORY: the share has not that much.
  CUresult charge_image(std::uint64_t context, const ImageMemory& image);
  /// The code and variables of a library (`owner`) are in each context where they are used, from the first use on.
  CUresult bring_in(std::uint64_t owner, std::uint64_t context);
  /// For kernels with so much local memory a thread, or a limit.
  CUresult reserve_stack(std::uint64_t context, std::uint64_t bytes);
  CUresult reserve(std::uint64_t context, CUlimit which, std::uint64_t value);

 private:
  std::mutex printing_lock_;
  std::uint64_t next_loaded_ = std::uint64_t{3} << 62;  ///< handles that nobody is told
};

}  // namespace flexrack::backend::cuda
