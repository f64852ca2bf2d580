// A library with the CUDA driver API: the machine's own libcuda.so.1, or a driver in software. Opened once a process
// and never closed.
#pragma once

#include <string>

#include "cuda/own_tables.h"
#include "gen/cuda/cuda.h"

namespace flexrack::backend::cuda {

class DriverLibrary {
 public:
  /// `path`: what dlopen takes. Throws std::runtime_error where it cannot be opened, or is flexrack's own client
  /// driver.
  explicit DriverLibrary(const std::string& path);

  /// The function of that symbol, as gen/cuda/cuda.h declares it; null where the library has none.
  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(look_up(symbol));
  }
  /// The same; throws std::runtime_error where there is none.
  template <class Function>
  Function* need(const char* symbol) const {
    return reinterpret_cast<Function*>(look_up_needed(symbol));
  }

  /// What only the driver in software has; null where this is another one.
  const flexrack::cuda::SimTable* sim() const { return sim_; }

  /// For people: "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)", and what the driver's error log says
  /// last, where it has one (CUDA 12.9).
  std::string text_of(CUresult result) const;

 private:
  void* look_up(const char* symbol) const;
  void* look_up_needed(const char* symbol) const;
  std::string last_logged() const;

  std::string path_;
  void* library_;
  const flexrack::cuda::SimTable* sim_ = nullptr;
};

/// A daemon must not serve what it would get from daemons: inside `flexrack attach`, the libraries of CUDA's names are
/// those that forward.
bool is_forwarding(void* library);

}  // namespace flexrack::backend::cuda
