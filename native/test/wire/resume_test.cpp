// Connections that end in the middle of anything: nothing is lost, repeated or out of order.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "test/wire/rig.h"

using namespace flexrack::test;

namespace {

/// Stands between client and server, and cuts connections after a random number of bytes while `is_cutting`.
class Cutter {
 public:
  Cutter(std::uint16_t to, std::uint64_t least, std::uint64_t most)
      : to_(to), least_(least), most_(most), acceptor_([this] {
          for (int fd; (fd = listener_.accept_one()) >= 0;) threads_.emplace_back([this, fd] { pass(Socket(fd)); });
        }) {}
  ~Cutter() {
    listener_.close();
    acceptor_.join();
    cut_all();
    for (auto& thread : threads_) thread.join();
  }
  std::uint16_t port() const { return listener_.port; }
  /// Ends every connection there is.
  void cut_all() {
    const std::lock_guard guard(lock_);
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  std::atomic<bool> is_cutting{true};
  std::atomic<bool> is_stalled{false};  ///< passes nothing on, and closes nothing either
  std::atomic<bool> is_away{false};     ///< closes new connections at once
  std::atomic<int> cuts{0};

 private:
  void pass(Socket client) {
    if (is_away) return;
    Socket server;
    try {
      server = connect_tcp("127.0.0.1", to_, std::chrono::seconds(5));
    } catch (const Error&) { return; }
    std::uint64_t left;
    {
      const std::lock_guard guard(lock_);
      left = std::uniform_int_distribution<std::uint64_t>(least_, most_)(random_);
      open_.push_back(client.fd());
      open_.push_back(server.fd());
    }
    pollfd both[2] = {{client.fd(), POLLIN, 0}, {server.fd(), POLLIN, 0}};
    Bytes some(256 * 1024);
    bool is_on = true;
    while (is_on) {
      poll(both, 2, 100);
      if (is_stalled) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        continue;
      }
      for (int i = 0; i < 2 && is_on; ++i) {
        if (both[i].revents == 0) continue;
        const auto room = is_cutting ? std::min<std::uint64_t>(some.size(), left) : some.size();
        const auto got = recv(both[i].fd, some.data(), room, MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) continue;
        is_on = got > 0 &&
                write_within(both[1 - i].fd, {some.data(), static_cast<std::size_t>(got)}, std::chrono::seconds(20));
        if (!is_on || !is_cutting) continue;
        left -= static_cast<std::uint64_t>(got);
        if (left == 0) {
          ++cuts;
          is_on = false;
        }
      }
    }
    const std::lock_guard guard(lock_);
    shutdown(client.fd(), SHUT_RDWR);
    shutdown(server.fd(), SHUT_RDWR);
    std::erase(open_, client.fd());
    std::erase(open_, server.fd());
  }

