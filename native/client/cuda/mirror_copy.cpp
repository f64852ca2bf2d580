// cuMemcpy and its kin on mirrored memory: what kernels before it in the stream have done is at the server, so that is
// where bytes come from and go to.
#include "client/cuda/mirror.h"
#include "client/cuda/transfer.h"

namespace flexrack::client::cuda {
namespace {

/// One side: at the stream's server, at another one, or in this process.
struct Place {
  std::optional<std::uint64_t> address;   ///< at the stream's server
  Allocation memory{};
  bool is_mirrored = false;
};

Place find_place(CUstream stream, std::uint64_t address, std::size_t size) {
  Place place;
  const auto known = find_allocation(address);
  if (known) place.memory = *known;
  if (known && known->server) {
    if (known->server == stream->server) place.address = address;
    return place;
  }
  place.address = at_server(stream, address, size);
  place.is_mirrored = place.address.has_value();
  return place;
}

bool is_pinned_here(const Place& place, std::uint64_t address, std::size_t size) {
  return place.memory.is_host() && address + size <= place.memory.base + place.memory.size;
}

}  // namespace

std::optional<CUresult> copy_mirrored(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream which,
                                      bool is_async) {
  Call call;
  const auto stream = call.stream(which);
  if (!call.settle() || size == 0) return std::nullopt;
  const auto target = find_place(stream, to, size), source = find_place(stream, from, size);
  if (!target.is_mirrored && !source.is_mirrored) return std::nullopt;
  // Memory of a device elsewhere: everything before is over, and what is here is as good as what is there.
  const bool is_foreign = (target.memory.server && !target.address) || (source.memory.server && !source.address);
  if (is_foreign) {
    const auto status = wait_stream(stream);
    return status == CUDA_SUCCESS ? std::nullopt : std::optional(status);
  }
  auto status = CUDA_SUCCESS;
  if (target.address && source.address) {
    for (const auto& [place, address] : {std::pair(&target, to), std::pair(&source, from)})
      if (!place->is_mirrored) device_range(call, address, size);
    if (!call.settle()) return call.error();
    note_put(stream);
    status = call.send(cu::CopyMemory{.context = stream->context_handle,
                                      .stream = stream->handle,
                                      .source = *source.address,
                                      .target = *target.address,
                                      .size = size});
  } else if (target.address) {
    status = write_device(call, stream, *target.address, reinterpret_cast<const void*>(from), size,
                          !is_async                            ? Until::done
                          : is_pinned_here(source, from, size) ? Until::queued
                                                               : Until::taken);
  } else {
    const auto until = is_async && is_pinned_here(target, to, size) ? Until::queued : Until::done;
    return read_device(call, stream, reinterpret_cast<void*>(to), *source.address, size, until);
  }
  // A copy that blocks has its bytes here as well when it comes back.
  return status == CUDA_SUCCESS && !is_async ? wait_stream(stream) : status;
}

}  // namespace flexrack::client::cuda
