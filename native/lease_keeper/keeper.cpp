#include "lease_keeper/keeper.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "gen/cuda/revision.h"
#include "gen/opencl/revision.h"
#include "lease_keeper/successor.h"
#include "wire/accept.h"
#include "wire/error.h"
#include "wire/keeper_stream.h"

namespace flexrack::lease_keeper {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = wire::Error::Kind;

/// What the drivers beside this program speak.
constexpr std::array kDrivers{cl::kApi, cu::kApi};

constexpr int kLookEvery = 100;  // milliseconds between looks at whether to give back
constexpr auto kFirstPause = std::chrono::milliseconds(50), kLongestPause = std::chrono::milliseconds(1000);
constexpr auto kGiveBackWithin = std::chrono::milliseconds(2500);
constexpr auto kRefusedFor =
    std::chrono::seconds(2);  // a broker that has just begun again may still be reading its leases

/// Fills it, or throws Error.
void read_from(wire::Channel& channel, std::span<std::uint8_t> into, Clock::time_point end) {
  while (!into.empty()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) throw wire::Error(Kind::unreachable, "the daemon does not say what it speaks");
    pollfd wait{channel.fd(), POLLIN, 0};
    if (!channel.has_buffered()) poll(&wait, 1, static_cast<int>(left));
    const auto got = channel.read_some(into);
    if (got == wire::Channel::kEnded) throw wire::Error(Kind::gone, "the connection ended");
    into = into.subspan(static_cast<std::size_t>(got));
  }
}

/// Whether the driver and the daemon mean the same by their messages. Throws Error{refused} where they do not: programs
/// would find no device, and not why.
void check_spoken(wire::Channel& channel, std::chrono::milliseconds patience) {
  const auto end = Clock::now() + patience;
  if (!wire::write_all(channel, {&wire::kKeeperAsk, 1})) throw wire::Error(Kind::gone, "the connection ended");
  std::uint8_t first = 0;
  read_from(channel, {&first, 1}, end);
  if (first == wire::kKeeperEnded) throw wire::Error(Kind::refused, "the lease is over");
  wire::KeeperApi served;
  if (first == wire::kKeeperAsk) read_from(channel, {reinterpret_cast<std::uint8_t*>(&served), sizeof served}, end);
  // A daemon that does not know the question is older than revisions, and had one API.
  const auto name = first == wire::kKeeperAsk ? served.text() : kDrivers.front().name;
  for (const auto& driver : kDrivers) {
    if (driver.name != name) continue;
    if (driver.revision == served.revision) return;
    throw wire::Error(Kind::refused, wire::mismatch(driver, {name, 0, served.revision}));
  }
  throw wire::Error(Kind::refused,
                    "its devices are of an API that this build has no driver for: run npm run build:native");
}

/// The lease file of a move, whose first bytes may have been read. Throws Error.
std::string read_move(wire::Channel& channel, std::span<const std::uint8_t> read) {
  const auto end = Clock::now() + wire::kKeeperSilence;
  const auto take = [&](std::span<std::uint8_t> into) {
    const auto have = std::min(into.size(), read.size());
    std::copy_n(read.begin(), have, into.begin());
    read = read.subspan(have);
    read_from(channel, into.subspan(have), end);
  };
  std::uint32_t size = 0;
  take({reinterpret_cast<std::uint8_t*>(&size), sizeof size});
  if (size > wire::kLongestKeeperMove) throw wire::Error(Kind::malformed, "a move that cannot be");
  std::string file(size, '\0');
  take({reinterpret_cast<std::uint8_t*>(file.data()), file.size()});
  return file;
}

class Keeper {
 public:
  Keeper(const std::vector<client::LeasedServer>& servers, int control, const std::string& file)
      : servers_(servers), control_(control), file_(file) {}

  void run() {
    std::vector<std::thread> threads;
    for (const auto& server : servers_) threads.emplace_back([this, &server] { hold(server); });
    pollfd wait{control_, POLLIN, 0};
    while (poll(&wait, 1, -1) < 0) {}
    is_over_ = true;
    for (auto& thread : threads) thread.join();
  }

