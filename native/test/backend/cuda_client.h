// A client of the CUDA backend in one process with it, which says what it likes. The driver behind it is the one in
// software.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <deque>
#include <set>
#include <thread>

#include "cuda/fatbin.h"
#include "gen/cuda/cuda.h"
#include "gen/cuda/requests.h"
#include "test/backend/loop_link.h"

namespace flexrack::test {

/// Keeps what it is told of `send`s that were refused, and of host functions.
class CudaLink : public LoopLink {
 public:
  /// The status of the oldest refusal of that op that nobody has asked for; waits for it.
  CUresult refusal(std::uint16_t op) {
    if (!until([&] { return !refusals_[op].empty(); })) return static_cast<CUresult>(12345);
    const std::lock_guard guard(lock_);
    const auto status = refusals_[op].front();
    refusals_[op].pop_front();
    return status;
  }
  /// What the latest refusal named.
  std::uint64_t refused_object() {
    const std::lock_guard guard(lock_);
    return object_;
  }
  bool has_refusals() {
    const std::lock_guard guard(lock_);
    for (const auto& [op, all] : refusals_)
      if (op != 0 && !all.empty()) return true;
    return false;
  }
  /// Of the first run of that host function; waits for it.
  cu::RunHostFunction run_of(std::uint64_t function) {
    if (!until([&] { return runs_.count(function) > 0; })) return {.function = 0, .run = 0, .status = 12345};
    const std::lock_guard guard(lock_);
    return runs_[function];
  }
  /// Waits until it is told that an event it watches is over.
  bool is_reached(std::uint64_t event) {
    return until([&] { return reached_.count(event) > 0; });
  }

 protected:
  void note(std::uint16_t op, const Bytes& body) override {
    if (cu::Failed failed; op == failed.kOp && decode(body, failed)) {
      refusals_[static_cast<std::uint16_t>(failed.op)].push_back(static_cast<CUresult>(failed.status));
      object_ = failed.object;
    } else if (cu::RunHostFunction run; op == run.kOp && decode(body, run)) runs_.emplace(run.function, run);
    else if (cu::EventReached over; op == over.kOp && decode(body, over)) reached_.insert(over.event);
  }

 private:
  std::map<std::uint16_t, std::deque<CUresult>> refusals_;
  std::uint64_t object_ = 0;
  std::map<std::uint64_t, cu::RunHostFunction> runs_;
  std::set<std::uint64_t> reached_;
};

/// A share of one device, and what is used of it.
class CudaGrant : public backend::Grant {
 public:
  static constexpr std::uint64_t kShare = std::uint64_t{256} << 20;

  explicit CudaGrant(bool is_time_sliced = false) : is_time_sliced_(is_time_sliced) {
    const auto device = backend::list_cuda_devices(FLEXRACK_SIM_DRIVER).at(0);
    devices_.push_back({device.native_id, kShare, 1.0, !is_time_sliced, device.context_memory});
  }
  const std::vector<backend::GrantedDevice>& devices() const override { return devices_; }
  bool charge(std::size_t, std::uint64_t bytes) override {
    const std::lock_guard guard(lock_);
    if (bytes > kShare - used_) return false;
    used_ += bytes;
    return true;
  }
  void refund(std::size_t, std::uint64_t bytes) override {
    const std::lock_guard guard(lock_);
    if (bytes > used_) is_overdrawn_ = true;
    used_ -= bytes;
    changed_.notify_all();
  }
  std::uint64_t used(std::size_t) const override {
    const std::lock_guard guard(lock_);
    return used_;
  }
  bool is_time_sliced(std::size_t) const override { return is_time_sliced_; }
  void admit(std::size_t, std::function<void()> admitted) override {
    const std::lock_guard guard(lock_);
    asking_.push_back(std::move(admitted));
  }
  void finished(std::size_t, std::uint64_t nanoseconds, std::uint32_t count) override {
    const std::lock_guard guard(lock_);
    nanoseconds_ += nanoseconds;
    finished_ += count;
    changed_.notify_all();
  }
  void took(std::size_t, std::uint64_t nanoseconds) override {
    const std::lock_guard guard(lock_);
    longest_ = std::max(longest_, nanoseconds);
  }
  /// Nanoseconds that the longest launch took by its events.
  std::uint64_t longest() {
    const std::lock_guard guard(lock_);
    return longest_;
  }
  void use(std::size_t, std::uint64_t, bool) override {}
  std::vector<backend::User> users(std::size_t) const override { return {}; }
  std::optional<double> utilization(std::size_t) const override { return std::nullopt; }

