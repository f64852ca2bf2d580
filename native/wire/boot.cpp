#include "wire/boot.h"

#include <fstream>

namespace flexrack::wire {

const std::string& boot_id() {
  static const std::string id = [] {
    std::string text;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
    return text;
  }();
  return id;
}

std::uint64_t boot_mark() {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : boot_id()) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace flexrack::wire
