#include <doctest/doctest.h>

#include "test/wire/rig.h"

using namespace flexrack::test;

namespace {

constexpr std::uint16_t kEcho = 0x1001, kPut = 0x1002, kGet = 0x1003;

/// Echoes calls; takes payloads under the ticket of kPut and gives them back for kGet.
struct Store {
  std::mutex lock;
  std::map<std::uint64_t, std::shared_ptr<Bytes>> kept;

  void operator()(Link& link, const Header& header, View body) {
    Reader reader(body);
    if (header.op == kEcho) {
      link.send(kEcho, kReply, [&](Bytes& out) {
        Writer writer(out);
        writer.put(header.sequence);
        writer.put_array(reader.get_array<std::uint8_t>());
      });
      link.flush();
    } else if (header.op == kPut) {
      const auto id = reader.get<std::uint64_t>(), ticket = reader.get<std::uint64_t>(),
                 size = reader.get<std::uint64_t>();
      auto bytes = std::make_shared<Bytes>(size);
      const std::lock_guard guard(lock);
      kept[id] = bytes;
      link.land(ticket, *bytes, [bytes](bool) {});
    } else if (header.op == kGet) {
      const auto id = reader.get<std::uint64_t>(), ticket = reader.get<std::uint64_t>();
      const std::lock_guard guard(lock);
      auto bytes = kept[id];
      link.push(ticket, *bytes, [bytes](bool) {});
    }
  }
};

/// A client that calls and waits.
struct Client {
  Ear ear;
  std::mutex lock;
  std::map<std::uint64_t, Bytes> replies;
  std::unique_ptr<Link> link;

  explicit Client(const Dial& to) {
    ear.frame = [this](const Header&, View body) {
      Reader reader(body);
      const auto call = reader.get<std::uint64_t>();
      const auto bytes = reader.get_array<std::uint8_t>();
      const std::lock_guard guard(lock);
      replies[call] = Bytes(bytes.begin(), bytes.end());
    };
    link = dial(to, kToy, ear);
  }
  ~Client() {
    if (link) link->close();
  }
  Bytes echo(View bytes) {
    const auto call = link->send(kEcho, 0, [&](Bytes& out) { Writer(out).put_array(bytes); });
    if (call == 0) return {};
    const bool is_back = link->wait([&] {
      const std::lock_guard guard(lock);
      return replies.contains(call);
    });
    const std::lock_guard guard(lock);
    return is_back ? replies[call] : Bytes{};
  }
  bool put(std::uint64_t id, const Bytes& bytes) {
    const auto ticket = link->ticket();
    link->send(kPut, 0, [&](Bytes& out) {
      Writer writer(out);
      writer.put(id);
      writer.put(ticket);
      writer.put<std::uint64_t>(bytes.size());
    });
    link->flush();
    std::atomic<int> done{0};
    link->push(ticket, bytes, [&](bool arrived) { done = arrived ? 1 : 2; }, true);
    link->wait([&] { return done != 0; });
    return done == 1;
  }
  bool get(std::uint64_t id, Bytes& into) {
    const auto ticket = link->ticket();
    std::atomic<int> done{0};
    link->land(ticket, into, [&](bool arrived) { done = arrived ? 1 : 2; });
    link->send(kGet, 0, [&](Bytes& out) {
      Writer writer(out);
      writer.put(id);
      writer.put(ticket);
    });
    link->wait([&] { return done != 0; });
    return done == 1;
  }
};

Server::Frame frames_of(Store& store) {
  return [&store](Link& link, const Header& header, View body) { store(link, header, body); };
}

}  // namespace

constexpr const char* kTransports[] = {"tcp", "tls", "shm"};

TEST_CASE("a call is answered, and the end is told once to both sides") {
  for (const auto* transport : kTransports) {
    CAPTURE(transport);
    Store store;
    Server server(some_key(), {}, frames_of(store));
    Client client(dial_to(server, transport));
    for (std::size_t size : {0, 1, 7, 8, 9, 4096, 70000, 1 << 20})
      CHECK(client.echo(pattern(size, size)) == pattern(size, size));
    client.link->close();
    CHECK(client.ear.overs == 1);
    CHECK(server.session().ear.wait_over() == flexrack::wire::kEndedByOther);
    CHECK(client.echo({}).empty());
  }
}

TEST_CASE("payloads of odd sizes land where they belong, both ways") {
  for (const auto* transport : kTransports) {
    CAPTURE(transport);
    Store store;
    Server server(some_key(), {}, frames_of(store));
    Client client(dial_to(server, transport));
    std::uint64_t id = 0;
    for (std::size_t size : {std::size_t{1}, std::size_t{65535}, std::size_t{65537}, std::size_t{1} << 20,
                             (std::size_t{1} << 20) + 1, std::size_t{50} * 1000 * 1000 + 3}) {
      const auto bytes = pattern(size, ++id);
      CHECK(client.put(id, bytes));
      Bytes back(size);
      CHECK(client.get(id, back));
      CHECK(back == bytes);
    }
  }
}

TEST_CASE("many threads call and wait on one link") {
  for (const auto* transport : kTransports) {
    CAPTURE(transport);
    Store store;
    Server server(some_key(), {}, frames_of(store));
    Client client(dial_to(server, transport));
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (std::uint64_t t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 200; ++i)
          if (client.echo(pattern(i, t)) != pattern(i, t)) ++wrong;
      });
    for (auto& thread : threads) thread.join();
    CHECK(wrong == 0);
  }
}
