// Memory for machine code: written, then made executable, never both at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace flexrack::sim::jit {

class CodeMemory {
 public:
  CodeMemory() = default;
  ~CodeMemory();
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;

  /// Once. False: this system does not let a program make code.
  bool fill(std::span<const std::uint8_t> code);
  /// Where it begins, at a multiple of a page; nullptr: not filled.
  const std::uint8_t* begin() const { return begin_; }

 private:
  std::uint8_t* begin_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace flexrack::sim::jit
