#include "client/loss.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace flexrack::client {
namespace {

/// In the file that the variable names.
void tell(const char* variable, std::string line) {
  const char* path = std::getenv(variable);
  if (!path || !*path) return;
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return;
  line += '\n';
  [[maybe_unused]] const auto written = ::write(fd, line.data(), line.size());  // one write: lines stay whole
  ::close(fd);
}

void tell_mirror(std::string_view kind, std::string_view text) {
  tell("FLEXRACK_MIRROR_REPORT", std::string(kind) + ": " + std::string(text));
  const auto line = "flexrack: " + std::string(text) + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

constexpr const char* kLost = "FLEXRACK_LEASE_LOST";

}  // namespace

void tell_lost(std::string_view why) { tell(kLost, "lost: " + std::string(why)); }

void tell_ended(std::string_view why) { tell(kLost, "ended: " + std::string(why)); }

void tell_replica_lost(std::string_view text) { tell_mirror("lost", text); }

void tell_mismatch(std::string_view text) { tell_mirror("mismatch", text); }

void tell_refused(std::string_view text) { tell_mirror("refused", text); }

bool is_loss_asked() {
  const char* path = std::getenv(kLost);
  return path && *path;
}

}  // namespace flexrack::client
