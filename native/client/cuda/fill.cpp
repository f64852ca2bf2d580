// cuMemset*.
#include "client/cuda/capture.h"
#include "client/cuda/graph_work.h"
#include "client/cuda/mirror.h"
#include "client/cuda/transfer.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

CUresult fill(CUdeviceptr address, std::size_t pitch, std::uint32_t value, std::uint32_t element, std::size_t width,
              std::size_t height, CUstream which, bool is_async) {
  Call call;
  const auto stream = call.stream(which);
  call.check(address % element == 0);
  call.check(height <= 1 || (pitch >= width * element && pitch % element == 0));
  if (!call.settle()) return call.error();
  if (width == 0 || height == 0) return CUDA_SUCCESS;
  std::size_t bytes = 0;
  call.check(!__builtin_mul_overflow(pitch, height - 1, &bytes) &&
             !__builtin_add_overflow(bytes, width * element, &bytes) && width <= SIZE_MAX / element);
  if (!call.is_good()) return call.error();
  const auto mirrored = at_server(stream, address, bytes);
  if (mirrored) address = *mirrored;
  const auto memory = mirrored ? Allocation{.server = stream->server} : device_range(call, address, bytes);
  call.check(!call.is_good() || memory.server == stream->server);
  if (!call.is_good()) return call.error();
  if (has_captures()) {
    if (is_async && is_capturing(stream)) {
      WorkPointer work;
      const auto status = fill_work(stream->context, {address, pitch, value, element, width, height}, work);
      return status == CUDA_SUCCESS ? capture_work(stream, std::move(work)) : status;
    }
    if (const auto status = refuse_captured(stream); status != CUDA_SUCCESS) return status;
  }
  note_put(stream);
  const cu::Fill message{.context = stream->context_handle,
                         .stream = stream->handle,
                         .address = address,
                         .pitch = pitch,
                         .width = width,
                         .height = height,
                         .value = value,
                         .element = element};
  const auto status = call.send(message);
  // Memory of this process is filled when the call comes back.
  return mirrored && status == CUDA_SUCCESS ? wait_stream(stream) : status;
}

}  // namespace

CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
  return fill(dstDevice, 0, uc, 1, N, 1, nullptr, false);
}
CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N) {
  return fill(dstDevice, 0, us, 2, N, 1, nullptr, false);
}
CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
  return fill(dstDevice, 0, ui, 4, N, 1, nullptr, false);
}
CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
  return fill(dstDevice, 0, uc, 1, N, 1, hStream, true);
}
CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream) {
  return fill(dstDevice, 0, us, 2, N, 1, hStream, true);
}
CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream) {
  return fill(dstDevice, 0, ui, 4, N, 1, hStream, true);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height) {
  return fill(dstDevice, dstPitch, uc, 1, Width, Height, nullptr, false);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height) {
  return fill(dstDevice, dstPitch, us, 2, Width, Height, nullptr, false);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height) {
  return fill(dstDevice, dstPitch, ui, 4, Width, Height, nullptr, false);
}
CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
                           CUstream hStream) {
  return fill(dstDevice, dstPitch, uc, 1, Width, Height, hStream, true);
}
CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height,
                            CUstream hStream) {
  return fill(dstDevice, dstPitch, us, 2, Width, Height, hStream, true);
}
CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
                            CUstream hStream) {
  return fill(dstDevice, dstPitch, ui, 4, Width, Height, hStream, true);
}

}  // namespace flexrack::client::cuda
