#include "sim/driver/release.h"

namespace flexrack::sim {
namespace {

/// "PTX ISA", release notes: the ISA that came with each release of CUDA. From 13.0 on it has the release's minor
/// number.
constexpr Release kReleases[] = {
    {12, 0, 8, 0}, {12, 1, 8, 1}, {12, 2, 8, 2}, {12, 3, 8, 3}, {12, 4, 8, 4}, {12, 5, 8, 5},
    {12, 6, 8, 5}, {12, 7, 8, 6}, {12, 8, 8, 7}, {12, 9, 8, 8}, {13, 0, 9, 0}, {13, 1, 9, 1},
    {13, 2, 9, 2}, {13, 3, 9, 3}, {13, 4, 9, 4}, {13, 5, 9, 5},
};

}  // namespace

std::optional<Release> release_of(std::string_view text) {
  for (const auto& one : kReleases) {
    if (text == std::to_string(one.major) + "." + std::to_string(one.minor)) return one;
  }
  return std::nullopt;
}

std::string releases_text() { return "12.0 to 12.9, 13.0 to 13.5"; }

}  // namespace flexrack::sim
