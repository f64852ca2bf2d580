// Memory of this process gets mirrors, and loses them.
#include "client/cuda/mirror_state.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "client/cuda/transfer.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {

namespace {

constexpr int kPlaces = 16;
constexpr std::uint64_t kApart = std::uint64_t{2} << 20;

/// Between what programs and their libraries usually have at both ends of 47 bits: nothing is there in this process,
/// nor most likely at any server.
std::uint64_t some_place(std::uint64_t size) {
  static std::mutex lock;
  static std::mt19937_64 random{std::random_device{}()};
  const std::lock_guard guard(lock);
  return kLowest + random() % ((kHighest - kLowest - size) / kApart) * kApart;
}

void remember(const std::shared_ptr<Mirror>& mirror) {
  const std::lock_guard guard(mirrors().lock);
  mirrors().by_host[reinterpret_cast<std::uint64_t>(mirror->host)] = mirror;
}

/// A context at every other server that already has one: memory of this process is everybody's.
std::vector<CUcontext> other_contexts(const CudaServer* but) {
  std::vector<CUcontext> found;
  for (const auto* device : process()->devices) {
    const bool is_known = device->server == but || std::any_of(found.begin(), found.end(), [&](CUcontext one) {
                            return one->server == device->server;
                          });
    if (!is_known && device->primary->handle != 0) found.push_back(device->primary);
  }
  return found;
}

}  // namespace

std::atomic<std::int64_t> unmirrored{0};

CUresult mirror_arguments(CUcontext context, wire::View parameters) {
  for (std::size_t at = 0; at + 8 <= parameters.size(); at += 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, parameters.data() + at, 8);
    // Pinned memory is there and nowhere else (map_for_mirror), so most numbers are none of it.
    if (value < kLowest || value >= kHighest) continue;
    const auto known = find_allocation(value);
    if (!known || known->sort != Allocation::Sort::host || is_mirrored(value)) continue;
    std::uint64_t address = 0;
    if (const auto status = mirror_host(context, *known, address); status != CUDA_SUCCESS) return status;
  }
  return CUDA_SUCCESS;
}

std::uint8_t* map_for_mirror(std::uint64_t bytes) {
  for (int attempt = 0; attempt < kPlaces; ++attempt)
    if (auto* const at = map_pages(some_place(bytes), bytes)) return at;
  return nullptr;
}

void attach_mirror(const Allocation& memory, unsigned flags) {
  const std::lock_guard guard(mirrors().lock);
  if (const auto mirror = std::static_pointer_cast<Mirror>(memory.more)) mirror->attached = flags;
}

