// What has to happen in this process before a stream counts as having got somewhere: bytes that land here, host
// functions that run here. A server cannot know that order; whoever waits for a stream, and bytes that leave after such
// work, follow it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace flexrack::client {
class Session;
}

namespace flexrack::client::cuda {

/// One such piece of work.
class HostWork {
 public:
  /// `writes`: it changes memory of this process, so bytes that leave later wait for it; else it only reads.
  explicit HostWork(Session& session, bool writes = true);
  ~HostWork();
  bool is_over() const { return is_over_.load(std::memory_order_acquire); }
  /// Once. False: it failed.
  void finish(bool is_good);
  bool is_good() const { return is_good_.load(std::memory_order_relaxed); }
  /// Runs at once where it is over, else by whoever finishes it.
  void then(std::function<void()> action);
  Session& session() const { return session_; }
  /// It is a function that a server's stream has this process run: a stream that has failed does not get there. Said
  /// before anybody else knows of it.
  void set_function() { is_function_ = true; }
  bool is_function() const { return is_function_; }
  bool writes() const { return writes_; }

 private:
  Session& session_;
  const bool writes_;
  bool is_function_ = false;
  std::atomic<bool> is_over_{false}, is_good_{true};
  std::mutex lock_;
  std::vector<std::function<void()>> actions_;  ///< under lock
};

using HostWorks = std::vector<std::shared_ptr<HostWork>>;

/// True while any such work is under way in this process: else nobody needs to look.
bool has_host_work();

/// Work that something comes after.
class HostOrder {
 public:
  void add(const std::shared_ptr<HostWork>& work);
  void add(const HostWorks& works);
  void set(HostWorks works);
  /// What is not over yet.
  HostWorks unfinished();

 private:
  std::mutex lock_;
  HostWorks works_;
};

/// Those of them that change memory here.
HostWorks only_writing(HostWorks works);

/// Waits until all are over, reading what comes. False: a link was lost, or one of them failed.
bool wait_for(const HostWorks& works);
/// Runs the action when all are over, on this thread where they are.
void after(const HostWorks& works, std::function<void()> action);

}  // namespace flexrack::client::cuda
