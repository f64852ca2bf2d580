// Memory allocated and freed in the order of a stream, and by nodes of graphs.
#pragma once

#include "sim/driver/memory.h"
#include "sim/driver/work.h"

namespace flexrack::sim {

/// Frees what begins at an address, when it is its turn.
class FreeWork : public Work {
 public:
  explicit FreeWork(CUdeviceptr freed) : address(freed) {}
  Worker* worker(Device& device) const override { return &device.frees; }
  void execute(Context& context) const override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEM_FREE; }
  const CUdeviceptr address;
};

/// An address that a graph has for memory which is there only from its node on until it is freed.
class GraphAddress : public std::enable_shared_from_this<GraphAddress> {
 public:
  /// Throws CUDA_ERROR_OUT_OF_MEMORY where the process has no addresses left.
  static std::shared_ptr<GraphAddress> make(const Ref<Context>& context, std::uint64_t bytes,
                                            std::uint64_t for_devices);
  ~GraphAddress();
  GraphAddress(const GraphAddress&) = delete;
  GraphAddress& operator=(const GraphAddress&) = delete;

  Device& device;
  const std::uint64_t size, devices;
  std::uint64_t address = 0;

  /// Throws CUDA_ERROR_OUT_OF_MEMORY, or CUDA_ERROR_INVALID_VALUE where it is there already.
  void take();
  /// False where it is not there.
  bool release();
  /// It is there, and no stream is about to free it.
  bool is_kept() const;

 private:
  GraphAddress(Device& on, std::uint64_t bytes, std::uint64_t for_devices)
      : device(on), size(bytes), devices(for_devices) {}
  std::shared_ptr<Allocation> allocation_;
  std::atomic<bool> is_there_{false};
  std::shared_ptr<GraphAddress> self_;         ///< what is there outlives its graph
};

class AllocateWork : public Work {
 public:
  explicit AllocateWork(std::shared_ptr<GraphAddress> at) : place(std::move(at)) {}
  Worker* worker(Device& device) const override { return &device.frees; }
  void execute(Context& context) const override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; }
  const std::shared_ptr<GraphAddress> place;
};

}  // namespace flexrack::sim
