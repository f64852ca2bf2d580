// What a graph does in the client: host functions that it runs, bytes that come from its memory and go there. Each is a
// host node of the driver's graph.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "backend/cuda/staging.h"
#include "wire/link.h"

namespace flexrack::backend::cuda {

class GraphHost;

/// Bytes on their way to one launch's node.
struct GraphArrival {
  wire::Bytes bytes;
  std::shared_ptr<void> held{};  ///< their part of what may be on its way
  bool is_over = false, has_arrived = false;  ///< under the lock of GraphHost
};

/// One such node. The driver's graph owns it, and whatever was instantiated from that: it goes when none of them is
/// there any more.
struct GraphStop {
  enum class Sort : std::uint8_t { function, input, output };
  GraphHost* host = nullptr;
  Sort sort = Sort::function;
  std::uint64_t function = 0;  ///< the client's number for it
  CUuserObject object = nullptr;  ///< what the driver's graphs have it by
  StagingPool::Held staging{};  ///< what that copies from or to: each launch's bytes for as long as its copy takes;
                                ///< changed under the lock
  std::vector<StagingPool::Held> earlier{};  ///< of earlier parameters, which launches may still use
  std::deque<std::shared_ptr<GraphArrival>>
      arrivals{};  ///< under the lock of GraphHost: of launches under way, null: nothing comes
  std::deque<std::uint64_t> tickets{};  ///< under the lock: likewise of outputs, 0: nobody wants them
};

/// Runs them, on the driver's threads. Thread-safe; may not call the driver there.
class GraphHost {
 public:
  using Tell = std::function<void(std::uint64_t function, std::uint64_t run)>;
  /// Bytes, and the part they are of what may be on its way. No bytes where there is no room for them.
  using Deliver = std::function<void(std::uint64_t ticket, wire::Bytes bytes, std::shared_ptr<void> held)>;
  /// A run of ours has this bit.
  static constexpr std::uint64_t kRun = std::uint64_t{1} << 63;

  /// `tell` has the client run a function; `deliver` sends bytes under a ticket. Neither may wait for a thread of ours.
  void start(Tell tell, Deliver deliver) {
    tell_ = std::move(tell);
    deliver_ = std::move(deliver);
  }
  /// What a node of the driver's graph calls, with a GraphStop.
  static void run(void* stop);

  /// The client has run the function of that run. False: there is none.
  bool ran(std::uint64_t run);
  /// Whether so many more may be expected or wanted: a client can ask for them without end.
  bool has_room(std::size_t more);
  /// A part of what may be on its way at one time, which is half of the machine's memory; null: that is in use.
  std::shared_ptr<void> hold(std::size_t bytes) const;
  /// Its copy goes through that piece from the next launch on.
  void restage(GraphStop& stop, StagingPool::Held piece);
  /// Bytes for a node's next launch, `data` being where they land; null: none come.
  void expect(GraphStop& input, std::shared_ptr<GraphArrival> arrival);
  void arrived(GraphArrival& arrival, bool has_arrived);
  /// Where the bytes of a node's next launch go.
  void want(GraphStop& output, std::uint64_t ticket);
  /// The launch that was to come last does not come.
  void take_back(GraphStop& stop);
  /// It is about to go: what was expected of it is not expected any longer.
  void forget(const GraphStop& stop);
  /// Nothing is waited for any more.
  void end();

 private:
  void run_function(GraphStop& stop);
  void take_input(GraphStop& stop);
  void give_output(GraphStop& stop);

  Tell tell_;
  Deliver deliver_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::set<std::uint64_t> runs_;  ///< functions that the client is running
  std::uint64_t next_run_ = 1;
  std::size_t waiting_ = 0;  ///< arrivals and tickets of all stops
  std::shared_ptr<std::atomic<std::size_t>> held_ =
      std::make_shared<std::atomic<std::size_t>>(0);  ///< bytes on their way
  bool is_ending_ = false;
};

}  // namespace flexrack::backend::cuda
