// The link of a session that is being made again out of another worker's: replies to what it is told again are taken
// here, and no client hears of them.
#pragma once

#include <cstring>
#include <functional>
#include <mutex>
#include <string>

#include "gen/cuda/messages.h"
#include "wire/link.h"

namespace flexrack::backend::cuda {

/// Thread-safe.
class ReplayLink final : public wire::Link {
 public:
  using Replied = std::function<void(bool is_refused, wire::View reply)>;

  /// What the next reply is given to, on whatever thread.
  void expect(Replied replied) {
    const std::lock_guard guard(lock_);
    replied_ = std::move(replied);
    failure_ = 0;
  }
  /// The status of a message that is not answered and failed since expect(); 0: none did.
  std::int32_t failure() {
    const std::lock_guard guard(lock_);
    return failure_;
  }

  std::uint64_t send(std::uint16_t op, std::uint16_t flags, const std::function<void(wire::Bytes&)>& encode) override {
    wire::Bytes body;
    encode(body);
    if (cu::Failed failed; op == cu::Failed::kOp && decode(body, failed)) {
      const std::lock_guard guard(lock_);
      if (failure_ == 0) failure_ = failed.status;
    }
    if ((flags & wire::kReply) == 0 || body.size() < sizeof(std::uint64_t)) return 1;
    Replied replied;
    {
      const std::lock_guard guard(lock_);
      replied = std::exchange(replied_, nullptr);
    }
    if (replied) replied((flags & wire::kRefused) != 0, wire::View(body).subspan(sizeof(std::uint64_t)));
    return 1;
  }
  void flush() override {}
  std::uint64_t ticket() override { return 1; }
  void push(std::uint64_t, wire::View, wire::Done done, bool) override { done(false); }
  void land(std::uint64_t, std::span<std::uint8_t>, wire::Done done) override { done(false); }
  void cancel(std::uint64_t) override {}
  bool wait(const std::function<bool()>&) override { return false; }
  void run() override {}
  void wake() override {}
  bool is_over() const override { return false; }
  wire::View session_id() const override { return {}; }
  void close() override {}

 private:
  std::mutex lock_;
  Replied replied_;
  std::int32_t failure_ = 0;
};

}  // namespace flexrack::backend::cuda
