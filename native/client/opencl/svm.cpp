// Allocating shared virtual memory: the device's own address, taken in this process too, so that pointers inside it
// mean the same on both sides.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "client/opencl/coherence.h"
#include "client/opencl/enqueue.h"
#include "client/opencl/memory_check.h"
#include "client/opencl/svm_objects.h"

namespace flexrack::client::opencl {

namespace {

constexpr int kTries = 64;
/// From this try on so many bytes at least, twice as many after each further so many tries: small allocations come from
/// a heap whose addresses may all be taken here (two processes that place theirs alike), large ones are mapped wherever
/// there is room, one behind the other, and something large may be here.
constexpr int kFewTries = 8;
constexpr std::size_t kApart = 1024 * 1024;

std::mutex table_lock;
std::map<std::uintptr_t, std::pair<cl_context, SvmRange>> ranges;   ///< by address; contexts are held
/// Page ranges taken for shared memory, begin to end. They stay taken: what a server frees it gives out again.
std::map<std::uintptr_t, std::uintptr_t> taken;

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}

bool take_gap(std::uintptr_t from, std::uintptr_t to) {
  auto* wanted = reinterpret_cast<void*>(from);
  auto* got = mmap(wanted, to - from, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted) return true;
  if (got != MAP_FAILED) munmap(got, to - from);   // a kernel before 4.17 takes the flag for a hint
  return false;
}

/// Makes [start, start + size) memory of this process. Pages may be shared with other allocations. False where
/// something else is there.
bool take(std::uintptr_t start, std::size_t size) {
  const auto page = page_size();
  const auto from = start / page * page, to = (start + size + page - 1) / page * page;
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> fresh;
  auto at = from;
  bool is_free = true;
  for (auto next = taken.begin(); is_free && at < to; ++next) {
    const auto begin = next == taken.end() ? to : std::min(next->first, to);
    if (begin > at) {
      is_free = take_gap(at, begin);
      if (is_free) fresh.emplace_back(at, begin);
    }
    if (next == taken.end()) break;
    at = std::max(at, next->second);
  }
  if (!is_free) {
    for (const auto& [begin, end] : fresh) munmap(reinterpret_cast<void*>(begin), end - begin);
    return false;
  }
  for (const auto& [begin, end] : fresh) taken.emplace(begin, end);
  return true;
}

bool is_allowed(cl_context context, cl_svm_mem_flags flags, std::size_t size, cl_uint alignment) {
  constexpr cl_svm_mem_flags kKnown = kAccessFlags | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS;
  const auto access = flags & kAccessFlags;
  if (size == 0 || size > largest_allocation(context)) return false;
  // What is written in one process while a kernel on another machine runs is never seen there: no fine grain.
  if ((flags & ~kKnown) || (access & (access - 1)) || (flags & (CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS)))
    return false;
  if (alignment & (alignment - 1)) return false;
  return std::all_of(context->devices.begin(), context->devices.end(), [&](cl_device_id device) {
    return device_info<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES, 0) &
               CL_DEVICE_SVM_COARSE_GRAIN_BUFFER &&
           alignment <= device_info<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8;
  });
}

}  // namespace

void* clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment) {
  // Two servers would have to find one address that is free at both and here.
  if (!is_live(context) || spans_places(context) || !is_allowed(context, flags, size, alignment)) return nullptr;
  auto& place = context->places[0];
  auto& session = *place.session;
  std::vector<std::uint64_t> unusable;
  SvmRange range;
  for (int i = 0; i < kTries && range.size == 0; ++i) {
    const auto handle = session.mint();
    std::uint64_t address = 0;
    const auto requested = i < kFewTries ? size : std::max(size, kApart << (i / kFewTries - 1));
    session.call(cl::SvmAllocate{place.context, handle, flags, requested, alignment},
                 [&](const auto& reply) { address = reply.address; });
    if (address == 0) break;
    std::lock_guard guard(table_lock);
    // Kept until the end: given back at once it would be the next answer again.
    if (!take(address, requested)) unusable.push_back(handle);
    else range = {reinterpret_cast<std::byte*>(address), size, handle};
  }
  for (const auto handle : unusable) session.send(cl::Release{handle});
  if (range.size == 0) return nullptr;
  std::lock_guard guard(table_lock);
  ranges[reinterpret_cast<std::uintptr_t>(range.start)] = {hold(context), range};
  return range.start;
}

SvmRange find_svm(cl_context context, const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  std::lock_guard guard(table_lock);
  auto next = ranges.upper_bound(at);
  if (next == ranges.begin()) return {};
  const auto& [owner, range] = std::prev(next)->second;
  return owner == context && at < reinterpret_cast<std::uintptr_t>(range.start) + range.size ? range : SvmRange{};
}

void clSVMFree(cl_context context, void* svm_pointer) {
  if (!is_live(context)) return;
  std::unique_lock guard(table_lock);
  const auto found = ranges.find(reinterpret_cast<std::uintptr_t>(svm_pointer));
  if (found == ranges.end() || found->second.first != context) return;
  const auto range = found->second.second;
  ranges.erase(found);
  // Whole pages of it cost nothing any more; the addresses stay ours.
  const auto page = page_size(), start = reinterpret_cast<std::uintptr_t>(range.start);
  const auto from = (start + page - 1) / page * page, to = (start + range.size) / page * page;
  if (to > from) madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
  guard.unlock();
  context->places[0].session->send(cl::Release{range.handle});
  drop(context);
}

}  // namespace flexrack::client::opencl
