// Where text from kernels goes, and printf's formatting.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace flexrack::sim::exec {

/// Implemented by the driver. Called by several threads at once.
class Printer {
 public:
  virtual ~Printer() = default;
  /// What one thread printed by one call. False: no room left, the text is dropped (printf then returns -1).
  virtual bool print(std::string_view text) = 0;
  /// An assertion that failed, as one line with its end.
  virtual void assertion(std::string_view text) = 0;
};

/// Reads a string of the kernel's; nullopt where the memory is not its own.
using StringReader = std::function<std::optional<std::string>(std::uint64_t address)>;

struct Formatted {
  std::string text;
  unsigned arguments = 0;  ///< conversions that took one
};

/// printf of a kernel: `next` gives the argument at an aligned offset of the block that vprintf is called with:
/// integers of 4 or 8 bytes, doubles and pointers of 8, each aligned to its size (CUDA C++ Programming Guide 13.0,
/// formatted output). Unknown conversions are printed as they are.
Formatted format(std::string_view pattern,
                 const std::function<std::uint64_t(std::uint32_t offset, std::uint32_t bytes)>& argument,
                 const StringReader& string);

}  // namespace flexrack::sim::exec
