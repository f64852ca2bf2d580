// Memory that a graph allocates. It is there from the moment its node is, at one address, and charged to the share for
// as long: a launch may come at any time.
#pragma once

#include <atomic>
#include <memory>

#include "client/cuda/addresses.h"
#include "client/cuda/call.h"

namespace flexrack::client::cuda {

struct GraphMemory : std::enable_shared_from_this<GraphMemory> {
  CUdeviceptr address = 0;
  std::uint64_t size = 0;
  Device* device = nullptr;
  CUcontext context = nullptr;
  std::uint64_t context_handle = 0;
  bool is_instantiated = false;  ///< under the lock of graphs: a graph that allocates is instantiated once at a time
  std::shared_ptr<GraphMemory>
      kept{};  ///< under the lock of graphs: itself, while a launch has allocated it and nothing has freed it

  GraphMemory() = default;
  GraphMemory(const GraphMemory&) = delete;
  ~GraphMemory();
};

/// In the context, which is one of its device's.
CUresult allocate_for_graph(CUcontext context, std::size_t size, std::shared_ptr<GraphMemory>& made);
/// What begins at that address; null where that is no graph's.
std::shared_ptr<GraphMemory> graph_memory_at(CUdeviceptr address);

/// As a launch or a stream does. With the lock of graphs held. False: it is not there.
void keep(GraphMemory& memory);
bool free_kept(GraphMemory& memory);
/// So much was in use for a moment, beside what is kept.
void note_use(Device& device, std::uint64_t bytes);

}  // namespace flexrack::client::cuda
