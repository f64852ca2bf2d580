// Stream capture: what is put into streams becomes a graph.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "sim/driver/event.h"
#include "sim/driver/graph.h"
#include "sim/driver/stream.h"

namespace flexrack::sim {

/// One capture, of one or several streams. Thread-safe.
class Capture : public std::enable_shared_from_this<Capture> {
 public:
  Capture(Ref<Stream> begun_in, Ref<Graph> into, CUstreamCaptureMode with_mode);
  ~Capture();

  const std::uint64_t id;
  const CUstreamCaptureMode mode;
  const std::thread::id thread;
  const Ref<Graph> graph;
  bool is_graph_given = false;                 ///< by the application, which has it already; set when it begins

  /// A node behind what the stream has done in the capture. Throws CUDA_ERROR_STREAM_CAPTURE_INVALIDATED.
  void add(Stream& stream, const WorkPointer& work);
  void add_child(Stream& stream, const Ref<Graph>& child);
  /// The event stands for what the stream has done in the capture.
  void record(Stream& stream, Event& event);
  /// The stream becomes part of the capture, or of what it does from now on depends on the nodes.
  void join(const Ref<Stream>& stream, const std::vector<Ref<GraphNode>>& nodes);
  /// Throws CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, _WRONG_THREAD, _UNJOINED, _INVALIDATED. The streams are free again in
  /// any case but the first two.
  void end(Stream& stream);
  void invalidate() { is_invalid_ = true; }
  /// The stream it was begun in is destroyed.
  void abandon();
  bool is_invalid() const { return is_invalid_.load(); }
  void set_dependencies(Stream& stream, std::vector<Ref<GraphNode>> nodes);
  std::vector<Ref<GraphNode>> dependencies(Stream& stream);

  /// The arrays that cuStreamGetCaptureInfo points to: they stay until the stream is used again.
  struct Reported {
    std::vector<CUgraphNode> nodes;
    std::vector<CUgraphEdgeData> edges;
  };
  const Reported& reported(Stream& stream);

 private:
  struct Member {
    Ref<Stream> stream;
    std::vector<Ref<GraphNode>> before;
    Reported reported;
  };
  Member& member(Stream& stream);
  std::vector<CUgraphNode> handles(const Member& of) const;
  bool is_joined() const;
  void let_go();

  std::mutex lock_;
  const Ref<Stream> origin_;
  std::map<Stream*, Member> members_;
  std::atomic<bool> is_invalid_{false};
};

/// A stream waits for an event that was recorded in a capture.
void join_capture(Stream& stream, const Event::Captured& captured);

/// Calls that may wait for what is captured are not allowed while there are captures, as the calling thread's mode and
/// theirs say. Throws CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, and then those captures are invalid.
void require_unsafe_calls_allowed();

}  // namespace flexrack::sim
