// cuMemcpy and its kin on plain memory: which way it goes is in the addresses.
#include <cstring>

#include "client/cuda/capture.h"
#include "client/cuda/graph_work.h"
#include "client/cuda/host_function.h"
#include "client/cuda/launch.h"
#include "client/cuda/mirror.h"
#include "client/cuda/peer.h"
#include "client/cuda/transfer.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

bool is_device(CUdeviceptr address) {
  const auto known = find_allocation(address);
  return known && known->server != nullptr;
}

bool is_pinned(const void* address, std::size_t size) {
  const auto known = find_allocation(reinterpret_cast<std::uintptr_t>(address));
  return known && known->is_host() && reinterpret_cast<std::uintptr_t>(address) + size <= known->base + known->size;
}

/// Memory that is mapped is in no context: its device's own then.
CUcontext context_at(const Allocation& memory) { return memory.context ? memory.context : memory.device->primary; }

/// The stream of the call where the memory is at its server; else the default stream of the memory's own context,
/// everything before being over.
CUstream stream_at(Call& call, Call& other, CUstream stream, const Allocation& memory) {
  if (!call.settle()) return nullptr;
  if (memory.server == stream->server) return stream;
  if (const auto status = wait_stream(stream); status != CUDA_SUCCESS) return call.fail(status), nullptr;
  const auto context = context_at(memory);
  if (!other.use(context)) return call.fail(other.error()), nullptr;
  return context->default_stream;
}

CUresult write(CUdeviceptr to, const void* from, std::size_t size, CUstream which, bool is_async) {
  Call call, other;
  const auto stream = call.stream(which);
  call.check(from != nullptr || size == 0);
  if (!call.settle()) return call.error();
  if (size == 0) return CUDA_SUCCESS;
  const auto memory = device_range(call, to, size);
  const auto on = call.is_good() ? stream_at(call, other, stream, memory) : nullptr;
  if (!on) return call.error();
  const bool is_foreign = on != stream;
  const auto until = !is_async || is_foreign ? Until::done : is_pinned(from, size) ? Until::queued : Until::taken;
  return write_device(is_foreign ? other : call, on, to, from, size, until);
}

CUresult read(void* into, CUdeviceptr from, std::size_t size, CUstream which, bool is_async) {
  Call call, other;
  const auto stream = call.stream(which);
  call.check(into != nullptr || size == 0);
  if (!call.settle()) return call.error();
  if (size == 0) return CUDA_SUCCESS;
  const auto memory = device_range(call, from, size);
  const auto on = call.is_good() ? stream_at(call, other, stream, memory) : nullptr;
  if (!on) return call.error();
  const bool is_foreign = on != stream;
  return read_device(is_foreign ? other : call, on, into, from, size,
                     is_async && !is_foreign && is_pinned(into, size) ? Until::queued : Until::done);
}

/// Between two contexts of one server on a default stream, which each of them has its own of: serialized with the work
/// of all that take part (cuda.h 13.0, cuMemcpyPeer).
CUresult between_contexts(CUstream stream, const Allocation& target, std::uint64_t to, const Allocation& source,
                          std::uint64_t from, std::size_t size) {
  for (const auto context : {stream->context, source.context, target.context}) {
    if (const auto status = wait_stream(context->default_stream); status != CUDA_SUCCESS) return status;
  }
  Call call;
  call.use(target.context);
  if (!call.settle()) return call.error();
  const auto on = target.context->default_stream;
  const auto status = copy_device(call, on, target, to, source, from, size);
  return status == CUDA_SUCCESS ? wait_stream(on) : status;
}

/// Between two servers that do not reach each other.
CUresult through_here(CUstream stream, const Allocation& target, std::uint64_t to, const Allocation& source,
                      std::uint64_t from, std::size_t size) {
  if (const auto status = wait_stream(stream); status != CUDA_SUCCESS) return status;
  Call reading, writing;
  const auto from_context = context_at(source), to_context = context_at(target);
  reading.use(from_context);
  writing.use(to_context);
  if (!reading.settle()) return reading.error();
  if (!writing.settle()) return writing.error();
  std::vector<std::uint8_t> bytes(std::min(size, 4 * kPiece));
  for (std::size_t at = 0; at < size; at += bytes.size()) {
    const auto part = std::min(bytes.size(), size - at);
    if (const auto status =
            read_device(reading, from_context->default_stream, bytes.data(), from + at, part, Until::done);
        status != CUDA_SUCCESS)
      return status;
    if (const auto status = write_device(writing, to_context->default_stream, to + at, bytes.data(), part, Until::done);
        status != CUDA_SUCCESS)
      return status;
  }
  return wait_stream(to_context->default_stream);
}

