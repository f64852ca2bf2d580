// A link whose other side is the test itself: what a client would be told is kept to be looked at. The device behind
// the backend is a real one.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "gen/opencl/requests.h"

namespace flexrack::test {

using wire::Bytes;
using wire::View;

class LoopLink : public wire::Link {
 public:
  std::chrono::seconds patience{60};   ///< of whoever waits here

  // ---- what the backend calls
  std::uint64_t send(std::uint16_t op, std::uint16_t flags, const std::function<void(Bytes&)>& encode) override {
    Bytes body;
    encode(body);
    const std::lock_guard guard(lock_);
    if (flags & wire::kReply) {
      std::uint64_t call = 0;
      std::memcpy(&call, body.data(), sizeof call);
      replies_[call] = {flags, Bytes(body.begin() + 8, body.end())};
    } else {
      note(op, body);
    }
    changed_.notify_all();
    return 1;
  }
  void flush() override {}
  std::uint64_t ticket() override { return ++tickets_; }
  void push(std::uint64_t ticket, View data, wire::Done done, bool) override {
    {
      const std::lock_guard guard(lock_);
      payloads_[ticket] = Bytes(data.begin(), data.end());
      changed_.notify_all();
      if (keeps_) return kept_.push_back(std::move(done));
    }
    done(true);
  }
  void land(std::uint64_t ticket, std::span<std::uint8_t> into, wire::Done done) override {
    std::unique_lock guard(lock_);
    if (is_lost_) {
      guard.unlock();
      return done(false);
    }
    const auto found = sent_.find(ticket);
    if (found == sent_.end()) {
      landing_[ticket] = {into, std::move(done)};
      changed_.notify_all();
      return;
    }
    const bool fits = found->second.size() == into.size();
    if (fits) std::memcpy(into.data(), found->second.data(), into.size());
    guard.unlock();
    done(fits);
  }
  void cancel(std::uint64_t ticket) override {
    const std::lock_guard guard(lock_);
    cancelled_[ticket] = true;
    changed_.notify_all();
  }
  bool wait(const std::function<bool()>&) override { return false; }
  void run() override {}
  void wake() override {}
  View session_id() const override { return {}; }
  bool is_over() const override { return false; }
  void close() override {
    const std::lock_guard guard(lock_);
    is_closed_ = true;
    changed_.notify_all();
  }

  // ---- what the test calls
  /// The bytes of a payload that the backend wants, or will want.
  void supply(std::uint64_t ticket, Bytes data) {
    std::unique_lock guard(lock_);
    const auto waiting = landing_.find(ticket);
    if (waiting == landing_.end()) {
      sent_[ticket] = std::move(data);
      return;
    }
    auto [into, done] = std::move(waiting->second);
    landing_.erase(waiting);
    std::memcpy(into.data(), data.data(), into.size());
    guard.unlock();
    done(true);
  }
  /// The link is over for what has not landed.
  void lose() {
    std::map<std::uint64_t, std::pair<std::span<std::uint8_t>, wire::Done>> lost;
    {
      const std::lock_guard guard(lock_);
      is_lost_ = true;
      lost.swap(landing_);
    }
    for (auto& [ticket, waiting] : lost) waiting.second(false);
  }
  /// Whether it takes what is pushed: what is not taken is still in use by the backend.
  void keep_pushes(bool keeps) {
    std::vector<wire::Done> kept;
    {
      const std::lock_guard guard(lock_);
      keeps_ = keeps;
      kept.swap(kept_);
    }
    for (auto& done : kept) done(true);
  }
  /// Waits until what the test looks for is there; nothing here takes so long that a bound would ever be met.
  template <class Ready>
  bool until(Ready&& ready) {
    std::unique_lock guard(lock_);
    return changed_.wait_for(guard, patience, ready);
  }
  bool is_landing(std::uint64_t ticket) {
    const std::lock_guard guard(lock_);
    return landing_.count(ticket) > 0;
  }
  bool is_waiting_for(std::uint64_t ticket) {
    return until([&] { return landing_.count(ticket) > 0; });
  }
  Bytes payload(std::uint64_t ticket) {
    if (!until([&] { return payloads_.count(ticket) > 0; })) return {};
    const std::lock_guard guard(lock_);
    return payloads_[ticket];
  }
  cl::Completion completion(std::uint64_t event) {
    if (!until([&] { return completions_.count(event) > 0; })) return {.event = event, .status = 12345};
    const std::lock_guard guard(lock_);
    return completions_[event];
  }
  bool is_cancelled(std::uint64_t ticket) {
    return until([&] { return cancelled_.count(ticket) > 0; });
  }
  bool is_closed() {
    return until([&] { return is_closed_; });
  }
  std::int32_t failure(std::uint64_t event) {
    if (!until([&] { return failures_.count(event) > 0; })) return 12345;
    const std::lock_guard guard(lock_);
    return failures_[event];
  }
  std::string printed() {
    const std::lock_guard guard(lock_);
    return printed_;
  }
  std::pair<std::uint16_t, Bytes> reply(std::uint64_t call) {
    if (!until([&] { return replies_.count(call) > 0; })) return {0xffff, {}};
    const std::lock_guard guard(lock_);
    return replies_[call];
  }
  bool has_reply(std::uint64_t call) {
    const std::lock_guard guard(lock_);
    return replies_.count(call) > 0;
  }

 protected:
  /// A notice, under the lock.
  virtual void note(std::uint16_t op, const Bytes& body) {
    if (cl::Completed m; op == m.kOp && decode(body, m)) {
      for (const auto& one : m.events) completions_[one.event] = one;
    } else if (cl::Failed f; op == f.kOp && decode(body, f)) {
      failures_[f.event] = f.status;
    } else if (cl::Printed p; op == p.kOp && decode(body, p)) {
      printed_.append(p.text.begin(), p.text.end());
    }
  }

  std::mutex lock_;

 private:
  std::condition_variable changed_;
  std::atomic<std::uint64_t> tickets_{0};
  std::map<std::uint64_t, std::pair<std::uint16_t, Bytes>> replies_;
  std::map<std::uint64_t, Bytes> payloads_, sent_;
  std::map<std::uint64_t, std::pair<std::span<std::uint8_t>, wire::Done>> landing_;
  std::map<std::uint64_t, cl::Completion> completions_;
  std::map<std::uint64_t, bool> cancelled_;
  std::map<std::uint64_t, std::int32_t> failures_;
  std::string printed_;
  std::vector<wire::Done> kept_;
  bool is_closed_ = false, is_lost_ = false, keeps_ = false;
};

}  // namespace flexrack::test
