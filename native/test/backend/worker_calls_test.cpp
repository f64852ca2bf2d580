// A worker asks another one: what it makes of one that is there and answers nothing.
#include "backend/cuda/worker_calls.h"

#include <doctest/doctest.h>

#include "gen/cuda/messages.h"
#include "test/wire/rig.h"

using namespace flexrack;
using flexrack::backend::cuda::WorkerCalls;

namespace {

constexpr std::chrono::milliseconds kPatience{100};

}  // namespace

TEST_CASE("a worker whose connection lives but who answers nothing is given up, and named as that") {
  test::Server silent(test::some_key(), {}, [](wire::Link&, const wire::Header&, wire::View) {}, nullptr, cu::kApi);
  WorkerCalls calls(test::dial_to(silent.port(), test::some_key()), kPatience);
  CHECK_THROWS_WITH(calls.call(cu::Describe{.process = 1}), "the daemon there answered nothing for 1 s");
  CHECK(!calls.link().is_over());
}

TEST_CASE("who answers slowly, but answers, is waited for") {
  constexpr int kAnswers = 8;
  test::Server slow(
      test::some_key(), {},
      [](wire::Link& link, const wire::Header& header, wire::View) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        link.send(header.op, wire::kReply, [&](wire::Bytes& out) {
          wire::Writer to(out);
          to.put(header.sequence);
          to.put(std::uint8_t{1});
        });
        link.flush();
      },
      nullptr, cu::kApi);
  WorkerCalls calls(test::dial_to(slow.port(), test::some_key()), std::chrono::milliseconds(1500));
  std::uint64_t last = 0;
  for (int i = 0; i < kAnswers; ++i) last = calls.ask(cu::Describe{.process = 1});
  CHECK(calls.answer(last).front() == 1);
}
