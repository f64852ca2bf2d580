// Graphs and capture through the driver API: what is asked of graphs, what nodes become, what is refused and how.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include "driver.h"

constexpr const char* kSource = R"(
.version 7.5
.target sm_70
.address_size 64
.visible .entry affine(.param .u64 to, .param .u32 factor, .param .u32 plus) {
  .reg .b32 %r<6>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [to]; ld.param.u32 %r1, [factor]; ld.param.u32 %r2, [plus];
  ld.global.u32 %r3, [%d1]; mad.lo.u32 %r4, %r3, %r1, %r2; st.global.u32 [%d1], %r4; ret;
}
)";

struct Device {
  CUcontext context = nullptr;
  CUfunction affine = nullptr;
  CUdeviceptr word = 0;
  CUstream stream = nullptr, other = nullptr;
};

/// affine(word, factor, plus), one thread.
struct Affine {
  Affine(const Device& on, unsigned by, unsigned add) : to(on.word), factor(by), plus(add) {
    as.func = on.affine;
    as.gridDimX = as.gridDimY = as.gridDimZ = as.blockDimX = as.blockDimY = as.blockDimZ = 1;
    as.kernelParams = parameters;
  }
  CUdeviceptr to;
  unsigned factor, plus;
  void* parameters[3] = {&to, &factor, &plus};
  CUDA_KERNEL_NODE_PARAMS as{};
};

void launch(const Device& on, CUstream stream, unsigned factor, unsigned plus) {
  Affine one(on, factor, plus);
  DRIVER(cuLaunchKernel(on.affine, 1, 1, 1, 1, 1, 1, 0, stream, one.parameters, nullptr));
}

unsigned read(const Device& on) {
  unsigned value = 0;
  DRIVER(cuCtxSynchronize());
  DRIVER(cuMemcpyDtoH(&value, on.word, sizeof value));
  return value;
}

CUDA_MEMCPY3D copy_1d(const void* host, CUdeviceptr device, std::size_t size, bool is_in) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = is_in ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  copy.dstMemoryType = is_in ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  (is_in ? copy.dstDevice : copy.srcDevice) = device;
  if (is_in) copy.srcHost = host;
  else copy.dstHost = const_cast<void*>(host);
  copy.WidthInBytes = size;
  copy.Height = copy.Depth = 1;
  return copy;
}

void CUDA_CB add_one(void* data) { ++*static_cast<int*>(data); }

