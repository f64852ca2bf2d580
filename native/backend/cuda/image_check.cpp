#include "backend/cuda/image_check.h"

#include <algorithm>
#include <string_view>

#include "cuda/fatbin.h"

namespace flexrack::backend::cuda {
namespace {

using flexrack::cuda::ImageFormat;

constexpr std::uint64_t kMostUnpacked = std::uint64_t{2} << 30;   ///< bytes, of all entries of an image together

std::optional<ImageFormat> format_of(wire::View image) {
  try {
    const auto found = flexrack::cuda::parse(std::as_bytes(std::span(image)));
    std::uint64_t bytes = 0;
    for (const auto& container : found.containers) {
      for (const auto& entry : container) {
        if (entry.size > kMostUnpacked - bytes) return std::nullopt;
        bytes += entry.size;
      }
    }
    return found.format;
  } catch (const flexrack::cuda::FatbinError&) { return std::nullopt; }
}

bool begins(wire::View data, std::string_view with) {
  return data.size() >= with.size() && std::equal(with.begin(), with.end(), data.begin(), [](char a, std::uint8_t b) {
           return static_cast<std::uint8_t>(a) == b;
         });
}

}  // namespace

CUresult check_image(wire::View image) { return format_of(image) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE; }

CUresult check_input(std::uint32_t kind, wire::View data) {
  const auto is = [&](ImageFormat format) { return format_of(data) == format; };
  bool is_good = false;
  switch (kind) {
    case CU_JIT_INPUT_CUBIN: is_good = is(ImageFormat::elf); break;
    case CU_JIT_INPUT_PTX: is_good = is(ImageFormat::ptx); break;
    case CU_JIT_INPUT_FATBINARY: is_good = is(ImageFormat::fatbin); break;
    case CU_JIT_INPUT_OBJECT:
      is_good = begins(data,
                       "\x7f"
                       "ELF");
      break;
    case CU_JIT_INPUT_LIBRARY: is_good = begins(data, "!<arch>\n"); break;
    default: break;
  }
  return is_good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

}  // namespace flexrack::backend::cuda
