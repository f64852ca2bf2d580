// How a function of the API ends in an error: by an exception inside, by its result outside.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "gen/cuda/cuda.h"

namespace flexrack::sim {

/// What a call answers. The text is for the error log (cuLogs*), where it says more than the result.
struct Failure {
  CUresult result;
  std::string text;
};

[[noreturn]] void fail(CUresult result);
[[noreturn]] void fail(CUresult result, std::string text);

/// Throws CUDA_ERROR_INVALID_VALUE where a pointer for an answer is null, or where a condition does not hold.
inline void require(bool holds, CUresult otherwise = CUDA_ERROR_INVALID_VALUE) {
  if (!holds) fail(otherwise);
}
void require(bool holds, CUresult otherwise, const char* text);

/// The result of the exception that is being handled; writes it into the error log. To be called in a catch clause.
CUresult result_of_exception() noexcept;

/// CUDA_SUCCESS where the driver was initialised, in this process and not in the one it was forked from.
CUresult ready() noexcept;

/// Carries out a function of the API: `work` returns nothing or a CUresult. Nothing is thrown out of it.
template <class Work>
CUresult call_uninitialised(Work&& work) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      return CUDA_SUCCESS;
    } else {
      return work();
    }
  } catch (...) { return result_of_exception(); }
}

/// The same for a function that needs cuInit first.
template <class Work>
CUresult call(Work&& work) noexcept {
  const auto state = ready();
  return state == CUDA_SUCCESS ? call_uninitialised(std::forward<Work>(work)) : state;
}

}  // namespace flexrack::sim
