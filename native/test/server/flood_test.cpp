// Unproven connections in numbers at the listener of a daemon: whoever has a lease's key comes in all the same, and
// soon.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>

#include "daemon.h"
#include "made_up_backend.h"
#include "wire/accept.h"
#include "wire/error.h"

namespace {

using namespace flexrack;
using test::Client;
using test::Daemon;
using wire::Json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kSilent = 2000, kFlooding = 200;
constexpr int kTries = 40;
constexpr auto kUsually = std::chrono::seconds(1), kAtMost = std::chrono::seconds(5);

void raise_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// Connections that say `first` and are made anew, each `pause`, where they are closed; they are never told anything
/// they want to know.
class FairEviction {
 public:
  FairEviction(Json address, std::size_t count, std::vector<wire::Bytes> first, std::chrono::milliseconds pause)
      : address_(std::move(address)), first_(std::move(first)), pause_(pause), waits_(count, pollfd{-1, POLLIN, 0}) {
    for (auto& wait : waits_) open(wait);
    thread_ = std::thread([this] { run(); });
  }
  ~FairEviction() {
    is_over_ = true;
    thread_.join();
    for (const auto& wait : waits_) close(wait.fd);
  }
  std::atomic<std::uint64_t> made = 0;

 private:
  void open(pollfd& wait) {
    wait.fd = test::connect_raw(address_);
    if (wait.fd < 0) return;
    const auto& says = first_[made++ % first_.size()];
    if (!says.empty()) send(wait.fd, says.data(), says.size(), MSG_NOSIGNAL);
  }
  void run() {
    while (!is_over_) {
      if (pause_ > pause_.zero()) std::this_thread::sleep_for(pause_);
      else poll(waits_.data(), waits_.size(), 20);
      for (auto& wait : waits_) {
        std::uint8_t some[256];
        const auto got = wait.fd < 0 ? 0 : recv(wait.fd, some, sizeof some, MSG_DONTWAIT);
        if (got > 0 || (got < 0 && errno == EAGAIN)) continue;
        close(wait.fd);
        open(wait);
      }
    }
  }

  const Json address_;
  const std::vector<wire::Bytes> first_;
  const std::chrono::milliseconds pause_;
  std::vector<pollfd> waits_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

/// What unproven connections who have seen a lease's connections pass can say: the first bytes, of each kind and
/// transport.
std::vector<wire::Bytes> seen_on_the_wire(const wire::Dial& to, const wire::Id& session) {
  std::vector<wire::Bytes> all;
  for (const auto transport : {wire::Transport::tls, wire::Transport::tcp}) {
    for (const auto kind : {wire::ConnectionKind::command, wire::ConnectionKind::keeper, wire::ConnectionKind::bulk,
                            wire::ConnectionKind::peer}) {
      wire::Preamble preamble;
      preamble.kind = kind;
      preamble.transport = transport;
      preamble.lease = wire::id_from_hex(to.lease);
      preamble.session = session;
      preamble.flags = kind == wire::ConnectionKind::bulk ? wire::kResume : 0;
      preamble.peer = kind == wire::ConnectionKind::peer ? 1 : 0;
      // Those that begin a session do so with one of their own.
      if (kind == wire::ConnectionKind::command) preamble.session[15] = static_cast<std::uint8_t>(all.size() + 1);
      const auto bytes = wire::encode_preamble(preamble);
      all.emplace_back(bytes.begin(), bytes.end());
    }
  }
  return all;
}

struct Figures {
  std::vector<Clock::duration> times;
  int failed = 0;
  void add(const std::function<void()>& enter) {
    const auto begun = Clock::now();
    try {
      enter();
      times.push_back(Clock::now() - begun);
    } catch (const wire::Error& error) {
      if (++failed <= 3) std::printf("    not let in: %s\n", error.what());
    }
  }
  void judge(const char* what) {
    std::sort(times.begin(), times.end());
    const auto milliseconds = [](Clock::duration time) {
      return std::chrono::duration<double, std::milli>(time).count();
    };
    if (!times.empty())
      std::printf("    %s: median %.0f ms, longest %.0f ms of %zu, %d failed\n", what,
                  milliseconds(times[times.size() / 2]), milliseconds(times.back()), times.size(), failed);
    CHECK_MESSAGE(failed == 0, what);
    REQUIRE(!times.empty());
    CHECK(times[times.size() / 2] < kUsually);
    CHECK(times.back() < kAtMost);
  }
};

void come_in(const Json& lease, const wire::Dial& to, Client& member, const char* holding, const char* working) {
  Figures holds, sessions;
  for (int i = 0; i < kTries; ++i) {
    holds.add([&] { wire::dial_keeper(to); });
    sessions.add([&] {
      Client client(to);
      if (client.ask(test::kEcho) != 1) throw wire::Error(wire::Error::Kind::gone, "no answer");
    });
    CHECK(member.ask(test::kEcho) == 1);
  }
  CHECK(lease.has("ok"));
  holds.judge(holding);
  sessions.judge(working);
}

}  // namespace

TEST_CASE("with 2,000 silent and 200 flooding connections whoever has a lease's key is in within a second") {
  raise_limit();
  Daemon daemon;
  const auto lease =
      daemon.ask(Json::Members{{"op", "lease"}, {"fraction", 0.5}, {"owner", "somebody"}, {"purpose", "a test"}});
  for (const std::string transport : {"tls", "tcp"}) {
    CAPTURE(transport);
    auto to = test::dial_of(lease, transport);
    to.session.fill(static_cast<std::uint8_t>(transport.size() + transport[1]));
    Client member(to);
    const auto session = std::exchange(to.session, wire::Id{});
    FairEviction silent(daemon.address(), kSilent, {{}, {'F', 'L', 'E', 'X'}}, std::chrono::seconds(1));
    FairEviction flooding(daemon.address(), kFlooding, seen_on_the_wire(to, session), {});
    come_in(lease, to, member, (transport + ", a hold").c_str(), (transport + ", a session").c_str());
    std::printf("    %llu connections of unproven connections\n",
                static_cast<unsigned long long>(silent.made + flooding.made));
  }
}
