#include "client/standard_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace flexrack::client {

void write_standard_output(wire::View text) {
  // A thread that has stdout locked may be waiting for us: then its buffer goes out later, and nobody waits for ever.
  if (::ftrylockfile(stdout) == 0) {
    std::fflush(stdout);
    ::funlockfile(stdout);
  }
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text = text.subspan(static_cast<std::size_t>(written));
  }
}

}  // namespace flexrack::client
