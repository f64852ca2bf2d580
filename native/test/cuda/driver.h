// For the programs that use the driver API itself.
#pragma once

#include <cuda.h>

#include "program.h"

/// Ends the program where a call of the driver fails that must not.
#define DRIVER(call) program::check((call), #call, __LINE__)

namespace program {

inline const char* name(CUresult error) {
  const char* text = nullptr;
  return cuGetErrorName(error, &text) == CUDA_SUCCESS ? text : "an error without a name";
}

inline void check(CUresult error, const char* call, int line) {
  if (error == CUDA_SUCCESS) return;
  std::printf("line %d: %s: %s\n", line, call, name(error));
  std::exit(1);
}

/// What a call that has to fail says.
inline void expect_error(CUresult error, CUresult wanted, const char* what) {
  std::printf("%s: %s\n", what, name(error));
  expect(error == wanted, what);
}

}  // namespace program
