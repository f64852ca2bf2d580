// cuInit, and what needs no device.
#include <pthread.h>

#include <atomic>
#include <mutex>

#include "sim/driver/device.h"
#include "sim/driver/error_log.h"
#include "sim/driver/failure.h"
#include "sim/driver/settings.h"
#include "sim/ptx/parse.h"

namespace flexrack::sim {
namespace {

std::atomic<bool> is_initialised{false};
/// In a child of a process that had initialised the driver: its threads are not there, so nothing can work.
std::atomic<bool> is_forked{false};

const char* name_of(CUresult result) {
  switch (result) {
#define RESULT(name, text) \
  case name: return #name;
#include "gen/cuda/results.inc"
#undef RESULT
    default: return nullptr;
  }
}

const char* text_of(CUresult result) {
  switch (result) {
#define RESULT(name, text) \
  case name: return text;
#include "gen/cuda/results.inc"
#undef RESULT
    default: return nullptr;
  }
}

void initialise() {
  static auto* lock = new std::mutex;
  const std::lock_guard guard(*lock);
  if (is_initialised) return;
  set_settings(settings_from_environment());
  set_verbose(settings().is_verbose);
  ptx::set_newest_version(static_cast<unsigned>(settings().driver.isa_major),
                          static_cast<unsigned>(settings().driver.isa_minor));
  make_devices();
  pthread_atfork(nullptr, nullptr, [] { is_forked = true; });
  is_initialised = true;
}

}  // namespace

CUresult ready() noexcept {
  return is_initialised.load(std::memory_order_acquire) && !is_forked.load(std::memory_order_relaxed)
             ? CUDA_SUCCESS
             : CUDA_ERROR_NOT_INITIALIZED;
}

}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuInit(unsigned int flags) {
  if (is_forked.load(std::memory_order_relaxed)) return CUDA_ERROR_NOT_INITIALIZED;
  return call_uninitialised([&] {
    require(flags == 0);
    initialise();
  });
}

CUresult cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  return call_uninitialised([&] { *version = driver_release().number(); });
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = name_of(error);
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = text_of(error);
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Nothing here profiles; starting and stopping what is not there is no error, on hardware without a profiler attached
// neither.
CUresult cuProfilerStart() {
  return call([] {});
}
CUresult cuProfilerStop() {
  return call([] {});
}

}  // extern "C"