 private:
  enum class End { given_back, over, lost };

  void hold(client::LeasedServer server) {
    Successor successor;
    bool was_held = false;
    auto last_seen = Clock::now();
    auto pause = kFirstPause;
    std::string problem;
    while (!is_over_) {
      try {
        const auto channel = wire::dial_keeper(server.dial);
        if (!was_held) check_spoken(*channel, server.dial.connect_timeout);
        if (!was_held && ++held_ == servers_.size()) tell(kAllHeld, "");
        was_held = true;
        pause = kFirstPause;
        const auto end = converse(*channel, successor);
        last_seen = Clock::now();
        if (end == End::given_back) return;
        if (end == End::over && successor.is_held()) {
          server = go_on_with(successor, server);
          continue;
        }
        if (end == End::over) return tell(kEnded, "the lease on " + server.node + " is over");
        problem = "the connection was lost";
      } catch (const wire::Error& error) {
        problem = error.what();
        const auto silent = Clock::now() - last_seen;
        const bool is_final =
            error.kind() == Kind::untrusted || (error.kind() == Kind::refused && silent > kRefusedFor);
        const bool is_first = !was_held && (error.kind() == Kind::refused || silent > server.dial.connect_timeout);
        if (is_final || is_first || silent > server.dial.grace) {
          // A lease that has gone elsewhere is over here, whether its server could still say so or not.
          if (successor.is_held()) {
            server = go_on_with(successor, server);
            last_seen = Clock::now();
            continue;
          }
          return tell(was_held ? kOver : kFailed, server.node + ": " + problem);
        }
      }
      rest(pause);
      pause = std::min(pause * 2, kLongestPause);
    }
  }

  client::LeasedServer go_on_with(Successor& successor, const client::LeasedServer& server) {
    {
      const std::lock_guard lock(mutex_);  // of the file: another lease may be on its way as well
      replace_in_lease_file(file_, server.dial.lease, successor.file());
    }
    return successor.take_place();
  }

  End converse(wire::Channel& channel, Successor& successor) {
    auto heard = Clock::now();
    auto pinged = Clock::time_point{};
    bool is_writable = true;  // where it is not, what the server said before it closed is still to be read
    const auto say = [&](std::uint8_t what) { is_writable = is_writable && wire::write_all(channel, {&what, 1}); };
    while (!is_over_) {
      const auto now = Clock::now();
      if (now - pinged >= wire::kKeeperPingEvery) {
        pinged = now;
        say(wire::kKeeperPing);
      }
      if (now - heard > wire::kKeeperSilence) return End::lost;
      pollfd wait{channel.fd(), POLLIN, 0};
      if (!channel.has_buffered()) poll(&wait, 1, kLookEvery);
      std::array<std::uint8_t, 64> bytes{};
      const auto got = channel.read_some(bytes);
      if (got == wire::Channel::kEnded) return End::lost;
      if (got == wire::Channel::kNothing) continue;
      heard = Clock::now();
      auto said = std::span(bytes).first(static_cast<std::size_t>(got));
      for (; !said.empty(); said = said.subspan(1)) {
        if (said.front() == wire::kKeeperEnded) return End::over;
        if (said.front() == wire::kKeeperStay) successor.give_up();
        if (said.front() != wire::kKeeperMove) continue;
        const auto file = read_move(channel, said.subspan(1));
        say(successor.hold(file) ? wire::kKeeperMove : wire::kKeeperCannot);
        heard = Clock::now();
        break;
      }
    }
    successor.give_up();
    if (wire::write_all(channel, {&wire::kKeeperGoodbye, 1})) await_given_back(channel);
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
      if (wire::is_said(said, wire::kKeeperEnded)) return;
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
  const std::string file_;
  std::atomic<bool> is_over_ = false;
  std::atomic<std::size_t> held_ = 0;
  std::mutex mutex_;
};

}  // namespace

void keep(const std::vector<client::LeasedServer>& servers, int control, const std::string& file) {
  Keeper(servers, control, file).run();
  _exit(0);
}

}  // namespace flexrack::lease_keeper
