// The options of a load or a link as the driver takes them: parallel arrays, values in pointers, and buffers for what it has to say.
#pragma once

#include <string>
#include <vector>

#include "gen/cuda/cuda.h"
#include "gen/cuda/messages.h"

namespace flexrack::backend::cuda {

/// Options about buffers are never the client's: what the driver writes goes back as text.
class LoadOptions {
 public:
  explicit LoadOptions(std::span<const cu::Option> told) : info_(kLogBytes, '\0'), error_(kLogBytes, '\0') {
    for (const auto& one : told) {
      // Library options have numbers of their own (CUlibraryOption), sent with the highest bit set.
      if ((one.which & kOfLibrary) != 0) {
        library_.push_back(static_cast<CUlibraryOption>(one.which & ~kOfLibrary));
        library_values_.push_back(reinterpret_cast<void*>(static_cast<std::uintptr_t>(one.value)));
      } else if (is_passed_on(one.which)) {
        add(static_cast<CUjit_option>(one.which), one.value);
      }
    }
    add(CU_JIT_INFO_LOG_BUFFER, reinterpret_cast<std::uintptr_t>(info_.data()));
    add(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, kLogBytes);
    add(CU_JIT_ERROR_LOG_BUFFER, reinterpret_cast<std::uintptr_t>(error_.data()));
    add(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, kLogBytes);
  }
  LoadOptions(LoadOptions&&) = default;

  CUjit_option* jit() { return jit_.data(); }
  void** jit_values() { return jit_values_.data(); }
  unsigned jit_count() const { return static_cast<unsigned>(jit_.size()); }
  CUlibraryOption* library() { return library_.data(); }
  void** library_values() { return library_values_.data(); }
  unsigned library_count() const { return static_cast<unsigned>(library_.size()); }
  std::string info_log() const { return info_.substr(0, info_.find('\0')); }
  std::string error_log() const { return error_.substr(0, error_.find('\0')); }

  static constexpr std::uint32_t kOfLibrary = 0x8000'0000;

 private:
  static constexpr std::size_t kLogBytes = 16 * 1024;

  /// Numbers only: what points to the client's memory (buffers, names and addresses of global symbols) cannot come along.
  static bool is_passed_on(std::uint32_t which) {
    switch (which) {
      case CU_JIT_INFO_LOG_BUFFER:
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
      case CU_JIT_ERROR_LOG_BUFFER:
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
      case CU_JIT_WALL_TIME:
      case CU_JIT_GLOBAL_SYMBOL_NAMES:
      case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
      case CU_JIT_GLOBAL_SYMBOL_COUNT: return false;
      default: return which < CU_JIT_NUM_OPTIONS;
    }
  }
  void add(CUjit_option which, std::uint64_t value) {
    jit_.push_back(which);
    jit_values_.push_back(reinterpret_cast<void*>(static_cast<std::uintptr_t>(value)));
  }

  std::string info_, error_;
  std::vector<CUjit_option> jit_;
  std::vector<void*> jit_values_;
  std::vector<CUlibraryOption> library_;
  std::vector<void*> library_values_;
};

}  // namespace flexrack::backend::cuda
