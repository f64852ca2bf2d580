#include "sim/driver/jit_options.h"

#include <algorithm>
#include <cstring>

#include "sim/driver/failure.h"

namespace flexrack::sim {

JitOptions::JitOptions(unsigned count, CUjit_option* options, void** values) {
  require(count == 0 || (options && values));
  for (unsigned i = 0; i < count; ++i) {
    const auto number = static_cast<std::size_t>(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i])));
    switch (options[i]) {
      case CU_JIT_INFO_LOG_BUFFER: info_.buffer = static_cast<char*>(values[i]); break;
      case CU_JIT_ERROR_LOG_BUFFER: error_.buffer = static_cast<char*>(values[i]); break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_.size = number;
        info_.size_value = &values[i];
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        error_.size = number;
        error_.size_value = &values[i];
        break;
      case CU_JIT_MAX_REGISTERS: max_registers_ = static_cast<unsigned>(number); break;
      case CU_JIT_WALL_TIME: wall_time_ = &values[i]; break;
      default: require(static_cast<unsigned>(options[i]) < CU_JIT_NUM_OPTIONS);
    }
  }
  for (auto* log : {&info_, &error_}) {
    if (log->buffer && log->size > 0) log->buffer[0] = 0;
    // How much was written: cuda.h 13.0, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES.
    if (log->size_value) *log->size_value = nullptr;
  }
}

void JitOptions::write(Log& log, std::string_view text) {
  if (!log.buffer || log.size == 0) return;
  const auto length = std::min(text.size(), log.size - 1 - log.used);
  std::memcpy(log.buffer + log.used, text.data(), length);
  log.used += length;
  log.buffer[log.used] = 0;
  if (log.size_value) *log.size_value = reinterpret_cast<void*>(log.used);
}

void JitOptions::tell_time() {
  if (!wall_time_) return;
  const auto milliseconds = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - since_).count();
  std::memcpy(wall_time_, &milliseconds, sizeof milliseconds);
}

}  // namespace flexrack::sim
