// Which code of an image a device loads.
#include <algorithm>
#include <tuple>

#include "cuda/fatbin.h"

namespace flexrack::cuda {
namespace {

bool is_known(const Architecture& one) { return one.major > 0; }

/// Jetson and Drive: their machine code is theirs alone ("CUDA C++ Programming Guide", binary compatibility).
bool is_system_on_chip(const Architecture& one) {
  constexpr std::pair<int, int> kThose[] = {{7, 2}, {8, 7}, {8, 8}};
  return std::ranges::find(kThose, std::pair(one.major, one.minor)) != std::end(kThose);
}

bool is_same(const Architecture& a, const Architecture& b) { return a.major == b.major && a.minor == b.minor; }

/// Of two that run, the one made for the newer architecture, and of the same the more particular one.
bool is_older(const CodeEntry* a, const CodeEntry* b) {
  const auto rank = [](const Architecture& one) {
    return std::tuple(one.major, one.minor, one.suffix == 'a' ? 2 : one.suffix == 'f' ? 1 : 0);
  };
  return rank(a->architecture) < rank(b->architecture);
}

const CodeEntry* best(const std::vector<CodeEntry>& entries, CodeKind kind, const Target& target) {
  const auto runs = kind == CodeKind::elf ? runs_machine_code : runs_ptx;
  const CodeEntry* found = nullptr;
  for (const auto& one : entries)
    if (one.kind == kind && runs(target.architecture, one.architecture) && (!found || is_older(found, &one)))
      found = &one;
  return found;
}

const CodeEntry* best(const std::vector<CodeEntry>& entries, const Target& target) {
  const auto* elf = target.runs_elf ? best(entries, CodeKind::elf, target) : nullptr;
  if (elf && !target.prefers_ptx) return elf;
  const auto* ptx = best(entries, CodeKind::ptx, target);
  return ptx ? ptx : elf;
}

}  // namespace

bool runs_machine_code(const Architecture& device, const Architecture& code) {
  if (!is_known(code)) return true;
  if (code.suffix == 'a' || is_system_on_chip(code) || is_system_on_chip(device)) return is_same(device, code);
  return device.major == code.major && device.minor >= code.minor;
}

bool runs_ptx(const Architecture& device, const Architecture& code) {
  if (!is_known(code)) return true;
  if (code.suffix == 'a') return is_same(device, code);
  if (code.suffix == 'f') return device.major == code.major && device.minor >= code.minor;
  return std::pair(device.major, device.minor) >= std::pair(code.major, code.minor);
}

Choice choose(const Image& image, const Target& target) {
  if (image.containers.empty()) return {};
  if (const auto* whole = best(image.containers.front(), target)) return {{whole}};
  Choice choice;
  for (std::size_t i = 1; i < image.containers.size(); ++i) {
    // nvcc links its library for launches by kernels to everything, needed or not, and that has PTX for the newest
    // device only: what is missed, the linker says.
    if (const auto* part = best(image.containers[i], target)) choice.entries.push_back(part);
  }
  return choice;
}

}  // namespace flexrack::cuda
