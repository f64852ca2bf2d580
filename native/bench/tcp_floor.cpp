// What any remote call pays on this machine: the round trip of one byte and the bandwidth of a stream, over TCP on loopback between two processes.
// Prints one JSON object. c++ -O2 -std=c++20 tcp_floor.cpp
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr size_t kBytes = 64u << 20;
constexpr int kTrips = 20000, kStreams = 9;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class Move>
void all(Move move, int socket, char* at, size_t left) {
  while (left > 0) {
    const auto moved = move(socket, at, left);
    if (moved <= 0) std::exit(1);
    at += moved, left -= static_cast<size_t>(moved);
  }
}
void receive(int socket, char* at, size_t size) { all([](int s, char* p, size_t n) { return ::read(s, p, n); }, socket, at, size); }
void give(int socket, char* at, size_t size) { all([](int s, char* p, size_t n) { return ::write(s, p, n); }, socket, at, size); }

void serve(int listener) {
  const int peer = accept(listener, nullptr, nullptr), on = 1;
  setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::vector<char> data(kBytes);
  for (int i = 0; i < kTrips; i++) receive(peer, data.data(), 1), give(peer, data.data(), 1);
  for (int i = 0; i < kStreams; i++) receive(peer, data.data(), kBytes), give(peer, data.data(), 1);
  std::exit(0);
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET, address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener, 1) != 0) return 1;
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  const auto child = fork();
  if (child == 0) serve(listener);
  const int peer = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(peer, reinterpret_cast<sockaddr*>(&address), size) != 0) return 1;
  setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::vector<char> data(kBytes, 1);
  std::vector<double> trips, streams;
  for (int i = 0; i < kTrips; i++) {
    const auto start = seconds();
    give(peer, data.data(), 1), receive(peer, data.data(), 1);
    trips.push_back(seconds() - start);
  }
  for (int i = 0; i < kStreams; i++) {
    const auto start = seconds();
    give(peer, data.data(), kBytes), receive(peer, data.data(), 1);
    streams.push_back(seconds() - start);
  }
  waitpid(child, nullptr, 0);
  std::printf("{\"rtt_us\": %.2f, \"stream_GBps\": %.3f}\n", 1e6 * median(trips), kBytes / median(streams) / 1e9);
}