void built_and_requested(const Device& on) {
  CUgraph graph = nullptr;
  DRIVER(cuGraphCreate(&graph, 0));
  unsigned in = 3, out = 0;
  int calls = 0;
  CUgraphNode write, fill, kernel, read_back, host, empty;
  const auto from = copy_1d(&in, on.word, 4, true), to = copy_1d(&out, on.word, 4, false);
  const CUDA_MEMSET_NODE_PARAMS zeros{on.word, 0, 0, 4, 1, 1};
  const CUDA_HOST_NODE_PARAMS call{add_one, &calls};
  DRIVER(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &zeros, on.context));
  DRIVER(cuGraphAddMemcpyNode(&write, graph, &fill, 1, &from, on.context));
  Affine affine(on, 5, 2);
  DRIVER(cuGraphAddKernelNode(&kernel, graph, &write, 1, &affine.as));
  DRIVER(cuGraphAddMemcpyNode(&read_back, graph, nullptr, 0, &to, on.context));
  DRIVER(cuGraphAddDependencies(graph, &kernel, &read_back, nullptr, 1));
  DRIVER(cuGraphAddHostNode(&host, graph, &read_back, 1, &call));
  DRIVER(cuGraphAddEmptyNode(&empty, graph, &host, 1));
  affine.factor = 1000;
  std::size_t nodes = 0, edges = 0, roots = 1;
  CUgraphNode root = nullptr, before[3] = {}, after[3] = {};
  DRIVER(cuGraphGetNodes(graph, nullptr, &nodes));
  DRIVER(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  DRIVER(cuGraphGetRootNodes(graph, &root, &roots));
  std::size_t befores = 3, afters = 3;
  CUgraphEdgeData data[3] = {};
  DRIVER(cuGraphNodeGetDependencies(kernel, before, data, &befores));
  DRIVER(cuGraphNodeGetDependentNodes(kernel, after, data, &afters));
  std::printf("%zu nodes, %zu edges, %zu roots\n", nodes, edges, roots);
  program::expect(root == fill && befores == 1 && before[0] == write && before[1] == nullptr && afters == 1 &&
                      after[0] == read_back,
                  "a graph says what it is made of");
  program::expect_error(cuGraphAddDependencies(graph, &kernel, &read_back, nullptr, 1), CUDA_ERROR_INVALID_VALUE,
                        "an edge that is there already");
  CUDA_KERNEL_NODE_PARAMS reported{};
  DRIVER(cuGraphKernelNodeGetParams(kernel, &reported));
  program::expect(
      reported.func == on.affine && *static_cast<unsigned*>(reported.kernelParams[1]) == 5 && reported.blockDimX == 1,
      "a kernel's node knows its parameters as they were");
  CUDA_MEMCPY3D reported_copy{};
  DRIVER(cuGraphMemcpyNodeGetParams(write, &reported_copy));
  CUDA_MEMSET_NODE_PARAMS reported_fill{};
  DRIVER(cuGraphMemsetNodeGetParams(fill, &reported_fill));
  CUDA_HOST_NODE_PARAMS reported_call{};
  DRIVER(cuGraphHostNodeGetParams(host, &reported_call));
  program::expect(reported_copy.srcHost == &in && reported_copy.WidthInBytes == 4 && reported_fill.dst == on.word &&
                      reported_call.fn == add_one && reported_call.userData == &calls,
                  "and so do the others");
  program::expect_error(cuGraphHostNodeGetParams(kernel, &reported_call), CUDA_ERROR_INVALID_VALUE,
                        "a node of another kind");

  CUgraphExec exec = nullptr;
  DRIVER(cuGraphInstantiate(&exec, graph, 0));
  DRIVER(cuGraphUpload(exec, on.stream));
  DRIVER(cuGraphLaunch(exec, on.stream));
  DRIVER(cuStreamSynchronize(on.stream));
  program::expect(out == 17 && calls == 1, "a graph that was built does its work");
  in = 4;
  affine.factor = 6;
  DRIVER(cuGraphExecKernelNodeSetParams(exec, kernel, &affine.as));
  DRIVER(cuGraphLaunch(exec, on.stream));
  DRIVER(cuStreamSynchronize(on.stream));
  program::expect(out == 26 && calls == 2, "other parameters, other bytes");
  int others = 0;
  const CUDA_HOST_NODE_PARAMS other_call{add_one, &others};
  DRIVER(cuGraphExecHostNodeSetParams(exec, host, &other_call));
  const CUDA_MEMSET_NODE_PARAMS nines{on.word, 0, 9, 4, 1, 1};
  DRIVER(cuGraphExecMemsetNodeSetParams(exec, fill, &nines, on.context));
  DRIVER(cuGraphNodeSetEnabled(exec, write, 0));
  unsigned is_enabled = 1;
  DRIVER(cuGraphNodeGetEnabled(exec, write, &is_enabled));
  DRIVER(cuGraphLaunch(exec, on.stream));
  DRIVER(cuStreamSynchronize(on.stream));
  program::expect(out == 56 && calls == 2 && others == 1 && is_enabled == 0,
                  "another function, another value, a copy left out");
  program::expect_error(cuGraphNodeSetEnabled(exec, host, 0), CUDA_ERROR_INVALID_VALUE,
                        "a host function cannot be disabled");
  program::expect_error(cuGraphExecMemsetNodeSetParams(exec, kernel, &nines, on.context), CUDA_ERROR_INVALID_VALUE,
                        "a kernel does not become a memset");

  // The same shape with other works, and another shape.
  CUgraph clone = nullptr;
  DRIVER(cuGraphClone(&clone, graph));
  CUgraphNode twin = nullptr;
  DRIVER(cuGraphNodeFindInClone(&twin, kernel, clone));
  affine.factor = 7;
  DRIVER(cuGraphKernelNodeSetParams(twin, &affine.as));
  CUgraphExecUpdateResultInfo info{};
  DRIVER(cuGraphExecUpdate(exec, clone, &info));
  DRIVER(cuGraphLaunch(exec, on.stream));
  DRIVER(cuStreamSynchronize(on.stream));
  program::expect(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS && out == 2 && calls == 3,
                  "updated from another graph, and what was left out still is");
  CUgraphNode more = nullptr;
  DRIVER(cuGraphAddEmptyNode(&more, clone, nullptr, 0));
  const auto refused = cuGraphExecUpdate(exec, clone, &info);
  std::printf("another shape: %s, %d\n", program::name(refused), static_cast<int>(info.result));
  program::expect(
      refused == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE && info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
      "not updated from a graph of another shape");
  DRIVER(cuGraphDestroyNode(more));
  DRIVER(cuGraphExecUpdate(exec, clone, &info));

  // Circles are found when the graph is instantiated.
  DRIVER(cuGraphAddDependencies(graph, &empty, &fill, nullptr, 1));
  CUgraphExec none = nullptr;
  program::expect_error(cuGraphInstantiate(&none, graph, 0), CUDA_ERROR_INVALID_VALUE, "a circle");
  DRIVER(cuGraphRemoveDependencies(graph, &empty, &fill, nullptr, 1));
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  how.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  how.hUploadStream = on.stream;
  DRIVER(cuGraphInstantiateWithParams(&none, graph, &how));
  cuuint64_t flags = 99;
  DRIVER(cuGraphExecGetFlags(none, &flags));
  program::expect(how.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS && flags == 0, "instantiated with parameters");
  DRIVER(cuGraphExecDestroy(none));
  program::expect_error(cuGraphInstantiate(&none, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
                        CUDA_ERROR_NOT_SUPPORTED, "a graph for kernels to launch");
  DRIVER(cuGraphExecDestroy(exec));
  DRIVER(cuGraphDestroy(clone));
  DRIVER(cuGraphDestroy(graph));
  program::expect_error(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE, "a graph that is gone");
}

void children_events_and_words(const Device& on) {
  CUevent event, recorded;
  DRIVER(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  DRIVER(cuEventCreate(&recorded, CU_EVENT_DISABLE_TIMING));
  CUgraph child, graph;
  DRIVER(cuGraphCreate(&child, 0));
  DRIVER(cuGraphCreate(&graph, 0));
  Affine twice(on, 2, 0), plus(on, 1, 1);
  CUgraphNode a, b, c, inside, waits, records, words;
  DRIVER(cuGraphAddKernelNode(&a, child, nullptr, 0, &twice.as));
  DRIVER(cuGraphAddKernelNode(&b, child, &a, 1, &plus.as));
  CUstreamBatchMemOpParams set{};
  set.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  set.writeValue.address = on.word;
  set.writeValue.value = 10;
  CUDA_BATCH_MEM_OP_NODE_PARAMS operations{on.context, 1, &set, 0};
  DRIVER(cuGraphAddEventWaitNode(&waits, graph, nullptr, 0, event));
  DRIVER(cuGraphAddBatchMemOpNode(&words, graph, &waits, 1, &operations));
  DRIVER(cuGraphAddChildGraphNode(&inside, graph, &words, 1, child));
  DRIVER(cuGraphAddChildGraphNode(&c, graph, &inside, 1, child));
  DRIVER(cuGraphAddEventRecordNode(&records, graph, &c, 1, recorded));
  CUevent reported = nullptr;
  DRIVER(cuGraphEventRecordNodeGetEvent(records, &reported));
  CUgraph embedded = nullptr;
  DRIVER(cuGraphChildGraphNodeGetGraph(inside, &embedded));
  std::size_t count = 0;
  DRIVER(cuGraphGetNodes(embedded, nullptr, &count));
  program::expect(reported == recorded && embedded != child && count == 2, "a child graph is a copy");
  CUgraphExec exec = nullptr;
  DRIVER(cuGraphInstantiate(&exec, graph, 0));
  launch(on, on.other, 0, 77);
  DRIVER(cuEventRecord(event, on.other));
  DRIVER(cuGraphLaunch(exec, on.stream));
  DRIVER(cuStreamWaitEvent(on.other, recorded, 0));
  launch(on, on.other, 3, 0);
  program::expect(read(on) == ((10 * 2 + 1) * 2 + 1) * 3, "events, words and graphs in graphs, in their order");
  program::expect(cuEventQuery(recorded) == CUDA_SUCCESS, "a graph has recorded its event");
  twice.factor = 4;
  CUgraphNode first = nullptr;
  count = 1;
  DRIVER(cuGraphGetRootNodes(child, &first, &count));
  DRIVER(cuGraphKernelNodeSetParams(first, &twice.as));
  DRIVER(cuGraphExecChildGraphNodeSetParams(exec, c, child));
  DRIVER(cuGraphLaunch(exec, on.stream));
  program::expect(read(on) == (10 * 2 + 1) * 4 + 1, "one of the children does something else");
  DRIVER(cuGraphExecDestroy(exec));
  DRIVER(cuGraphDestroy(graph));
  DRIVER(cuGraphDestroy(child));
  DRIVER(cuEventDestroy(event));
  DRIVER(cuEventDestroy(recorded));
}

void captured(const Device& on) {
  CUgraph graph = nullptr;
  CUevent fork, join;
  DRIVER(cuEventCreate(&fork, 0));
  DRIVER(cuEventCreate(&join, 0));
  DRIVER(cuMemsetD32(on.word, 1, 1));
  int calls = 0;
  DRIVER(cuStreamBeginCapture(on.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  launch(on, on.stream, 2, 0);
  DRIVER(cuEventRecord(fork, on.stream));
  DRIVER(cuStreamWaitEvent(on.other, fork, 0));
  launch(on, on.other, 1, 3);
  DRIVER(cuLaunchHostFunc(on.other, add_one, &calls));
  DRIVER(cuEventRecord(join, on.other));
  DRIVER(cuStreamWaitEvent(on.stream, join, 0));
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0, id_of_other = 0;
  CUgraph under_way = nullptr;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  DRIVER(cuStreamGetCaptureInfo(on.other, &status, &id_of_other, nullptr, nullptr, nullptr, nullptr));
  DRIVER(cuStreamGetCaptureInfo(on.stream, &status, &id, &under_way, &nodes, &edges, &count));
  std::printf("capturing behind %zu nodes\n", count);
  program::expect(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id == id_of_other && under_way,
                  "two streams are one capture");
  CUgraphNode extra = nullptr;
  DRIVER(cuGraphAddEmptyNode(&extra, under_way, nodes, count));
  DRIVER(cuStreamUpdateCaptureDependencies(on.stream, &extra, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  launch(on, on.stream, 10, 0);
  program::expect_error(cuStreamQuery(on.stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                        "asking how far a captured stream has got");
  program::expect_error(cuStreamEndCapture(on.stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                        "the end of that");
  DRIVER(cuStreamIsCapturing(on.other, &status));
  program::expect(status == CU_STREAM_CAPTURE_STATUS_NONE, "both are free again");

  DRIVER(cuGraphCreate(&graph, 0));
  CUgraphNode begin = nullptr;
  DRIVER(cuGraphAddEmptyNode(&begin, graph, nullptr, 0));
  CUgraph same = nullptr;
  DRIVER(cuStreamBeginCaptureToGraph(on.stream, graph, &begin, nullptr, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
  launch(on, on.stream, 2, 0);
  DRIVER(cuEventRecord(fork, on.stream));
  DRIVER(cuStreamWaitEvent(on.other, fork, 0));
  launch(on, on.other, 1, 3);
  DRIVER(cuStreamWriteValue32(on.other, on.word + 4, 8, 0));
  DRIVER(cuEventRecord(join, on.other));
  DRIVER(cuStreamWaitEvent(on.stream, join, 0));
  launch(on, on.stream, 10, 0);
  DRIVER(cuStreamEndCapture(on.stream, &same));
  DRIVER(cuGraphGetNodes(graph, nullptr, &count));
  program::expect(same == graph && count == 5, "captured into a graph that was there");
  CUgraphExec exec = nullptr;
  DRIVER(cuGraphInstantiate(&exec, graph, 0));
  DRIVER(cuGraphLaunch(exec, on.stream));
  unsigned written = 0;
  DRIVER(cuStreamSynchronize(on.stream));
  DRIVER(cuMemcpyDtoH(&written, on.word + 4, 4));
  program::expect(read(on) == (1 * 2 + 3) * 10 && written == 8, "and launched");

  // A launch that is captured is a graph in a graph.
  CUgraph outer = nullptr;
  DRIVER(cuStreamBeginCapture(on.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  DRIVER(cuMemsetD32Async(on.word, 7, 1, on.stream));
  DRIVER(cuGraphLaunch(exec, on.stream));
  DRIVER(cuStreamEndCapture(on.stream, &outer));
  CUgraphExec both = nullptr;
  DRIVER(cuGraphInstantiate(&both, outer, 0));
  DRIVER(cuGraphLaunch(both, on.stream));
  DRIVER(cuGraphLaunch(both, on.other));
  program::expect(read(on) == (7 * 2 + 3) * 10, "a launch was captured");
  DRIVER(cuGraphExecDestroy(both));
  DRIVER(cuGraphExecDestroy(exec));
  DRIVER(cuGraphDestroy(outer));
  DRIVER(cuGraphDestroy(graph));
  DRIVER(cuEventDestroy(fork));
  DRIVER(cuEventDestroy(join));
}

void refused(const Device& on) {
  CUgraph graph = nullptr;
  CUevent event, outside;
  DRIVER(cuEventCreate(&event, 0));
  DRIVER(cuEventCreate(&outside, 0));
  DRIVER(cuEventRecord(outside, on.other));
  program::expect_error(cuStreamEndCapture(on.stream, &graph), CUDA_ERROR_ILLEGAL_STATE,
                        "the end of what was not begun");
  program::expect_error(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
                        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "capturing the legacy stream");

  DRIVER(cuStreamBeginCapture(on.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  program::expect_error(cuStreamBeginCapture(on.stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE,
                        "capturing twice");
  program::expect_error(cuStreamWaitEvent(on.stream, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                        "waiting for what is outside");
  launch(on, on.stream, 1, 1);
  DRIVER(cuEventRecord(event, on.stream));
  program::expect_error(cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT, "asking a captured event");
  program::expect_error(cuEventSynchronize(event), CUDA_ERROR_CAPTURED_EVENT, "waiting for a captured event");
  DRIVER(cuStreamWaitEvent(on.other, event, 0));
  launch(on, on.other, 1, 1);
  program::expect_error(cuStreamEndCapture(on.other, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                        "the end in another stream");
  CUresult elsewhere{};
  std::thread([&] {
    elsewhere =
        cuCtxSetCurrent(on.context) == CUDA_SUCCESS ? cuStreamEndCapture(on.stream, &graph) : CUDA_ERROR_UNKNOWN;
  }).join();
  program::expect_error(elsewhere, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "the end in another thread");
  program::expect_error(cuStreamEndCapture(on.stream, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                        "the end without the other stream");
  program::expect_error(cuStreamWaitEvent(on.other, event, 0), CUDA_ERROR_CAPTURED_EVENT,
                        "waiting for the event of a capture that is over");

  DRIVER(cuStreamBeginCapture(on.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUdeviceptr memory = 0;
  program::expect_error(cuMemAlloc(&memory, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                        "memory while everything is captured");
  program::expect_error(cuStreamEndCapture(on.stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "and its end");
  DRIVER(cuStreamBeginCapture(on.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  DRIVER(cuThreadExchangeStreamCaptureMode(&mode));
  DRIVER(cuMemAlloc(&memory, 4));
  DRIVER(cuThreadExchangeStreamCaptureMode(&mode));
  program::expect(mode == CU_STREAM_CAPTURE_MODE_RELAXED, "a thread that may");
  DRIVER(cuStreamEndCapture(on.stream, &graph));
  DRIVER(cuGraphDestroy(graph));
  DRIVER(cuMemFree(memory));

  DRIVER(cuStreamBeginCapture(on.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  program::expect_error(cuMemsetD32(on.word, 0, 1), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                        "the legacy stream beside a captured one");
  program::expect_error(cuStreamEndCapture(on.stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                        "and the end of that");
  DRIVER(cuStreamBeginCapture(on.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  program::expect_error(cuStreamAddCallback(
                            on.stream, [](CUstream, CUresult, void*) {}, nullptr, 0),
                        CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a callback in a capture");
  program::expect_error(cuStreamEndCapture(on.stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "and its end");

  DRIVER(cuStreamBeginCapture(on.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  DRIVER(cuStreamBeginCapture(on.other, CU_STREAM_CAPTURE_MODE_RELAXED));
  launch(on, on.stream, 1, 1);
  DRIVER(cuEventRecord(event, on.stream));
  program::expect_error(cuStreamWaitEvent(on.other, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE, "two captures in one");
  program::expect_error(cuStreamEndCapture(on.stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "neither");
  program::expect_error(cuStreamEndCapture(on.other, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "nor");
  DRIVER(cuEventRecord(event, on.stream));
  DRIVER(cuEventSynchronize(event));
  DRIVER(cuEventDestroy(event));
  DRIVER(cuEventDestroy(outside));
}

cuuint64_t in_use(CUgraphMem_attribute which) {
  cuuint64_t value = 0;
  DRIVER(cuDeviceGetGraphMemAttribute(0, which, &value));
  return value;
}

void with_memory(const Device& on) {
  constexpr std::size_t kBytes = 1 << 20;
  CUgraph graph = nullptr;
  DRIVER(cuGraphCreate(&graph, 0));
  CUDA_MEM_ALLOC_NODE_PARAMS wish{};
  wish.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wish.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  wish.bytesize = kBytes;
  CUgraphNode allocated, filled, freed;
  DRIVER(cuGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &wish));
  const CUDA_MEMSET_NODE_PARAMS fives{wish.dptr, 0, 5, 4, kBytes / 4, 1};
  DRIVER(cuGraphAddMemsetNode(&filled, graph, &allocated, 1, &fives, on.context));
  CUDA_MEM_ALLOC_NODE_PARAMS reported{};
  DRIVER(cuGraphMemAllocNodeGetParams(allocated, &reported));
  program::expect(wish.dptr != 0 && reported.dptr == wish.dptr && reported.bytesize == kBytes,
                  "a node's memory has its address at once");
  CUgraphExec exec = nullptr;
  DRIVER(cuGraphInstantiate(&exec, graph, 0));
  DRIVER(cuGraphLaunch(exec, on.stream));
  unsigned first = 0, last = 0;
  DRIVER(cuMemcpyDtoHAsync(&first, wish.dptr, 4, on.stream));
  DRIVER(cuMemcpyDtoHAsync(&last, wish.dptr + kBytes - 4, 4, on.stream));
  DRIVER(cuStreamSynchronize(on.stream));
  program::expect(first == 5 && last == 5 && in_use(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) >= kBytes,
                  "memory that a launch leaves behind");
  program::expect_error(cuGraphLaunch(exec, on.stream), CUDA_ERROR_INVALID_VALUE,
                        "launched again before that was freed");
  DRIVER(cuMemFreeAsync(wish.dptr, on.stream));
  DRIVER(cuGraphLaunch(exec, on.stream));
  DRIVER(cuStreamSynchronize(on.stream));
  DRIVER(cuMemFree(wish.dptr));
  program::expect(in_use(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0, "freed twice, launched twice");
  DRIVER(cuGraphExecDestroy(exec));
  DRIVER(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
  for (int i = 0; i < 3; ++i) DRIVER(cuGraphLaunch(exec, on.stream));
  DRIVER(cuStreamSynchronize(on.stream));
  DRIVER(cuMemFreeAsync(wish.dptr, on.stream));
  DRIVER(cuStreamSynchronize(on.stream));
  DRIVER(cuGraphExecDestroy(exec));
  DRIVER(cuGraphAddMemFreeNode(&freed, graph, &filled, 1, wish.dptr));
  program::expect_error(cuGraphDestroyNode(freed), CUDA_ERROR_NOT_SUPPORTED, "such a node stays");
  DRIVER(cuGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) DRIVER(cuGraphLaunch(exec, on.stream));
  DRIVER(cuStreamSynchronize(on.stream));
  DRIVER(cuGraphExecDestroy(exec));
  DRIVER(cuGraphDestroy(graph));
  DRIVER(cuDeviceGraphMemTrim(0));
  program::expect(in_use(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0, "freed by the graph itself");
}

void kept_objects(const Device& on) {
  static std::atomic<int> destroyed{0};
  CUgraph graph = nullptr;
  DRIVER(cuGraphCreate(&graph, 0));
  CUuserObject object = nullptr;
  DRIVER(cuUserObjectCreate(&object, nullptr, [](void*) { ++destroyed; }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  DRIVER(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  Affine one(on, 1, 0);
  CUgraphNode node = nullptr;
  DRIVER(cuGraphAddKernelNode(&node, graph, nullptr, 0, &one.as));
  CUkernelNodeAttrValue value{}, reported{};
  value.priority = -1;
  DRIVER(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  DRIVER(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &reported));
  program::expect(reported.priority == -1, "an attribute of a kernel");
  CUgraphExec exec = nullptr;
  DRIVER(cuGraphInstantiate(&exec, graph, 0));
  DRIVER(cuGraphLaunch(exec, on.stream));
  char name[] = "/tmp/cuda-graph-XXXXXX";
  close(mkstemp(name));
  DRIVER(cuGraphDebugDotPrint(graph, name, 0));
  auto* const file = std::fopen(name, "r");
  char text[4096] = {};
  program::expect(
      file && std::fread(text, 1, sizeof text - 1, file) > 0 && std::string(text).find("affine") != std::string::npos,
      "a graph as text");
  if (file) std::fclose(file);
  unlink(name);
  DRIVER(cuGraphDestroy(graph));
  DRIVER(cuStreamSynchronize(on.stream));
  program::expect(destroyed == 0, "an object is there as long as what was instantiated");
  DRIVER(cuGraphExecDestroy(exec));
  for (int i = 0; i < 2000 && destroyed == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  program::expect(destroyed == 1, "and gone with it");
}

int main() {
  Device on;
  CUmodule module = nullptr;
  DRIVER(cuInit(0));
  DRIVER(cuDevicePrimaryCtxRetain(&on.context, 0));
  DRIVER(cuCtxSetCurrent(on.context));
  DRIVER(cuModuleLoadData(&module, kSource));
  DRIVER(cuModuleGetFunction(&on.affine, module, "affine"));
  DRIVER(cuMemAlloc(&on.word, 8));
  DRIVER(cuStreamCreate(&on.stream, 0));
  DRIVER(cuStreamCreate(&on.other, 0));
  built_and_requested(on);
  children_events_and_words(on);
  captured(on);
  refused(on);
  with_memory(on);
  kept_objects(on);
  DRIVER(cuStreamDestroy(on.stream));
  DRIVER(cuStreamDestroy(on.other));
  DRIVER(cuMemFree(on.word));
  DRIVER(cuModuleUnload(module));
  DRIVER(cuDevicePrimaryCtxRelease(0));
  return program::verdict();
}
