#include "test/backend/client.h"

using namespace flexrack;
using namespace flexrack::test;

namespace {
constexpr auto kAdd = "kernel void add(global int* a, int n) { a[get_global_id(0)] += n; }";
constexpr auto kPrint = "kernel void say(int n) { printf(\"kernel says %d\\n\", n); }";
const Bytes kSeven{7, 0, 0, 0};
}  // namespace

TEST_CASE("kernels run with the arguments they were given, and keep those") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 64 * 4);
  client.write(queue, memory, Bytes(64 * 4, 0));
  const auto kernel = client.kernel(context, kAdd, "add");
  client.launch(queue, kernel, 64, {memory_argument(0, memory), value_argument(1, kSeven)});
  CHECK(client.over(client.launch(queue, kernel, 64)) == CL_COMPLETE);
  CHECK(client.read(queue, memory, 4) == Bytes{14, 0, 0, 0});
}

TEST_CASE("a launch with an argument that has been released is refused, not crashed on") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 64 * 4);
  const auto kernel = client.kernel(context, kAdd, "add");
  CHECK(client.over(client.launch(queue, kernel, 64, {memory_argument(0, memory), value_argument(1, kSeven)})) ==
        CL_COMPLETE);
  client.send(cl::Release{.object = memory});
  CHECK(client.over(client.launch(queue, kernel, 64)) < 0);
}

TEST_CASE("times come with the completion where the queue was asked for them, and only there") {
  Client client;
  const auto context = client.context(), kernel = client.kernel(context, kAdd, "add"),
             memory = client.buffer(context, 64 * 4);
  for (const bool is_profiled : {true, false}) {
    const auto queue = client.queue(context, is_profiled ? CL_QUEUE_PROFILING_ENABLE : 0);
    const auto event = client.launch(queue, kernel, 64, {memory_argument(0, memory), value_argument(1, kSeven)});
    CHECK(client.over(event) == CL_COMPLETE);
    const auto times = client.link.completion(event);
    CHECK((times.started != 0) == is_profiled);
    CHECK(times.queued <= times.submitted);
    CHECK(times.submitted <= times.started);
    CHECK(times.started <= times.ended);
  }
}

TEST_CASE("what a kernel prints is there before its completion") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), kernel = client.kernel(context, kPrint, "say");
  CHECK(client.over(client.launch(queue, kernel, 1, {value_argument(0, kSeven)})) == CL_COMPLETE);
  CHECK(client.link.printed() == "kernel says 7\n");
}

TEST_CASE("user events hold commands back, and an error of one reaches everything behind it") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 256),
             user = client.mint(), marker = client.mint();
  client.send(cl::CreateUserEvent{.context = context, .event = user});
  const std::array<std::uint64_t, 1> waits{user};
  client.send(cl::Marker{.queue = queue, .event = marker, .waits = waits});
  const std::array<std::uint64_t, 2> both{marker, user};
  client.send(cl::Watch{.events = both});
  client.send(cl::SetUserEvent{.event = user, .status = -7});
  CHECK(client.link.completion(user).status == -7);
  CHECK(client.link.completion(marker).status < 0);
  // What comes to wait for it later is refused at once, and other commands go on.
  const auto late = client.mint();
  client.send(cl::Marker{.queue = queue, .event = late, .waits = waits});
  CHECK(client.over(late) == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  CHECK(client.read(queue, memory, 256).size() == 256);
}

TEST_CASE("a completion comes although the event was released meanwhile; an unknown event is over at once") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), user = client.mint(), marker = client.mint();
  client.send(cl::CreateUserEvent{.context = context, .event = user});
  const std::array<std::uint64_t, 1> waits{user}, watched{marker};
  client.send(cl::Marker{.queue = queue, .event = marker, .waits = waits});
  client.send(cl::Watch{.events = watched});
  client.send(cl::Release{.object = marker});
  client.send(cl::SetUserEvent{.event = user, .status = CL_COMPLETE});
  CHECK(client.link.completion(marker).status == CL_COMPLETE);
  CHECK(client.over(987654321) == CL_INVALID_EVENT);
}

TEST_CASE("a launch on a shared device runs when it is admitted, and is counted once") {
  Client client(std::uint64_t{1} << 30, true);
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 64 * 4),
             kernel = client.kernel(context, kAdd, "add");
  client.write(queue, memory, Bytes(64 * 4, 0));
  client.grant.hold();
  const auto event = client.launch(queue, kernel, 64, {memory_argument(0, memory), value_argument(1, kSeven)});
  CHECK(client.grant.waiting() == 1);
  CHECK(client.call(cl::EventStatus{.event = event}).status > CL_COMPLETE);
  client.grant.admit_all();
  CHECK(client.over(event) == CL_COMPLETE);
  CHECK(client.grant.has_finished(1));
  CHECK(client.grant.busy() > 0);
  CHECK(client.read(queue, memory, 4) == kSeven);
}

TEST_CASE("launches are admitted at any moment on their way to the device") {
  Client client(std::uint64_t{1} << 30, true);
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 64 * 4),
             kernel = client.kernel(context, kAdd, "add");
  client.write(queue, memory, Bytes(64 * 4, 0));
  std::atomic<bool> is_over{false};
  std::thread admitting([&] {
    for (unsigned pause = 0; !is_over; pause = (pause + 17) % 700) {
      client.grant.hold();
      for (std::atomic<unsigned> passed{0}; passed < pause; ++passed) {}
      client.grant.admit_all();
    }
  });
  constexpr int kLaunches = 8000;
  std::uint64_t last = 0;
  for (int i = 0; i < kLaunches; ++i) {
    last = client.launch(
        queue, kernel, 1,
        i == 0 ? std::vector{memory_argument(0, memory), value_argument(1, kSeven)} : std::vector<cl::Argument>{});
  }
  CHECK(client.over(last) == CL_COMPLETE);
  is_over = true;
  admitting.join();
  CHECK(client.grant.has_finished(kLaunches));
  const std::uint32_t sum = kLaunches * 7;
  CHECK(client.read(queue, memory, 4) == Bytes{sum & 0xff, sum >> 8 & 0xff, 0, 0});
}

TEST_CASE("use of a whole device is told without an event of its own") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), memory = client.buffer(context, 64 * 4),
             kernel = client.kernel(context, kAdd, "add");
  CHECK(client.over(client.launch(queue, kernel, 64, {memory_argument(0, memory), value_argument(1, kSeven)})) ==
        CL_COMPLETE);
  CHECK(client.grant.has_finished(1));
  CHECK(client.grant.busy() > 0);
}

TEST_CASE("a session ends although a command waits for an event that is never set") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), user = client.mint(), marker = client.mint();
  client.send(cl::CreateUserEvent{.context = context, .event = user});
  const std::array<std::uint64_t, 1> waits{user}, watched{marker};
  client.send(cl::Marker{.queue = queue, .event = marker, .waits = waits});
  client.send(cl::Watch{.events = watched});
  client.stop();
  CHECK(client.link.completion(marker).status <= 0);
}

TEST_CASE("a session ends although commands, whose events nobody has, wait for an event that is never set") {
  Client client;
  const auto context = client.context(), queue = client.queue(context), user = client.mint();
  client.send(cl::CreateUserEvent{.context = context, .event = user});
  const std::array<std::uint64_t, 1> waits{user};
  for (int i = 0; i < 3; ++i) client.send(cl::Marker{.queue = queue, .waits = waits});
  client.stop();
}