  bool is_used(std::uint64_t bytes) {
    std::unique_lock guard(lock_);
    return changed_.wait_for(guard, std::chrono::seconds(60), [&] { return used_ == bytes; });
  }
  // Launches that ask, where the share is time-sliced: they go when the test lets them.
  std::size_t asking() {
    const std::lock_guard guard(lock_);
    return asking_.size();
  }
  void let_go(std::size_t count) {
    std::unique_lock guard(lock_);
    for (; count > 0 && !asking_.empty(); --count) {
      const auto admitted = std::move(asking_.front());
      asking_.pop_front();
      guard.unlock();
      admitted();
      guard.lock();
    }
  }
  /// How many have ended, once it is that many.
  std::size_t finished(std::size_t count) {
    std::unique_lock guard(lock_);
    changed_.wait_for(guard, std::chrono::seconds(60), [&] { return finished_ >= count; });
    return finished_;
  }
  std::uint64_t nanoseconds() {
    const std::lock_guard guard(lock_);
    return nanoseconds_;
  }
  /// More was given back than had been taken.
  bool is_overdrawn() const { return is_overdrawn_; }

 private:
  std::vector<backend::GrantedDevice> devices_;
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::uint64_t used_ = 0;
  bool is_overdrawn_ = false;
  const bool is_time_sliced_;
  std::deque<std::function<void()>> asking_;
  std::size_t finished_ = 0;
  std::uint64_t nanoseconds_ = 0, longest_ = 0;
};

/// Links that a test has put there, and no others.
class CudaPeers : public backend::Peers {
 public:
  bool accept(std::uint64_t, View) override { return false; }
  bool open(std::uint64_t, View, const std::string&, std::uint16_t, View) override { return false; }
  wire::Link* link(std::uint64_t peer) override { return links.contains(peer) ? links[peer] : nullptr; }

  std::map<std::uint64_t, LoopLink*> links;
};

class CudaClient {
 public:
  explicit CudaClient(bool is_time_sliced = false, const char* nccl = nullptr)
      : grant(is_time_sliced), backend(backend::make_cuda_backend(grant, FLEXRACK_SIM_DRIVER, nccl ? nccl : "")) {
    backend->start(link, peers);
  }
  ~CudaClient() { stop(); }
  void stop() {
    if (!backend) return;
    link.lose();
    backend->on_over("the test is over");
    backend->stop();
    backend.reset();
  }

  std::uint64_t mint() { return ++last_; }
  template <class Message>
  std::uint64_t send(const Message& message) {
    Bytes body;
    encode(body, message);
    backend->on_frame({Message::kOp, 0, static_cast<std::uint32_t>(body.size()), ++calls_}, body);
    return calls_;
  }
  /// The reply's views are valid until the next call.
  template <class Message>
  typename Message::Reply call(const Message& message) {
    const auto [flags, body] = link.reply(send(message));
    REQUIRE(flags == wire::kReply);
    kept_ = body;
    typename Message::Reply reply;
    REQUIRE(decode(kept_, reply));
    return reply;
  }
  /// Of what is not answered unless it is refused.
  template <class Message>
  CUresult refusal(const Message& message) {
    send(message);
    return link.refusal(Message::kOp);
  }

  std::uint64_t context(bool is_primary = true) {
    const auto handle = mint();
    REQUIRE(call(cu::CreateContext{.context = handle, .device = 0, .is_primary = is_primary}).status == 0);
    return handle;
  }
  std::uint64_t memory(std::uint64_t context, std::uint64_t size, std::uint32_t kind = 0) {
    const auto reply = call(cu::Allocate{.context = context, .size = size, .kind = kind});
    REQUIRE(reply.status == 0);
    return reply.address;
  }
  std::uint64_t stream(std::uint64_t context) {
    const auto handle = mint();
    send(cu::CreateStream{.context = context, .stream = handle, .flags = 1});
    return handle;
  }
  cu::LoadReply load(std::uint64_t context, std::uint64_t module, View image, std::vector<cu::Option> options = {}) {
    const auto hash = flexrack::cuda::content_hash(std::as_bytes(std::span(image)));
    return call(cu::Load{.context = context,
                         .module = module,
                         .hash = hash,
                         .image = {0, image.size(), image},
                         .options = std::move(options)});
  }
  cu::LoadReply load(std::uint64_t context, std::uint64_t module, std::string_view ptx) {
    return load(context, module, View(reinterpret_cast<const std::uint8_t*>(ptx.data()), ptx.size()));
  }
  /// Its handle.
  std::uint64_t kernel(std::uint64_t context, std::uint64_t module, std::string_view name) {
    const auto reply = call(cu::FindKernel{.context = context, .module = module, .name = name});
    REQUIRE(reply.status == 0);
    return reply.kernel.at(0).kernel;
  }
  CUresult wait(std::uint64_t context, std::uint64_t stream = 0) {
    return static_cast<CUresult>(call(cu::WaitStream{.context = context, .stream = stream}).status);
  }
  Bytes read(std::uint64_t context, std::uint64_t address, std::uint64_t size) {
    const auto ticket = link.ticket();
    send(cu::ReadMemory{.context = context, .address = address, .size = size, .ticket = ticket});
    return link.payload(ticket);
  }

  CudaGrant grant;
  CudaLink link;
  CudaPeers peers;
  std::unique_ptr<backend::Backend> backend;

 private:
  std::uint64_t last_ = 0, calls_ = 0;
  Bytes kept_;
};

}  // namespace flexrack::test
