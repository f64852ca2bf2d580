#include "sim/jit/code_memory.h"

#include <sys/mman.h>

#include <cstring>

namespace flexrack::sim::jit {

CodeMemory::~CodeMemory() {
  if (begin_ != nullptr) munmap(begin_, size_);
}

bool CodeMemory::fill(std::span<const std::uint8_t> code) {
  if (code.empty()) return false;
  void* made = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return false;
  std::memcpy(made, code.data(), code.size());
  if (mprotect(made, code.size(), PROT_READ | PROT_EXEC) != 0) {
    munmap(made, code.size());
    return false;
  }
  begin_ = static_cast<std::uint8_t*>(made);
  size_ = code.size();
  return true;
}

}  // namespace flexrack::sim::jit
