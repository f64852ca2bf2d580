// Functions of the application that are called in the order of a stream.
#pragma once

#include "sim/driver/work.h"

namespace flexrack::sim {

/// cuLaunchHostFunc: not called where the context has failed.
class HostWork : public Work {
 public:
  HostWork(CUhostFn to_call, void* with) : function(to_call), data(with) {}
  Worker* worker(Device& device) const override { return &device.host; }
  void execute(Context& context) const override;
  bool touches_memory() const override { return false; }
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_HOST; }
  const CUhostFn function;
  void* const data;
};

/// cuStreamAddCallback: called in any case, and told the error of the context.
class CallbackWork : public Work {
 public:
  CallbackWork(CUstream of, CUstreamCallback to_call, void* with) : stream_(of), function_(to_call), data_(with) {}
  Worker* worker(Device& device) const override { return &device.host; }
  void execute(Context& context) const override;
  bool touches_memory() const override { return false; }
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_HOST; }
  bool is_always_done() const override { return true; }

 private:
  CUstream stream_;
  CUstreamCallback function_;
  void* data_;
};

}  // namespace flexrack::sim
