// Launches of a share: each waits for its turn, is timed by the device, and costs no thread.
#include <filesystem>
#include <fstream>

#include "test/backend/cuda_client.h"

using namespace flexrack;
using namespace flexrack::test;

namespace {

constexpr std::string_view kSpin = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u32 rounds) {
  .reg .pred %p;
  .reg .u32 %r<3>;
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, 0;
again:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p, %r2, %r1;
  @%p bra again;
  ret;
}
)";

/// Threads of this process but for the driver's, which say their names.
std::size_t own_threads() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (!name.starts_with("sim")) ++count;
  }
  return count;
}

class TimeSliced : public CudaClient {
 public:
  TimeSliced() : CudaClient(true) {
    REQUIRE(load(at, module, kSpin).status == 0);
    kernel = CudaClient::kernel(at, module, "spin");
  }
  void launch(std::uint64_t stream, std::uint32_t rounds) {
    send(cu::Launch{.context = at,
                    .kernel = kernel,
                    .stream = stream,
                    .grid = {1, 1, 1},
                    .block = {32, 1, 1},
                    .parameters = {reinterpret_cast<const std::uint8_t*>(&rounds), sizeof rounds}});
  }
  const std::uint64_t at = context(), module = mint();
  std::uint64_t kernel = 0;
};

}  // namespace

TEST_CASE("time-sliced launches start when they are let go, are all told of, and have one thread between them") {
  constexpr std::size_t kLaunches = 300;
  TimeSliced client;
  const auto one = client.stream(client.at), other = client.stream(client.at);
  const auto before = own_threads();
  for (std::size_t i = 0; i < kLaunches; ++i) client.launch(i % 3 == 0 ? other : one, 1000);
  CHECK(own_threads() <= before + 1);
  CHECK(client.grant.asking() == kLaunches);
  CHECK(client.call(cu::QueryStream{.context = client.at, .stream = one}).status == CUDA_ERROR_NOT_READY);
  // Those of one stream, in their order: the others are told of without them.
  client.grant.let_go(1);
  CHECK(client.grant.finished(1) == 1);
  CHECK(client.wait(client.at, 0) == CUDA_SUCCESS);
  client.grant.let_go(kLaunches);
  CHECK(client.wait(client.at, one) == CUDA_SUCCESS);
  CHECK(client.wait(client.at, other) == CUDA_SUCCESS);
  CHECK(client.grant.finished(kLaunches) == kLaunches);
  CHECK(client.grant.nanoseconds() > 0);
  CHECK(own_threads() <= before + 2);   // and one that waited for a stream
  CHECK_FALSE(client.link.has_refusals());
}

TEST_CASE("the longest of several launches is told of beside what all took together") {
  TimeSliced client;
  for (const std::uint32_t rounds : {1u, 300'000u, 1u, 1u}) client.launch(0, rounds);
  client.grant.let_go(4);
  CHECK(client.grant.finished(4) == 4);
  CHECK(client.grant.longest() < client.grant.nanoseconds());
  CHECK(client.grant.longest() >= client.grant.nanoseconds() / 4);
}

TEST_CASE("a launch of a stream is told of while another stream's runs on") {
  TimeSliced client;
  const auto held = client.stream(client.at), free = client.stream(client.at), latch = client.mint();
  client.send(cu::WaitLatch{.context = client.at, .stream = held, .latch = latch});
  client.launch(held, 1);
  client.launch(free, 1);
  client.grant.let_go(2);
  CHECK(client.grant.finished(1) == 1);
  client.send(cu::OpenLatch{.latch = latch});
  CHECK(client.grant.finished(2) == 2);
}

TEST_CASE("any number of waits for a context wait beside each other, each for what was before it alone") {
  constexpr std::size_t kWaits = 300;   // more than there are threads for
  CudaClient client;
  const auto busy = client.context(), idle = client.context(false);
  const auto held = client.stream(busy), ended = client.stream(busy), beside = client.stream(busy);
  const auto latch = client.mint(), late = client.mint();
  const auto wait = [&](std::uint64_t stream, std::uint64_t on) {
    client.send(cu::WaitLatch{.context = busy, .stream = stream, .latch = on});
  };
  const auto is_answered = [&](std::uint64_t call) {
    cu::WaitContextReply reply;
    const auto [flags, body] = client.link.reply(call);
    return flags == wire::kReply && decode(body, reply) && reply.status == 0;
  };
  wait(held, latch);
  std::vector<std::uint64_t> calls;
  for (std::size_t i = 0; i < kWaits; ++i) calls.push_back(client.send(cu::WaitContext{.context = busy}));
  CHECK(is_answered(client.send(cu::WaitContext{.context = idle})));

  // What comes later is not waited for; what a stream had that has ended is.
  wait(ended, latch);
  client.send(cu::Release{.object = ended});
  calls.push_back(client.send(cu::WaitContext{.context = busy}));
  wait(beside, late);
  CHECK_FALSE(client.link.has_reply(calls.front()));
  CHECK_FALSE(client.link.has_reply(calls.back()));
  client.send(cu::OpenLatch{.latch = latch});
  CHECK(is_answered(calls.back()));
  client.send(cu::OpenLatch{.latch = late});
  for (const auto call : calls) CHECK(is_answered(call));
  CHECK_FALSE(client.link.has_refusals());
}

TEST_CASE("a launch that the driver refuses does not hold up what is behind it") {
  TimeSliced client;
  client.send(cu::Launch{.context = client.at,
                         .kernel = client.kernel,
                         .grid = {0, 1, 1},
                         .block = {32, 1, 1},
                         .parameters = Bytes(4, 0)});
  CHECK(client.link.refusal(cu::Launch::kOp) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.wait(client.at) == CUDA_SUCCESS);
  CHECK(client.grant.asking() == 0);
  client.launch(0, 10);
  client.grant.let_go(1);
  CHECK(client.grant.finished(1) == 1);
}

TEST_CASE("a context ends when its launches were let go, and a session also when they never are") {
  TimeSliced client;
  client.launch(0, 10);
  client.send(cu::ReleaseContext{.context = client.at});
  CHECK(client.grant.used(0) > 0);
  client.grant.let_go(1);
  CHECK(client.grant.finished(1) == 1);
  CHECK(client.grant.is_used(0));
  const auto next = client.context(false);
  const auto module = client.mint();
  REQUIRE(client.load(next, module, kSpin).status == 0);
  const std::uint32_t rounds = 1;
  client.send(cu::Launch{.context = next,
                         .kernel = client.CudaClient::kernel(next, module, "spin"),
                         .grid = {1, 1, 1},
                         .block = {32, 1, 1},
                         .parameters = {reinterpret_cast<const std::uint8_t*>(&rounds), sizeof rounds}});
  CHECK(client.grant.asking() == 1);
  client.stop();
  CHECK(client.grant.used(0) == 0);
  CHECK_FALSE(client.grant.is_overdrawn());
  client.grant.let_go(1);   // a turn that comes late harms nobody
}
