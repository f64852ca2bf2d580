// Which address belongs to what: device memory at some server, and memory of this process that CUDA knows of.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client/cuda/objects.h"

namespace flexrack::client::cuda {

/// A stretch of addresses. All addresses of this process are one space: device addresses of different servers never
/// meet, nor do they meet host memory.
struct Allocation {
  enum class Sort : std::uint8_t {
    device,       ///< cuMemAlloc and its kin
    pool,         ///< from a pool
    graph,        ///< of a graph's node
    mapped,       ///< cuMemMap
    variable,     ///< of a module
    opened,       ///< another process's, cuIpcOpenMemHandle
    host,         ///< memory of this process: cuMemHostAlloc
    registered,   ///< the application's own, cuMemHostRegister
    managed
  };
  Sort sort = Sort::device;
  std::uint64_t base = 0, size = 0;
  std::uint64_t id = 0;              ///< CU_POINTER_ATTRIBUTE_BUFFER_ID: never twice in a process
  CudaServer* server = nullptr;      ///< null: memory of this process
  CUcontext context = nullptr;       ///< in which it was made
  std::uint64_t context_handle = 0;
  Device* device = nullptr;
  unsigned flags = 0;                ///< as it was made with: CU_MEMHOSTALLOC_*, CU_MEMATTACH_*
  std::uint64_t kept =
      0;  ///< bytes of address space that are kept free of anything else for it, from `base` rounded down to a page
  bool is_in_arena = false;  ///< at an address that was chosen here
  std::shared_ptr<void> more{};  ///< what only some have: mirrors of host memory, pools

  bool is_host() const { return sort == Sort::host || sort == Sort::registered; }
  bool is_device() const { return !is_host() && sort != Sort::managed; }
};

/// The one that an address is in. About 20 ns.
std::optional<Allocation> find_allocation(std::uint64_t address);

/// How much of a stretch is known. A copy takes `none` for the program's own memory, which may not be there; `some` is
/// what begins in one allocation and leaves it, and what no call takes.
enum class Covered : std::uint8_t { none, some, all };
/// Memory that was mapped piece by piece at one server is one stretch. Of no bytes, all is known where one would be.
Covered covered(std::uint64_t address, std::uint64_t size);

/// From now on it is known. False: it meets another. Gives it an id where it has none.
bool add_allocation(Allocation allocation);
/// The one that begins there, known no more.
std::optional<Allocation> take_allocation(std::uint64_t base);
/// All of a context that went.
std::vector<Allocation> take_allocations_of(CUcontext context, std::uint64_t handle);

/// What was kept or taken for it here may be used again.
void release_addresses(const Allocation& gone);
/// Managed memory whose context went.
void forget_managed(const Allocation& gone);
/// cuMemFree of managed memory.
CUresult free_managed(const Allocation& allocation);

/// Whether it can be a stretch of addresses at all: a server says where it has memory, and how much.
bool is_stretch(std::uint64_t base, std::uint64_t size);
/// Keeps addresses in this process free of anything else, in whole pages. False where something is there, or it is no
/// stretch.
bool keep_addresses(std::uint64_t base, std::uint64_t size);
void let_addresses_go(std::uint64_t base, std::uint64_t size);

}  // namespace flexrack::client::cuda
