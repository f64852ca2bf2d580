// Memory of this process that stands for a device's while the application has it mapped.
#pragma once

#include <cstddef>

namespace flexrack::client::opencl {

/// As large as its object, but only pages that were touched cost anything. Stays at one address as long as the object
/// lives, so that overlapping maps show the same bytes.
class Shadow {
 public:
  Shadow() = default;
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;
  ~Shadow();

  /// Its start, made at the first call; null when there is no memory.
  std::byte* get(std::size_t size);
  /// Nothing is mapped at the moment: what costs much is given back to the system.
  void rest();

 private:
  std::byte* start_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace flexrack::client::opencl
