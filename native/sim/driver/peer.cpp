// Access from one context to the memory of another.
#include <cstring>

#include "sim/driver/memory.h"

using namespace flexrack::sim;

extern "C" {

CUresult cuDeviceCanAccessPeer(int* can, CUdevice from, CUdevice to) {
  return call([&] {
    require(can);
    *can = device(from).ordinal != device(to).ordinal;
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute which, CUdevice from, CUdevice to) {
  return call([&] {
    require(value);
    require(device(from).ordinal != device(to).ordinal, CUDA_ERROR_INVALID_DEVICE);
    switch (which) {
      case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: *value = 0; return;
      case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: *value = 1; return;
      case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED: *value = 0; return;
      default: fail(CUDA_ERROR_INVALID_VALUE);
    }
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned int flags) {
  return call([&] {
    require(flags == 0 && handle);
    const auto context = current(), peer = context_of(handle);
    require(!(context == peer), CUDA_ERROR_INVALID_CONTEXT);
    require(&context->device != &peer->device, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
            "both contexts are on the same device");
    auto& memory = Memory::instance();
    {
      const std::lock_guard guard(memory.lock());
      require(context->peers.insert(peer.get()).second, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    }
    memory.refresh(*context);
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext handle) {
  return call([&] {
    require(handle);
    const auto context = current(), peer = context_of(handle);
    auto& memory = Memory::instance();
    {
      const std::lock_guard guard(memory.lock());
      require(context->peers.erase(peer.get()) > 0, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    }
    memory.refresh(*context);
  });
}

}  // extern "C"
