// Kernels in streams and graphs.
#pragma once

#include <vector>

#include "sim/driver/module.h"
#include "sim/driver/work.h"
#include "sim/exec/dim3.h"
#include "sim/exec/fault.h"

namespace flexrack::sim {

/// What a launch says beside its parameters.
struct LaunchShape {
  exec::Dim3 grid, block, cluster;
  std::uint32_t shared_bytes = 0;
  bool is_cooperative = false;
  bool has_cluster = false;

  /// Whether a device has such grids and blocks at all.
  bool is_possible() const {
    return grid.count() > 0 && block.count() > 0 && grid.x <= 2147483647 && grid.y <= 65535 && grid.z <= 65535 &&
           block.x <= 1024 && block.y <= 1024 && block.z <= 64 && block.count() <= 1024;
  }
};

class KernelWork : public Work {
 public:
  /// Copies the parameters. `parameters`: an address for each; or `extra`: the whole block, as cuLaunchKernel has it.
  /// Throws CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
  /// CUDA_ERROR_INVALID_CLUSTER_SIZE.
  KernelWork(Ref<Function> function, const LaunchShape& shape, void** parameters, void** extra);
  Worker* worker(Device& device) const override { return &device.compute; }
  void execute(Context& context) const override;
  void execute_in_graph(Context& context, exec::Conditions* conditions) const override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_KERNEL; }

  const Ref<Function> function;
  const LaunchShape shape;
  /// An address for each parameter, into the block that the work has: what a graph's node tells.
  void** parameter_addresses() const { return addresses_.data(); }
  CUfunction given_function = nullptr;         ///< as it was asked for: one of the two
  CUkernel given_kernel = nullptr;
  int priority = 0;
  std::vector<CUlaunchAttribute> attributes;

 private:
  void check() const;
  void copy_parameters(void** parameters, void** extra);
  const ptx::Function* code_ = nullptr;        ///< null: machine code
  std::vector<std::byte> parameters_;
  mutable std::vector<void*> addresses_;
};

/// The error with which a context fails after a fault.
CUresult result_of(const exec::Fault& fault);

}  // namespace flexrack::sim
