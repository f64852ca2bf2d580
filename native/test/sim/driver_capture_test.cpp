// Graphs that streams are captured into.
#include <algorithm>
#include <atomic>
#include <thread>

#include "driver_graph_rig.h"

using namespace flexrack::test::driver;

TEST_CASE("driver: streams captured") {
  Rig rig;
  Numbers numbers(100), other(100);
  const auto stream = make_stream(), side = make_stream();
  const auto fork = make_event(CU_EVENT_DISABLE_TIMING), join = make_event(CU_EVENT_DISABLE_TIMING);
  CUstreamCaptureStatus status{};
  CU(cuStreamIsCapturing(stream, &status));
  CHECK_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  rig.kernel("add");
  CU(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CHECK_EQ(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
  CU(rig.fill(numbers.address, 1, 100, stream));
  CU(cuEventRecord(fork, stream));
  CU(cuStreamWaitEvent(side, fork, 0));
  CU(cuStreamIsCapturing(side, &status));
  CHECK_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CU(cuMemsetD32Async(other.address, 1, 100, side));
  CU(rig.add(other.address, 5, 100, side));
  CU(rig.add(numbers.address, 3, 100, stream));
  CU(cuEventRecord(join, side));
  CU(cuStreamWaitEvent(stream, join, 0));
  cuuint64_t id = 0, side_id = 0;
  CUgraph graph = nullptr, found = nullptr;
  const CUgraphNode* before = nullptr;
  size_t count = 0;
  CU(cuStreamGetCaptureInfo_v2(stream, &status, &id, &found, &before, &count));
  CHECK_EQ(count, 2);
  CU(cuStreamGetCaptureInfo(side, &status, &side_id));
  CHECK_EQ(id, side_id);
  CU(rig.add(numbers.address, 1, 100, stream));
  CHECK_EQ(cuEventQuery(join), CUDA_ERROR_CAPTURED_EVENT);
  CU(cuStreamEndCapture(stream, &graph));
  CHECK_EQ(graph, found);
  CU(cuStreamIsCapturing(side, &status));
  CHECK_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  CHECK(numbers.are_all(0));   // nothing was done
  CHECK_EQ(nodes_of(graph).size(), 5);
  CHECK_EQ(edge_count(graph), 5);
  const auto exec = instantiate(graph);
  CU(cuGraphLaunch(exec, stream));
  CU(cuStreamSynchronize(stream));
  CHECK(numbers.are_all(5));
  CHECK(other.are_all(6));
  // Captured inside another, it is a node.
  CU(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU(cuGraphLaunch(exec, stream));
  CU(rig.add(numbers.address, 10, 100, stream));
  CUgraph outer = nullptr;
  CU(cuStreamEndCapture(stream, &outer));
  CHECK_EQ(type_of(nodes_of(outer)[0]), CU_GRAPH_NODE_TYPE_GRAPH);
  CUgraph inner = nullptr;
  CU(cuGraphChildGraphNodeGetGraph(nodes_of(outer)[0], &inner));
  CHECK_EQ(nodes_of(inner).size(), 5);
  CHECK_EQ(cuGraphDestroy(inner), CUDA_ERROR_INVALID_VALUE);
  CU(cuGraphLaunch(instantiate(outer), stream));
  CU(cuStreamSynchronize(stream));
  CHECK(numbers.are_all(15));
  CU(cuGraphDestroy(outer));
  CU(cuGraphDestroy(graph));
}

TEST_CASE("driver: captures that go wrong") {
  Rig rig;
  Numbers numbers(10);
  rig.kernel("add");
  const auto stream = make_stream(), side = make_stream(), blocking = make_stream(CU_STREAM_DEFAULT);
  const auto event = make_event(), outside = make_event();
  CUgraph graph = reinterpret_cast<CUgraph>(1);
  CHECK_EQ(cuStreamBeginCapture_v2(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
  // Forked and not joined.
  CU(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU(cuEventRecord(event, stream));
  CU(cuStreamWaitEvent(side, event, 0));
  CU(rig.add(numbers.address, 1, 10, side));
  CHECK_EQ(cuStreamEndCapture(side, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  CHECK_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  CHECK_EQ(graph, nullptr);
  CU(cuStreamSynchronize(side));
  // Waiting for what is captured, and for what is not.
  CU(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU(cuEventRecord(outside, side));
  CHECK_EQ(cuStreamWaitEvent(stream, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  CHECK_EQ(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK_EQ(rig.add(numbers.address, 1, 10, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CUstreamCaptureStatus status{};
  CU(cuStreamIsCapturing(stream, &status));
  CHECK_EQ(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  CHECK_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // The legacy stream would wait for a blocking one.
  CU(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
  CHECK_EQ(cuMemsetD32_v2(numbers.address, 0, 10), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  CHECK_EQ(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // Calls that could wait, by the capture's mode and the thread's.
  CUdeviceptr memory = 0;
  CU(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  std::thread([&] {
    CU(cuCtxSetCurrent(rig.context));
    CU(cuMemAlloc_v2(&memory, 4));
    CHECK_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  auto mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  CU(cuThreadExchangeStreamCaptureMode(&mode));
  CHECK_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  CU(cuMemFree_v2(memory));
  CU(cuThreadExchangeStreamCaptureMode(&mode));
  CHECK_EQ(cuMemAlloc_v2(&memory, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CU(cuMemAlloc_v2(&memory, 4));
  // Two captures that meet.
  CU(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU(cuStreamBeginCapture_v2(side, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU(cuEventRecord(event, side));
  CHECK_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  CHECK_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CHECK_EQ(cuStreamEndCapture(side, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // Destroyed while it is captured.
  CU(cuStreamBeginCapture_v2(side, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CU(cuStreamDestroy_v2(side));
  CU(cuMemFree_v2(memory));
}
