// Copies of rows and boxes: between memory here, memory there, and arrays. What travels is packed.
#include "client/cuda/rows.h"

#include "client/cuda/capture.h"
#include "client/cuda/fence.h"
#include "client/cuda/graph_work.h"
#include "client/cuda/mirror.h"
#include "client/cuda/peer.h"
#include "client/cuda/transfer.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

/// From the first byte of a box to its last.
struct Stretch {
  std::uint64_t first = 0, size = 0;
};

/// False: it ends nowhere.
bool find_stretch(std::uint64_t base, const Reported& reported, std::uint64_t pitch, std::uint64_t rows,
                  const cu::Extent& extent, Stretch& box) {
  std::uint64_t slice = 0, deep = 0, high = 0;
  const auto add = [](std::uint64_t& sum, std::uint64_t count, std::uint64_t bytes) {
    std::uint64_t product = 0;
    return !__builtin_mul_overflow(count, bytes, &product) && !__builtin_add_overflow(sum, product, &sum);
  };
  box = {base, extent.width};
  return !__builtin_mul_overflow(pitch, rows, &slice) && !__builtin_sub_overflow(extent.depth, 1, &deep) &&
         !__builtin_sub_overflow(extent.height, 1, &high) && add(box.first, reported.z, slice) &&
         add(box.first, reported.y, pitch) && add(box.first, reported.x, 1) && add(box.size, deep, slice) &&
         add(box.size, high, pitch);
}

}  // namespace

bool find_side(Call& call, const Reported& reported, const cu::Extent& extent, Side& side) {
  const auto pitch = reported.pitch != 0 ? reported.pitch : extent.width;
  const auto rows = reported.height != 0 ? reported.height : extent.height;
  if (reported.type == CU_MEMORYTYPE_ARRAY) {
    if (!call.use(reported.array)) return false;
    side.server = reported.array->server;
    side.context = reported.array->context;
    side.place = {.kind = 1,
                  .level = static_cast<std::uint32_t>(reported.level),
                  .object = reported.array->handle,
                  .x = reported.x,
                  .y = reported.y,
                  .z = reported.z};
    return true;
  }
  const bool is_host = reported.type == CU_MEMORYTYPE_HOST, is_device = reported.type == CU_MEMORYTYPE_DEVICE;
  const auto address = is_host ? reinterpret_cast<std::uint64_t>(reported.host) : reported.device;
  call.check(address != 0 && pitch >= reported.x + extent.width &&
             (extent.depth <= 1 || rows >= reported.y + extent.height));
  Stretch box;
  call.check(call.is_good() && find_stretch(address, reported, pitch, rows, extent, box));
  if (!call.is_good()) return false;
  // CU_MEMORYTYPE_UNIFIED takes memory of this process too; CU_MEMORYTYPE_DEVICE must be a device's.
  const auto how = covered(box.first, box.size);
  call.check(how == Covered::all || (how == Covered::none && !is_device));
  const auto known = is_host ? std::nullopt : find_allocation(box.first);
  if (!call.is_good()) return false;
  if (known && known->server) {
    side.server = known->server;
    side.context = known->context ? known->context : known->device->primary;
    side.place = {.kind = 0,
                  .object = address,
                  .x = reported.x,
                  .y = reported.y,
                  .z = reported.z,
                  .pitch = pitch,
                  .height = rows};
    return true;
  }
  side.pitch = pitch;
  side.slice = pitch * rows;
  side.host = reinterpret_cast<std::uint8_t*>(box.first);
  return true;
}

