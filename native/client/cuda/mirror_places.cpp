// Where servers have memory of this process.
#include "client/cuda/mirror_state.h"

#include <sys/mman.h>

#include <algorithm>

#include "client/cuda/launch.h"
#include "client/cuda/replicated_link.h"
#include "client/trace.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {

AllMirrors& mirrors() {
  static auto& all = *new AllMirrors;
  return all;
}

std::uint64_t up_to_page(std::uint64_t size) { return (size + page_bytes() - 1) / page_bytes() * page_bytes(); }

MirrorAt* find_at(Mirror& mirror, const CudaServer* server) {
  for (auto& one : mirror.at)
    if (one.server == server && one.is_there()) return &one;
  return nullptr;
}

std::shared_ptr<Mirror> mirror_of(std::uint64_t address, std::size_t size) {
  const std::lock_guard guard(mirrors().lock);
  auto after = mirrors().by_host.upper_bound(address);
  if (after == mirrors().by_host.begin()) return nullptr;
  --after;
  const auto offset = address - after->first;
  return offset < after->second->size && size <= after->second->size - offset ? after->second : nullptr;
}

CUresult place_at(CUcontext context, const std::shared_ptr<Mirror>& mirror, std::uint64_t at) {
  auto& all = mirrors();
  std::uint64_t address = 0;
  if (context->server->is_mirrored())
    return refuse_mirrored("memory of the program that kernels use (mapped, managed)");
  const unsigned flags = mirror->is_read_only ? CU_MEMHOSTREGISTER_READ_ONLY : 0;
  auto status = kLost;
  context->server->session->call(
      cu::Allocate{.context = context->handle, .at = at, .size = mirror->size, .kind = 1, .flags = flags},
      [&](const auto& reply) {
        status = static_cast<CUresult>(reply.status);
        address = reply.address;
      });
  if (status == CUDA_ERROR_OUT_OF_MEMORY && is_traced())
    trace(context->server->lease.node + " mirrors no more memory of this lease");
  if (status != CUDA_SUCCESS) return status;
  auto* const twin = map_pages(0, mirror->size);
  if (!twin) {
    context->server->session->send(cu::Free{.context = context->handle, .address = address});
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const std::lock_guard guard(all.lock);
  std::erase_if(mirror->at, [&](const MirrorAt& one) {
    if (one.server != context->server) return false;
    all.by_address.erase({one.server, one.address});
    ::munmap(one.twin, mirror->size);
    return true;
  });
  mirror->at.push_back({.server = context->server,
                        .context = context,
                        .context_handle = context->handle,
                        .address = address,
                        .twin = twin});
  all.by_address[{context->server, address}] = mirror;
  has_mirrors.store(true);
  return CUDA_SUCCESS;
}

CUresult add_variable_at(CudaServer& server, CUcontext context, const std::shared_ptr<Mirror>& mirror,
                         std::uint64_t address, wire::View content) {
  if (server.is_mirrored()) return refuse_mirrored("managed variables");
  auto* const twin = map_pages(0, mirror->size);
  if (!twin) return CUDA_ERROR_OUT_OF_MEMORY;
  std::copy(content.begin(), content.end(), twin);
  const std::lock_guard guard(mirrors().lock);
  mirror->at.push_back({.server = &server,
                        .context = context,
                        .context_handle = context ? context->handle : 0,
                        .address = address,
                        .twin = twin});
  mirrors().by_address[{&server, address}] = mirror;
  has_mirrors.store(true);
  return CUDA_SUCCESS;
}

CUresult find_variable_at(CudaServer& server, const std::shared_ptr<Mirror>& mirror) {
  if (!mirror->library || !is_live(mirror->library)) return CUDA_SUCCESS;
  std::uint64_t loaded = 0;
  {
    const std::lock_guard guard(mirror->library->lock);
    for (const auto& [where, one] : mirror->library->loaded)
      if (where.first == &server) loaded = one.handle;
  }
  if (loaded == 0) return CUDA_SUCCESS;
  auto status = kLost;
  server.session->call(
      cu::FindVariable{.context = 0, .module = loaded, .is_managed = 1, .name = mirror->name}, [&](const auto& reply) {
        status = static_cast<CUresult>(reply.status);
        if (status == CUDA_SUCCESS && (reply.size != mirror->size || reply.content.size() > reply.size))
          status = CUDA_ERROR_UNKNOWN;
        if (status == CUDA_SUCCESS) status = add_variable_at(server, nullptr, mirror, reply.address, reply.content);
      });
  return status;
}

bool is_mirrored(std::uint64_t address) {
  return has_mirrors.load(std::memory_order_relaxed) && mirror_of(address, 1) != nullptr;
}

std::uint64_t device_address(std::uint64_t address) {
  const auto now = thread_state.current;
  const auto mirror =
      has_mirrors.load(std::memory_order_relaxed) && now && is_live(now) ? mirror_of(address, 1) : nullptr;
  if (!mirror) return address;
  const std::lock_guard guard(mirrors().lock);
  const auto* const place = find_at(*mirror, now->server);
  return place ? place->address + (address - reinterpret_cast<std::uint64_t>(mirror->host)) : address;
}

}  // namespace flexrack::client::cuda
