// What kernels print, kept until the application waits for them.
#pragma once

#include <deque>
#include <mutex>
#include <string>

#include "sim/exec/printer.h"

namespace flexrack::sim {

/// Thread-safe.
class Printing : public exec::Printer {
 public:
  /// "CUDA C++ Programming Guide", formatted output: the buffer is circular, what does not fit any more pushes out the
  /// oldest.
  bool print(std::string_view text) override;
  void assertion(std::string_view text) override;

  void set_capacity(std::size_t bytes);
  /// To standard output, assertions to standard error: where the same program prints on a graphics card.
  void flush();

 private:
  std::mutex lock_, writing_;
  std::deque<std::string> lines_;
  std::string assertions_;
  std::size_t bytes_ = 0, capacity_ = 1 << 20;
};

}  // namespace flexrack::sim
