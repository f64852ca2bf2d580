// The other side of the backend in its fuzzer: a link that keeps account of every payload and every call, and a grant
// that counts.
#pragma once

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "backend/backend.h"
#include "gen/opencl/fuzz_cases.h"

namespace flexrack::fuzz {

[[noreturn]] inline void broken(const char* what) {
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

class FakeLink : public wire::Link {
 public:
  // ---- what the backend calls
  std::uint64_t send(std::uint16_t op, std::uint16_t flags, const std::function<void(wire::Bytes&)>& encode) override {
    wire::Bytes body;
    encode(body);
    body.resize((body.size() + 7) & ~std::size_t{7});
    const std::lock_guard guard(lock_);
    if ((flags & wire::kReply) != 0) {
      std::uint64_t call = 0;
      if (body.size() < sizeof call) broken("a reply without its call");
      std::memcpy(&call, body.data(), sizeof call);
      if (open_calls_.erase(call) == 0) broken("a call that was answered twice, or was none");
      body.erase(body.begin(), body.begin() + sizeof call);
      changed_.notify_all();
      if ((flags & wire::kRefused) != 0) return is_over_ ? 0 : 1;
    }
    if (is_over_) return 0;
    if (!is_readable(op, (flags & wire::kReply) != 0, body)) broken("what is sent cannot be read");
    note(op, (flags & wire::kReply) != 0, body);
    return 1;
  }
  void flush() override {}
  std::uint64_t ticket() override { return ++tickets_ * 2; }
  void push(std::uint64_t ticket, wire::View data, wire::Done done, bool wait) override {
    if (wait && !may_wait()) broken("a push that may wait for the client");
    std::unique_lock guard(lock_);
    settled_.insert(ticket);
    sum(data);
    if (is_over_ || pushes_.contains(ticket)) {
      guard.unlock();
      return done(false);
    }
    pushes_[ticket] = {data, std::move(done)};
  }
  void land(std::uint64_t ticket, std::span<std::uint8_t> into, wire::Done done) override {
    std::unique_lock guard(lock_);
    settled_.insert(ticket);
    if (is_over_ || landings_.contains(ticket)) {
      guard.unlock();
      return done(false);
    }
    landings_[ticket] = {into, std::move(done)};
  }
  void cancel(std::uint64_t ticket) override {
    {
      const std::lock_guard guard(lock_);
      settled_.insert(ticket);
    }
    finish_landing(ticket, false);
    finish_push(ticket, false);
  }
  bool wait(const std::function<bool()>&) override { return false; }
  void run() override {}
  void wake() override {}
  wire::View session_id() const override { return {}; }
  bool is_over() const override { return is_over_; }
  void close() override { is_over_ = true; }

  // ---- what the fuzzer calls
  void called(std::uint64_t sequence) {
    const std::lock_guard guard(lock_);
    open_calls_.insert(sequence);
  }
  /// Builds are answered by another thread, soon.
  void await_answer(std::uint64_t sequence) {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [&] { return !open_calls_.contains(sequence) || is_over_; });
  }
  /// A ticket of a payload that a message spoke of.
  void spoken_of(std::uint64_t ticket) {
    if (ticket != 0) spoken_of_.insert(ticket);
  }
  void finish_some_landing(std::size_t which, bool has_arrived) {
    finish_landing(key_of(landings_, which), has_arrived);
  }
  void finish_some_push(std::size_t which, bool has_arrived) { finish_push(key_of(pushes_, which), has_arrived); }
  std::uint64_t shared_address() const { return shared_address_; }
  /// The link is over, as the session's end begins.
  void end() {
    is_over_ = true;
    const auto first = [this](auto& map) {
      const std::lock_guard guard(lock_);
      changed_.notify_all();
      return map.empty() ? 0 : map.begin()->first;
    };
    while (const auto ticket = first(landings_)) finish_landing(ticket, false);
    while (const auto ticket = first(pushes_)) finish_push(ticket, false);
  }
  void check_calls() const {
    if (!open_calls_.empty()) broken("a call that nobody answers");
  }
  /// Every payload that was spoken of has been taken, sent or called off: else a client would keep its memory for it,
  /// and its credit be gone.
  void check_payloads() const {
    for (const auto ticket : spoken_of_)
      if (!settled_.contains(ticket)) broken("a payload that nobody took, sent or called off");
  }

 protected:
  template <class Cases>
  static bool is_among(const Cases& cases, std::uint16_t op, bool is_reply, wire::View body) {
    for (const auto& one : cases) {
      if (one.op != op || one.is_reply != is_reply) continue;
      wire::Bytes again;
      return (is_reply || one.is_notice) && one.again(body, again);
    }
    return false;
  }
  /// Whether this thread may wait for the client.
  virtual bool may_wait() const { return false; }
  /// A body of the API, as a client reads it.
  virtual bool is_readable(std::uint16_t op, bool is_reply, wire::View body) {
    return is_among(cl::fuzz_cases(), op, is_reply, body);
  }

 private:
  void note(std::uint16_t op, bool is_reply, wire::View body) {
    if (cl::SvmAllocateReply reply; is_reply && op == cl::SvmAllocate::kOp && decode(body, reply) && reply.address != 0)
      shared_address_ = reply.address;
  }
  /// Reads all of it: it must be there from push() to done().
  static void sum(wire::View data) {
    volatile std::uint8_t seen = 0;
    for (const auto byte : data) seen = static_cast<std::uint8_t>(seen + byte);
  }
  template <class Map>
  std::uint64_t key_of(Map& map, std::size_t which) {
    const std::lock_guard guard(lock_);
    return map.empty() ? 0 : std::next(map.begin(), static_cast<std::ptrdiff_t>(which % map.size()))->first;
  }
  void finish_landing(std::uint64_t ticket, bool has_arrived) {
    std::unique_lock guard(lock_);
    const auto found = landings_.find(ticket);
    if (found == landings_.end()) return;
    auto [into, done] = std::move(found->second);
    landings_.erase(found);
    guard.unlock();
    if (has_arrived) std::fill(into.begin(), into.end(), static_cast<std::uint8_t>(ticket));
    done(has_arrived);
  }
  void finish_push(std::uint64_t ticket, bool has_arrived) {
    std::unique_lock guard(lock_);
    const auto found = pushes_.find(ticket);
    if (found == pushes_.end()) return;
    auto [data, done] = std::move(found->second);
    pushes_.erase(found);
    guard.unlock();
    sum(data);
    done(has_arrived);
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::atomic<bool> is_over_{false};
  std::atomic<std::uint64_t> tickets_{0}, shared_address_{0};
  std::set<std::uint64_t> open_calls_, spoken_of_, settled_;
  std::map<std::uint64_t, std::pair<std::span<std::uint8_t>, wire::Done>> landings_;
  std::map<std::uint64_t, std::pair<wire::View, wire::Done>> pushes_;
};

/// One peer that is there and others that are not.
class FakePeers : public backend::Peers {
 public:
  FakeLink other;
  bool accept(std::uint64_t peer, wire::View key) override { return peer != 0 && key.size() == 32; }
  bool open(std::uint64_t peer, wire::View, const std::string&, std::uint16_t, wire::View) override {
    return peer % 2 == 1;
  }
  wire::Link* link(std::uint64_t peer) override { return peer == 1 ? &other : nullptr; }
  bool is_expected(std::uint64_t peer) override { return peer == 2; }
};

class FakeGrant : public backend::Grant {
 public:
  static constexpr std::uint64_t kShare = 1 << 20;
  static constexpr std::uint64_t kContext = 4096;   ///< bytes: what a context of CUDA is expected to take

  FakeGrant(std::size_t devices, bool is_shared) : is_shared_(is_shared), used_(devices) {
    for (std::size_t i = 0; i < devices; ++i)
      devices_.push_back({"0:" + std::to_string(i), kShare, is_shared ? 0.5 : 1.0, !is_shared, kContext});
  }
  /// Devices of these names.
  FakeGrant(const std::vector<std::string>& ids, bool is_shared) : FakeGrant(ids.size(), is_shared) {
    for (std::size_t i = 0; i < ids.size(); ++i) devices_[i].native_id = ids[i];
  }
  const std::vector<backend::GrantedDevice>& devices() const override { return devices_; }
  bool charge(std::size_t device, std::uint64_t bytes) override {
    const std::lock_guard guard(lock_);
    if (bytes > kShare - used_.at(device)) return false;
    used_[device] += bytes;
    return true;
  }
  void refund(std::size_t device, std::uint64_t bytes) override {
    const std::lock_guard guard(lock_);
    if (bytes > used_.at(device)) broken("more given back than was taken");
    used_[device] -= bytes;
  }
  std::uint64_t used(std::size_t device) const override {
    const std::lock_guard guard(lock_);
    return used_.at(device);
  }
  bool is_time_sliced(std::size_t device) const override { return is_shared_ && device % 2 == 0; }
  void admit(std::size_t, std::function<void()> admitted) override {
    const std::lock_guard guard(lock_);
    waiting_.push_back(std::move(admitted));
  }
  void finished(std::size_t, std::uint64_t, std::uint32_t) override {}
  void use(std::size_t, std::uint64_t, bool) override {}
  std::vector<backend::User> users(std::size_t) const override { return {}; }
  std::optional<double> utilization(std::size_t) const override { return std::nullopt; }

  void admit_one() {
    std::unique_lock guard(lock_);
    if (waiting_.empty()) return;
    const auto admitted = std::move(waiting_.front());
    waiting_.pop_front();
    guard.unlock();
    admitted();
  }
  bool is_waiting() const {
    const std::lock_guard guard(lock_);
    return !waiting_.empty();
  }

 private:
  const bool is_shared_;
  mutable std::mutex lock_;
  std::vector<backend::GrantedDevice> devices_;
  std::vector<std::uint64_t> used_;
  std::deque<std::function<void()>> waiting_;
};

}  // namespace flexrack::fuzz