  Listener listener_;
  const std::uint16_t to_;
  const std::uint64_t least_, most_;
  std::mutex lock_;
  std::mt19937_64 random_{20260704};
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

constexpr std::uint16_t kCount = 0x1001, kKeep = 0x1002, kGive = 0x1003, kNotice = 0x1004;

/// Counts kCount frames, each of which says which one it is; keeps what kKeep brings.
struct Counter {
  std::mutex lock;
  std::uint64_t next = 0;
  bool is_wrong = false;
  std::map<std::uint64_t, std::shared_ptr<Bytes>> kept;
  void operator()(Link& link, const Header& header, View body) {
    Reader reader(body);
    const auto number = reader.get<std::uint64_t>();
    const std::lock_guard guard(lock);
    if (header.op == kCount) {
      is_wrong = is_wrong || number != next;
      ++next;
      link.send(kNotice, 0, [&](Bytes& out) { Writer(out).put(number); });
    } else if (header.op == kKeep) {
      auto bytes = std::make_shared<Bytes>(reader.get<std::uint64_t>());
      kept[number] = bytes;
      link.land(number, *bytes, [bytes](bool) {});
    } else if (header.op == kGive) {
      auto bytes = kept[reader.get<std::uint64_t>()];
      link.push(number, *bytes, [bytes](bool) {});
    }
  }
};

struct Caller {
  Ear ear;
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> is_wrong{false};
  std::unique_ptr<Link> link;
  explicit Caller(const Dial& to) {
    ear.frame = [this](const Header&, View body) {
      const auto number = Reader(body).get<std::uint64_t>();
      if (number != next) is_wrong = true;
      ++next;
    };
    link = dial(to, kToy, ear);
  }
  ~Caller() { link->close(); }
  void count(std::uint64_t number, std::size_t padding) {
    link->send(kCount, 0, [&](Bytes& out) {
      Writer(out).put(number);
      out.resize(out.size() + padding);
    });
  }
  bool put(std::uint64_t ticket, const Bytes& bytes) {
    std::atomic<int> done{0};
    link->send(kKeep, 0, [&](Bytes& out) {
      Writer writer(out);
      writer.put(ticket);
      writer.put<std::uint64_t>(bytes.size());
    });
    link->push(ticket, bytes, [&](bool arrived) { done = arrived ? 1 : 2; }, ticket % 4 == 1);
    link->wait([&] { return done != 0; });
    return done == 1;
  }
  bool get(std::uint64_t of, Bytes& into) {
    std::atomic<int> done{0};
    const auto ticket = link->ticket();
    link->land(ticket, into, [&](bool arrived) { done = arrived ? 1 : 2; });
    link->send(kGive, 0, [&](Bytes& out) {
      Writer writer(out);
      writer.put(ticket);
      writer.put(of);
    });
    link->wait([&] { return done != 0; });
    return done == 1;
  }
};

Server::Frame frames_of(Counter& counter) {
  return [&counter](Link& link, const Header& header, View body) { counter(link, header, body); };
}

}  // namespace

TEST_CASE("frames survive a connection that is cut again and again") {
  for (const auto* transport : {"tcp", "tls"}) {
    CAPTURE(transport);
    Counter counter;
    Server server(some_key(), {}, frames_of(counter));
    Cutter cutter(server.port(), 600, 60000);
    cutter.is_cutting = false;
    Caller caller(dial_to(cutter.port(), some_key(), transport));
    cutter.is_cutting = true;
    constexpr std::uint64_t kFrames = 20000;
    std::mt19937 random(7);
    for (std::uint64_t i = 0; i < kFrames; ++i) {
      caller.count(i, random() % 200);
      if (random() % 500 == 0) caller.link->wait([&] { return caller.next > i / 2; });
    }
    CHECK(caller.link->wait([&] { return caller.next == kFrames; }));
    CHECK_FALSE(caller.is_wrong);
    CHECK_FALSE(counter.is_wrong);
    CHECK(cutter.cuts > 5);
  }
}

TEST_CASE("payloads survive a connection that is cut again and again") {
  for (const auto* transport : {"tcp", "tls"}) {
    CAPTURE(transport);
    Counter counter;
    Server server(some_key(), {}, frames_of(counter));
    Cutter cutter(server.port(), 5000, 3000000);
    cutter.is_cutting = false;
    Caller caller(dial_to(cutter.port(), some_key(), transport));
    cutter.is_cutting = true;
    for (std::uint64_t i = 0; i < 12; ++i) {
      const auto bytes = pattern(i % 3 == 0 ? 70001 + i : 6000007 + i, i);
      const auto ticket = caller.link->ticket();
      CHECK(caller.put(ticket, bytes));
      Bytes back(bytes.size());
      CHECK(caller.get(ticket, back));
      CHECK(back == bytes);
    }
    CHECK(cutter.cuts > 5);
  }
}

TEST_CASE("payloads over shared memory survive connections that are cut in the middle of them") {
  Counter counter;
  Server server(some_key(), {}, frames_of(counter));
  Caller caller(dial_to(server, "shm"));
  std::atomic<bool> is_over{false};
  std::size_t cuts = 0;
  std::thread cutter([&] {
    std::mt19937 random(11);
    while (!is_over) {
      // Often enough to fall into the middle of what follows, seldom enough for it to get on.
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + random() % 60));
      cuts += server.cut();
    }
  });
  for (std::uint64_t i = 0; i < 12; ++i) {
    const auto bytes = pattern(i % 3 == 0 ? 70001 + i : 30000007 + i, i);
    const auto ticket = caller.link->ticket();
    CHECK(caller.put(ticket, bytes));
    Bytes back(bytes.size());
    CHECK(caller.get(ticket, back));
    CHECK(back == bytes);
  }
  is_over = true;
  cutter.join();
  CHECK(cuts > 5);
  CHECK_FALSE(caller.link->is_over());
}

TEST_CASE("a client that does not come back is over within the wait for it, and so is a server that went") {
  Counter counter;
  Limits limits;
  limits.fin_wait = std::chrono::milliseconds(100);
  Server server(some_key(), limits, frames_of(counter));
  Cutter cutter(server.port(), 1, 2);
  cutter.is_cutting = false;
  auto to = dial_to(cutter.port(), some_key());
  to.grace = std::chrono::milliseconds(300);
  Caller caller(to);
  auto& session = server.session();
  cutter.is_away = true;
  cutter.cut_all();
  CHECK(session.ear.wait_over() == "the client's connection ended");
  CHECK_FALSE(caller.link->wait([] { return false; }));
  CHECK(caller.ear.wait_over().find("grace time") != std::string::npos);
  CHECK(caller.link->send(kCount, 0, [](Bytes&) {}) == 0);
  std::atomic<int> done{0};
  caller.link->land(caller.link->ticket(), std::span<std::uint8_t>(reinterpret_cast<std::uint8_t*>(&done), 1),
                    [&](bool arrived) { done = arrived ? 1 : 2; });
  CHECK(done == 2);
}

