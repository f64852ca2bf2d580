// Over a real link: a client that takes nothing in holds up its payloads, and nothing else.
#include <algorithm>
#include <map>
#include <set>

#include "test/backend/client.h"
#include "test/wire/rig.h"

using namespace flexrack;
using namespace flexrack::test;

namespace {

/// A worker in this process: the backend behind an accepted link.
struct Worker {
  CountingGrant grant{std::uint64_t{1} << 30};
  NoPeers peers;
  std::unique_ptr<backend::Backend> backend = backend::make_opencl_backend(grant);
  std::once_flag begun;
  Server server{some_key(), {}, [this](wire::Link& link, const wire::Header& header, View body) {
                  std::call_once(begun, [&] { backend->start(link, peers); });
                  backend->on_frame(header, body);
                }};
  ~Worker() {
    server.session().link->close();
    backend->stop();
  }
};

/// The client's end: calls that wait for their answer, and the events that are over.
struct Caller {
  Ear ear;
  std::mutex lock;
  std::map<std::uint64_t, Bytes> replies;
  std::set<std::uint64_t> over;
  std::unique_ptr<wire::Link> link;

  explicit Caller(const Server& server) {
    ear.frame = [this](const wire::Header& header, View body) {
      const std::lock_guard guard(lock);
      if (header.flags & wire::kReply) {
        std::uint64_t call = 0;
        std::memcpy(&call, body.data(), sizeof call);
        replies[call] = Bytes(body.begin() + sizeof call, body.end());
      } else if (cl::Completed notice; header.op == notice.kOp && decode(body, notice)) {
        for (const auto& one : notice.events) over.insert(one.event);
      }
    };
    link = wire::dial(dial_to(server, "tcp"), kToy, ear);
  }
  ~Caller() { link->close(); }

  template <class Message>
  std::uint64_t send(const Message& message) {
    return link->send(Message::kOp, 0, [&](Bytes& out) { encode(out, message); });
  }
  template <class Message>
  typename Message::Reply call(const Message& message) {
    const auto sequence = send(message);
    const auto has_come = [&] {
      const std::lock_guard guard(lock);
      return replies.contains(sequence);
    };
    typename Message::Reply reply;
    REQUIRE(link->wait(has_come));
    const std::lock_guard guard(lock);
    REQUIRE(decode(replies[sequence], reply));
    return reply;
  }
  void await(std::uint64_t event) {
    const std::array<std::uint64_t, 1> events{event};
    send(cl::Watch{.events = events});
    CHECK(link->wait([&] {
      const std::lock_guard guard(lock);
      return over.contains(event);
    }));
  }
};

}  // namespace

TEST_CASE("small reads that nobody takes in use up the credit, and neither commands nor calls wait for them") {
  Worker worker;
  Caller caller(worker.server);
  constexpr std::uint64_t kContext = 1, kQueue = 2, kMemory = 3, kDone = 4, kSize = 60000;
  constexpr std::size_t kReads = 700;  // 42 MB, more than is stored for payloads without a place
  const std::array<std::uint32_t, 1> devices{0};
  REQUIRE(caller.call(cl::CreateContext{.context = kContext, .devices = devices}).status == CL_SUCCESS);
  REQUIRE(caller.call(cl::CreateQueue{.context = kContext, .queue = kQueue}).status == CL_SUCCESS);
  const auto content = test::pattern(kSize, std::uint64_t{5});
  REQUIRE(caller
              .call(cl::CreateBuffer{
                  .context = kContext, .memory = kMemory, .size = kSize, .content = {0, content.size(), content}})
              .status == CL_SUCCESS);
  std::vector<std::uint64_t> tickets;
  for (std::size_t i = 0; i < kReads; ++i) {
    tickets.push_back(caller.link->ticket());
    caller.send(cl::ReadBuffer{.queue = kQueue, .memory = kMemory, .size = kSize, .ticket = tickets.back()});
    // Some of them are read by a driver that is done before it is asked, on the thread that reads the link.
    if (i % 100 == 0) caller.call(cl::EventStatus{.event = 99});
  }
  caller.send(cl::Marker{.queue = kQueue, .event = kDone});
  caller.await(kDone);
  CHECK(caller.call(cl::EventStatus{.event = kDone}).status == CL_COMPLETE);
  // And then all of them can be had.
  std::atomic<std::size_t> arrived{0}, failed{0};
  std::vector<Bytes> into(kReads, Bytes(kSize));
  for (std::size_t i = 0; i < kReads; ++i)
    caller.link->land(tickets[i], into[i], [&](bool has) { ++(has ? arrived : failed); });
  CHECK(caller.link->wait([&] { return arrived + failed == kReads; }));
  CHECK(arrived == kReads);
  CHECK(std::ranges::all_of(into, [&](const Bytes& one) { return one == content; }));
}
