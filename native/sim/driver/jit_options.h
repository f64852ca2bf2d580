// The options of cuModuleLoadDataEx, cuLibraryLoadData and cuLink*: where logs go, and how many registers a thread has;
// the rest is for a compiler that is not here.
#pragma once

#include <chrono>
#include <span>
#include <string_view>

#include "gen/cuda/cuda.h"

namespace flexrack::sim {

class JitOptions {
 public:
  JitOptions() = default;
  /// Throws CUDA_ERROR_INVALID_VALUE. The values stay the application's: sizes and times are written back into them.
  JitOptions(unsigned count, CUjit_option* options, void** values);

  void error(std::string_view text) { write(error_, text); }
  void info(std::string_view text) { write(info_, text); }
  /// Most registers of a thread; 0: as many as there are.
  unsigned max_registers() const { return max_registers_; }
  /// The time since it was made, into the application's value.
  void tell_time();

 private:
  struct Log {
    char* buffer = nullptr;
    std::size_t size = 0, used = 0;
    void** size_value = nullptr;
  };
  static void write(Log& log, std::string_view text);

  Log info_, error_;
  unsigned max_registers_ = 0;
  void** wall_time_ = nullptr;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace flexrack::sim
