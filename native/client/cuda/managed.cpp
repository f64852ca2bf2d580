// Managed memory: memory of this process that servers mirror. Where it should be is a hint that is kept and told again.
#include <cstring>
#include <limits>
#include <set>

#include "client/cuda/mirror.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

struct HintPlace {
  CUmemLocationType type = CU_MEM_LOCATION_TYPE_INVALID;
  int id = CU_DEVICE_INVALID;
  bool operator==(const HintPlace&) const = default;
};

/// What was said about a range of bytes.
struct RangeHints {
  bool is_read_mostly = false;
  HintPlace preferred, prefetched;
  std::set<int> accessed_by;
};

/// By allocation (its id: addresses are used again) and first address; each reaches to the next. Never destroyed.
struct HintBook {
  std::mutex lock;
  std::map<std::pair<std::uint64_t, std::uint64_t>, RangeHints> ranges;

  auto split(std::uint64_t id, std::uint64_t at) {
    const auto found = ranges.lower_bound({id, at});
    if (found != ranges.end() && found->first == std::pair(id, at)) return found;
    RangeHints same;
    if (found != ranges.begin() && std::prev(found)->first.first == id) same = std::prev(found)->second;
    return ranges.emplace_hint(found, std::pair(id, at), std::move(same));
  }
};

HintBook& hint_book() {
  static auto& book = *new HintBook;
  return book;
}

/// The managed allocation that all of it is in.
std::optional<Allocation> managed_range(std::uint64_t address, std::size_t size) {
  auto found = find_allocation(address);
  if (!found || found->sort != Allocation::Sort::managed || size == 0 || size > found->size - (address - found->base))
    return std::nullopt;
  return found;
}

template <class Change>
void change_hints(const Allocation& of, std::uint64_t address, std::size_t size, Change&& change) {
  auto& book = hint_book();
  const std::lock_guard guard(book.lock);
  const auto first = book.split(of.id, address), last = book.split(of.id, address + size);
  for (auto one = first; one != last; ++one) change(one->second);
}

/// CU_DEVICE_CPU or a device, as the first forms of these functions have it.
CUmemLocation location_of(CUdevice ordinal) {
  return ordinal == CU_DEVICE_CPU ? CUmemLocation{CU_MEM_LOCATION_TYPE_HOST, CU_DEVICE_CPU}
                                  : CUmemLocation{CU_MEM_LOCATION_TYPE_DEVICE, ordinal};
}

