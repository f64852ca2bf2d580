#include "hold/keeper.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "wire/accept.h"
#include "wire/error.h"
#include "wire/hold_stream.h"

namespace flexrack::hold {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = wire::Error::Kind;

constexpr int kLookEvery = 100;  // milliseconds between looks at whether to give back
constexpr auto kFirstPause = std::chrono::milliseconds(50), kLongestPause = std::chrono::milliseconds(1000);
constexpr auto kGiveBackWithin = std::chrono::milliseconds(2500);
constexpr auto kRefusedFor = std::chrono::seconds(2);  // a broker that has just begun again may still be reading its leases

class Keeper {
 public:
  Keeper(const std::vector<client::LeasedServer>& servers, int control) : servers_(servers), control_(control) {}

  void run() {
    std::vector<std::thread> threads;
    for (const auto& server : servers_) threads.emplace_back([this, &server] { hold(server); });
    pollfd wait{control_, POLLIN, 0};
    while (poll(&wait, 1, -1) < 0) {
    }
    is_over_ = true;
    for (auto& thread : threads) thread.join();
  }

 private:
  enum class End { given_back, over, lost };

  void hold(const client::LeasedServer& server) {
    bool was_held = false;
    auto last_seen = Clock::now();
    auto pause = kFirstPause;
    std::string problem;
    while (!is_over_) {
      try {
        const auto channel = wire::dial_hold(server.dial);
        if (!was_held && ++held_ == servers_.size()) tell(kAllHeld, "");
        was_held = true;
        pause = kFirstPause;
        const auto end = converse(*channel);
        last_seen = Clock::now();
        if (end == End::given_back) return;
        if (end == End::over) return tell(kOver, "the lease on " + server.node + " is over");
        problem = "the connection was lost";
      } catch (const wire::Error& error) {
        problem = error.what();
        const auto silent = Clock::now() - last_seen;
        const bool is_final = error.kind() == Kind::untrusted || (error.kind() == Kind::refused && silent > kRefusedFor);
        const bool is_first = !was_held && (error.kind() == Kind::refused || silent > server.dial.connect_timeout);
        if (is_final || is_first || silent > server.dial.grace) {
          return tell(was_held ? kOver : kFailed, server.node + ": " + problem);
        }
      }
      rest(pause);
      pause = std::min(pause * 2, kLongestPause);
    }
  }

  End converse(wire::Channel& channel) {
    auto heard = Clock::now();
    auto pinged = Clock::time_point{};
    while (!is_over_) {
      const auto now = Clock::now();
      if (now - pinged >= wire::kHoldPingEvery) {
        pinged = now;
        if (!wire::write_all(channel, {&wire::kHoldPing, 1})) return End::lost;
      }
      if (now - heard > wire::kHoldSilence) return End::lost;
      pollfd wait{channel.fd(), POLLIN, 0};
      if (!channel.has_buffered()) poll(&wait, 1, kLookEvery);
      std::array<std::uint8_t, 64> bytes{};
      const auto got = channel.read_some(bytes);
      if (got == wire::Channel::kEnded) return End::lost;
      if (got == wire::Channel::kNothing) continue;
      heard = Clock::now();
      const auto said = std::span(bytes).first(static_cast<std::size_t>(got));
      if (std::find(said.begin(), said.end(), wire::kHoldEnded) != said.end()) return End::over;
    }
    if (wire::write_all(channel, {&wire::kHoldGoodbye, 1})) await_given_back(channel);
    return End::given_back;
  }

  /// The server answers once the devices are free again: whoever runs the next command can count on them.
  static void await_given_back(wire::Channel& channel) {
    const auto until = Clock::now() + kGiveBackWithin;
    while (Clock::now() < until) {
      pollfd wait{channel.fd(), POLLIN, 0};
      if (!channel.has_buffered()) poll(&wait, 1, kLookEvery);
      std::array<std::uint8_t, 64> bytes{};
      const auto got = channel.read_some(bytes);
      if (got == wire::Channel::kEnded) return;
      const auto said = std::span(bytes).first(static_cast<std::size_t>(std::max<std::ptrdiff_t>(got, 0)));
      if (std::find(said.begin(), said.end(), wire::kHoldEnded) != said.end()) return;
    }
  }

  void rest(std::chrono::milliseconds pause) {
    const auto until = Clock::now() + pause;
    while (!is_over_ && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

  void tell(char what, const std::string& text) {
    const std::string message = what + text;
    const std::lock_guard lock(mutex_);
    send(control_, message.data(), message.size(), MSG_NOSIGNAL);
  }

  const std::vector<client::LeasedServer>& servers_;
  const int control_;
  std::atomic<bool> is_over_ = false;
  std::atomic<std::size_t> held_ = 0;
  std::mutex mutex_;
};

}  // namespace

void keep(const std::vector<client::LeasedServer>& servers, int control) {
  Keeper(servers, control).run();
  _exit(0);
}

}  // namespace flexrack::hold
