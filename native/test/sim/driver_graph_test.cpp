// Graphs, built, updated, cloned and launched.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "driver_graph_rig.h"

using namespace flexrack::test::driver;

TEST_CASE("driver: a graph built from nodes of every type") {
  Rig rig;
  Numbers numbers(1000), copy(1000);
  const auto graph = make_graph();
  CUgraphNode set = nullptr, kernel = nullptr, copied = nullptr, host = nullptr, empty = nullptr, record = nullptr,
              values = nullptr;
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = numbers.address;
  fill.elementSize = 4;
  fill.width = 1000;
  fill.height = 1;
  fill.value = 5;
  CU(cuGraphAddMemsetNode(&set, graph, nullptr, 0, &fill, rig.context));
  KernelNode add(rig, "add", numbers.address, 2, 1000);
  CU(cuGraphAddKernelNode_v2(&kernel, graph, &set, 1, &add.as));
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = numbers.address;
  box.dstDevice = copy.address;
  box.WidthInBytes = 4000;
  box.Height = box.Depth = 1;
  CU(cuGraphAddMemcpyNode(&copied, graph, &kernel, 1, &box, rig.context));
  int calls = 0;
  CUDA_HOST_NODE_PARAMS call{};
  call.fn = [](void* data) { ++*static_cast<int*>(data); };
  call.userData = &calls;
  CU(cuGraphAddHostNode(&host, graph, &copied, 1, &call));
  CU(cuGraphAddEmptyNode(&empty, graph, &host, 1));
  const auto event = make_event();
  CU(cuGraphAddEventRecordNode(&record, graph, &empty, 1, event));
  CUstreamBatchMemOpParams write{};
  write.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  write.writeValue.address = copy.address + 4;
  write.writeValue.value = 77;
  CUDA_BATCH_MEM_OP_NODE_PARAMS batch{rig.context, 1, &write, 0};
  CU(cuGraphAddBatchMemOpNode(&values, graph, &record, 1, &batch));
  CHECK_EQ(nodes_of(graph).size(), 7);
  CHECK_EQ(edge_count(graph), 6);
  CHECK_EQ(type_of(values), CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  CHECK_EQ(cuGraphAddEmptyNode(&empty, graph, nullptr, 1), CUDA_ERROR_INVALID_VALUE);

  const auto exec = instantiate(graph);
  const auto stream = make_stream();
  for (int i = 0; i < 3; ++i) CU(cuGraphLaunch(exec, stream));
  CU(cuStreamSynchronize(stream));
  CU(cuEventQuery(event));
  CHECK_EQ(calls, 3);
  auto found = copy.read();
  CHECK_EQ(found[0], 7);
  CHECK_EQ(found[1], 77);
  CHECK_EQ(found[999], 7);

  // The graph that runs is a copy: changing the first changes nothing; its own nodes can be changed.
  fill.value = 100;
  CU(cuGraphMemsetNodeSetParams(set, &fill));
  CU(cuGraphLaunch(exec, stream));
  CU(cuStreamSynchronize(stream));
  CHECK_EQ(copy.read()[0], 7);
  CU(cuGraphExecMemsetNodeSetParams(exec, set, &fill, rig.context));
  add.value = 11;
  CU(cuGraphExecKernelNodeSetParams_v2(exec, kernel, &add.as));
  CU(cuGraphLaunch(exec, stream));
  CU(cuStreamSynchronize(stream));
  CHECK_EQ(copy.read()[0], 111);
  CU(cuGraphNodeSetEnabled(exec, kernel, 0));
  unsigned is_enabled = 9;
  CU(cuGraphNodeGetEnabled(exec, kernel, &is_enabled));
  CHECK_EQ(is_enabled, 0);
  CHECK_EQ(cuGraphNodeSetEnabled(exec, host, 0), CUDA_ERROR_INVALID_VALUE);
  CU(cuGraphLaunch(exec, stream));
  CU(cuStreamSynchronize(stream));
  CHECK_EQ(copy.read()[0], 100);

  // What is told is what was set.
  CUDA_KERNEL_NODE_PARAMS reported{};
  CU(cuGraphKernelNodeGetParams_v2(kernel, &reported));
  CHECK_EQ(reported.func, rig.kernel("add"));
  CHECK_EQ(reported.gridDimX, 8);
  CHECK_EQ(*static_cast<unsigned*>(reported.kernelParams[1]), 2);
  CHECK_EQ(cuGraphKernelNodeGetParams_v2(set, &reported), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D reported_box{};
  CU(cuGraphMemcpyNodeGetParams(copied, &reported_box));
  CHECK_EQ(reported_box.dstDevice, copy.address);
  CUevent reported_event = nullptr;
  CU(cuGraphEventRecordNodeGetEvent(record, &reported_event));
  CHECK_EQ(reported_event, event);

  // Taken apart.
  CU(cuGraphDestroyNode(host));
  CHECK_EQ(edge_count(graph), 4);
  CHECK_EQ(cuGraphNodeGetType(host, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUgraphNode from[] = {copied}, to[] = {empty};
  CU(cuGraphAddDependencies(graph, from, to, 1));
  CHECK_EQ(cuGraphAddDependencies(graph, from, to, 1), CUDA_ERROR_INVALID_VALUE);
  CU(cuGraphAddDependencies(graph, to, &set, 1));
  CUgraphExec circle = nullptr;
  CHECK_EQ(cuGraphInstantiateWithFlags(&circle, graph, 0), CUDA_ERROR_INVALID_VALUE);
  CU(cuGraphRemoveDependencies(graph, to, &set, 1));
  CU(cuGraphExecDestroy(exec));
  CU(cuGraphDestroy(graph));
  CHECK_EQ(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(cuGraphDestroyNode(set), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("driver: branches of a graph run at the same time, launches of one graph one after the other") {
  Rig rig;
  Numbers flags(2);
  const auto graph = make_graph();
  CUdeviceptr first = flags.address, second = flags.address + 4;
  void* one[] = {&first, &second};
  void* other[] = {&second, &first};
  CUDA_KERNEL_NODE_PARAMS as{};
  as.func = rig.kernel("meet");
  as.gridDimX = as.gridDimY = as.gridDimZ = as.blockDimX = as.blockDimY = as.blockDimZ = 1;
  as.kernelParams = one;
  CUgraphNode nodes[2] = {}, join = nullptr;
  CU(cuGraphAddKernelNode_v2(&nodes[0], graph, nullptr, 0, &as));
  as.kernelParams = other;
  CU(cuGraphAddKernelNode_v2(&nodes[1], graph, nullptr, 0, &as));
  CUDA_MEMSET_NODE_PARAMS reset{flags.address, 0, 0, 4, 2, 1};
  CU(cuGraphAddMemsetNode(&join, graph, nodes, 2, &reset, rig.context));
  const auto exec = instantiate(graph);
  const auto stream = make_stream(), another = make_stream();
  for (int i = 0; i < 10; ++i) CU(cuGraphLaunch(exec, i % 2 ? stream : another));
  CU(cuCtxSynchronize());
  CHECK(flags.are_all(0));
}

TEST_CASE("driver: a graph is updated from another of its shape") {
  Rig rig;
  Numbers numbers(100);
  const auto stream = make_stream();
  const auto captured = [&](unsigned value, bool has_more) {
    CUgraph graph = nullptr;
    CU(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemsetD32Async(numbers.address, value, 100, stream));
    CU(rig.add(numbers.address, value, 100, stream));
    if (has_more) CU(rig.add(numbers.address, value, 100, stream));
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
  };
  rig.kernel("add");
  const auto first = captured(1, false), second = captured(10, false), longer = captured(1, true);
  const auto exec = instantiate(first);
  CUgraphExecUpdateResultInfo info{};
  CU(cuGraphExecUpdate_v2(exec, second, &info));
  CHECK_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  CU(cuGraphLaunch(exec, stream));
  CU(cuStreamSynchronize(stream));
  CHECK(numbers.are_all(20));
  CHECK_EQ(cuGraphExecUpdate_v2(exec, longer, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  CHECK_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  KernelNode other(rig, "add", numbers.address, 7, 100);
  CU(cuGraphExecKernelNodeSetParams_v2(exec, nodes_of(second)[1], &other.as));
  CU(cuGraphExecKernelNodeSetParams_v2(exec, nodes_of(first)[1], &other.as));
  CHECK_EQ(cuGraphExecKernelNodeSetParams_v2(exec, nodes_of(longer)[1], &other.as), CUDA_ERROR_INVALID_VALUE);
  CU(cuGraphLaunch(exec, stream));
  CU(cuStreamSynchronize(stream));
  CHECK(numbers.are_all(17));
}

TEST_CASE("driver: memory of graphs") {
  Rig rig;
  rig.kernel("add");
  Numbers result(100);
  size_t before = 0, now = 0, total = 0;
  CU(cuMemGetInfo_v2(&before, &total));
  const auto stream = make_stream();
  CUdeviceptr memory = 0;
  CU(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU(cuMemAllocAsync(&memory, 400, stream));
  CU(cuMemsetD32Async(memory, 4, 100, stream));
  CU(rig.add(memory, 4, 100, stream));
  CU(cuMemcpyDtoDAsync_v2(result.address, memory, 400, stream));
  CU(cuMemFreeAsync(memory, stream));
  CUgraph graph = nullptr;
  CU(cuStreamEndCapture(stream, &graph));
  CHECK_EQ(type_of(nodes_of(graph)[0]), CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  CU(cuMemGetInfo_v2(&now, &total));
  CHECK_EQ(now, before);
  const auto exec = instantiate(graph);
  for (int i = 0; i < 3; ++i) CU(cuGraphLaunch(exec, stream));
  CU(cuStreamSynchronize(stream));
  CHECK(result.are_all(8));
  CU(cuMemGetInfo_v2(&now, &total));
  CHECK_EQ(now, before);
  CHECK_EQ(cuMemFree_v2(memory), CUDA_ERROR_INVALID_VALUE);
  // Left by one graph, freed outside of it.
  const auto leaves = make_graph();
  CUDA_MEM_ALLOC_NODE_PARAMS as{};
  as.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  as.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  as.bytesize = 1000;
  CUgraphNode node = nullptr;
  CU(cuGraphAddMemAllocNode(&node, leaves, nullptr, 0, &as));
  const auto allocates = instantiate(leaves);
  CU(cuGraphLaunch(allocates, stream));
  CU(rig.fill(as.dptr, 3, 250, stream));
  CU(cuStreamSynchronize(stream));
  CU(cuMemGetInfo_v2(&now, &total));
  CHECK_EQ(now, before - 1024);
  CHECK_EQ(cuGraphLaunch(allocates, stream), CUDA_ERROR_INVALID_VALUE);
  CU(cuMemFreeAsync(as.dptr, stream));
  CU(cuGraphLaunch(allocates, stream));
  CU(cuStreamSynchronize(stream));
  CU(cuGraphExecDestroy(allocates));
  CU(cuGraphDestroy(leaves));
  CU(cuMemFree_v2(as.dptr));
  CU(cuMemGetInfo_v2(&now, &total));
  CHECK_EQ(now, before);
}

TEST_CASE("driver: clones, and what graphs look like") {
  Rig rig;
  Numbers numbers(10);
  const auto graph = make_graph();
  KernelNode add(rig, "add", numbers.address, 2, 10);
  CUgraphNode first = nullptr, second = nullptr, twin = nullptr;
  CU(cuGraphAddKernelNode_v2(&first, graph, nullptr, 0, &add.as));
  CU(cuGraphAddEmptyNode(&second, graph, &first, 1));
  CUgraph clone = nullptr;
  CU(cuGraphClone(&clone, graph));
  CU(cuGraphNodeFindInClone(&twin, second, clone));
  CHECK_NE(twin, second);
  CHECK_EQ(cuGraphNodeFindInClone(&twin, twin, graph), CUDA_ERROR_INVALID_VALUE);
  size_t count = 1;
  CUgraphNode before[3] = {};
  CU(cuGraphNodeGetDependencies(second, before, &count));
  CHECK_EQ(before[0], first);
  count = 3;
  CU(cuGraphNodeGetDependentNodes(first, before, &count));
  CHECK_EQ(count, 1);
  CHECK_EQ(before[0], second);
  CHECK_EQ(before[1], nullptr);
  count = 2;
  CU(cuGraphGetRootNodes(graph, before, &count));
  CHECK_EQ(count, 1);
  CHECK_EQ(before[0], first);
  CUlaunchAttributeValue value{}, reported{};
  value.priority = -3;
  CU(cuGraphKernelNodeSetAttribute(first, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  CU(cuGraphKernelNodeGetAttribute(first, CU_LAUNCH_ATTRIBUTE_PRIORITY, &reported));
  CHECK_EQ(reported.priority, -3);
  char path[] = "/tmp/flexrack-graph-XXXXXX";
  const auto file = mkstemp(path);
  REQUIRE_GE(file, 0);
  close(file);
  CU(cuGraphDebugDotPrint(graph, path, 0));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  unlink(path);
  CHECK_EQ(text.str().substr(0, 7), "digraph");
  CHECK_NE(text.str().find("KERNEL"), std::string::npos);
  CHECK_NE(text.str().find("add"), std::string::npos);
}

TEST_CASE("driver: user objects live as long as graphs need them") {
  const Rig rig;
  std::atomic<int> destroyed{0};
  const auto graph = make_graph();
  CUuserObject object = nullptr;
  CU(cuUserObjectCreate(
      &object, &destroyed, [](void* data) { ++*static_cast<std::atomic<int>*>(data); }, 1,
      CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  CU(cuGraphRetainUserObject(graph, object, 1, 0));
  CU(cuUserObjectRelease(object, 1));
  const auto exec = instantiate(graph);
  CU(cuGraphDestroy(graph));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_EQ(destroyed, 0);
  CU(cuGraphExecDestroy(exec));
  for (int i = 0; i < 200 && destroyed == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK_EQ(destroyed, 1);
  CHECK_EQ(cuUserObjectRelease(object, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("driver: what a launch uses is there until it is over, though nobody names it any more") {
  const Rig rig;
  struct Shared {
    std::atomic<int> destroyed{0};
    std::atomic<bool> may_end{false}, has_ended{false};
  } shared;
  const auto graph = make_graph();
  CUuserObject object = nullptr;
  CU(cuUserObjectCreate(
      &object, &shared, [](void* data) { ++static_cast<Shared*>(data)->destroyed; }, 1,
      CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  CU(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  CUDA_HOST_NODE_PARAMS waits{[](void* data) {
                                auto& of = *static_cast<Shared*>(data);
                                while (!of.may_end) std::this_thread::yield();
                                of.has_ended = of.destroyed == 0;
                              },
                              &shared};
  CUgraphNode node = nullptr;
  CU(cuGraphAddHostNode(&node, graph, nullptr, 0, &waits));
  const auto exec = instantiate(graph);
  CUstream stream = nullptr;
  CU(cuStreamCreate(&stream, 0));
  CU(cuGraphLaunch(exec, stream));
  CU(cuGraphLaunch(exec, stream));
  CU(cuGraphExecDestroy(exec));
  CU(cuGraphDestroy(graph));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_EQ(shared.destroyed, 0);
  shared.may_end = true;
  CU(cuStreamSynchronize(stream));
  CHECK(shared.has_ended);
  for (int i = 0; i < 200 && shared.destroyed == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK_EQ(shared.destroyed, 1);
  CU(cuStreamDestroy_v2(stream));
}
