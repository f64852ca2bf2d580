#include "client/cuda/arena.h"

#include <sys/mman.h>

#include <bit>

#include "client/cuda/addresses.h"
#include "client/trace.h"

namespace flexrack::client::cuda {
namespace {

constexpr std::uint64_t kSmallest = std::uint64_t{64} << 30;
constexpr std::uint64_t kAlign = std::uint64_t{1} << 30;
/// Between what programs and their libraries usually have at both ends of 47 bits.
constexpr std::uint64_t kFrom = std::uint64_t{0x10} << 40, kTo = std::uint64_t{0x50} << 40;
constexpr std::uint64_t kLargest = (kTo - kFrom) / 4;
constexpr int kTries = 64;

struct Arena {
  std::uint64_t base = 0, size = 0;
  std::uint64_t page = 0;                        ///< what every piece begins and ends at
  std::map<std::uint64_t, std::uint64_t> used;   ///< start -> size
  std::uint64_t next = 0;  ///< where to look first: what was freed last may still be in use at the server
};

/// Never destroyed.
struct Arenas {
  std::mutex lock;
  std::map<const CudaServer*, std::vector<Arena>> all;
};

Arenas& arenas() {
  static auto& the_arenas = *new Arenas;
  return the_arenas;
}

/// Somewhere else at every call, the same in no two processes of one machine more often than chance has it.
std::uint64_t proposal(int attempt, std::uint64_t size) {
  static std::uint64_t state =
      reinterpret_cast<std::uintptr_t>(&state) ^ static_cast<std::uint64_t>(::getpid()) * 0x9e3779b97f4a7c15u;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return kFrom + (state + static_cast<std::uint64_t>(attempt)) % ((kTo - kFrom - size) / kAlign) * kAlign;
}

CUresult reserve(Call& call, const Device& device, std::uint64_t least, Arena& made) {
  auto& session = *device.server->session;
  auto status = call.ask(cu::MemoryGranularity{.device = device.index, .option = CU_MEM_ALLOC_GRANULARITY_RECOMMENDED},
                         [&](const auto& reply) { made.page = reply.size; });
  if (status != CUDA_SUCCESS) return status;
  if (!std::has_single_bit(made.page) || made.page > kAlign) return CUDA_ERROR_UNKNOWN;
  // What a server says of its memory, and what a program asks for, may be anything.
  if (least > kLargest / 2) return CUDA_ERROR_OUT_OF_MEMORY;
  std::uint64_t memory = 0;
  for (const auto& one : device.server->devices) memory = std::min(kLargest, memory + std::min(kLargest, one->memory));
  made.size = (std::max({kSmallest, std::min(kLargest, 4 * memory), 2 * least}) + kAlign - 1) / kAlign * kAlign;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const auto at = proposal(attempt, made.size);
    if (!keep_addresses(at, made.size)) continue;
    status = kLost;
    session.call(cu::ReserveAddresses{.at = at, .size = made.size},
                 [&](const auto& reply) { status = static_cast<CUresult>(reply.status); });
    if (status == CUDA_SUCCESS) {
      made.base = made.next = at;
      if (is_traced())
        trace("addresses of " + device.server->lease.node + " are chosen here from " + std::to_string(at));
      return CUDA_SUCCESS;
    }
    let_addresses_go(at, made.size);
    if (status == kLost) break;
  }
  return status == kLost ? kLost : CUDA_ERROR_OUT_OF_MEMORY;
}

/// The first gap at `from` or later.
bool take_from(Arena& arena, std::uint64_t from, std::uint64_t size, std::uint64_t& address) {
  auto at = from;
  auto next = arena.used.lower_bound(at);
  if (next != arena.used.begin()) {
    const auto before = std::prev(next);
    at = std::max(at, before->first + before->second);
  }
  for (; next != arena.used.end() && next->first - at < size; ++next) at = next->first + next->second;
  if (at + size > arena.base + arena.size) return false;
  arena.used.emplace(at, size);
  arena.next = at + size;
  address = at;
  return true;
}

}  // namespace

bool has_arena(CudaServer& server) {
  auto& known = arenas();
  const std::lock_guard guard(known.lock);
  return known.all.contains(&server);
}

bool chooses_addresses(CudaServer& server) {
  return process()->servers.size() > 1 || server.is_mirrored() || has_arena(server);
}

CUresult take_addresses(Call& call, const Device& device, std::uint64_t size, std::uint64_t& address) {
  auto& known = arenas();
  const std::lock_guard guard(known.lock);
  auto& mine = known.all[device.server];
  for (auto& arena : mine) {
    if (size > arena.size) continue;
    const auto whole = (size + arena.page - 1) / arena.page * arena.page;
    if (take_from(arena, arena.next, whole, address) || take_from(arena, arena.base, whole, address))
      return CUDA_SUCCESS;
  }
  Arena made;
  if (const auto status = reserve(call, device, size, made); status != CUDA_SUCCESS) return status;
  mine.push_back(std::move(made));
  auto& arena = mine.back();
  return take_from(arena, arena.base, (size + arena.page - 1) / arena.page * arena.page, address)
             ? CUDA_SUCCESS
             : CUDA_ERROR_OUT_OF_MEMORY;
}

void give_addresses(CudaServer& server, std::uint64_t address) {
  auto& known = arenas();
  const std::lock_guard guard(known.lock);
  for (auto& arena : known.all[&server]) arena.used.erase(address);
}

}  // namespace flexrack::client::cuda
