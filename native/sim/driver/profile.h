// What card the simulated devices are like, as a file says it: native/sim/profiles.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/driver/release.h"

namespace flexrack::sim {

struct Capability {
  int major = 7;
  int minor = 5;
};

struct Profile {
  std::optional<Capability> capability;
  std::optional<Release> driver;
  std::optional<std::uint64_t> memory;
  std::map<int, int> attributes;               ///< sizes, numbers and clocks, by CUdevice_attribute
};

/// Throws Failure with CUDA_ERROR_INVALID_VALUE, whose text names the profile and the line.
Profile parse_profile(std::string_view name, std::string_view text);

/// One that was compiled in, by name, or a file, by its absolute path. Throws Failure with CUDA_ERROR_INVALID_VALUE.
Profile read_profile(const std::string& name);

/// A capability that this driver knows, as "7.5".
std::optional<Capability> parse_capability(std::string_view text);
/// All of them: "7.0, 7.2 or 7.5".
std::string capabilities_text();
/// Bytes, or a number with KiB, MiB, GiB; up to a TiB.
std::optional<std::uint64_t> parse_bytes(std::string_view text);
/// The whole text is a number of that type.
template <class T>
std::optional<T> parse_number(std::string_view text);

}  // namespace flexrack::sim
