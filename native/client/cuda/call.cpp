#include "client/cuda/call.h"

#include "client/cuda/addresses.h"
#include "client/cuda/kernel.h"

namespace flexrack::client::cuda {

const KernelAt* Call::kernel(CUfunction object) {
  if (error_ != CUDA_SUCCESS) return nullptr;
  if (is_live(object)) return use(object) ? object->at : nullptr;
  const auto kernel = reinterpret_cast<CUkernel>(object);
  if (!is_live(kernel)) return fail(CUDA_ERROR_INVALID_HANDLE), nullptr;
  // It is wherever it is needed: in the context of what else is named, or in the current one.
  const auto now = server_ && context_ ? context_ : current();
  const KernelAt* found = nullptr;
  if (is_good()) fail(kernel_at(kernel, *now->device, now, found));
  return found;
}

std::uint32_t Call::device(CUdevice ordinal) {
  const auto* found = is_good() ? device_of(ordinal) : nullptr;
  if (!found) return fail(CUDA_ERROR_INVALID_DEVICE), 0;
  at(found->server, nullptr);
  return found->index;
}

std::uint64_t Call::address(CUdeviceptr address) {
  if (is_good()) {
    const auto known = find_allocation(address);
    if (known && known->server) at(known->server, nullptr);
  }
  return address;
}

CUstream Call::default_stream(CUstream which) {
  const auto now = current();
  if (!now) return nullptr;
  if (which == CU_STREAM_PER_THREAD || (!which && thread_state.per_thread != 0)) {
    const auto own = thread_stream(now);
    if (!own) fail(kLost);
    return own;
  }
  return now->default_stream;
}

}  // namespace flexrack::client::cuda
