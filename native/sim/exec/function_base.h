// Where the addresses of an image's functions begin, for an image that is to be as it was in another process.
#pragma once

#include <cstdint>

namespace flexrack::sim::exec {

/// Of the images that this thread makes while it lives; 0: wherever no other image's are.
class FunctionBase {
 public:
  explicit FunctionBase(std::uint64_t address) : before_(wish) { wish = address; }
  ~FunctionBase() { wish = before_; }
  FunctionBase(const FunctionBase&) = delete;

  static std::uint64_t wished() { return wish; }

 private:
  static inline thread_local std::uint64_t wish = 0;
  const std::uint64_t before_;
};

}  // namespace flexrack::sim::exec