CUresult make_mirrored(Call& call, CUcontext context, Allocation& made) {
  if (!call.settle()) return call.error();
  const auto bytes = up_to_page(made.size);
  for (int attempt = 0; attempt < kPlaces; ++attempt) {
    auto* const host = map_pages(some_place(bytes), bytes);
    if (!host) continue;
    const auto at = reinterpret_cast<std::uint64_t>(host);
    const auto mirror = std::make_shared<Mirror>();
    mirror->host = host;
    mirror->size = made.size;
    mirror->is_managed = made.sort == Allocation::Sort::managed;
    mirror->is_watched = bytes >= kWatchedFrom && watch_pages(host, bytes);
    if (mirror->is_managed) mirror->attached = made.flags;
    auto status = place_at(context, mirror, at);
    for (const auto other : other_contexts(context->server))
      if (status == CUDA_SUCCESS) status = place_at(other, mirror, at);
    // Both sides are all zeros, so nothing differs that nobody has written to from here on.
    if (status == CUDA_SUCCESS && mirror->is_watched &&
        each_written(host, bytes, [](std::uint64_t, std::uint64_t) {})) {
      for (auto& one : mirror->at) one.written = std::make_shared<PageSet>(bytes / page_bytes(), false);
    }
    made.base = at;
    made.more = mirror;
    if (status == CUDA_SUCCESS && add_allocation(made)) {
      remember(mirror);
      return CUDA_SUCCESS;
    }
    drop_mirror(made);
    ::munmap(host, bytes);
    if (status != CUDA_ERROR_ALREADY_MAPPED && status != CUDA_SUCCESS) return status;
  }
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult mirror_variable(const VariableIn& in, const char* name, Allocation made, wire::View content) {
  auto mirror = mirror_of(made.base, made.size);
  if (mirror) return CUDA_SUCCESS;  // found under another context
  if (content.size() > made.size || !keep_addresses(made.base, made.size)) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto page = up_to_page(1), first = made.base / page * page, end = made.base + made.size;
  if (::mprotect(reinterpret_cast<void*>(first), up_to_page(end - first), PROT_READ | PROT_WRITE) != 0) {
    let_addresses_go(made.base, made.size);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  mirror = std::make_shared<Mirror>();
  mirror->host = reinterpret_cast<std::uint8_t*>(made.base);
  mirror->size = made.size;
  mirror->is_managed = mirror->is_variable = true;
  mirror->library = in.library;
  mirror->name = name;
  // Pages at both ends may have been something else's before; those between are new, and take no memory so far.
  const auto from = std::min(made.base + made.size, first + page), to = std::max(made.base, end / page * page);
  std::fill_n(mirror->host, from - made.base, std::uint8_t{0});
  if (to < end) std::fill_n(mirror->host + (to - made.base), end - to, std::uint8_t{0});
  std::copy(content.begin(), content.end(), mirror->host);
  made.kept = made.size;
  made.server = nullptr;
  made.flags = CU_MEM_ATTACH_GLOBAL;
  made.more = mirror;
  auto status = add_variable_at(*in.device.server, in.context, mirror, made.base, content);
  if (status == CUDA_SUCCESS && !add_allocation(made)) status = CUDA_ERROR_OUT_OF_MEMORY;
  if (status != CUDA_SUCCESS) {
    drop_mirror(made);
    let_addresses_go(made.base, made.size);
    return status;
  }
  remember(mirror);
  return CUDA_SUCCESS;
}

CUresult mirror_host(CUcontext context, const Allocation& memory, std::uint64_t& address) {
  auto mirror = mirror_of(memory.base, memory.size);
  if (!mirror) {
    mirror = std::make_shared<Mirror>();
    mirror->host = reinterpret_cast<std::uint8_t*>(memory.base);
    mirror->size = memory.size;
    // Memory of the application's own is left alone: nothing is known of whose pages it shares, and what it is made of.
    mirror->is_watched = memory.sort == Allocation::Sort::host && memory.size >= kWatchedFrom &&
                         watch_pages(mirror->host, up_to_page(memory.size));
    mirror->is_read_only =
        memory.sort == Allocation::Sort::registered && (memory.flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0;
  }
  {
    const std::lock_guard guard(mirrors().lock);
    if (const auto* place = find_at(*mirror, context->server)) return address = place->address, CUDA_SUCCESS;
  }
  auto status = place_at(context, mirror, memory.base);
  // Registered memory may be elsewhere for the device: cuMemHostGetDevicePointer says where.
  if (status == CUDA_ERROR_ALREADY_MAPPED && memory.sort == Allocation::Sort::registered)
    status = place_at(context, mirror, 0);
  if (status != CUDA_SUCCESS) return status == CUDA_ERROR_ALREADY_MAPPED ? CUDA_ERROR_OUT_OF_MEMORY : status;
  remember(mirror);
  const std::lock_guard guard(mirrors().lock);
  const auto* const place = find_at(*mirror, context->server);
  if (!place) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  address = place->address;
  return CUDA_SUCCESS;
}

void drop_mirror(const Allocation& gone) {
  auto& all = mirrors();
  std::shared_ptr<Mirror> mirror = std::static_pointer_cast<Mirror>(gone.more);
  const std::lock_guard one_by_one(all.sending);
  {
    const std::lock_guard guard(all.lock);
    if (const auto found = all.by_host.find(gone.base); found != all.by_host.end()) {
      mirror = found->second;
      all.by_host.erase(found);
    }
    if (!mirror) return;
    for (const auto& one : mirror->at) all.by_address.erase({one.server, one.address});
  }
  for (const auto& one : mirror->at) {
    if (one.is_there() && !mirror->is_variable)
      one.server->session->send(cu::Free{.context = one.context_handle, .address = one.address});
  }
}

void forget_managed(const Allocation& gone) {
  const auto mirror = std::static_pointer_cast<Mirror>(gone.more);
  drop_mirror(gone);
  if (mirror && mirror->is_variable) let_addresses_go(gone.base, gone.kept);
  else if (mirror) ::munmap(mirror->host, up_to_page(mirror->size));
}

CUresult free_managed(const Allocation& allocation) {
  const auto mirror = std::static_pointer_cast<Mirror>(allocation.more);
  if (!mirror || mirror->is_variable) return CUDA_ERROR_INVALID_VALUE;
  Call call;
  if (!call.is_good()) return call.error();
  // What kernels still do with it is over when this comes back.
  for (const auto& one : mirror->at)
    if (one.context && one.is_there()) wait_stream(one.context->default_stream);
  take_allocation(allocation.base);
  drop_mirror(allocation);
  ::munmap(reinterpret_cast<void*>(allocation.base), up_to_page(allocation.size));
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