CUresult check_location(const CUmemLocation& location, HintPlace& place) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      place = {location.type, location.id};
      return device_of(location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      place = {CU_MEM_LOCATION_TYPE_HOST, CU_DEVICE_CPU};
      return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: place = {location.type, location.id}; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult advise(CUdeviceptr address, std::size_t size, CUmem_advise advice, const CUmemLocation& location) {
  if (!process()) return not_open();
  const auto memory = managed_range(address, size);
  if (!memory || advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
    return CUDA_ERROR_INVALID_VALUE;
  HintPlace place;
  const bool has_place = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
                         advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
  if (const auto status = has_place ? check_location(location, place) : CUDA_SUCCESS; status != CUDA_SUCCESS)
    return status;
  change_hints(*memory, address, size, [&](RangeHints& hints) {
    switch (advice) {
      case CU_MEM_ADVISE_SET_READ_MOSTLY: hints.is_read_mostly = true; break;
      case CU_MEM_ADVISE_UNSET_READ_MOSTLY: hints.is_read_mostly = false; break;
      case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: hints.preferred = place; break;
      case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: hints.preferred = {}; break;
      case CU_MEM_ADVISE_SET_ACCESSED_BY: hints.accessed_by.insert(place.id); break;
      default: hints.accessed_by.erase(place.id); break;
    }
  });
  return CUDA_SUCCESS;
}

/// There is nothing to move: what is there when a kernel wants it is what was sent before its launch.
CUresult prefetch(CUdeviceptr address, std::size_t size, const CUmemLocation& location, unsigned flags,
                  CUstream which) {
  Call call;
  call.stream(which);
  const auto memory = managed_range(address, size);
  call.check(memory.has_value() && flags == 0);
  if (!call.settle()) return call.error();
  HintPlace place;
  if (const auto status = check_location(location, place); status != CUDA_SUCCESS) return status;
  change_hints(*memory, address, size, [&](RangeHints& hints) { hints.prefetched = place; });
  return CUDA_SUCCESS;
}

CUresult range_attribute(void* data, std::size_t room, CUmem_range_attribute which, CUdeviceptr address,
                         std::size_t size) {
  const auto memory = managed_range(address, size);
  if (!data || !memory) return CUDA_ERROR_INVALID_VALUE;
  std::vector<RangeHints> all;
  change_hints(*memory, address, size, [&](const RangeHints& hints) { all.push_back(hints); });
  const auto give = [&](int value) {
    if (room != sizeof value) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
  };
  /// The one that all of the range has; none where they differ.
  const auto common = [&](HintPlace RangeHints::* place) {
    for (const auto& one : all)
      if (!(one.*place == all.front().*place)) return HintPlace{};
    return all.front().*place;
  };
  const auto all_have = [&](auto&& test) {
    for (const auto& one : all)
      if (!test(one)) return false;
    return true;
  };
  switch (which) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return give(all_have([](const RangeHints& one) { return one.is_read_mostly; }));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: return give(common(&RangeHints::preferred).id);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return give(static_cast<int>(common(&RangeHints::preferred).type));
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: return give(common(&RangeHints::prefetched).id);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return give(static_cast<int>(common(&RangeHints::prefetched).type));
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  if (room == 0 || room % sizeof(int) != 0) return CUDA_ERROR_INVALID_VALUE;
  std::vector<int> reported;
  for (int ordinal = CU_DEVICE_CPU; ordinal < static_cast<int>(process()->devices.size()); ++ordinal) {
    if (all_have([&](const RangeHints& one) { return one.accessed_by.contains(ordinal); })) reported.push_back(ordinal);
  }
  reported.resize(room / sizeof(int), CU_DEVICE_INVALID);
  std::memcpy(data, reported.data(), room);
  return CUDA_SUCCESS;
}

CUresult prefetch_batch(const CUdeviceptr* addresses, const size_t* sizes, size_t count, const CUmemLocation* locations,
                        const size_t* indices, size_t location_count, unsigned long long flags, CUstream stream) {
  if (!process()) return not_open();
  if (!addresses || !sizes || count == 0 || !locations || !indices || location_count == 0 || location_count > count ||
      indices[0] != 0 || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    if (at + 1 < location_count && indices[at + 1] == i) ++at;
    if (const auto status = prefetch(addresses[i], sizes[i], locations[at], 0, stream); status != CUDA_SUCCESS)
      return status;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemAllocManaged(CUdeviceptr* dptr, size_t bytesize, unsigned int flags) {
  Call call;
  call.needs(dptr);
  call.check(bytesize > 0 && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST));
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  if (bytesize >= std::uint64_t{1} << 44) return CUDA_ERROR_OUT_OF_MEMORY;
  Allocation made{.sort = Allocation::Sort::managed,
                  .size = bytesize,
                  .context = now,
                  .context_handle = now->handle,
                  .device = now->device,
                  .flags = flags};
  const auto status = make_mirrored(call, now, made);
  if (status == CUDA_SUCCESS) *dptr = made.base;
  return status;
}

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device) {
  return advise(devPtr, count, advice, location_of(device));
}
CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location) {
  return advise(devPtr, count, advice, location);
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream) {
  return prefetch(devPtr, count, location_of(dstDevice), 0, hStream);
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                               CUstream hStream) {
  return prefetch(devPtr, count, location, flags, hStream);
}
CUresult cuMemPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count, CUmemLocation* prefetchLocs,
                                 size_t* prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                 CUstream hStream) {
  return prefetch_batch(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream);
}

/// What is discarded may keep its values.
CUresult cuMemDiscardBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count, unsigned long long flags,
                                CUstream hStream) {
  Call call;
  call.stream(hStream);
  call.check(dptrs && sizes && count > 0 && flags == 0);
  for (size_t i = 0; call.is_good() && i < count; ++i) call.check(managed_range(dptrs[i], sizes[i]).has_value());
  return call.settle() ? CUDA_SUCCESS : call.error();
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count, CUmemLocation* prefetchLocs,
                                           size_t* prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                           CUstream hStream) {
  return prefetch_batch(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream);
}

CUresult cuMemRangeGetAttribute(void* data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr,
                                size_t count) {
  return process() ? range_attribute(data, dataSize, attribute, devPtr, count) : not_open();
}

CUresult cuMemRangeGetAttributes(void** data, size_t* dataSizes, CUmem_range_attribute* attributes,
                                 size_t numAttributes, CUdeviceptr devPtr, size_t count) {
  if (!process()) return not_open();
  if (!data || !dataSizes || !attributes || numAttributes == 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < numAttributes; ++i) {
    if (const auto status = range_attribute(data[i], dataSizes[i], attributes[i], devPtr, count);
        status != CUDA_SUCCESS)
      return status;
  }
  return CUDA_SUCCESS;
}

/// All of an allocation, or 0 for that (cuda.h 13.0).
CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags) {
  Call call;
  const auto stream = call.stream(hStream);
  const auto memory = find_allocation(dptr);
  call.check(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE);
  call.check(!call.is_good() || flags != CU_MEM_ATTACH_SINGLE || (hStream != nullptr && !stream->is_default));
  call.check(memory && memory->sort == Allocation::Sort::managed && memory->base == dptr &&
             (length == 0 || length == memory->size));
  if (!call.settle()) return call.error();
  attach_mirror(*memory, flags);
  return CUDA_SUCCESS;
}

}  // namespace flexrack::client::cuda
