// A launch that goes over several servers, or to another one than its stream's: each has a stream for the graph, and
// they wait for each other there. This process is in it only where two servers do not reach each other.
#pragma once

#include <functional>

#include "client/cuda/graph_exec.h"

namespace flexrack::client::cuda {

/// It takes more than one message on the stream.
inline bool is_across(CUgraphExec exec, CUstream stream) {
  return exec->across.steps.size() != 1 || exec->parts.front().server != stream->server;
}

/// False: one of those that it is launched in was destroyed since it was instantiated.
bool are_contexts_there(const Across& across);

/// Behind what is on the stream, and what is put there from now on comes after it. put(part, where) sends a part's
/// launch. False: a link was lost.
bool launch_across(CUgraphExec exec, CUstream stream,
                   const std::function<bool(std::size_t part, const StreamAt& where)>& put);

/// What was made for its launches goes.
void release_streams(CUgraphExec exec);

}  // namespace flexrack::client::cuda
