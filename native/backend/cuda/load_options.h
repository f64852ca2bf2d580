// The options of a load or a link as the driver takes them: parallel arrays, values in pointers, and buffers for what
// it has to say.
#pragma once

#include <string>
#include <vector>

#include "gen/cuda/cuda.h"
#include "gen/cuda/messages.h"

namespace flexrack::backend::cuda {

/// Options about buffers are never the client's: what the driver writes goes back as text.
class LoadOptions {
 public:
  explicit LoadOptions(std::span<const cu::Option> reported) : info_(kLogBytes, '\0'), error_(kLogBytes, '\0') {
    for (const auto& one : reported) {
      if (is_number(one.which)) add(static_cast<CUjit_option>(one.which), one.value);
      // Of a library's options (CUlibraryOption, sent with the highest bit set) one is a pointer, and the other says
      // that the image stays where it is.
      else if (!is_answer(one.which)) is_passable_ = false;
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
  std::string info_log() const { return info_.substr(0, info_.find('\0')); }
  std::string error_log() const { return error_.substr(0, error_.find('\0')); }

  /// False: there was something among them that is not for a driver.
  bool is_passable() const { return is_passable_; }

 private:
  static constexpr std::size_t kLogBytes = 16 * 1024;

  /// Numbers only: what points to the client's memory (buffers, names and addresses of global symbols) cannot come
  /// along, and what a driver will add may.
  static bool is_number(std::uint32_t which) {
    switch (which) {
      case CU_JIT_MAX_REGISTERS:
      case CU_JIT_THREADS_PER_BLOCK:
      case CU_JIT_OPTIMIZATION_LEVEL:
      case CU_JIT_TARGET_FROM_CUCONTEXT:
      case CU_JIT_TARGET:
      case CU_JIT_FALLBACK_STRATEGY:
      case CU_JIT_GENERATE_DEBUG_INFO:
      case CU_JIT_LOG_VERBOSE:
      case CU_JIT_GENERATE_LINE_INFO:
      case CU_JIT_CACHE_MODE:
      case CU_JIT_NEW_SM3X_OPT:
      case CU_JIT_FAST_COMPILE:
      case CU_JIT_LTO:
      case CU_JIT_FTZ:
      case CU_JIT_PREC_DIV:
      case CU_JIT_PREC_SQRT:
      case CU_JIT_FMA:
      case CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES:
      case CU_JIT_POSITION_INDEPENDENT_CODE:
      case CU_JIT_MIN_CTA_PER_SM:
      case CU_JIT_MAX_THREADS_PER_BLOCK:
      case CU_JIT_OVERRIDE_DIRECTIVE_VALUES:
      case CU_JIT_SPLIT_COMPILE: return true;
      default: return false;
    }
  }
  /// The driver's own to fill: left out.
  static bool is_answer(std::uint32_t which) {
    return which >= CU_JIT_WALL_TIME && which <= CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
  }
  void add(CUjit_option which, std::uint64_t value) {
    jit_.push_back(which);
    jit_values_.push_back(reinterpret_cast<void*>(static_cast<std::uintptr_t>(value)));
  }

  std::string info_, error_;
  std::vector<CUjit_option> jit_;
  std::vector<void*> jit_values_;
  bool is_passable_ = true;
};

}  // namespace flexrack::backend::cuda
