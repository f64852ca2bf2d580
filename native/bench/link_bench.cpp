// What a link adds to the sockets under it: round trip, and 64 MiB both ways, beside raw TCP in the same run; and what
// a byte costs in processor time at either end, beside raw TCP and AES-128-GCM alone.
// link_bench [tcp|tls|shm ...]     prints one JSON line a transport, "aes" and "raw tcp" first
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <sys/resource.h>
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
constexpr std::uint16_t kEcho = 0x1001, kPut = 0x1002, kGet = 0x1003, kUsage = 0x1004;

/// Seconds of processor time that this process has used.
double used() {
  rusage all{};
  getrusage(RUSAGE_SELF, &all);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(all.ru_utime) + seconds(all.ru_stime);
}

/// Of an average transfer; `from` is what was used before them.
double per_GB(double from, double to, int transfers) {
  return (to - from) / (transfers * static_cast<double>(kBytes) / 1e9);
}

/// What `openssl speed -evp aes-128-gcm -bytes 16384` measures: one key, from one buffer into itself.
void measure_aes() {
  constexpr int kPiece = 16 * 1024;
  Bytes piece(kPiece + 16);
  const std::uint8_t key[16] = {1}, nonce[12] = {};
  auto* context = EVP_CIPHER_CTX_new();
  EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nullptr, key, nonce);
  const double before = used();
  for (std::size_t done = 0; done < kTransfers * kBytes; done += kPiece) {
    int size = 0;
    EVP_EncryptUpdate(context, piece.data(), &size, piece.data(), kPiece);
  }
  std::printf("{\"link\": \"aes\", \"s_per_GB\": %.3f}\n", per_GB(before, used(), kTransfers));
  EVP_CIPHER_CTX_free(context);
}

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

void measure_raw() {
  Listener listener;
  std::uint8_t message[64] = {};
  if (fork() == 0) {
    const int fd = listener.accept_one();
    Bytes data(kBytes, 3);
    no_delay(fd);
    for (int i = 0; i < kRoundTrips; ++i) all(read, fd, message, 64), all(put, fd, message, 64);
    const double before = used();
    for (int i = 0; i < kTransfers; ++i) all(read, fd, data.data(), kBytes), all(put, fd, message, 1);
    double receiving = per_GB(before, used(), kTransfers);
    all(put, fd, reinterpret_cast<std::uint8_t*>(&receiving), sizeof receiving);
    _exit(0);
  }
  Bytes data(kBytes, 5);
  const auto socket = connect_tcp("127.0.0.1", listener.port, std::chrono::seconds(5));
  const int fd = socket.fd();
  no_delay(fd);
  auto start = Clock::now();
  for (int i = 0; i < kRoundTrips; ++i) all(put, fd, message, 64), all(read, fd, message, 64);
  const double trip = since(start) / kRoundTrips;
  start = Clock::now();
  const double before = used();
  for (int i = 0; i < kTransfers; ++i) all(put, fd, data.data(), kBytes), all(read, fd, message, 1);
  const double took = since(start), sending = per_GB(before, used(), kTransfers);
  double receiving = 0;
  all(read, fd, reinterpret_cast<std::uint8_t*>(&receiving), sizeof receiving);
  std::printf(
      "{\"link\": \"raw tcp\", \"round_trip_us\": %.1f, \"GBps\": %.2f, \"send_s_per_GB\": %.3f, "
      "\"receive_s_per_GB\": %.3f}\n",
      trip * 1e6, kTransfers * static_cast<double>(kBytes) / took / 1e9, sending, receiving);
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
        } else if (header.op == kUsage) {
          link.send(kUsage, kReply, [&](Bytes& out) { Writer(out).put(header.sequence), Writer(out).put(used()); });
        } else if (header.op == kPut) {
          link.land(reader.get<std::uint64_t>(), memory, [](bool) {});
        } else {
          link.push(reader.get<std::uint64_t>(), memory, [](bool) {});
        }
      },
      &listener);
  server.session().ear.wait_over();
}

void measure(const std::string& transport) {
  Listener listener;
  const auto child = fork();
  if (child == 0) {
    serve(listener);
    _exit(0);
  }
  Bytes data(kBytes, 5);  // after the fork: pages that both have are copied, and smaller ones from then on
  Ear ear;
  std::atomic<std::uint64_t> answered{0};
  double theirs = 0;
  ear.frame = [&](const Header& header, View body) {
    Reader reader(body);
    const auto call = reader.get<std::uint64_t>();
    if (header.op == kUsage) theirs = reader.get<double>();
    answered = call;
  };
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
  const auto ask_usage = [&] {
    const auto call = link->send(kUsage, 0, [](Bytes&) {});
    link->wait([&] { return answered == call; });
    return theirs;
  };
  double rates[2], cost_here[2], cost_there[2];
  for (const auto op : {kPut, kGet}) {
    std::vector<double> times;
    const double before_there = ask_usage(), before = used();
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
    cost_here[op == kGet] = per_GB(before, used(), kTransfers + 1);
    cost_there[op == kGet] = per_GB(before_there, ask_usage(), kTransfers + 1);
  }
  std::printf(
      "{\"link\": \"%s\", \"round_trip_us\": %.1f, \"append_us\": %.2f, \"put_GBps\": %.2f, \"get_GBps\": %.2f, "
      "\"put_send_s_per_GB\": %.3f, \"put_receive_s_per_GB\": %.3f, \"get_send_s_per_GB\": %.3f, "
      "\"get_receive_s_per_GB\": %.3f}\n",
      transport.c_str(), trips[trips.size() / 2] * 1e6, append * 1e6, rates[0], rates[1], cost_here[0], cost_there[0],
      cost_there[1], cost_here[1]);
  link->close();
  waitpid(child, nullptr, 0);
}

}  // namespace

int main(int count, char** words) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  measure_aes();
  measure_raw();
  for (int i = 1; i < count; ++i) measure(words[i]);
  if (count == 1)
    for (const auto* transport : {"tcp", "tls", "shm"}) measure(transport);
}