CUresult between(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream which, bool is_async) {
  Call call;
  const auto stream = call.stream(which);
  if (!call.settle()) return call.error();
  if (size == 0) return CUDA_SUCCESS;
  const auto target = device_range(call, to, size), source = device_range(call, from, size);
  if (!call.is_good()) return call.error();
  if (target.server == source.server && target.server == stream->server) {
    const bool is_of_two = target.context && source.context && target.device != source.device &&
                           is_live(target.context) && is_live(source.context);
    return is_of_two && stream->handle == 0 ? between_contexts(stream, target, to, source, from, size)
                                            : copy_device(call, stream, target, to, source, from, size);
  }
  if (target.server != source.server) {
    const auto side = [&](const Allocation& memory, std::uint64_t address) {
      return Side{.place = {.kind = 0, .object = address, .pitch = size, .height = 1},
                  .server = memory.server,
                  .context = context_at(memory)};
    };
    if (const auto status = copy_directly(stream, side(source, from), side(target, to), {size, 1, 1}))
      return is_async || *status != CUDA_SUCCESS ? *status : wait_stream(stream);
  }
  return through_here(stream, target, to, source, from, size);
}

/// Both sides are in this process: it happens when the stream gets there.
CUresult move_here(void* to, const void* from, std::size_t size, CUstream which, bool is_async) {
  Call call;
  const auto stream = call.stream(which);
  call.check((to && from) || size == 0);
  if (!call.settle()) return call.error();
  if (is_async && (!is_idle(stream) || !before_next(stream).empty()))
    return put_host_action(which, [=] { std::memmove(to, from, size); });
  if (const auto status = wait_stream(stream); status != CUDA_SUCCESS) return status;
  if (size > 0) std::memmove(to, from, size);
  return CUDA_SUCCESS;
}

/// True: `status` answers it.
bool meets_capture(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream which, bool is_async,
                   CUresult& status) {
  Call call;
  const auto stream = call.stream(which);
  if (!stream) return status = call.error(), true;
  if (!is_async || !is_capturing(stream)) return (status = refuse_captured(stream)) != CUDA_SUCCESS;
  if (size == 0) return status = CUDA_SUCCESS, true;
  WorkPointer work;
  status = copy_work(stream->context, plain_copy(to, from, size), work);
  if (status == CUDA_SUCCESS) status = capture_work(stream, std::move(work));
  return true;
}

/// What a call says of its sides: that they are a device's, or only where they are.
struct Sides {
  bool to_device = false, from_device = false;
};
constexpr Sides kAnywhere{}, kToDevice{.to_device = true}, kFromDevice{.from_device = true}, kOnDevices{true, true};

bool is_there(CUdeviceptr address, std::size_t size, bool has_to_be_known) {
  const auto known = covered(address, size);
  return known == Covered::all || (known == Covered::none && !has_to_be_known);
}

/// A stream that is none is told first.
CUresult refuse_range(CUstream which) {
  Call call;
  call.stream(which);
  return call.settle() ? CUDA_ERROR_INVALID_VALUE : call.error();
}

CUresult copy(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream, bool is_async, Sides sides) {
  if (size != 0 && process() && !(is_there(to, size, sides.to_device) && is_there(from, size, sides.from_device)))
    return refuse_range(stream);
  if (auto status = CUDA_SUCCESS; has_captures() && meets_capture(to, from, size, stream, is_async, status))
    return status;
  if (has_mirrors.load(std::memory_order_relaxed)) {
    if (const auto status = copy_mirrored(to, from, size, stream, is_async)) return *status;
  }
  const bool is_to_device = is_device(to), is_from_device = is_device(from);
  if (is_to_device && is_from_device) return between(to, from, size, stream, is_async);
  if (is_to_device) return write(to, reinterpret_cast<const void*>(from), size, stream, is_async);
  if (is_from_device) return read(reinterpret_cast<void*>(to), from, size, stream, is_async);
  return move_here(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), size, stream, is_async);
}

}  // namespace

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
  return copy(dst, src, ByteCount, nullptr, false, kAnywhere);
}
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
  return copy(dst, src, ByteCount, hStream, true, kAnywhere);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount) {
  return copy(dstDevice, reinterpret_cast<CUdeviceptr>(srcHost), ByteCount, nullptr, false, kToDevice);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount, CUstream hStream) {
  return copy(dstDevice, reinterpret_cast<CUdeviceptr>(srcHost), ByteCount, hStream, true, kToDevice);
}
CUresult cuMemcpyDtoH_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(reinterpret_cast<CUdeviceptr>(dstHost), srcDevice, ByteCount, nullptr, false, kFromDevice);
}
CUresult cuMemcpyDtoHAsync_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream) {
  return copy(reinterpret_cast<CUdeviceptr>(dstHost), srcDevice, ByteCount, hStream, true, kFromDevice);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(dstDevice, srcDevice, ByteCount, nullptr, false, kOnDevices);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream) {
  return copy(dstDevice, srcDevice, ByteCount, hStream, true, kOnDevices);
}

CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                      size_t ByteCount) {
  if (!process()) return not_open();
  if (!is_live(dstContext) || !is_live(srcContext)) return CUDA_ERROR_INVALID_CONTEXT;
  return copy(dstDevice, srcDevice, ByteCount, nullptr, false, kOnDevices);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                           size_t ByteCount, CUstream hStream) {
  if (!process()) return not_open();
  if (!is_live(dstContext) || !is_live(srcContext)) return CUDA_ERROR_INVALID_CONTEXT;
  return copy(dstDevice, srcDevice, ByteCount, hStream, true, kOnDevices);
}

}  // namespace flexrack::client::cuda
