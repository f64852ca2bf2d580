#include "client/session.h"

#include <doctest/doctest.h>

#include <thread>

#include "client/fake_server.h"

using namespace flexrack;

namespace {

struct Quiet : client::Notices {
  std::atomic<int> notices{0}, lost{0};
  void on_notice(client::Session&, const wire::Header&, wire::View) override { ++notices; }
  void on_lost(client::Session&, std::string_view) override { ++lost; }
};

cl::EventStatus ask(std::uint64_t event) {
  cl::EventStatus message;
  message.event = event;
  return message;
}

/// The status that came back; -1000 where none did.
std::int32_t status_of(client::Session& session, std::uint64_t event) {
  std::int32_t status = -1000;
  session.call(ask(event), [&](const cl::EventStatusReply& reply) { status = reply.status; });
  return status;
}

void answer_with_event(test::FakeLink& link, const test::Sent& sent) {
  cl::EventStatus message;
  REQUIRE(decode(sent.body, message));
  cl::EventStatusReply reply;
  reply.status = static_cast<std::int32_t>(message.event);
  link.reply(sent.header, reply);
}

}  // namespace

TEST_CASE("each of many threads gets the answer to its own call, in whatever order they come") {
  Quiet quiet;
  test::Fake fake(quiet);
  std::mutex lock;
  std::vector<test::Sent> waiting;
  fake.link->on_sent = [&](const test::Sent& sent) {
    const std::lock_guard guard(lock);
    waiting.push_back(sent);
    if (waiting.size() < 3) return;
    for (; !waiting.empty(); waiting.pop_back()) answer_with_event(*fake.link, waiting.back());
  };
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i)
        right += status_of(*fake.session, static_cast<std::uint64_t>(t * 1000 + i)) == t * 1000 + i;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(right == 600);
}

TEST_CASE("a refused call and a reply that cannot be read are failures, not answers") {
  Quiet quiet;
  test::Fake fake(quiet);
  fake.link->on_sent = [&](const test::Sent& sent) {
    fake.link->reply(sent.header, cl::EventStatusReply{}, wire::kReply | wire::kRefused);
  };
  CHECK(status_of(*fake.session, 1) == -1000);
  fake.link->on_sent = [&](const test::Sent& sent) { fake.link->reply(sent.header, cl::CreateQueueReply{}); };
  CHECK(status_of(*fake.session, 1) == -1000);
}

TEST_CASE("replies nobody asked for are dropped") {
  Quiet quiet;
  test::Fake fake(quiet);
  for (std::uint64_t i = 0; i < 10; ++i)
    fake.link->reply({cl::EventStatus::kOp, 0, 0, 1000 + i}, cl::EventStatusReply{});
  fake.link->arrive({{cl::EventStatus::kOp, wire::kReply, 0, 0}, {1, 2}});
  fake.link->on_sent = [&](const test::Sent& sent) { answer_with_event(*fake.link, sent); };
  CHECK(status_of(*fake.session, 5) == 5);
}

TEST_CASE("replies that are made up while calls are on their way are forgotten, and a flood of them ends the session") {
  Quiet quiet;
  test::Fake fake(quiet);
  int made_up = 10;
  fake.link->on_sent = [&](const test::Sent& sent) {
    for (int i = 0; i < made_up; ++i)
      fake.link->reply({sent.header.op, 0, 0, 1'000'000 + static_cast<std::uint64_t>(i)}, cl::EventStatusReply{});
    answer_with_event(*fake.link, sent);
    fake.link->deliver();
  };
  // Together more than are kept at one time.
  for (int i = 0; i < 500; ++i) REQUIRE(status_of(*fake.session, static_cast<std::uint64_t>(i)) == i);
  CHECK(quiet.lost == 0);
  made_up = 5000;
  status_of(*fake.session, 1);
  for (int i = 0; i < 2000 && quiet.lost == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(quiet.lost == 1);
  CHECK_FALSE(fake.session->is_alive());
}

TEST_CASE("calls end when the link does, and later ones fail at once") {
  Quiet quiet;
  test::Fake fake(quiet);
  std::thread caller([&] { CHECK(status_of(*fake.session, 1) == -1000); });
  while (fake.link->sent<cl::EventStatus>().empty()) std::this_thread::yield();
  fake.link->break_off("cut");
  caller.join();
  CHECK(status_of(*fake.session, 1) == -1000);
  CHECK_FALSE(fake.session->is_alive());
  CHECK(quiet.lost == 1);
}