TEST_CASE("silence is noticed, and what was on its way arrives when the network is back") {
  Counter counter;
  Server server(some_key(), {}, frames_of(counter));
  Cutter cutter(server.port(), 1, 2);
  cutter.is_cutting = false;
  Caller caller(dial_to(cutter.port(), some_key()));
  const auto bytes = pattern(30000001, 3);
  cutter.is_stalled = true;
  std::thread back([&] {
    // Long enough for both sides to give the connection up; the test is right however long it takes.
    std::this_thread::sleep_for(std::chrono::milliseconds(4000));
    cutter.is_stalled = false;
  });
  for (std::uint64_t i = 0; i < 1000; ++i) caller.count(i, 100);
  const auto ticket = caller.link->ticket();
  CHECK(caller.put(ticket, bytes));
  CHECK(caller.link->wait([&] { return caller.next == 1000; }));
  back.join();
  const std::lock_guard guard(counter.lock);
  CHECK(*counter.kept[ticket] == bytes);
  CHECK_FALSE(counter.is_wrong);
  CHECK_FALSE(caller.is_wrong);
}

TEST_CASE("a payload that is cancelled by either side is over for both, and others go on") {
  Counter counter;
  Server server(some_key(), {}, frames_of(counter));
  Caller caller(dial_to(server.port(), some_key()));
  const auto bytes = pattern(3000000, 1);
  Bytes into(bytes.size());
  std::atomic<int> done{0};
  const auto wait_done = [&] {
    caller.link->wait([&] { return done != 0; });
    return done.exchange(0);
  };
  // Landed, and withdrawn by the sender.
  const auto ticket = caller.link->ticket();
  caller.link->land(ticket, into, [&](bool arrived) { done = arrived ? 1 : 2; });
  caller.count(0, 0);
  caller.link->wait([&] { return caller.next == 1; });
  server.session().link->cancel(ticket);
  CHECK(wait_done() == 2);
  // Withdrawn before it was landed.
  const auto early = caller.link->ticket();
  server.session().link->cancel(early);
  caller.count(1, 0);
  caller.link->wait([&] { return caller.next == 2; });
  caller.link->land(early, into, [&](bool arrived) { done = arrived ? 1 : 2; });
  CHECK(wait_done() == 2);
  // Pushed, and not wanted.
  const auto unwanted = caller.link->ticket();
  caller.link->push(unwanted, bytes, [&](bool arrived) { done = arrived ? 1 : 2; });
  server.session().link->cancel(unwanted);
  CHECK(wait_done() != 0);
  // Others are as before.
  const auto after = caller.link->ticket();
  CHECK(caller.put(after, bytes));
  CHECK(caller.get(after, into));
  CHECK(into == bytes);
}

TEST_CASE("payloads that wait for their place do not hold up others") {
  std::mutex lock;
  std::vector<std::uint64_t> waiting;
  Bytes memory(40000000);
  Server server(some_key(), {}, [&](Link& link, const Header& header, View body) {
    const auto ticket = Reader(body).get<std::uint64_t>();
    if (header.op == kKeep) link.land(ticket, {memory.data(), 20000000}, [](bool) {});
  });
  Ear ear;
  const auto link = dial(dial_to(server.port(), some_key()), kToy, ear);
  const auto bytes = pattern(40000000, 9);
  std::atomic<int> first{0}, second{0};
  // More than is stored for payloads without a place; nobody lands it until the other has come.
  const auto held = link->ticket(), other = link->ticket();
  link->push(held, bytes, [&](bool arrived) { first = arrived ? 1 : 2; });
  link->push(other, View(bytes).first(20000000), [&](bool arrived) { second = arrived ? 1 : 2; });
  link->send(kKeep, 0, [&](Bytes& out) { Writer(out).put(other); });
  CHECK(link->wait([&] { return second != 0; }));
  CHECK(second == 1);
  CHECK(first == 0);
  server.session().link->land(held, memory, [](bool) {});
  CHECK(link->wait([&] { return first != 0; }));
  CHECK(first == 1);
  CHECK(memory == bytes);
  link->close();
}
