// What mirror*.cpp share: memory of this process and where each server has it.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "client/cuda/mirror.h"
#include "client/cuda/written_pages.h"
#include "cuda/process_pages.h"

namespace flexrack::client::cuda {

/// At one server.
struct MirrorAt {
  CudaServer* server = nullptr;
  CUcontext context = nullptr;         ///< in which it is registered there: it goes with it; null: in none
  std::uint64_t context_handle = 0;
  std::uint64_t address = 0;
  std::uint8_t* twin = nullptr;        ///< what both sides last agreed on; pages of its own
  std::shared_ptr<PageSet>
      written{};  ///< that may differ from the twin; under `sending`, null where nobody watches them
  std::uint64_t shown_at = 0;  ///< sync_epoch when its bytes were last compared, and a kernel may use them since
  bool is_there() const { return !context || (is_live(context) && context->handle == context_handle); }
};

struct Mirror {
  std::uint8_t* host = nullptr;
  std::uint64_t size = 0;
  bool is_managed = false, is_variable = false, is_read_only = false;
  bool is_watched = false;  ///< under `sending`: the system says which of its pages were written to
  unsigned attached = CU_MEM_ATTACH_GLOBAL;
  CUlibrary library = nullptr;  ///< of a variable, where it is a library's
  std::string name{};
  std::vector<MirrorAt> at;

  Mirror() = default;
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;
  ~Mirror() {
    for (const auto& one : at) ::munmap(one.twin, size);
  }
};

/// Never destroyed.
struct AllMirrors {
  /// Held over comparing and sending: a launch that finds nothing new comes after what another one found. Whoever reads
  /// never takes it.
  std::mutex sending;
  std::mutex lock;  ///< of the rest, and of twins while they are compared or written
  std::map<std::uint64_t, std::shared_ptr<Mirror>> by_host;
  std::map<std::pair<const CudaServer*, std::uint64_t>, std::shared_ptr<Mirror>> by_address;
};

using flexrack::cuda::map_pages;
using flexrack::cuda::page_bytes;

AllMirrors& mirrors();

constexpr std::uint64_t kWatchedFrom = 64 * 1024;  ///< smaller memory is compared faster than the system is asked
/// Mirrored memory is between what programs and their libraries usually have at both ends of 47 bits.
constexpr std::uint64_t kLowest = std::uint64_t{0x10} << 40, kHighest = std::uint64_t{0x50} << 40;

std::uint64_t up_to_page(std::uint64_t size);

/// Under the lock. Null where that server has none of it.
MirrorAt* find_at(Mirror& mirror, const CudaServer* server);
/// The one that has all of that memory of this process, or null.
std::shared_ptr<Mirror> mirror_of(std::uint64_t address, std::size_t size);
/// Its place at that server, made where there is none; `at`: exactly there, or 0. Waits, so not under the lock.
CUresult place_at(CUcontext context, const std::shared_ptr<Mirror>& mirror, std::uint64_t at);
/// A managed variable is where that server's code has it.
CUresult add_variable_at(CudaServer& server, CUcontext context, const std::shared_ptr<Mirror>& mirror,
                         std::uint64_t address, wire::View content);
/// Code of the library that has been loaded at another server too has the variable there, at an address of its own.
CUresult find_variable_at(CudaServer& server, const std::shared_ptr<Mirror>& mirror);

}  // namespace flexrack::client::cuda
