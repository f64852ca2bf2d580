// The code in an entry of a fatbin: decompressed, hashed, described.
#include <lz4.h>
#include <openssl/evp.h>
#include <zstd.h>

#include <limits>

#include "cuda/fatbin.h"

namespace flexrack::cuda {
namespace {

void decompress_zstd(Bytes from, std::span<std::byte> to) {
  const auto got = ZSTD_decompress(to.data(), to.size(), from.data(), from.size());
  if (ZSTD_isError(got))
    throw FatbinError(std::string("a fatbin's entry is damaged (zstd): ") + ZSTD_getErrorName(got));
  if (got != to.size()) throw FatbinError("a fatbin's entry is damaged (zstd): it is shorter than it says");
}

void decompress_lz4(Bytes from, std::span<std::byte> to) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (from.size() > kMost || to.size() > kMost) throw FatbinError("a fatbin's entry is damaged (LZ4): too large");
  const auto got = LZ4_decompress_safe(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to.data()),
                                       static_cast<int>(from.size()), static_cast<int>(to.size()));
  if (got < 0 || static_cast<std::size_t>(got) != to.size()) throw FatbinError("a fatbin's entry is damaged (LZ4)");
}

/// Neither compressor makes anything that much smaller: what says so is refused before memory is taken for it.
bool is_believable(const CodeEntry& entry) {
  constexpr std::uint64_t kMost = 1ull << 17;
  return entry.size <= entry.payload.size() * kMost;
}

}  // namespace

std::vector<std::byte> contents(const CodeEntry& entry, std::uint64_t most) {
  if (entry.size > most || !is_believable(entry))
    throw FatbinError("a fatbin's entry is larger than can be: " + std::to_string(entry.size) + " bytes");
  std::vector<std::byte> code;
  if (entry.compression == Compression::none) {
    code.assign(entry.payload.begin(), entry.payload.end());
  } else {
    code.resize(entry.size);
    entry.compression == Compression::zstd ? decompress_zstd(entry.payload, code) : decompress_lz4(entry.payload, code);
  }
  if (entry.kind == CodeKind::ptx)
    while (!code.empty() && code.back() == std::byte{0}) code.pop_back();
  return code;
}

std::array<std::uint8_t, 32> content_hash(Bytes bytes) {
  std::array<std::uint8_t, 32> digest{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1 || size != digest.size())
    throw std::runtime_error("SHA-256 is not available");
  return digest;
}

std::string describe(const CodeEntry& entry) {
  std::string text = entry.kind == CodeKind::ptx   ? "PTX"
                     : entry.kind == CodeKind::elf ? "machine code"
                                                   : "code of kind " + std::to_string(entry.kind_number);
  if (entry.architecture.major > 0) {
    text += " for sm_" + std::to_string(entry.architecture.major) + std::to_string(entry.architecture.minor);
    if (entry.architecture.suffix) text += entry.architecture.suffix;
  }
  text += ", " + std::to_string(entry.payload.size()) + " bytes";
  if (entry.compression == Compression::zstd) text += ", zstd";
  if (entry.compression == Compression::lz4) text += ", LZ4";
  return text;
}

}  // namespace flexrack::cuda
