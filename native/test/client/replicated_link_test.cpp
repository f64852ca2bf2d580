// A session at two servers of which one is a test that lies.
#include "client/cuda/replicated_link.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "fake_server.h"
#include "gen/cuda/messages.h"

namespace {

using namespace flexrack;
using client::cuda::ReplicaSettings;
using test::FakeLink;

struct Process final : wire::Receiver {
  std::atomic<int> frames{0};
  std::atomic<bool> is_over{false};
  void on_frame(const wire::Header&, wire::View) override { ++frames; }
  void on_over(std::string_view) override { is_over = true; }
};

struct Pair {
  Process process;
  std::array<FakeLink*, 2> sides{};
  std::unique_ptr<wire::Link> link;
  explicit Pair(const ReplicaSettings& settings) {
    link = client::cuda::replicate({"node-1", "node-2"}, settings,
                                   client::cuda::ReplicaConnect([this](std::size_t place, wire::Receiver& receiver) {
                                     auto made = std::make_unique<FakeLink>(receiver);
                                     sides[place] = made.get();
                                     return made;
                                   }),
                                   process);
  }
  ~Pair() {
    link->close();
    for (auto* side : sides) side->stop();
  }
  bool is_closed(std::size_t side) const {
    for (int i = 0; i < 2000 && !sides[side]->is_over(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return sides[side]->is_over();
  }
};

const ReplicaSettings kNarrow{.limits = {.notices = 100, .printed = 1000, .early_bytes = 1000, .calls = 50}};

}  // namespace

TEST_CASE("of two servers, one that tells of what the other one never does is given up, and the other one serves on") {
  for (const std::size_t liar : {0, 1}) {
    CAPTURE(liar);
    Pair pair(kNarrow);
    for (std::uint64_t i = 0; i < 101; ++i) pair.sides[liar]->notice(cu::EventReached{.event = i, .number = 1});
    REQUIRE(pair.is_closed(liar));
    CHECK_FALSE(pair.process.is_over);
    CHECK_FALSE(pair.sides[1 - liar]->is_over());
    const int before = pair.process.frames;
    pair.sides[1 - liar]->notice(cu::EventReached{.event = 7, .number = 1});
    pair.sides[1 - liar]->deliver();
    CHECK(pair.process.frames == before + 1);
  }
}

TEST_CASE("of two servers, one that prints what the other one does not is given up") {
  Pair pair(kNarrow);
  const wire::Bytes text(500, 'x');
  for (int i = 0; i < 3; ++i) pair.sides[1]->notice(cu::Printed{.text = text});
  REQUIRE(pair.is_closed(1));
  CHECK_FALSE(pair.process.is_over);
  CHECK(pair.process.frames == 0);
}

TEST_CASE("of two servers, one that answers nothing is given up where the process has the other one's answers") {
  Pair pair(kNarrow);
  pair.sides[0]->on_sent = [&](const test::Sent& sent) {
    if (sent.header.op == cu::MemoryInfo::kOp) pair.sides[0]->reply(sent.header, cu::MemoryInfoReply{.status = 0});
  };
  for (int i = 0; i < 200 && !pair.sides[1]->is_over(); ++i) {
    const int before = pair.process.frames;
    pair.link->send(cu::MemoryInfo::kOp, 0, [](wire::Bytes& out) { encode(out, cu::MemoryInfo{}); });
    REQUIRE(pair.link->wait([&] { return pair.process.frames > before; }));
  }
  CHECK(pair.is_closed(1));
  CHECK_FALSE(pair.process.is_over);
}

TEST_CASE("answers to calls that never were are dropped, and while calls are on their way they have an end") {
  Pair pair(kNarrow);
  const wire::Header made_up{cu::MemoryInfo::kOp, 0, 0, 99999};
  for (int i = 0; i < 2000; ++i) pair.sides[1]->reply(made_up, cu::MemoryInfoReply{.status = 0});
  pair.sides[1]->deliver();
  CHECK_FALSE(pair.sides[1]->is_over());
  // One that is on its way at the other server has no number here yet.
  pair.sides[0]->on_sent = [&](const test::Sent&) {
    for (std::uint64_t i = 0; i < 200; ++i) {
      const wire::Header next{cu::MemoryInfo::kOp, 0, 0, 1000 + i};
      pair.sides[1]->reply(next, cu::MemoryInfoReply{.status = 0});
    }
    pair.sides[1]->deliver();
  };
  pair.link->send(cu::MemoryInfo::kOp, 0, [](wire::Bytes& out) { encode(out, cu::MemoryInfo{}); });
  CHECK(pair.is_closed(1));
  CHECK_FALSE(pair.process.is_over);
}
