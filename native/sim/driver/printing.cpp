#include "sim/driver/printing.h"

#include <cstdio>
#include <utility>

namespace flexrack::sim {

bool Printing::print(std::string_view text) {
  const std::lock_guard guard(lock_);
  if (text.size() > capacity_) return false;
  lines_.emplace_back(text);
  bytes_ += text.size();
  while (bytes_ > capacity_) {
    bytes_ -= lines_.front().size();
    lines_.pop_front();
  }
  return true;
}

void Printing::assertion(std::string_view text) {
  const std::lock_guard guard(lock_);
  if (assertions_.size() + text.size() <= capacity_) assertions_ += text;
}

void Printing::set_capacity(std::size_t bytes) {
  const std::lock_guard guard(lock_);
  capacity_ = bytes;
}

void Printing::flush() {
  {
    const std::lock_guard guard(lock_);
    if (lines_.empty() && assertions_.empty()) return;
  }
  // What was taken first has to be written first.
  const std::lock_guard writing(writing_);
  std::deque<std::string> lines;
  std::string assertions;
  {
    const std::lock_guard guard(lock_);
    lines.swap(lines_);
    assertions.swap(assertions_);
    bytes_ = 0;
  }
  for (const auto& line : lines) std::fwrite(line.data(), 1, line.size(), stdout);
  if (!lines.empty()) std::fflush(stdout);
  if (!assertions.empty()) std::fwrite(assertions.data(), 1, assertions.size(), stderr);
}

}  // namespace flexrack::sim
