// cuMemcpy*: from addresses and sizes.
#include "sim/driver/copy_work.h"

namespace flexrack::sim {
namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

/// Both sides are found only where there is something to copy: nothing from nowhere is no error.
template <class To, class From>
std::shared_ptr<CopyWork> linear(To&& to, From&& from, std::size_t size) {
  if (size == 0) return std::make_shared<CopyWork>(Side{}, Side{}, 0);
  return std::make_shared<CopyWork>(to(), from(), size);
}

std::shared_ptr<CopyWork> between(std::uint64_t to, std::uint64_t from, std::size_t size) {
  return linear([&] { return Side::anywhere(to, size); }, [&] { return Side::anywhere(from, size); }, size);
}

std::shared_ptr<CopyWork> to_device(CUdeviceptr to, const void* from, std::size_t size) {
  return linear([&] { return Side::device_memory(to, size); },
                [&] { return require(from), Side::anywhere(address_of(from), size); }, size);
}

std::shared_ptr<CopyWork> to_host(void* to, CUdeviceptr from, std::size_t size) {
  return linear([&] { return require(to), Side::anywhere(address_of(to), size); },
                [&] { return Side::device_memory(from, size); }, size);
}

std::shared_ptr<CopyWork> on_device(CUdeviceptr to, CUdeviceptr from, std::size_t size) {
  return linear([&] { return Side::device_memory(to, size); }, [&] { return Side::device_memory(from, size); }, size);
}

/// One-dimensional copies see an array as its first row.
Side row(CUarray array, std::size_t offset, std::size_t size) {
  return Side::array_box(array_of(array), offset, 0, 0, size, 1, 1);
}

template <class Make>
CUresult wait_for(Make&& make) {
  return call([&] {
    const auto stream = stream_of(nullptr);
    carry_out_copy(*stream, make());
  });
}

template <class Make>
CUresult put_into(CUstream handle, Make&& make) {
  return call([&] {
    const auto stream = stream_of(handle);
    enqueue_copy(*stream, make());
  });
}

void check_contexts(CUcontext to, CUcontext from) {
  context_of(to);
  context_of(from);
}

/// Behind all that is pending in both contexts, and before all that comes later there (CUDA Runtime API,
/// cudaMemcpyPeer).
template <class Make>
CUresult serialized(CUcontext to, CUcontext from, Make&& make) {
  return call([&] {
    const auto stream = stream_of(nullptr);
    const auto copy = make();
    context_of(from)->settle();
    context_of(to)->settle();
    carry_out_copy(*stream, copy);
    stream->context->settle();
  });
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return wait_for([&] { return between(to, from, size); });
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  return put_into(stream, [&] { return between(to, from, size); });
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t size) {
  return wait_for([&] { return to_device(to, from, size); });
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t size, CUstream stream) {
  return put_into(stream, [&] { return to_device(to, from, size); });
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t size) {
  return wait_for([&] { return to_host(to, from, size); });
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t size, CUstream stream) {
  return put_into(stream, [&] { return to_host(to, from, size); });
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size) {
  return wait_for([&] { return on_device(to, from, size); });
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  return put_into(stream, [&] { return on_device(to, from, size); });
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size) {
  return serialized(to_context, from_context, [&] { return on_device(to, from, size); });
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size,
                           CUstream stream) {
  return put_into(stream, [&] { return check_contexts(to_context, from_context), on_device(to, from, size); });
}

CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t size) {
  return wait_for([&] {
    return linear([&] { return row(to, offset, size); }, [&] { return Side::device_memory(from, size); }, size);
  });
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t size) {
  return wait_for([&] {
    return linear([&] { return Side::device_memory(to, size); }, [&] { return row(from, offset, size); }, size);
  });
}
CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t size) {
  return wait_for([&] {
    return linear([&] { return row(to, offset, size); }, [&] { return Side::anywhere(address_of(from), size); }, size);
  });
}
CUresult cuMemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t size) {
  return wait_for([&] {
    return linear([&] { return Side::anywhere(address_of(to), size); }, [&] { return row(from, offset, size); }, size);
  });
}
CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t size) {
  return wait_for([&] {
    return linear([&] { return row(to, to_offset, size); }, [&] { return row(from, from_offset, size); }, size);
  });
}
CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void* from, size_t size, CUstream stream) {
  return put_into(stream, [&] {
    return linear([&] { return row(to, offset, size); }, [&] { return Side::anywhere(address_of(from), size); }, size);
  });
}
CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, size_t offset, size_t size, CUstream stream) {
  return put_into(stream, [&] {
    return linear([&] { return Side::anywhere(address_of(to), size); }, [&] { return row(from, offset, size); }, size);
  });
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* as) {
  return wait_for([&] { return require(as), CopyWork::described_by(as_3d(*as)); });
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* as) {
  return wait_for([&] { return require(as), CopyWork::described_by(as_3d(*as)); });
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* as, CUstream stream) {
  return put_into(stream, [&] { return require(as), CopyWork::described_by(as_3d(*as)); });
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* as) {
  return wait_for([&] { return require(as), CopyWork::described_by(*as); });
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* as, CUstream stream) {
  return put_into(stream, [&] { return require(as), CopyWork::described_by(*as); });
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* as) {
  if (!as) return call([&] { require(as); });
  return serialized(as->dstContext, as->srcContext, [&] { return CopyWork::described_by(as_3d(*as)); });
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* as, CUstream stream) {
  return put_into(stream, [&] {
    return require(as), check_contexts(as->dstContext, as->srcContext), CopyWork::described_by(as_3d(*as));
  });
}

}  // extern "C"
