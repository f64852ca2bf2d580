// The daemon's log: a line an event, with its time; what unproven connections can provoke is written only so often.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "server/descriptor.h"

namespace flexrack::server {

/// Thread-safe. Lines never hold keys: callers pass ids and addresses only. Control characters are written as '?'.
class Log {
 public:
  /// Appends to that file (0600); beyond 4 MiB it becomes FILE.1 and a new one begins. Throws std::system_error.
  explicit Log(std::string path);

  void line(std::string_view text);
  /// Counts a refusal by its reason; writes at most 20 lines a reason in 10 s and then how many were left out.
  void refused(std::string_view reason, std::string_view who);
  std::map<std::string, std::uint64_t> refusals() const;

 private:
  struct Reason {
    std::uint64_t count = 0, left_out = 0;
    int written = 0;
    std::chrono::steady_clock::time_point since{};
  };
  void open_file();
  void write_line(std::string_view text);

  mutable std::mutex mutex_;
  std::string path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
  std::map<std::string, Reason, std::less<>> reasons_;
};

}  // namespace flexrack::server
