// What is about to be over is waited for where it is asked about: handing the wait to another thread, and its answer
// back, takes longer.
#pragma once

#include <chrono>
#include <thread>

#include "gen/cuda/cuda.h"

namespace flexrack::backend::cuda {

/// About what two changes of threads take. Not more: no other message of the client is read meanwhile.
inline constexpr std::chrono::microseconds kSoon{20};

/// Asks until the answer is another one than CUDA_ERROR_NOT_READY, or that time is over.
template <class Query>
CUresult soon(Query&& query) {
  const auto end = std::chrono::steady_clock::now() + kSoon;
  auto status = query();
  while (status == CUDA_ERROR_NOT_READY && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
    status = query();
  }
  return status;
}

}  // namespace flexrack::backend::cuda
