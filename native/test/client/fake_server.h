// A link whose other side is a test: it sees every message in order and says what it likes, when it likes.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "client/session.h"
#include "gen/opencl/messages.h"
#include "wire/link.h"

namespace flexrack::test {

struct Sent {
  wire::Header header;
  wire::Bytes body;
};

class FakeLink final : public wire::Link {
 public:
  explicit FakeLink(wire::Receiver& receiver) : receiver_(receiver) {}
  ~FakeLink() override { stop(); }

  /// Ends it and what it still hands out. An event of one link may say its end on another, so links that belong
  /// together all stop before the first of them is destroyed; a process's own links are never destroyed.
  void stop() {
    close();
    if (pump_.joinable()) pump_.join();
  }

  /// Called with every message on the sender's thread; answers by notice() and reply(), or not at all.
  std::function<void(const Sent&)> on_sent;

  std::uint64_t send(std::uint16_t op, std::uint16_t flags, const std::function<void(wire::Bytes&)>& encode) override {
    Sent sent{{op, flags, 0, 0}, {}};
    encode(sent.body);
    {
      const std::lock_guard guard(lock_);
      if (is_over_) return 0;
      sent.header.sequence = ++last_;
      messages_.push_back(sent);
    }
    if (on_sent) on_sent(sent);
    return sent.header.sequence;
  }
  void flush() override {}
  std::uint64_t ticket() override { return ++ticket_; }
  void push(std::uint64_t, wire::View, wire::Done done, bool) override { done(true); }
  void land(std::uint64_t, std::span<std::uint8_t>, wire::Done) override {}
  void cancel(std::uint64_t ticket) override { cancelled.push_back(ticket); }

  bool wait(const std::function<bool()>& ready) override {
    std::unique_lock guard(lock_);
    while (!ready()) {
      if (is_over_) return false;
      if (is_reading_ || incoming_.empty()) {
        comes_.wait(guard);
        continue;
      }
      is_reading_ = true;
      const auto frame = std::move(incoming_.front());
      incoming_.pop_front();
      guard.unlock();
      receiver_.on_frame(frame.header, frame.body);
      guard.lock();
      is_reading_ = false;
      comes_.notify_all();
    }
    return true;
  }
  /// Hands out what has come, without waiting for more.
  void deliver() {
    wait([this] { return incoming_.empty() && !is_reading_; });
  }
  void run() override {}
  void wake() override { comes_.notify_all(); }
  bool is_over() const override { return is_over_; }
  wire::View session_id() const override { return id_; }
  void close() override { break_off("closed"); }

  template <class Message>
  void notice(const Message& message) {
    wire::Bytes body;
    encode(body, message);
    arrive({{Message::kOp, 0, static_cast<std::uint32_t>(body.size()), 0}, std::move(body)});
  }
  void completed(std::uint64_t event, std::int32_t status = 0) {
    const std::vector<cl::Completion> events{
        {.event = event, .status = status, .queued = 1, .submitted = 2, .started = 3, .ended = 4, .completed = 5}};
    cl::Completed message;
    message.events = events;
    notice(message);
  }
  template <class Reply>
  void reply(const wire::Header& call, const Reply& reply, std::uint16_t flags = wire::kReply) {
    wire::Bytes body;
    wire::Writer(body).put(call.sequence);
    encode(body, reply);
    arrive({{call.op, flags, static_cast<std::uint32_t>(body.size()), 0}, std::move(body)});
  }
  void arrive(Sent frame) {
    const std::lock_guard guard(lock_);
    incoming_.push_back(std::move(frame));
    comes_.notify_all();
  }
  void break_off(std::string_view why) {
    {
      const std::lock_guard guard(lock_);
      if (is_over_) return;
      is_over_ = true;
    }
    receiver_.on_over(why);
    comes_.notify_all();
  }

  /// The messages of one kind so far, as the server would read them; valid until the next.
  template <class Message>
  std::vector<Message> sent() {
    const std::lock_guard guard(lock_);
    std::vector<Message> found;
    for (const auto& message : messages_) {
      Message read;
      if (message.header.op == Message::kOp && decode(message.body, read)) found.push_back(read);
    }
    return found;
  }

  std::vector<std::uint64_t> cancelled;

 private:
  wire::Receiver& receiver_;
  const wire::Bytes id_ = wire::Bytes(16);
  std::mutex lock_;
  std::condition_variable comes_;
  std::deque<Sent> messages_;  // a deque: what sent() views stays where it is
  std::deque<Sent> incoming_;
  std::atomic<bool> is_over_{false};
  bool is_reading_ = false;
  std::uint64_t last_ = 0;
  std::uint64_t ticket_ = 0;
  /// Reads when nobody waits, as a real link does.
  std::thread pump_{[this] { wait([] { return false; }); }};
};

/// A session over such a link.
struct Fake {
  FakeLink* link = nullptr;
  std::unique_ptr<client::Session> session;
  explicit Fake(client::Notices& notices) {
    session = client::open_session(
        {},
        [&](wire::Receiver& receiver) {
          auto made = std::make_unique<FakeLink>(receiver);
          link = made.get();
          return made;
        },
        notices);
  }
};

}  // namespace flexrack::test
