// What a link adds to the sockets under it: round trip, and 64 MiB both ways, beside raw TCP in the same run.
// link_bench [tcp|tls|shm ...]     prints one JSON line a transport, "raw" first
#include <netinet/tcp.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "test/wire/rig.h"

using namespace flexrack::test;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kRoundTrips = 10000, kTransfers = 8;
constexpr std::size_t kBytes = 64u << 20;
constexpr std::uint16_t kEcho = 0x1001, kPut = 0x1002, kGet = 0x1003;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void all(ssize_t (*io)(int, void*, size_t), int fd, std::uint8_t* at, std::size_t left) {
  while (left > 0) {
    const auto n = io(fd, at, left);
    if (n <= 0) std::exit(1);
    at += n;
    left -= static_cast<std::size_t>(n);
  }
}
ssize_t put(int fd, void* at, size_t size) { return write(fd, at, size); }

void no_delay(int fd) {
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

void measure_raw(std::vector<std::uint8_t>& data) {
  Listener listener;
  std::uint8_t message[64] = {};
  if (fork() == 0) {
    const int fd = listener.accept_one();
    no_delay(fd);
    for (int i = 0; i < kRoundTrips; ++i) all(read, fd, message, 64), all(put, fd, message, 64);
    for (int i = 0; i < kTransfers; ++i) all(read, fd, data.data(), kBytes), all(put, fd, message, 1);
    _exit(0);
  }
  const auto socket = connect_tcp("127.0.0.1", listener.port, std::chrono::seconds(5));
  const int fd = socket.fd();
  no_delay(fd);
  auto start = Clock::now();
  for (int i = 0; i < kRoundTrips; ++i) all(put, fd, message, 64), all(read, fd, message, 64);
  const double trip = since(start) / kRoundTrips;
  start = Clock::now();
  for (int i = 0; i < kTransfers; ++i) all(put, fd, data.data(), kBytes), all(read, fd, message, 1);
  std::printf("{\"link\": \"raw tcp\", \"round_trip_us\": %.1f, \"GBps\": %.2f}\n", trip * 1e6,
              kTransfers * static_cast<double>(kBytes) / since(start) / 1e9);
  wait(nullptr);
}

/// The other end, in a process of its own as in life.
void serve(Listener& listener) {
  static Bytes memory(kBytes, 3);
  Server server(
      some_key(), {},
      [](Link& link, const Header& header, View body) {
        Reader reader(body);
        if (header.op == kEcho) {
          link.send(kEcho, kReply, [&](Bytes& out) { Writer(out).put(header.sequence); });
        } else if (header.op == kPut) {
          link.land(reader.get<std::uint64_t>(), memory, [](bool) {});
        } else {
          link.push(reader.get<std::uint64_t>(), memory, [](bool) {});
        }
      },
      &listener);
  server.session().ear.wait_over();
}

void measure(const std::string& transport, Bytes& data) {
  Listener listener;
  const auto child = fork();
  if (child == 0) {
    serve(listener);
    _exit(0);
  }
  Ear ear;
  std::atomic<std::uint64_t> answered{0};
  ear.frame = [&](const Header&, View body) { answered = Reader(body).get<std::uint64_t>(); };
  auto to = dial_to(listener.port, some_key(), transport);
  to.unix_path = listener.path;
  const auto link = dial(to, kToy, ear);
  std::vector<double> trips;
  for (int i = 0; i < kRoundTrips; ++i) {
    const auto start = Clock::now();
    const auto call = link->send(kEcho, 0, [](Bytes& out) { out.resize(out.size() + 48); });
    link->wait([&] { return answered == call; });
    trips.push_back(since(start));
  }
  std::sort(trips.begin(), trips.end());
  auto start = Clock::now();
  for (int i = 0; i < 1000000; ++i) link->send(0x1002 + 100, 0, [](Bytes& out) { out.resize(out.size() + 48); });
  const double append = since(start) / 1000000;
  double rates[2];
  for (const auto op : {kPut, kGet}) {
    std::vector<double> times;
    for (int i = 0; i < kTransfers + 1; ++i) {
      start = Clock::now();
      std::atomic<bool> is_done{false};
      const auto ticket = link->ticket();
      if (op == kGet) link->land(ticket, data, [&](bool) { is_done = true; });
      link->send(op, 0, [&](Bytes& out) { Writer(out).put(ticket); });
      if (op == kPut) link->flush(), link->push(ticket, data, [&](bool) { is_done = true; }, true);
      link->wait([&] { return is_done.load(); });
      times.push_back(since(start));
    }
    std::sort(times.begin(), times.end());
    rates[op == kGet] = static_cast<double>(kBytes) / times[times.size() / 2] / 1e9;
  }
  std::printf(
      "{\"link\": \"%s\", \"round_trip_us\": %.1f, \"append_us\": %.2f, \"put_GBps\": %.2f, \"get_GBps\": %.2f}\n",
      transport.c_str(), trips[trips.size() / 2] * 1e6, append * 1e6, rates[0], rates[1]);
  link->close();
  waitpid(child, nullptr, 0);
}

}  // namespace

int main(int count, char** words) {
  Bytes data(kBytes, 5);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  measure_raw(data);
  for (int i = 1; i < count; ++i) measure(words[i], data);
  if (count == 1)
    for (const auto* transport : {"tcp", "tls", "shm"}) measure(transport, data);
}
