#include "client/cuda/replica_notices.h"

#include <doctest/doctest.h>

#include "client/cuda/replica_rules.h"
#include "gen/cuda/cuda.h"

using namespace flexrack;
using client::cuda::ReplicaFrames;
using client::cuda::ReplicaNotices;

namespace {

template <class Notice>
ReplicaFrames said(ReplicaNotices& notices, std::size_t from, std::size_t first, const Notice& notice) {
  wire::Bytes body;
  encode(body, notice);
  return notices.take(from, first, {Notice::kOp, 0, static_cast<std::uint32_t>(body.size()), 0}, body);
}

std::string text_of(const ReplicaFrames& frames) {
  std::string all;
  for (const auto& frame : frames) {
    cu::Printed printed;
    if (frame.header.op != cu::Printed::kOp || !decode(frame.body, printed)) continue;
    all.append(reinterpret_cast<const char*>(printed.text.data()), printed.text.size());
  }
  return all;
}

cu::Printed printed(std::string_view text) {
  return {.text = {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}};
}

cu::RunHostFunction run_in(const ReplicaFrames& frames) {
  cu::RunHostFunction run;
  REQUIRE(frames.size() == 1);
  REQUIRE(decode(frames.front().body, run));
  return run;
}

template <class Reply>
client::cuda::ReplicaAnswer answer_of(const Reply& reply) {
  client::cuda::ReplicaAnswer made{wire::kReply, {}};
  encode(made.body, reply);
  return made;
}

}  // namespace

TEST_CASE("what kernels print is told once, from where the lost server had stopped") {
  ReplicaNotices notices;
  CHECK(text_of(said(notices, 0, 0, printed("one "))) == "one ");
  CHECK(text_of(said(notices, 1, 0, printed("one two thr"))).empty());
  CHECK(text_of(said(notices, 0, 0, printed("two "))) == "two ");
  CHECK(text_of(notices.alone(1, false)) == "thr");
  CHECK(text_of(said(notices, 1, 1, printed("ee"))) == "ee");
}

TEST_CASE("the server that is left catches up with what the lost one had printed") {
  ReplicaNotices notices;
  CHECK(text_of(said(notices, 0, 0, printed("one two "))) == "one two ");
  CHECK(text_of(said(notices, 1, 0, printed("one "))).empty());
  CHECK(text_of(notices.alone(1, false)).empty());
  CHECK(text_of(said(notices, 1, 1, printed("two three"))) == "three");
}

TEST_CASE("a host function runs once, when both servers are there, and each hears of its own run") {
  ReplicaNotices notices;
  CHECK(said(notices, 1, 0, cu::RunHostFunction{.function = 7, .run = 21, .status = 0}).empty());
  CHECK(said(notices, 1, 0, cu::RunHostFunction{.function = 7, .run = 22, .status = 0}).empty());
  const auto first = run_in(said(notices, 0, 0, cu::RunHostFunction{.function = 7, .run = 1, .status = 0}));
  const auto second = run_in(said(notices, 0, 0, cu::RunHostFunction{.function = 7, .run = 2, .status = 0}));
  CHECK(first.function == 7);
  CHECK(notices.runs_of(first.run) == std::array<std::uint64_t, 2>{1, 21});
  CHECK(notices.runs_of(second.run) == std::array<std::uint64_t, 2>{2, 22});
  CHECK(notices.runs_of(second.run) == std::array<std::uint64_t, 2>{0, 0});
  CHECK(said(notices, 1, 0, cu::RunHostFunction{.function = 9, .run = 23, .status = 0}).empty());
  const auto left = run_in(notices.alone(1, false));
  CHECK(left.function == 9);
  CHECK(notices.runs_of(left.run) == std::array<std::uint64_t, 2>{0, 23});
}

TEST_CASE("failures and events are told once, and those of the lost server not again") {
  ReplicaNotices notices;
  const cu::Failed refused{.context = 3, .op = 0x2040, .status = 1}, sticky{.context = 3, .op = 0, .status = 700};
  CHECK(said(notices, 0, 0, refused).size() == 1);
  CHECK(said(notices, 1, 0, refused).empty());
  CHECK(said(notices, 0, 0, refused).size() == 1);
  CHECK(said(notices, 1, 0, sticky).empty());
  CHECK(said(notices, 1, 0, cu::EventReached{.event = 5, .number = 1}).empty());
  CHECK(said(notices, 0, 0, cu::EventReached{.event = 5, .number = 1}).size() == 1);
  CHECK(said(notices, 1, 0, cu::EventReached{.event = 5, .number = 2}).empty());
  const auto left = notices.alone(1, false);
  CHECK(left.size() == 2);  // sticky, and the event
  CHECK(said(notices, 1, 1, refused).empty());
  CHECK(said(notices, 1, 1, refused).size() == 1);
}