namespace {

/// Bytes of a box that are packed here and staged there at one time.
constexpr std::size_t kMostAtOnce = 4 * kPiece;

CUresult write(Call& call, CUstream stream, const Side& to, const cu::Extent& extent, const wire::Bytes& bytes) {
  auto& session = call.session();
  cu::WriteRows message{.context = stream->context_handle,
                        .stream = stream->handle,
                        .target = to.place,
                        .extent = extent,
                        .data = {0, bytes.size(), bytes}};
  note_put(stream);
  if (bytes.size() < wire::kInlinePayload) return call.send(message);
  message.data = {session.link().ticket(), bytes.size(), {}};
  if (const auto status = call.send(message); status != CUDA_SUCCESS) return status;
  std::atomic<int> state{0};   // 1: arrived, 2: not
  session.link().flush();
  session.link().push(message.data.ticket, bytes, [&](bool has_arrived) { state.store(has_arrived ? 1 : 2); }, true);
  session.wait([&] { return state.load() != 0; });
  return state.load() == 1 ? CUDA_SUCCESS : why_not_arrived(call, stream);
}

CUresult read(Call& call, CUstream stream, const Side& from, const cu::Extent& extent, wire::Bytes& bytes) {
  auto& session = call.session();
  bytes.resize(extent.width * extent.height * extent.depth);
  const auto ticket = session.link().ticket();
  std::atomic<int> state{0};
  session.link().land(ticket, bytes, [&](bool has_arrived) { state.store(has_arrived ? 1 : 2); });
  note_put(stream);
  const auto status = call.send(cu::ReadRows{.context = stream->context_handle,
                                             .stream = stream->handle,
                                             .source = from.place,
                                             .extent = extent,
                                             .ticket = ticket});
  if (status != CUDA_SUCCESS) session.link().cancel(ticket);
  session.wait([&] { return state.load() != 0; });
  if (status != CUDA_SUCCESS) return status;
  return state.load() == 1 ? CUDA_SUCCESS : why_not_arrived(call, stream);
}

/// The stream for memory of that server: the call's own, or the default stream of the memory's context, everything
/// before being over.
CUstream stream_for(Call& call, Call& other, CUstream stream, const Side& side) {
  if (side.server == stream->server) return stream;
  if (const auto status = wait_stream(stream); status != CUDA_SUCCESS) return call.fail(status), nullptr;
  if (!other.use(side.context)) return call.fail(other.error()), nullptr;
  return side.context->default_stream;
}

CUresult capture_copy(const Reported& source, const Reported& target, const cu::Extent& extent, CUstream stream) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return CUDA_SUCCESS;
  CUDA_MEMCPY3D as{};
  as.WidthInBytes = extent.width, as.Height = extent.height, as.Depth = extent.depth;
  as.srcMemoryType = source.type, as.srcHost = source.host, as.srcDevice = source.device, as.srcArray = source.array,
  as.srcPitch = source.pitch, as.srcHeight = source.height;
  as.srcXInBytes = source.x, as.srcY = source.y, as.srcZ = source.z, as.srcLOD = source.level;
  as.dstMemoryType = target.type, as.dstHost = const_cast<void*>(target.host), as.dstDevice = target.device,
  as.dstArray = target.array, as.dstPitch = target.pitch, as.dstHeight = target.height;
  as.dstXInBytes = target.x, as.dstY = target.y, as.dstZ = target.z, as.dstLOD = target.level;
  WorkPointer work;
  const auto status = copy_work(stream->context, as, work);
  return status == CUDA_SUCCESS ? capture_work(stream, std::move(work)) : status;
}

/// A box of bytes from one side to the other by way of this process.
CUresult through_here(Call& call, CUstream stream, const Side& from, const Side& to, const cu::Extent& extent,
                      bool is_async) {
  wire::Bytes box;
  if (from.server) {
    Call other;
    const auto on = stream_for(call, other, stream, from);
    if (!on) return call.error();
    if (const auto status = read(on == stream ? call : other, on, from, extent, box); status != CUDA_SUCCESS)
      return status;
  } else {
    if (!to.server) {
      if (const auto status = wait_stream(stream); status != CUDA_SUCCESS) return status;
    }
    box = packed(from, extent);
  }
  if (!to.server) return unpack(to, extent, box), CUDA_SUCCESS;
  Call other;
  const auto on = stream_for(call, other, stream, to);
  if (!on) return call.error();
  auto& writing = on == stream ? call : other;
  const auto status = write(writing, on, to, extent, box);
  return status == CUDA_SUCCESS && (!is_async || on != stream) ? end_blocking_copy(writing, on) : status;
}

/// Comes back when the bytes have left, or are here: a copy of rows keeps no memory of the application's in use.
CUresult copy(const Reported& source, const Reported& target, const cu::Extent& extent, CUstream which,
              bool is_async = false) {
  Call call;
  const auto stream = call.stream(which);
  if (!call.settle()) return call.error();
  if (has_captures()) {
    if (is_async && is_capturing(stream)) return capture_copy(source, target, extent, stream);
    if (const auto status = refuse_captured(stream); status != CUDA_SUCCESS) return status;
  }
  std::size_t bytes = 0;
  call.check(!__builtin_mul_overflow(extent.width, extent.height, &bytes) &&
             !__builtin_mul_overflow(bytes, extent.depth, &bytes));
  if (!call.is_good() || bytes == 0) return call.error();
  // Memory of this process that kernels use: what they have done before in the stream is here when they are over, and
  // what is put here they see later.
  for (const auto* reported : {&source, &target}) {
    if (reported->type == CU_MEMORYTYPE_ARRAY ||
        !is_mirrored(reported->type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(reported->host)
                                                          : reported->device))
      continue;
    if (const auto status = wait_stream(stream); status != CUDA_SUCCESS) return status;
  }
  Side from, to;
  Call of_source, of_target;
  if (!find_side(of_source, source, extent, from)) return of_source.error();
  if (!find_side(of_target, target, extent, to)) return of_target.error();
  if (from.server && to.server && from.server == to.server && from.server == stream->server) {
    const bool is_peer = from.context && to.context && from.context->device != to.context->device;
    note_put(stream);
    return call.send(cu::CopyRows{.context = is_peer ? to.context->handle : stream->context_handle,
                                  .stream = stream->handle,
                                  .source_context = is_peer ? from.context->handle : 0,
                                  .source = from.place,
                                  .target = to.place,
                                  .extent = extent});
  }
  if (from.server && to.server && from.server != to.server) {
    if (const auto status = copy_directly(stream, from, to, extent))
      return is_async || *status != CUDA_SUCCESS ? *status : wait_stream(stream);
  }
  // What runs in this process for the stream before may still change memory here.
  if (has_host_work()) {
    if (!wait_for(only_writing(before_next(stream)))) return why_not_arrived(call, stream);
  }
  return each_part(extent, kMostAtOnce, [&](std::size_t x, std::size_t y, std::size_t z, const cu::Extent& part) {
    return through_here(call, stream, from_there(from, x, y, z), from_there(to, x, y, z), part, is_async);
  });
}

