// Releases of CUDA that the driver can be of, and the PTX ISA that each one reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace flexrack::sim {

struct Release {
  int major = 13, minor = 0;
  int isa_major = 9, isa_minor = 0;            ///< the newest version of PTX that it reads

  /// As cuDriverGetVersion writes it.
  int number() const { return major * 1000 + minor * 10; }
};

/// "13.0"; nothing for one that this driver cannot be of.
std::optional<Release> release_of(std::string_view text);
/// For messages: "12.0 to 12.9, 13.0 to 13.5".
std::string releases_text();

}  // namespace flexrack::sim
