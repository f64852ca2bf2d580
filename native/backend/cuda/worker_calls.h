// One worker as the client of another: calls, one at a time or several on their way.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "gen/cuda/revision.h"
#include "wire/error.h"
#include "wire/link.h"

namespace flexrack::backend::cuda {

class WorkerCalls final : public wire::Receiver {
 public:
  /// How long nothing may be answered while something is owed. A module may be compiled meanwhile.
  static constexpr std::chrono::seconds kAnswersWithin{60};
  /// Bytes that are on their way put off the end of that: a link that is slower is no way for a session.
  static constexpr std::uint64_t kSlowestLink = 4 << 20;  ///< bytes a second

  /// A worker that keeps its connection alive but answers nothing for `patience` is taken for lost: the program whose
  /// session is parked would wait for ever. Throws std::runtime_error.
  explicit WorkerCalls(const wire::Dial& to, std::chrono::milliseconds patience = kAnswersWithin)
      : patience_(patience) {
    try {
      link_ = wire::dial(to, cu::kApi, *this);
    } catch (const wire::Error& error) { throw std::runtime_error(std::string("the daemon there: ") + error.what()); }
    reader_ = std::thread([this] { link_->wait([] { return false; }); });
  }
  ~WorkerCalls() override {
    link_->close();
    reader_.join();
  }
  WorkerCalls(const WorkerCalls&) = delete;

  wire::Link& link() { return *link_; }

  /// Sends it; answer() gives the reply.
  template <class Message>
  std::uint64_t ask(const Message& message) {
    const auto sequence = link_->send(Message::kOp, 0, [&](wire::Bytes& out) { encode(out, message); });
    link_->flush();
    return sequence;
  }
  /// The same with bytes in `field`, which are in the message where they are few; `content` is of `kept`.
  template <class Message>
  std::uint64_t ask_with(Message message, wire::Payload Message::* field, wire::View content,
                         std::shared_ptr<const wire::Bytes> kept) {
    const bool is_small = content.size() < wire::kInlinePayload;
    auto& payload = message.*field;
    payload = {is_small ? 0 : link_->ticket(), content.size(), is_small ? content : wire::View()};
    const auto sequence = ask(message);
    {
      const std::lock_guard guard(lock_);
      on_their_way_ += content.size();
    }
    if (!is_small) link_->push(payload.ticket, content, [kept = std::move(kept)](bool) {}, true);
    return sequence;
  }
  /// Waits for the reply to that. Throws std::runtime_error where it is refused or the link is over.
  wire::Bytes answer(std::uint64_t sequence) {
    std::unique_lock guard(lock_);
    for (auto seen = frames_; !answers_.contains(sequence) && !is_over_; seen = frames_) {
      const auto limit = patience_ + std::chrono::seconds(on_their_way_ / kSlowestLink);
      if (!more_.wait_for(guard, limit, [&] { return frames_ != seen || is_over_; }))
        throw std::runtime_error("the daemon there answered nothing for " +
                                 std::to_string(std::chrono::ceil<std::chrono::seconds>(limit).count()) + " s");
    }
    const auto found = answers_.find(sequence);
    if (found == answers_.end()) throw std::runtime_error("the daemon there was lost");
    auto answer = std::move(found->second);
    answers_.erase(found);
    if (answers_.empty()) on_their_way_ = 0;
    if (answer.empty()) throw std::runtime_error("the daemon there refused it");
    return answer;
  }
  template <class Message>
  wire::Bytes call(const Message& message) {
    return answer(ask(message));
  }
  /// Until the other worker says goodbye, which is its word that all is well. False: it did not in that time, or was
  /// lost.
  bool await_goodbye(std::chrono::milliseconds patience) {
    std::unique_lock guard(lock_);
    return more_.wait_for(guard, patience, [&] { return is_over_; }) && is_goodbye_;
  }

  void on_frame(const wire::Header& header, wire::View body) override {
    std::uint64_t sequence = 0;
    if ((header.flags & wire::kReply) == 0 || body.size() < sizeof sequence) return;
    std::memcpy(&sequence, body.data(), sizeof sequence);
    const auto rest = body.subspan(sizeof sequence);
    const std::lock_guard guard(lock_);
    ++frames_;
    auto& answer = answers_[sequence];
    if ((header.flags & wire::kRefused) == 0) answer.assign(rest.begin(), rest.end());
    more_.notify_all();
  }
  void on_over(std::string_view why) override {
    const std::lock_guard guard(lock_);
    is_over_ = true;
    is_goodbye_ = why == wire::kEndedByOther;
    more_.notify_all();
  }

 private:
  std::mutex lock_;
  std::condition_variable more_;
  std::map<std::uint64_t, wire::Bytes> answers_;  ///< by the call's sequence number; empty: refused
  bool is_over_ = false, is_goodbye_ = false;
  std::uint64_t frames_ = 0;  ///< replies that have arrived
  std::uint64_t on_their_way_ = 0;  ///< bytes of payloads that were sent and may not have arrived; at least those
  const std::chrono::milliseconds patience_;
  std::unique_ptr<wire::Link> link_;
  std::thread reader_;
};

}  // namespace flexrack::backend::cuda