TEST_CASE("what only the lost second server had said is the first one's to say") {
  ReplicaNotices notices;
  said(notices, 1, 0, cu::Failed{.context = 3, .op = 0, .status = 700});
  said(notices, 1, 0, printed("early"));
  CHECK(notices.alone(0, true).empty());
  CHECK(text_of(said(notices, 0, 0, printed("early"))) == "early");
}

TEST_CASE("answers are compared in what the process goes by, and in nothing else") {
  using client::cuda::difference;
  const auto allocated = [](std::int32_t status, std::uint64_t address) {
    return answer_of(cu::AllocateReply{.status = status, .address = address});
  };
  CHECK(difference(cu::Allocate::kOp, allocated(0, 4096), allocated(0, 4096)).empty());
  CHECK(difference(cu::Allocate::kOp, allocated(0, 4096), allocated(2, 0)) == "Allocate: success and CUDA error 2");
  CHECK(difference(cu::Allocate::kOp, allocated(0, 4096), allocated(0, 8192)).find("not the same") !=
        std::string::npos);
  CHECK(difference(cu::QueryStream::kOp, answer_of(cu::QueryStreamReply{.status = 600}),
                   answer_of(cu::QueryStreamReply{.status = 0}))
            .empty());
  auto done = answer_of(cu::QueryStreamReply{.status = 0});
  const auto not_ready = answer_of(cu::QueryStreamReply{.status = CUDA_ERROR_NOT_READY});
  client::cuda::join_answers(cu::QueryStream::kOp, done, not_ready);
  CHECK(done.body == not_ready.body);
  CHECK(difference(cu::WaitStream::kOp, answer_of(cu::WaitStreamReply{.status = 700}),
                   answer_of(cu::WaitStreamReply{.status = 0})) == "WaitStream: CUDA error 700 and success");
  CHECK(difference(cu::Load::kOp, answer_of(cu::LoadReply{.info_log = "0.1 ms"}),
                   answer_of(cu::LoadReply{.info_log = "0.2 ms"}))
            .empty());
}

TEST_CASE("an image that one server lacks is sent to both") {
  const wire::Bytes some{1, 1, 0}, others{1, 0, 0};
  auto here = answer_of(cu::HaveImagesReply{.known = some});
  client::cuda::join_answers(cu::HaveImages::kOp, here, answer_of(cu::HaveImagesReply{.known = others}));
  cu::HaveImagesReply joined;
  REQUIRE(decode(here.body, joined));
  CHECK(wire::Bytes(joined.known.begin(), joined.known.end()) == others);
}

TEST_CASE("a server that tells of more than the other one has an end; what both have said is not kept") {
  ReplicaNotices notices;
  const client::cuda::ReplicaLimits limits{.notices = 10, .printed = 100};
  for (std::uint64_t i = 1; i <= 20; ++i) {
    for (const std::size_t side : {1, 0}) {
      said(notices, side, 0, cu::EventReached{.event = i, .number = 1});
      said(notices, side, 0, cu::RunHostFunction{.function = i, .run = i, .status = 0});
      said(notices, side, 0, cu::Failed{.context = i, .op = 1, .status = 1});
      CHECK(notices.excess_of(side, 0, limits).empty());
    }
  }
  for (std::uint64_t i = 100; i < 110; ++i) said(notices, 0, 0, cu::EventReached{.event = i, .number = 1});
  CHECK(notices.excess_of(0, 0, limits).empty());
  said(notices, 0, 0, cu::RunHostFunction{.function = 7, .run = 1, .status = 0});
  CHECK_FALSE(notices.excess_of(0, 0, limits).empty());
  CHECK(notices.excess_of(1, 0, limits).empty());
  for (std::uint64_t i = 0; i < 11; ++i) said(notices, 1, 0, cu::Failed{.context = 1000 + i, .op = 1, .status = 1});
  CHECK_FALSE(notices.excess_of(1, 0, limits).empty());

  ReplicaNotices printing;
  said(printing, 1, 0, printed(std::string(100, 'x')));
  CHECK(printing.excess_of(1, 0, limits).empty());
  said(printing, 1, 0, printed("y"));
  CHECK_FALSE(printing.excess_of(1, 0, limits).empty());
  said(printing, 0, 0, printed(std::string(100, 'x')));
  CHECK(printing.excess_of(1, 0, limits).empty());
}

TEST_CASE("a server that is alone and has functions run without end has an end") {
  ReplicaNotices notices;
  (void)notices.alone(0, true);
  const client::cuda::ReplicaLimits limits{.notices = 10};
  for (std::uint64_t i = 0; i < 10; ++i) said(notices, 0, 0, cu::RunHostFunction{.function = 1, .run = i, .status = 0});
  CHECK(notices.excess_of(0, 0, limits).empty());
  said(notices, 0, 0, cu::RunHostFunction{.function = 1, .run = 10, .status = 0});
  CHECK_FALSE(notices.excess_of(0, 0, limits).empty());
}
