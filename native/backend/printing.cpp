#include "backend/printing.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>

namespace flexrack::backend {
namespace {
constexpr int kPipeBytes = 1 << 20;   // so that a kernel that prints much seldom waits for us
}

Printing::Printing(std::function<void(wire::View)> print) : print_(std::move(print)), buffer_(64 * 1024) {
  int output[2] = {-1, -1}, stop[2] = {-1, -1};
  std::fflush(stdout);
  if (pipe2(output, O_CLOEXEC) != 0) return;
  if (pipe2(stop, O_CLOEXEC) != 0) {
    close(output[0]);
    close(output[1]);
    return;
  }
  read_ = output[0];
  stop_read_ = stop[0];
  stop_write_ = stop[1];
  fcntl(read_, F_SETFL, O_NONBLOCK);
  fcntl(read_, F_SETPIPE_SZ, kPipeBytes);
  saved_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(output[1], STDOUT_FILENO);
  close(output[1]);
  reader_ = std::thread([this] { run(); });
}

Printing::~Printing() {
  if (read_ < 0) return;
  drain();
  if (saved_ >= 0) {
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
  } else {
    close(STDOUT_FILENO);
  }
  close(stop_write_);
  reader_.join();
  close(stop_read_);
  close(read_);
}

void Printing::drain() {
  if (read_ < 0) return;
  const std::lock_guard guard(lock_);
  std::fflush(stdout);   // drivers that print through the C library
  for (;;) {
    const auto size = read(read_, buffer_.data(), buffer_.size());
    if (size <= 0) return;
    print_({buffer_.data(), static_cast<std::size_t>(size)});
  }
}

void Printing::run() {
  pollfd waits[2] = {{read_, POLLIN, 0}, {stop_read_, POLLIN, 0}};
  for (;;) {
    if (poll(waits, 2, -1) < 0) continue;
    if (waits[1].revents != 0) return;
    if (waits[0].revents & POLLIN) drain();
    else if (waits[0].revents != 0) return;
  }
}

}  // namespace flexrack::backend
