#include "backend/cuda/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace flexrack::backend::cuda {
namespace {

std::atomic<std::size_t> all_taken{0};   ///< by the process: of all contexts

}  // namespace

std::size_t Pages::most() {
  static const auto bytes = [] {
    const auto* const reported = std::getenv("FLEXRACK_TEST_STAGING_BYTES");
    const auto wanted = reported ? std::strtoull(reported, nullptr, 10) : 0;
    return wanted > 0 ? std::size_t{wanted}
                      : static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                            static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 2;
  }();
  return bytes;
}

Pages::~Pages() {
  for (const auto& [at, size] : taken_) {
    munmap(at, size);
    all_taken -= size;
  }
}

void* Pages::take(std::size_t size) {
  if (size > most() || !driver_.cuMemHostRegister_v2) return nullptr;
  if (all_taken.fetch_add(size) + size > most()) {
    all_taken -= size;
    return nullptr;
  }
  void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at != MAP_FAILED && driver_.cuMemHostRegister_v2(
                              at, size, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP) == CUDA_SUCCESS) {
    const std::lock_guard guard(lock_);
    taken_[at] = size;
    return at;
  }
  if (at != MAP_FAILED) munmap(at, size);
  all_taken -= size;
  return nullptr;
}

bool Pages::give(void* at) {
  if (driver_.cuMemHostUnregister(at) != CUDA_SUCCESS) return false;
  const std::lock_guard guard(lock_);
  const auto found = taken_.find(at);
  munmap(at, found->second);
  all_taken -= found->second;
  taken_.erase(found);
  return true;
}

}  // namespace flexrack::backend::cuda
