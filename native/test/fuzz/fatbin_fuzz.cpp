// A fatbin, an ELF file or PTX text as a client may send it: read, chosen from, decompressed.
#include <cstdlib>
#include <cstring>

#include "cuda/fatbin.h"

using namespace flexrack::cuda;

namespace {

/// Every payload lies in what was given.
void check(const Image& image, Bytes whole) {
  for (const auto& container : image.containers)
    for (const auto& entry : container)
      if (!entry.payload.empty() && (entry.payload.data() < whole.data() ||
                                     entry.payload.data() + entry.payload.size() > whole.data() + whole.size()))
        std::abort();
}

void take_all(const Image& image) {
  for (const auto& container : image.containers)
    for (const auto& entry : container) {
      try {
        if (contents(entry, 1 << 20).size() > 1 << 20) std::abort();
      } catch (const FatbinError&) {}
      if (describe(entry).empty()) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const auto image = parse(bytes);
    check(image, bytes);
    take_all(image);
    for (const int major : {7, 8, 9, 10, 12})
      for (const bool runs_elf : {false, true})
        for (const auto* entry : choose(image, {.architecture = {major, 5}, .runs_elf = runs_elf}).entries)
          if (!entry || entry->kind == CodeKind::other) std::abort();
  } catch (const FatbinError&) {}
  return 0;
}
