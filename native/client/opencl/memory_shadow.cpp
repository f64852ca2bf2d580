#include "client/opencl/memory_shadow.h"

#include <sys/mman.h>

#include <new>

namespace flexrack::client::opencl {

namespace {
constexpr std::size_t kMapped = 128 * 1024;          ///< from here up it is pages of its own
constexpr std::size_t kKept =
    64u * 1024 * 1024;  ///< up to here pages stay for the next map: faulting them in again costs more than they do
constexpr std::align_val_t kAlignment{128};  ///< of long16, what OpenCL promises at most
}  // namespace

Shadow::~Shadow() {
  if (!start_) return;
  if (size_ >= kMapped) munmap(start_, size_);
  else operator delete(start_, kAlignment);
}

std::byte* Shadow::get(std::size_t size) {
  if (start_) return start_;
  size_ = size;
  if (size < kMapped) {
    start_ = static_cast<std::byte*>(operator new(size, kAlignment, std::nothrow));
    return start_;
  }
  void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  start_ = pages == MAP_FAILED ? nullptr : static_cast<std::byte*>(pages);
  return start_;
}

void Shadow::rest() {
  if (start_ && size_ > kKept) madvise(start_, size_, MADV_DONTNEED);
}

}  // namespace flexrack::client::opencl
