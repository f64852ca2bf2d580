#include "client/trace.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace flexrack::client {
namespace {

int open_trace() {
  const char* path = std::getenv("FLEXRACK_TRACE");
  return path && *path ? ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
}

int trace_fd() {
  static const int fd = open_trace();
  return fd;
}

}  // namespace

bool is_traced() { return trace_fd() >= 0; }

void trace(std::string_view line) {
  const int fd = trace_fd();
  if (fd < 0) return;
  static const auto start = std::chrono::steady_clock::now();
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start;
  char head[64];
  const int length = std::snprintf(head, sizeof head, "%.6f %d.%d ", since.count(), ::getpid(),
                                   static_cast<int>(::syscall(SYS_gettid)));
  std::string text(head, static_cast<std::size_t>(length));
  text += line;
  text += '\n';
  [[maybe_unused]] const auto written =
      ::write(fd, text.data(), text.size());  // one write, so that lines of several threads stay whole
}

void trace_sent(const char* name) { trace(std::string("send ") + name); }

void trace_waited(const char* what, const char* name, std::chrono::steady_clock::time_point start) {
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  char line[96];
  std::snprintf(line, sizeof line, "%s%s%s took %.0f us", what, *name ? " " : "", name, took.count());
  trace(line);
}

}  // namespace flexrack::client
