// What is known of the kernels of a text, on disk by content: a process that loads the same again reads the text only
// when it launches a kernel (docs/adr/0037).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "sim/driver/kernel_facts.h"

namespace flexrack::sim {

/// Names, parameters and sizes of all kernels of a program, and what its device has to give for it.
struct KnownKernels {
  std::map<std::string, KernelFacts, std::less<>> kernels;
  std::uint64_t code_bytes = 0;
  bool uses_heap = false;
};

/// A folder of files, one a text: 0700 and 0600, of this user, never more than so many bytes. Whatever is wrong with
/// it, or with a file in it, it is as if nothing were there.
class KernelCache {
 public:
  using Key = std::array<std::uint8_t, 32>;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

  /// Null folder: keeps nothing.
  explicit KernelCache(std::optional<std::string> folder, std::uint64_t most = kMostBytes)
      : folder_(std::move(folder)), most_(most) {}

  std::optional<KnownKernels> find(const Key& key) const noexcept;
  /// Seen whole or not at all by others that read or keep the same; what was not used for longest gives way.
  void keep(const Key& key, const KnownKernels& known) const noexcept;
  std::string path_of(const Key& key) const;

 private:
  std::optional<std::string> folder_;
  std::uint64_t most_;
};

/// By the code as it is stored, what it is read with, and which build of this driver reads it. Nothing: that cannot be
/// told.
std::optional<KernelCache::Key> cache_key(std::span<const std::span<const std::byte>> code, unsigned max_registers);

/// Of FLEXRACK_SIM_CACHE: an absolute path, or "off"; where it says nothing, below the user's cache.
std::optional<std::string> cache_folder_from_environment();

}  // namespace flexrack::sim
