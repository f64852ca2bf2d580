// A client of the backend in one process with it, and a grant that counts.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <thread>

#include "gen/opencl/cl.h"
#include "test/backend/loop_link.h"

namespace flexrack::test {

class CountingGrant : public backend::Grant {
 public:
  explicit CountingGrant(std::uint64_t memory = std::uint64_t{1} << 30, bool is_time_sliced_now = false)
      : time_sliced_(is_time_sliced_now) {
    devices_.push_back({backend::list_opencl_devices().at(0).native_id, memory, 1.0, !is_time_sliced_now});
  }
  const std::vector<backend::GrantedDevice>& devices() const override { return devices_; }
  bool charge(std::size_t, std::uint64_t bytes) override {
    const std::lock_guard guard(lock_);
    if (bytes > devices_[0].memory - used_) return false;
    used_ += bytes;
    return true;
  }
  void refund(std::size_t, std::uint64_t bytes) override {
    const std::lock_guard guard(lock_);
    used_ -= bytes;
    changed_.notify_all();
  }
  std::uint64_t used(std::size_t) const override {
    const std::lock_guard guard(lock_);
    return used_;
  }
  bool is_time_sliced(std::size_t) const override { return time_sliced_; }
  void admit(std::size_t, std::function<void()> admitted) override {
    std::unique_lock guard(lock_);
    if (!is_open_) return waiting_.push_back(std::move(admitted));
    guard.unlock();
    admitted();
  }
  void finished(std::size_t, std::uint64_t nanoseconds, std::uint32_t) override {
    const std::lock_guard guard(lock_);
    ++launches_over_;
    busy_ += nanoseconds;
    changed_.notify_all();
  }

  void use(std::size_t, std::uint64_t, bool) override {}
  std::vector<backend::User> users(std::size_t) const override { return {}; }
  std::optional<double> utilization(std::size_t) const override { return std::nullopt; }

  void hold() {
    const std::lock_guard guard(lock_);
    is_open_ = false;
  }
  std::size_t waiting() const {
    const std::lock_guard guard(lock_);
    return waiting_.size();
  }
  void admit_all() {
    std::vector<std::function<void()>> all;
    {
      const std::lock_guard guard(lock_);
      all.swap(waiting_);
      is_open_ = true;
    }
    for (auto& one : all) one();
  }
  template <class Ready>
  bool until(Ready&& ready) {
    std::unique_lock guard(lock_);
    return changed_.wait_for(guard, std::chrono::seconds(60), ready);
  }
  bool is_used(std::uint64_t bytes) {
    return until([&] { return used_ == bytes; });
  }
  bool has_finished(int launches) {
    return until([&] { return launches_over_ == launches; });
  }
  std::uint64_t busy() const { return busy_; }

 private:
  std::vector<backend::GrantedDevice> devices_;
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> waiting_;
  std::uint64_t used_ = 0, busy_ = 0;
  int launches_over_ = 0;
  bool time_sliced_, is_open_ = true;
};

class NoPeers : public backend::Peers {
 public:
  bool accept(std::uint64_t, View) override { return false; }
  bool open(std::uint64_t, View, const std::string&, std::uint16_t, View) override { return false; }
  wire::Link* link(std::uint64_t) override { return nullptr; }
};

class Client {
 public:
  explicit Client(std::uint64_t memory = std::uint64_t{1} << 30, bool is_time_sliced = false)
      : grant(memory, is_time_sliced), backend(backend::make_opencl_backend(grant)) {
    backend->start(link, peers);
  }
  ~Client() { stop(); }
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
    raw(Message::kOp, body);
    return calls_;
  }
  void raw(std::uint16_t op, const Bytes& body) {
    backend->on_frame({op, 0, static_cast<std::uint32_t>(body.size()), ++calls_}, body);
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
  cl_int over(std::uint64_t event) {
    const std::array<std::uint64_t, 1> events{event};
    send(cl::Watch{.events = events});
    return link.completion(event).status;
  }

  std::uint64_t context() {
    const std::array<std::uint32_t, 1> devices{0};
    const auto handle = mint();
    REQUIRE(call(cl::CreateContext{.context = handle, .devices = devices}).status == CL_SUCCESS);
    return handle;
  }
  std::uint64_t queue(std::uint64_t context, std::uint64_t properties = 0) {
    const std::array<std::uint64_t, 3> list{CL_QUEUE_PROPERTIES, properties, 0};
    const auto handle = mint();
    REQUIRE(call(cl::CreateQueue{.context = context, .queue = handle, .properties = list}).status == CL_SUCCESS);
    return handle;
  }
  std::uint64_t buffer(std::uint64_t context, std::uint64_t size) {
    const auto handle = mint();
    REQUIRE(
        call(cl::CreateBuffer{.context = context, .memory = handle, .flags = CL_MEM_READ_WRITE, .size = size}).status ==
        CL_SUCCESS);
    return handle;
  }
  std::uint64_t kernel(std::uint64_t context, std::string_view source, std::string_view name) {
    const auto program = mint(), handle = mint();
    cl::CreateProgram create{.context = context, .program = program};
    create.parts.push_back({reinterpret_cast<const std::uint8_t*>(source.data()), source.size()});
    REQUIRE(call(create).status == CL_SUCCESS);
    REQUIRE(call(cl::BuildProgram{.program = program}).status == CL_SUCCESS);
    REQUIRE(call(cl::CreateKernel{.program = program, .kernel = handle, .name = name}).status == CL_SUCCESS);
    return handle;
  }
  std::uint64_t launch(std::uint64_t queue, std::uint64_t kernel, std::uint64_t items,
                       std::vector<cl::Argument> arguments = {}, std::span<const std::uint64_t> waits = {}) {
    const auto event = mint();
    send(cl::Launch{.queue = queue,
                    .kernel = kernel,
                    .event = event,
                    .waits = waits,
                    .dimensions = 1,
                    .global = {items, 1, 1},
                    .local = {1, 1, 1},
                    .arguments = std::move(arguments)});
    return event;
  }
  std::uint64_t write(std::uint64_t queue, std::uint64_t memory, const Bytes& data, std::uint64_t offset = 0) {
    const auto event = mint();
    if (data.size() < wire::kInlinePayload) {
      send(cl::WriteBuffer{
          .queue = queue, .memory = memory, .event = event, .offset = offset, .data = {0, data.size(), data}});
    } else {
      const auto ticket = link.ticket();
      send(cl::WriteBuffer{
          .queue = queue, .memory = memory, .event = event, .offset = offset, .data = {ticket, data.size(), {}}});
      link.supply(ticket, data);
    }
    return event;
  }
  Bytes read(std::uint64_t queue, std::uint64_t memory, std::uint64_t size, std::uint64_t offset = 0) {
    const auto ticket = link.ticket();
    send(cl::ReadBuffer{.queue = queue, .memory = memory, .offset = offset, .size = size, .ticket = ticket});
    return link.payload(ticket);
  }

  CountingGrant grant;
  LoopLink link;
  NoPeers peers;
  std::unique_ptr<backend::Backend> backend;

 private:
  std::uint64_t last_ = 0, calls_ = 0;
  Bytes kept_;
};

inline Bytes pattern(std::size_t size, unsigned seed = 1) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>((i * 2654435761u + seed) >> 13);
  return bytes;
}

inline cl::Argument memory_argument(std::uint32_t index, std::uint64_t memory) {
  return {.index = index, .kind = 2, .object = memory, .size = 8};
}
inline cl::Argument value_argument(std::uint32_t index, View value) {
  return {.index = index, .kind = 1, .size = value.size(), .value = value};
}

}  // namespace flexrack::test
