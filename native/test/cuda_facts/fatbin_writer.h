// Fatbins as nvcc 13.0 writes them, made by hand, so that a test can have any.
#pragma once

#include <elf.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/fatbin.h"

namespace flexrack::test {

inline constexpr std::uint64_t kLz4 = 0x2000, kZstd = 0x8000, kOneArchitecture = 0x100000, kFamily = 0x200000;

class FatbinWriter {
 public:
  /// `options`: what the compiler of PTX is told; their place is behind the header.
  FatbinWriter& add(std::uint16_t kind, std::uint32_t architecture, std::string_view code, std::uint64_t flags = 0x11,
                    std::string_view options = {}) {
    const auto payload = compressed(code, flags);
    const bool is_compressed = flags & (kLz4 | kZstd);
    const auto padded = (payload.size() + 7) / 8 * 8;
    const auto header = static_cast<std::uint32_t>(options.empty() ? 64 : 72 + (options.size() + 7) / 8 * 8);
    number(kind), number<std::uint16_t>(0x101), number(header);
    number<std::uint64_t>(padded),
        number<std::uint32_t>(is_compressed ? static_cast<std::uint32_t>(payload.size()) : 0),
        number<std::uint32_t>(options.empty() ? 0 : 64);
    number<std::uint32_t>(0x90000), number(architecture), number<std::uint64_t>(0), number(flags),
        number<std::uint64_t>(0);
    number<std::uint64_t>(is_compressed ? code.size() : 0);
    if (!options.empty()) {
      number<std::uint32_t>(72), number(static_cast<std::uint32_t>(options.size()));
      entries_ += options;
      entries_.append(header - 72 - options.size(), '\0');
    }
    entries_ += payload;
    entries_.append(padded - payload.size(), '\0');
    return *this;
  }

  std::string container() const {
    std::string bytes("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
    const std::uint64_t size = entries_.size();
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    return bytes + entries_;
  }

 private:
  template <class T>
  void number(T value) {
    entries_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  static std::string compressed(std::string_view code, std::uint64_t flags) {
    std::string bytes(code);
    if (flags & kZstd) {
      bytes.resize(ZSTD_compressBound(code.size()));
      bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), code.data(), code.size(), 3));
    } else if (flags & kLz4) {
      bytes.resize(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(code.size()))));
      bytes.resize(static_cast<std::size_t>(LZ4_compress_default(
          code.data(), bytes.data(), static_cast<int>(code.size()), static_cast<int>(bytes.size()))));
    }
    return bytes;
  }

  std::string entries_;
};

/// An ELF file for an architecture, with one section of some bytes at its end behind the table, as nvcc has it the
/// other way round.
inline std::string elf(std::uint32_t architecture, std::string_view code = "instructions") {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident,
              "\x7f"
              "ELF\x02\x01\x01\x41\x08",
              9);
  header.e_machine = 190;
  header.e_flags = 0x06000000 | architecture << 8 | 2;
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  Elf64_Shdr none{}, section{};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = sizeof header + 2 * sizeof section;
  section.sh_size = code.size();
  std::string bytes;
  bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(&none), sizeof none);
  bytes.append(reinterpret_cast<const char*>(&section), sizeof section);
  return bytes.append(code);
}

inline cuda::Bytes view(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }
inline std::string text(const std::vector<std::byte>& code) {
  return {reinterpret_cast<const char*>(code.data()), code.size()};
}

}  // namespace flexrack::test
