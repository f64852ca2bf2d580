// The session of another server's worker in this process: begun by that worker over a link of its own, gone on with by
// the client.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "server/token.h"
#include "server/worker_move.h"
#include "wire/accept.h"

namespace flexrack::server {

/// Thread-safe.
class Arrived {
 public:
  explicit Arrived(WorkerMove::Tell tell) : tell_(std::move(tell)) {}

  /// The client's link, which waits for it; null where there is one already or the state makes no sense. `bringer`: the
  /// link of the worker that has brought it. With `like`'s lease.
  wire::Link* begin(const wire::Preamble& like, wire::View session, wire::View key, const wire::Limits& limits,
                    backend::Backend& backend, wire::View state, wire::ServerLink& bringer);
  /// Whether a connection is of that session's client.
  bool is_of(const wire::Preamble& preamble);
  /// Takes it; the worker that has brought the session hears of the first. Throws wire::Error.
  void attach(int fd, const wire::Preamble& preamble, const wire::Begun& begun);
  /// Of a session that may go on to a further server; null where none has come.
  WorkerMove* mover();
  /// After the end of the bringer's link: returns when the session is over, or at once where its client has not come
  /// and the bringer has taken it back.
  void run_on();
  void close();

 private:
  const WorkerMove::Tell tell_;
  std::mutex lock_;
  wire::Id session_{};
  wire::ServerLink* bringer_ = nullptr;
  std::unique_ptr<wire::ServerLink> link_;
  std::unique_ptr<WorkerMove> mover_;
  std::thread reader_;
  std::atomic<bool> is_there_{false};
};

}  // namespace flexrack::server
