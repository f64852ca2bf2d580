// Functions of the application that a stream calls: run here, one after the other, on a thread that may wait for as
// long as they do.
#pragma once

#include <cstdint>
#include <functional>

#include "client/cuda/thread.h"

namespace flexrack::client::cuda {

/// While one lives on this thread, the driver may not be called on it (cuda.h 13.0, cuLaunchHostFunc:
/// CUDA_ERROR_NOT_PERMITTED).
struct InHostFunction {
  InHostFunction() { ++thread_state.host_functions; }
  ~InHostFunction() { --thread_state.host_functions; }
  InHostFunction(const InHostFunction&) = delete;
  InHostFunction& operator=(const InHostFunction&) = delete;
};

/// What a number that the server was given stands for; run(status) calls it.
struct HostFunction {
  std::function<void(CUresult)> run;
  bool is_once = true;               ///< a graph's are run at each launch
  std::shared_ptr<HostWork> work{};  ///< finished when it has been run; null for a graph's
  HostWorks behind{};                ///< what it comes after in this process: bytes that it may want to read
};

/// The number for the server.
std::uint64_t add_host_function(HostFunction function);
void remove_host_function(std::uint64_t number);

/// The server's stream has got there: runs it and lets the stream go on.
void run_host_function(CudaServer& server, std::uint64_t number, std::uint64_t run, CUresult status);

/// Runs when the stream gets there, as a host function of the application would; the stream is the one an application
/// names.
CUresult put_host_action(CUstream stream, std::function<void()> action);

/// Runs the action on the thread of host functions.
void run_on_host_thread(std::function<void()> action);

}  // namespace flexrack::client::cuda
