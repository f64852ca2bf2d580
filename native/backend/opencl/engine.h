// What all parts of the backend share: the link, the grant, the devices, and how completions come in.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/opencl/native_library.h"
#include "backend/opencl/notices.h"
#include "backend/opencl/sub_devices.h"
#include "backend/opencl/watcher.h"
#include "backend/peer_links.h"
#include "backend/printing.h"
#include "backend/worker_thread.h"

namespace flexrack::backend::opencl {

/// How long a device was busy, told from the completions that are reported anyway: from the first launch on an idle
/// device to the completion that covers the last one. Costs a launch a counter; nothing is asked of the device for it.
class Usage {
 public:
  /// The number of this launch.
  std::uint64_t launched();
  std::uint64_t count() const { return launches_.load(std::memory_order_relaxed); }
  /// What was enqueued up to that number is over. Busy nanoseconds since the last answer.
  std::uint64_t completed(std::uint64_t number);

 private:
  std::atomic<std::uint64_t> launches_{0};
  std::atomic<std::int64_t> busy_since_{0};   ///< 0: idle
};

struct Device {
  std::uint32_t index = 0;           ///< names it in messages
  std::uint32_t share =
      0;           ///< its position in the grant; a sub-device takes from the share of the device it is a part of
  NativeDevice native;
  std::shared_ptr<const Device> parent;   ///< of a sub-device
  std::uint32_t platform = 0;        ///< which of the platforms that describe lists
  std::uint64_t memory = 0;          ///< the share
  std::uint64_t largest = 0;         ///< CL_DEVICE_MAX_MEM_ALLOC_SIZE as the client sees it
  bool is_unified = false;           ///< mapping gives the memory itself
  bool is_time_sliced = false;
  std::shared_ptr<Usage> usage = std::make_shared<Usage>();   ///< one for a device and its parts
};

/// The shares of memory and the turns at the scheduler, for whatever gives them back: the driver frees memory on its
/// own threads, perhaps after the session has gone.
class Account {
 public:
  explicit Account(Grant& grant) : grant_(&grant) {}
  bool charge(std::size_t device, std::uint64_t bytes);
  void refund(std::size_t device, std::uint64_t bytes);
  /// A turn of a time-sliced launch is over.
  /// `by_events`: what its own events say, 0 where they say nothing.
  void finished(std::size_t device, std::uint64_t nanoseconds, std::uint64_t by_events = 0);
  /// From here on the grant is left alone.
  void close();

 private:
  std::mutex lock_;
  Grant* grant_;
};

class Engine;

/// Whom a driver tells of errors that no call can answer.
struct ErrorSink {
  Engine* engine;
  std::uint64_t context;
};

class Engine {
 public:
  Engine(wire::Link& link, Peers& peers, Grant& grant);

  wire::Link& link;
  PeerLinks peers;
  NoticeSender notices;
  /// Those of the grant, in its order, then sub-devices. Under the session's lock.
  std::map<std::uint32_t, std::shared_ptr<const Device>> devices;
  std::uint32_t next_device = 0;
  const std::shared_ptr<SubDevices> sub_devices = std::make_shared<SubDevices>();
  /// Null for what is no device's index.
  std::shared_ptr<const Device> device(std::uint32_t index) const;
  std::vector<cl_platform_id> platforms;
  std::unique_ptr<Printing> printing;
  std::deque<ErrorSink>
      error_sinks;  ///< of all contexts there were: a driver may call back for one that the client has let go
  Watcher watcher;
  WorkerThread builder;  ///< compiles

  const std::shared_ptr<Account> account;
  /// A time-sliced launch; `admitted` when it may run. Each needs one finished(). `device`: its position in the grant.
  void admit(std::size_t device, std::function<void()> admitted);
  void finished(std::size_t device, std::uint64_t nanoseconds);
  /// From here on the grant is left alone.
  void leave();

 private:
  std::atomic<Grant*> grant_;
};

}  // namespace flexrack::backend::opencl
