#include "server/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <system_error>

namespace flexrack::server {
namespace {

constexpr std::uint64_t kLargestLog = 4 << 20;
constexpr int kLinesAReason = 20;
constexpr auto kWindow = std::chrono::seconds(10);

std::string now_text() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  std::array<char, 80> text{};
  const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text.data() + length, text.size() - length, ".%03dZ ", static_cast<int>(now.tv_nsec / 1000000 % 1000));
  return text.data();
}

}  // namespace

Log::Log(std::string path) : path_(std::move(path)) { open_file(); }

void Log::line(std::string_view text) {
  const std::lock_guard lock(mutex_);
  write_line(text);
}

void Log::refused(std::string_view reason, std::string_view who) {
  const std::lock_guard lock(mutex_);
  auto& about = reasons_[std::string(reason)];
  ++about.count;
  const auto now = std::chrono::steady_clock::now();
  if (now - about.since > kWindow) {
    if (about.left_out > 0) write_line("refused " + std::to_string(about.left_out) + " more: " + std::string(reason));
    about.since = now;
    about.written = 0;
    about.left_out = 0;
  }
  if (about.written == kLinesAReason) {
    ++about.left_out;
    return;
  }
  ++about.written;
  write_line("refused " + std::string(who) + ": " + std::string(reason));
}

std::map<std::string, std::uint64_t> Log::refusals() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [reason, about] : reasons_) counts[reason] = about.count;
  return counts;
}

void Log::open_file() {
  file_.reset(open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct stat about{};
  if (!file_.is_open() || fstat(file_.get(), &about) != 0)
    throw std::system_error(errno, std::generic_category(), path_);
  // Not of a device: /dev/null would be closed to everybody else.
  if (S_ISREG(about.st_mode)) fchmod(file_.get(), 0600);
  size_ = static_cast<std::uint64_t>(about.st_size);
}

void Log::write_line(std::string_view text) {
  if (size_ > kLargestLog && rename(path_.c_str(), (path_ + ".1").c_str()) == 0) open_file();
  std::string whole = now_text();
  for (const char c : text.substr(0, 2000)) whole += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  whole += '\n';
  // A full disk must not end the daemon: the line is lost.
  const auto wrote = write(file_.get(), whole.data(), whole.size());
  if (wrote > 0) size_ += static_cast<std::uint64_t>(wrote);
}

}  // namespace flexrack::server