using cuda::source_of;
using cuda::target_of;
Reported source_of(const CUDA_MEMCPY2D& c) {
  return {c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcPitch, 0, c.srcXInBytes, c.srcY, 0, 0};
}
Reported target_of(const CUDA_MEMCPY2D& c) {
  return {c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstPitch, 0, c.dstXInBytes, c.dstY, 0, 0};
}
Reported source_of(const CUDA_MEMCPY3D_PEER& c) {
  return {c.srcMemoryType, c.srcHost,     c.srcDevice, c.srcArray, c.srcPitch,
          c.srcHeight,     c.srcXInBytes, c.srcY,      c.srcZ,     c.srcLOD};
}
Reported target_of(const CUDA_MEMCPY3D_PEER& c) {
  return {c.dstMemoryType, c.dstHost,     c.dstDevice, c.dstArray, c.dstPitch,
          c.dstHeight,     c.dstXInBytes, c.dstY,      c.dstZ,     c.dstLOD};
}

template <class Copy>
CUresult copy_box(const Copy* c, CUstream stream, bool is_async = false) {
  if (!process()) return not_open();
  return c ? copy(source_of(*c), target_of(*c), {c->WidthInBytes, c->Height, c->Depth}, stream, is_async)
           : CUDA_ERROR_INVALID_VALUE;
}
CUresult copy_rows(const CUDA_MEMCPY2D* c, CUstream stream, bool is_async = false) {
  if (!process()) return not_open();
  return c ? copy(source_of(*c), target_of(*c), {c->WidthInBytes, c->Height, 1}, stream, is_async)
           : CUDA_ERROR_INVALID_VALUE;
}

/// Sides of copies to and from one-dimensional arrays.
Reported memory(CUdeviceptr address) { return {CU_MEMORYTYPE_DEVICE, nullptr, address, nullptr, 0, 0, 0, 0, 0, 0}; }
Reported host(const void* address) { return {CU_MEMORYTYPE_HOST, address, 0, nullptr, 0, 0, 0, 0, 0, 0}; }
Reported array(CUarray array, std::size_t offset) {
  return {CU_MEMORYTYPE_ARRAY, nullptr, 0, array, 0, 0, offset, 0, 0, 0};
}

}  // namespace

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* pCopy) { return copy_rows(pCopy, nullptr); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* pCopy) { return copy_rows(pCopy, nullptr); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* pCopy, CUstream hStream) { return copy_rows(pCopy, hStream, true); }
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* pCopy) { return copy_box(pCopy, nullptr); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* pCopy, CUstream hStream) { return copy_box(pCopy, hStream, true); }
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* pCopy) { return copy_box(pCopy, nullptr); }
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream) {
  return copy_box(pCopy, hStream, true);
}
CUresult cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(memory(srcDevice), array(dstArray, dstOffset), {ByteCount, 1, 1}, nullptr);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
  return copy(array(srcArray, srcOffset), memory(dstDevice), {ByteCount, 1, 1}, nullptr);
}
CUresult cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void* srcHost, size_t ByteCount) {
  return copy(host(srcHost), array(dstArray, dstOffset), {ByteCount, 1, 1}, nullptr);
}
CUresult cuMemcpyAtoH_v2(void* dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
  return copy(array(srcArray, srcOffset), host(dstHost), {ByteCount, 1, 1}, nullptr);
}
CUresult cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
  return copy(array(srcArray, srcOffset), array(dstArray, dstOffset), {ByteCount, 1, 1}, nullptr);
}
CUresult cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void* srcHost, size_t ByteCount,
                              CUstream hStream) {
  return copy(host(srcHost), array(dstArray, dstOffset), {ByteCount, 1, 1}, hStream, true);
}
CUresult cuMemcpyAtoHAsync_v2(void* dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream) {
  return copy(array(srcArray, srcOffset), host(dstHost), {ByteCount, 1, 1}, hStream, true);
}

}  // namespace flexrack::client::cuda
