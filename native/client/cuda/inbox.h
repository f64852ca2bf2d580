// What one server says unasked, and whom it concerns here: contexts, events, host functions, the program's standard
// output.
#pragma once

#include <mutex>
#include <unordered_map>

#include "client/cuda/host_order.h"
#include "client/cuda/objects.h"
#include "client/session.h"
#include "cuda/sticky.h"
#include "gen/cuda/requests.h"

namespace flexrack::client::cuda {

class CudaServer;

class Inbox final : public client::Notices, private cu::Notices {
 public:
  explicit Inbox(CudaServer& server) : server_(server) {}
  void on_notice(Session& session, const wire::Header& header, wire::View body) override;
  void on_lost(Session& session, std::string_view why) override;

  void enter(CUcontext context);
  void leave(std::uint64_t handle);
  /// Of an event whose notice is awaited; not held: it leaves before it goes.
  void expect(CUevent event);
  void forget(CUevent event);
  /// Runs when that event's record of that number is reached, or the server is lost: on the thread that reads, so it
  /// must not wait.
  void when_reached(std::uint64_t event, std::uint64_t number, std::function<void()> action);

  /// It has failed where the server is lost: at others something may wait for it.
  void fail_when_lost(const std::shared_ptr<HostWork>& work);

  /// The context of that handle has that error, or whoever asks next where it is gone.
  void fail(std::uint64_t context, CUresult status);

  /// The server has a function of the process run. False: more are on their way than a server has, so it makes them up.
  bool begin_run() { return runs_.fetch_add(1, std::memory_order_relaxed) < kMostRuns; }
  void end_run() { runs_.fetch_sub(1, std::memory_order_relaxed); }

  /// Errors that no context owns: answered to whichever asks next.
  std::atomic<bool> is_troubled{false};
  CUresult take_trouble();

 private:
  void on(const cu::Failed& message) override;
  void on(const cu::RunHostFunction& message) override;
  void on(const cu::EventReached& message) override;
  void on(const cu::Printed& message) override;
  void on(const cu::Changed& message) override;
  void on(const cu::CollectivesFailed& message) override;

  struct Watch {
    std::uint64_t event, number;
    std::function<void()> action;
  };

  static constexpr std::size_t kMostRuns = 1 << 17;  ///< twice what a worker waits for

  CudaServer& server_;
  std::atomic<std::size_t> runs_{0};
  std::mutex lock_;
  bool is_lost_ = false;
  std::unordered_map<std::uint64_t, CUcontext> contexts_;
  std::unordered_map<std::uint64_t, CUevent> events_;
  std::vector<Watch> watches_;
  std::vector<std::weak_ptr<HostWork>> works_;
  CUresult pending_ = CUDA_SUCCESS;
};

using flexrack::cuda::is_sticky;
/// The context has an error from now on: for good, or until it is asked once.
void note_trouble(CUcontext context, CUresult status, bool is_for_good);
/// What its streams have to answer for; an error that is not for good is told once.
CUresult take_trouble(CUcontext context);

}  // namespace flexrack::client::cuda
