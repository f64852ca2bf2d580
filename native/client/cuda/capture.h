// Capture: what is put on a captured stream becomes a node of a graph here, and nothing travels.
#pragma once

#include <thread>

#include "client/cuda/graph.h"

namespace flexrack::client::cuda {

/// One capture, of one stream or several. All under the lock of graphs.
struct Capture {
  /// Where a stream has got to in it.
  struct Member {
    std::vector<CUgraphNode> before{};
    std::vector<CUgraphNode>
        reported_nodes{};         ///< what cuStreamGetCaptureInfo points to, until the stream is used again
    std::vector<CUgraphEdgeData> reported_edges{};
  };
  std::uint64_t id = 0;
  CUstreamCaptureMode mode{};
  std::thread::id thread{};
  CUgraph graph = nullptr;
  std::uint64_t graph_id = 0;
  bool is_graph_given = false;                     ///< by the application, whose it stays
  CUstream origin = nullptr;
  std::map<CUstream, Member> members{};
  bool is_invalid = false;
};

/// An event that was recorded in a capture.
struct CapturedRecord {
  std::weak_ptr<Capture> capture;
  std::vector<CUgraphNode> nodes{};
};

/// How many captures are under way: while there are none, nobody has to look further.
extern std::atomic<int> captures_under_way;
inline bool has_captures() { return captures_under_way.load(std::memory_order_relaxed) != 0; }
inline bool is_capturing(CUstream stream) {
  return has_captures() && stream->is_capturing.load(std::memory_order_acquire);
}

/// The operation becomes a node behind what the stream has done in its capture; for streams that are captured. `made`
/// may be null.
CUresult capture_work(CUstream stream, WorkPointer work, CUgraphNode* made = nullptr);
/// The same of a whole graph.
CUresult capture_graph(CUstream stream, CUgraph graph);
/// An event is recorded in a captured stream.
CUresult capture_record(CUstream stream, CUevent event);

/// A stream, captured or not, is to wait for the event. True: `status` answers it, since one of them is part of a
/// capture.
bool capture_wait(CUstream stream, CUevent event, unsigned flags, CUresult& status);
/// CUDA_ERROR_CAPTURED_EVENT where what was recorded last was in a capture.
CUresult refuse_captured_event(CUevent event);
/// What is recorded from now on is no capture's.
void forget_captured(CUevent event);

// What cannot be while there are captures. Each ends the captures that it meets, as the API has it.
/// Waits for, or asks about, a stream that is captured: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; else as refuse_implicit.
CUresult refuse_captured(CUstream stream);
/// The legacy default stream would wait for one that is captured: CUDA_ERROR_STREAM_CAPTURE_IMPLICIT.
CUresult refuse_implicit(CUstream stream);
/// Of the whole context: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.
CUresult refuse_context(CUcontext context);
/// What may wait for work of any stream, as the calling thread's mode and those of the captures allow:
/// CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.
CUresult refuse_unsafe();

/// The stream is destroyed.
void abandon_capture(CUstream stream);

}  // namespace flexrack::client::cuda
