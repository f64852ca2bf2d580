#include "sim/driver/error_log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <mutex>

#include "sim/driver/failure.h"

namespace flexrack::sim {
namespace {

/// cuda.h 13.0, cuLogsDumpToMemory: the buffer has 25600 bytes at most.
constexpr std::size_t kMostBytes = 25600;

struct Listener {
  CUlogsCallback function;
  void* data;
};

struct Log {
  std::mutex lock;
  std::deque<std::string> lines;
  unsigned first = 0;   ///< the number of lines.front()
  std::size_t bytes = 0;
  std::map<CUlogsCallbackHandle, Listener> listeners;
  std::uintptr_t next_listener = 1;
  std::string fault;
  std::atomic<bool> is_verbose{false};
};

Log& log() {
  static auto* one = new Log;
  return *one;
}

void write(std::string_view text, CUlogLevel level) noexcept try {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  std::tm parts{};
  localtime_r(&now.tv_sec, &parts);
  char head[64];
  std::snprintf(head, sizeof head, "[%02d:%02d:%02d.%03ld][%d][CUDA][%c] ", parts.tm_hour, parts.tm_min, parts.tm_sec,
                now.tv_nsec / 1000000, static_cast<int>(getpid()), level == CU_LOG_LEVEL_ERROR ? 'E' : 'W');
  std::string line = head + std::string(text);
  auto& to = log();
  std::map<CUlogsCallbackHandle, Listener> listeners;
  {
    const std::lock_guard guard(to.lock);
    to.lines.push_back(line);
    to.bytes += line.size() + 1;
    while (to.bytes > kMostBytes && to.lines.size() > 1) {
      to.bytes -= to.lines.front().size() + 1;
      to.lines.pop_front();
      ++to.first;
    }
    listeners = to.listeners;
  }
  if (to.is_verbose) std::fprintf(stderr, "%s\n", line.c_str());
  for (const auto& [handle, listener] : listeners) {
    auto copy = line;
    listener.function(listener.data, level, copy.data(), copy.size());
  }
} catch (...) {}

}  // namespace

void log_error(std::string_view text) noexcept { write(text, CU_LOG_LEVEL_ERROR); }
void log_warning(std::string_view text) noexcept { write(text, CU_LOG_LEVEL_WARNING); }

void log_fault(std::string_view text) noexcept {
  try {
    const std::lock_guard guard(log().lock);
    log().fault = text;
  } catch (...) {}
  log_error(text);
}

void set_verbose(bool is_verbose) { log().is_verbose = is_verbose; }

namespace {

/// The newest lines from the iterator on that fit into `most` bytes.
std::string take(CUlogIterator* iterator, std::size_t most) {
  auto& from = log();
  const std::lock_guard guard(from.lock);
  const auto end = from.first + static_cast<unsigned>(from.lines.size());
  const auto requested = iterator ? *iterator : from.first;
  auto begin = std::max(requested, from.first);
  std::size_t bytes = 0;
  auto at = end;
  while (at > begin && bytes + from.lines[at - 1 - from.first].size() + 1 <= most)
    bytes += from.lines[--at - from.first].size() + 1;
  std::string text;
  const std::string_view note = "(older lines are lost)\n";
  if ((at > begin || requested < from.first) && at < end && bytes + note.size() <= most) text = note;
  if (at == end && begin < end) fail(CUDA_ERROR_INVALID_VALUE);
  for (; at < end; ++at) text += from.lines[at - from.first] + "\n";
  if (iterator) *iterator = end;
  return text;
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

unsigned long flexrack_sim_last_fault(char* text, unsigned long size) {
  auto& from = log();
  const std::lock_guard guard(from.lock);
  if (text && size > 0) {
    const auto length = std::min<std::size_t>(from.fault.size(), size - 1);
    std::memcpy(text, from.fault.data(), length);
    text[length] = 0;
  }
  return from.fault.size();
}

CUresult cuLogsRegisterCallback(CUlogsCallback function, void* data, CUlogsCallbackHandle* handle) {
  return call_uninitialised([&] {
    require(function);
    auto& to = log();
    const std::lock_guard guard(to.lock);
    const auto made = reinterpret_cast<CUlogsCallbackHandle>(to.next_listener++);
    to.listeners[made] = {function, data};
    if (handle) *handle = made;
  });
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return call_uninitialised([&] {
    const std::lock_guard guard(log().lock);
    require(log().listeners.erase(handle) == 1);
  });
}

CUresult cuLogsCurrent(CUlogIterator* iterator, unsigned int flags) {
  return call_uninitialised([&] {
    require(iterator && flags == 0);
    const std::lock_guard guard(log().lock);
    *iterator = log().first + static_cast<unsigned>(log().lines.size());
  });
}

CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* path, unsigned int flags) {
  return call_uninitialised([&] {
    require(path && flags == 0);
    const auto text = take(iterator, kMostBytes + 64);
    auto* file = std::fopen(path, "ae");
    require(file, CUDA_ERROR_INVALID_VALUE);
    const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    require(std::fclose(file) == 0 && is_written, CUDA_ERROR_OPERATING_SYSTEM);
  });
}

CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size, unsigned int flags) {
  return call_uninitialised([&] {
    require(buffer && size && *size > 0 && flags == 0);
    const auto most = *size - 1;
    *size = 0;
    const auto text = take(iterator, most);
    std::memcpy(buffer, text.c_str(), text.size() + 1);
    *size = text.size();
  });
}

}  // extern "C"
