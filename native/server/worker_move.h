// A worker's session that goes to another server: stopped between two messages, made again there, and the client told.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "backend/backend.h"
#include "wire/accept.h"
#include "wire/json.h"

namespace flexrack::server {

/// One move at a time. The broker decides: it says where to and, once all sessions of the lease are ready, go or stay.
class WorkerMove {
 public:
  /// What the broker is told: {"type": "ready"}, {"type": "stayed", "why": ...} or {"type": "moved", ...}.
  using Tell = std::function<void(wire::Json)>;
  WorkerMove(wire::ServerLink& link, backend::Backend& backend, wire::Limits limits, Tell tell);

  /// Begins, on a thread of its own; `order` is the broker's message.
  void begin(const wire::Json& order);
  /// The broker's word: all are ready (true), or it is off.
  void decide(bool go);

 private:
  using Clock = std::chrono::steady_clock;
  void run(const wire::Json& order);
  void make_ready(const wire::Json& order);
  void depart(const wire::Json& order);
  bool await_decision();
  void stay(const std::string& why);

  wire::ServerLink& link_;
  backend::Backend& backend_;
  const wire::Limits limits_;
  const Tell tell_;
  std::unique_ptr<backend::Departure> departure_;
  std::mutex lock_;
  std::condition_variable decided_;
  std::optional<bool> decision_;
  bool is_moving_ = false, is_back_ = false;
  Clock::time_point parked_at_{};
};

}  // namespace flexrack::server
