// Fills and cuMemsetD*.
#include "sim/driver/fill_work.h"

#include <algorithm>
#include <cstring>

#include "sim/driver/settings.h"

namespace flexrack::sim {

FillWork::FillWork(std::uint64_t address, std::uint64_t pitch, std::uint32_t value, unsigned element,
                   std::uint64_t width, std::uint64_t height)
    : address_(address), pitch_(pitch), value_(value), element_(element), width_(width), height_(height) {
  require(element == 1 || element == 2 || element == 4);
  if (width == 0 || height == 0) return;
  require(address % element == 0 && width < (std::uint64_t{1} << 45));
  const auto row = width * element;
  std::uint64_t rows = 0, size = 0;
  require(height == 1 || (pitch >= row && pitch % element == 0));
  require(!__builtin_mul_overflow(height - 1, pitch, &rows) && !__builtin_add_overflow(rows, row, &size));
  allocation_ = allocation_of(address, height == 1 ? row : size);
}

std::shared_ptr<FillWork> FillWork::described_by(const CUDA_MEMSET_NODE_PARAMS& as) {
  return std::make_shared<FillWork>(as.dst, as.pitch, as.value, as.elementSize, as.width, as.height);
}

CUDA_MEMSET_NODE_PARAMS FillWork::described() const {
  CUDA_MEMSET_NODE_PARAMS as{};
  as.dst = address_;
  as.pitch = pitch_;
  as.value = value_;
  as.elementSize = element_;
  as.width = width_;
  as.height = height_;
  return as;
}

void FillWork::execute(Context&) const {
  if (width_ == 0 || height_ == 0) return;
  if (is_fault_due("memset")) fail(CUDA_ERROR_ECC_UNCORRECTABLE, "a memset failed, as FLEXRACK_SIM_FAULT asks for");
  pass_latency();
  for (std::uint64_t y = 0; y < height_; ++y) {
    const auto row = address_ + y * pitch_;
    switch (element_) {
      case 1: std::memset(reinterpret_cast<void*>(row), static_cast<int>(value_ & 0xff), width_); break;
      case 2: std::fill_n(reinterpret_cast<std::uint16_t*>(row), width_, static_cast<std::uint16_t>(value_)); break;
      default: std::fill_n(reinterpret_cast<std::uint32_t*>(row), width_, value_);
    }
  }
}

namespace {

/// Memory of a device is filled while the host goes on; pinned memory, which the host could look at, is not.
CUresult fill(CUdeviceptr address, size_t pitch, std::uint32_t value, unsigned element, size_t width, size_t height) {
  return call([&] {
    const auto stream = stream_of(nullptr);
    const auto work = std::make_shared<FillWork>(address, pitch, value, element, width, height);
    if (work->is_host()) return carry_out(*stream, work);
    require_not_captured(*stream);
    enqueue(*stream, work);
  });
}

CUresult fill_in(CUstream handle, CUdeviceptr address, size_t pitch, std::uint32_t value, unsigned element,
                 size_t width, size_t height) {
  return call([&] {
    const auto stream = stream_of(handle);
    enqueue(*stream, std::make_shared<FillWork>(address, pitch, value, element, width, height));
  });
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) { return fill(to, 0, value, 1, count, 1); }
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) { return fill(to, 0, value, 2, count, 1); }
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count) { return fill(to, 0, value, 4, count, 1); }
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return fill(to, pitch, value, 1, width, height);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return fill(to, pitch, value, 2, width, height);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height) {
  return fill(to, pitch, value, 4, width, height);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fill_in(stream, to, 0, value, 1, count, 1);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fill_in(stream, to, 0, value, 2, count, 1);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return fill_in(stream, to, 0, value, 4, count, 1);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  return fill_in(stream, to, pitch, value, 1, width, height);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                            CUstream stream) {
  return fill_in(stream, to, pitch, value, 2, width, height);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height,
                            CUstream stream) {
  return fill_in(stream, to, pitch, value, 4, width, height);
}

}  // extern "C"
