#include "server/liveness.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/descriptor.h"

namespace flexrack::server {

ProcessMark mark_of(pid_t pid) {
  if (pid <= 0) return {};
  const Descriptor stat(open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> buffer{};
  const auto size = stat.is_open() ? read(stat.get(), buffer.data(), buffer.size() - 1) : -1;
  if (size <= 0) return {};
  std::string_view text(buffer.data(), static_cast<std::size_t>(size));
  // The name in parentheses may hold anything, parentheses and spaces included: fields are counted from the last one.
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= text.size()) return {};
  text.remove_prefix(name_end + 2);
  if (text.front() == 'Z' || text.front() == 'X') return {};
  for (int field = 3; field < 22; ++field) {
    const auto space = text.find(' ');
    if (space == std::string_view::npos) return {};
    text.remove_prefix(space + 1);
  }
  ProcessMark mark;
  mark.pid = pid;
  if (std::from_chars(text.data(), text.data() + text.size(), mark.started).ec != std::errc{}) return {};
  return mark;
}

ProcessMark own_mark() { return mark_of(getpid()); }

bool is_alive(const ProcessMark& mark) { return mark.pid > 0 && mark_of(mark.pid) == mark; }

}  // namespace flexrack::server
