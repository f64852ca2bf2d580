// Managed memory: hints about where it should be, which are kept and told again. It is in one place here, for the host
// and all devices.
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "sim/driver/memory.h"
#include "sim/driver/work.h"

namespace flexrack::sim {
namespace {

struct Location {
  CUmemLocationType type = CU_MEM_LOCATION_TYPE_INVALID;
  int id = CU_DEVICE_INVALID;
  bool operator==(const Location&) const = default;
};

/// What was said about a range of bytes.
struct Hints {
  bool is_read_mostly = false;
  Location preferred, prefetched;
  std::set<int> accessed_by;
};

/// Ranges by their first address; each reaches to the next. Keyed by the allocation's id too, as addresses are used
/// again.
struct Book {
  std::mutex lock;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Hints> ranges;

  std::map<std::pair<std::uint64_t, std::uint64_t>, Hints>::iterator split(std::uint64_t id, std::uint64_t at) {
    const auto exact = ranges.find({id, at});
    if (exact != ranges.end()) return exact;
    auto before = ranges.lower_bound({id, at});
    Hints same;
    if (before != ranges.begin() && (--before)->first.first == id) same = before->second;
    return ranges.emplace(std::pair{id, at}, same).first;
  }
};

Book& book() {
  static auto* one = new Book;
  return *one;
}

std::shared_ptr<Allocation> managed(CUdeviceptr address, size_t size) {
  auto found = allocation_of(address, size);
  require(found->kind == Allocation::Kind::managed && size > 0, CUDA_ERROR_INVALID_VALUE, "not managed memory");
  return found;
}

template <class Change>
void change(const Allocation& of, CUdeviceptr address, size_t size, Change&& how) {
  auto& all = book();
  const std::lock_guard guard(all.lock);
  const auto first = all.split(of.id, address), last = all.split(of.id, address + size);
  for (auto one = first; one != last; ++one) how(one->second);
}

/// True where it holds for all of the range.
template <class Test>
bool all_of(const Allocation& of, CUdeviceptr address, size_t size, Test&& test) {
  auto& all = book();
  const std::lock_guard guard(all.lock);
  const auto first = all.split(of.id, address), last = all.split(of.id, address + size);
  for (auto one = first; one != last; ++one)
    if (!test(one->second)) return false;
  return true;
}

/// CU_DEVICE_CPU or a device, as the first forms of these functions have it.
Location of_ordinal(CUdevice ordinal) {
  if (ordinal == CU_DEVICE_CPU) return {CU_MEM_LOCATION_TYPE_HOST, CU_DEVICE_CPU};
  return {CU_MEM_LOCATION_TYPE_DEVICE, device(ordinal).ordinal};
}

Location checked(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return {location.type, device(location.id).ordinal};
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return {CU_MEM_LOCATION_TYPE_HOST, CU_DEVICE_CPU};
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: return {location.type, location.id};
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

CUresult advise(CUdeviceptr address, size_t size, CUmem_advise advice, const Location& location) {
  const auto of = managed(address, size);
  change(*of, address, size, [&](Hints& hints) {
    switch (advice) {
      case CU_MEM_ADVISE_SET_READ_MOSTLY: hints.is_read_mostly = true; return;
      case CU_MEM_ADVISE_UNSET_READ_MOSTLY: hints.is_read_mostly = false; return;
      case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: hints.preferred = location; return;
      case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: hints.preferred = {}; return;
      case CU_MEM_ADVISE_SET_ACCESSED_BY: hints.accessed_by.insert(location.id); return;
      case CU_MEM_ADVISE_UNSET_ACCESSED_BY: hints.accessed_by.erase(location.id); return;
      default: fail(CUDA_ERROR_INVALID_VALUE);
    }
  });
  return CUDA_SUCCESS;
}

bool needs_location(CUmem_advise advice) {
  return advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
         advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
}

/// There is nothing to move: it is a place in the stream.
void prefetch(CUdeviceptr address, size_t size, const Location& location, CUstream handle) {
  const auto stream = stream_of(handle);
  require_not_captured(*stream);
  const auto of = managed(address, size);
  stream->append(Command::marker(stream->context));
  change(*of, address, size, [&](Hints& hints) { hints.prefetched = location; });
}

/// The one location that all of the range has; none where they differ.
Location common(const Allocation& of, CUdeviceptr address, size_t size, Location Hints::* which) {
  Location found;
  bool is_first = true;
  const bool is_same = all_of(of, address, size, [&](const Hints& hints) {
    if (is_first) found = hints.*which;
    is_first = false;
    return found == hints.*which;
  });
  return is_same ? found : Location{};
}

void range_attribute(void* data, size_t data_size, CUmem_range_attribute which, CUdeviceptr address, size_t size) {
  require(data);
  const auto of = managed(address, size);
  const auto give = [&](int value) {
    require(data_size == sizeof value);
    std::memcpy(data, &value, sizeof value);
  };
  switch (which) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return give(all_of(*of, address, size, [](const Hints& hints) { return hints.is_read_mostly; }));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: return give(common(*of, address, size, &Hints::preferred).id);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return give(static_cast<int>(common(*of, address, size, &Hints::preferred).type));
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      return give(common(*of, address, size, &Hints::prefetched).id);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return give(static_cast<int>(common(*of, address, size, &Hints::prefetched).type));
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: break;
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
  require(data_size > 0 && data_size % sizeof(int) == 0);
  auto* out = static_cast<int*>(data);
  auto* const end = out + data_size / sizeof(int);
  for (int ordinal = CU_DEVICE_CPU; ordinal < device_count() && out < end; ++ordinal) {
    if (all_of(*of, address, size, [&](const Hints& hints) { return hints.accessed_by.contains(ordinal); }))
      *out++ = ordinal;
  }
  while (out < end) *out++ = CU_DEVICE_INVALID;
}

/// Calls `use(i, location)` for each range of a batch; the locations are for the range at their index and those behind
/// it.
template <class Use>
void for_batch(const size_t* sizes, size_t count, const CUmemLocation* locations, const size_t* indices,
               size_t location_count, unsigned long long flags, Use&& use) {
  require(sizes && count > 0 && locations && indices && location_count > 0 && location_count <= count &&
          indices[0] == 0 && flags == 0);
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    if (at + 1 < location_count && indices[at + 1] == i) ++at;
    use(i, checked(locations[at]));
  }
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuMemAdvise(CUdeviceptr address, size_t size, CUmem_advise advice, CUdevice ordinal) {
  return call([&] { return advise(address, size, advice, needs_location(advice) ? of_ordinal(ordinal) : Location{}); });
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t size, CUmem_advise advice, CUmemLocation location) {
  return call([&] { return advise(address, size, advice, needs_location(advice) ? checked(location) : Location{}); });
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t size, CUdevice to, CUstream stream) {
  return call([&] { prefetch(address, size, of_ordinal(to), stream); });
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t size, CUmemLocation location, unsigned int flags,
                               CUstream stream) {
  return call([&] {
    require(flags == 0);
    prefetch(address, size, checked(location), stream);
  });
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count, CUmemLocation* locations,
                                 size_t* indices, size_t location_count, unsigned long long flags, CUstream stream) {
  return call([&] {
    require(addresses);
    for_batch(sizes, count, locations, indices, location_count, flags,
              [&](size_t i, const Location& location) { prefetch(addresses[i], sizes[i], location, stream); });
  });
}

/// What is discarded may keep its values.
CUresult cuMemDiscardBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count, unsigned long long flags,
                                CUstream handle) {
  return call([&] {
    require(addresses && sizes && count > 0 && flags == 0);
    const auto stream = stream_of(handle);
    require_not_captured(*stream);
    for (size_t i = 0; i < count; ++i) managed(addresses[i], sizes[i]);
    stream->append(Command::marker(stream->context));
  });
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* addresses, size_t* sizes, size_t count,
                                           CUmemLocation* locations, size_t* indices, size_t location_count,
                                           unsigned long long flags, CUstream stream) {
  return cuMemPrefetchBatchAsync(addresses, sizes, count, locations, indices, location_count, flags, stream);
}

CUresult cuMemRangeGetAttribute(void* data, size_t data_size, CUmem_range_attribute which, CUdeviceptr address,
                                size_t size) {
  return call([&] { range_attribute(data, data_size, which, address, size); });
}

CUresult cuMemRangeGetAttributes(void** data, size_t* data_sizes, CUmem_range_attribute* which, size_t count,
                                 CUdeviceptr address, size_t size) {
  return call([&] {
    require(data && data_sizes && which && count > 0);
    for (size_t i = 0; i < count; ++i) range_attribute(data[i], data_sizes[i], which[i], address, size);
  });
}

}  // extern "C"
