// Conditional nodes of graphs: IF, ELSE, WHILE and SWITCH, nested, built and captured, against loops on the CPU; what
// is asked of them, changed and refused. A word: "devices", a loop on one of two of them; "parted", when they are at
// two servers; "endless", a loop that does not end, after "ready"; "others", many of one graph at a time.
#include <unistd.h>

#include <string>

#include "driver.h"

// As XLA and NVRTC leave it to the driver: the function is declared, and nowhere defined.
constexpr const char* kSource = R"(
.version 7.5
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);
.visible .entry affine(.param .u64 to, .param .u32 factor, .param .u32 plus) {
  .reg .b32 %r<6>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [to]; ld.param.u32 %r1, [factor]; ld.param.u32 %r2, [plus];
  ld.global.u32 %r3, [%d1]; mad.lo.u32 %r4, %r3, %r1, %r2; st.global.u32 [%d1], %r4; ret;
}
.visible .entry halve(.param .u64 to) {
  .reg .b32 %r<3>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [to]; ld.global.u32 %r1, [%d1]; shr.u32 %r2, %r1, 1; st.global.u32 [%d1], %r2; ret;
}
// The condition becomes (word & mask) != other, or the word itself where the mask is 0.
.visible .entry look(.param .u64 handle, .param .u64 at, .param .u32 mask, .param .u32 other) {
  .reg .b32 %r<8>; .reg .b64 %d<3>; .reg .pred %p<3>;
  ld.param.u64 %d1, [handle]; ld.param.u64 %d2, [at]; ld.param.u32 %r1, [mask]; ld.param.u32 %r2, [other];
  ld.global.u32 %r3, [%d2]; and.b32 %r4, %r3, %r1; setp.ne.u32 %p1, %r4, %r2; selp.u32 %r5, 1, 0, %p1;
  setp.eq.u32 %p2, %r1, 0; selp.u32 %r6, %r3, %r5, %p2;
  { .param .b64 one; st.param.b64 [one], %d1; .param .b32 two; st.param.b32 [two], %r6;
    call.uni cudaGraphSetConditional, (one, two); }
  ret;
}
)";

__global__ void count_down(cudaGraphConditionalHandle handle, unsigned* left, unsigned* sum) {
  *sum = *sum * 3 + *left;
  *left -= 1;
  cudaGraphSetConditional(handle, *left > 0);
}

struct Device {
  CUcontext context = nullptr;
  CUfunction affine = nullptr, halve = nullptr, look = nullptr;
  CUdeviceptr words = 0;
  CUstream stream = nullptr, other = nullptr;
  CUdeviceptr word(int which) const { return words + 4u * static_cast<unsigned>(which); }
  void set(int which, unsigned value) const { DRIVER(cuMemcpyHtoD(word(which), &value, 4)); }
  unsigned get(int which) const {
    unsigned value = 0;
    DRIVER(cuStreamSynchronize(stream));
    DRIVER(cuMemcpyDtoH(&value, word(which), 4));
    return value;
  }
};

CUgraphNode kernel(CUgraph graph, CUgraphNode before, CUfunction function, void** parameters) {
  CUDA_KERNEL_NODE_PARAMS as{};
  as.func = function;
  as.gridDimX = as.gridDimY = as.gridDimZ = as.blockDimX = as.blockDimY = as.blockDimZ = 1;
  as.kernelParams = parameters;
  CUgraphNode node = nullptr;
  DRIVER(cuGraphAddKernelNode(&node, graph, &before, before ? 1 : 0, &as));
  return node;
}
CUgraphNode affine(const Device& on, CUgraph graph, CUgraphNode before, int which, unsigned factor, unsigned plus) {
  auto to = on.word(which);
  void* parameters[] = {&to, &factor, &plus};
  return kernel(graph, before, on.affine, parameters);
}
CUgraphNode look(const Device& on, CUgraph graph, CUgraphNode before, CUgraphConditionalHandle handle, int which,
                 unsigned mask = 0, unsigned other = 0) {
  auto at = on.word(which);
  void* parameters[] = {&handle, &at, &mask, &other};
  return kernel(graph, before, on.look, parameters);
}

CUgraphConditionalHandle handle_of(const Device& on, CUgraph graph, unsigned value = 0,
                                   unsigned flags = CU_GRAPH_COND_ASSIGN_DEFAULT) {
  CUgraphConditionalHandle handle = 0;
  DRIVER(cuGraphConditionalHandleCreate(&handle, graph, on.context, value, flags));
  return handle;
}

struct Conditional {
  CUgraphNode node = nullptr;
  CUgraph* bodies = nullptr;
};
CUresult try_conditional(const Device& on, CUgraph graph, CUgraphNode before, CUgraphConditionalHandle handle,
                         CUgraphConditionalNodeType type, unsigned size, Conditional& made) {
  CUgraphNodeParams as{};
  as.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  as.conditional.handle = handle;
  as.conditional.type = type;
  as.conditional.size = size;
  as.conditional.ctx = on.context;
  const auto status = cuGraphAddNode(&made.node, graph, &before, nullptr, before ? 1 : 0, &as);
  made.bodies = as.conditional.phGraph_out;
  return status;
}
Conditional conditional(const Device& on, CUgraph graph, CUgraphNode before, CUgraphConditionalHandle handle,
                        CUgraphConditionalNodeType type, unsigned size = 1) {
  Conditional made;
  DRIVER(try_conditional(on, graph, before, handle, type, size, made));
  return made;
}

CUgraphExec instantiate(CUgraph graph) {
  CUgraphExec exec = nullptr;
  DRIVER(cuGraphInstantiate(&exec, graph, 0));
  return exec;
}

void branches(const Device& on) {
  CUgraph graph = nullptr;
  DRIVER(cuGraphCreate(&graph, 0));
  const auto chosen = handle_of(on, graph), assumed = handle_of(on, graph, 2), other = handle_of(on, graph, 7);
  const auto set = look(on, graph, nullptr, chosen, 0);
  const auto either = conditional(on, graph, set, chosen, CU_GRAPH_COND_TYPE_IF, 2);
  affine(on, either.bodies[0], nullptr, 1, 10, 1);
  affine(on, either.bodies[1], nullptr, 1, 10, 2);
  // Without a kernel that sets it a condition is what it was made with, in each launch.
  const auto one_of = conditional(on, graph, either.node, assumed, CU_GRAPH_COND_TYPE_SWITCH, 4);
  for (unsigned i = 0; i < 4; ++i) affine(on, one_of.bodies[i], nullptr, 1, 10, 3 + i);
  const auto none = conditional(on, graph, one_of.node, other, CU_GRAPH_COND_TYPE_SWITCH, 3);
  for (unsigned i = 0; i < 3; ++i) affine(on, none.bodies[i], nullptr, 1, 0, 0);
  affine(on, graph, none.node, 1, 10, 9);
  const auto exec = instantiate(graph);
  on.set(1, 0);
  for (const unsigned condition : {1u, 0u, 5u}) {
    on.set(0, condition);
    on.set(1, 0);
    DRIVER(cuGraphLaunch(exec, on.stream));
    const auto found = on.get(1);
    std::printf("if %u: %u\n", condition, found);
    program::expect(found == (condition ? 159u : 259u), "the branches that were to be taken, and those alone");
  }
  DRIVER(cuGraphExecDestroy(exec));
  DRIVER(cuGraphDestroy(graph));
}

void rounds(const Device& on) {
  CUgraph graph = nullptr;
  DRIVER(cuGraphCreate(&graph, 0));
  const auto handle = handle_of(on, graph, 1);
  const auto loop = conditional(on, graph, nullptr, handle, CU_GRAPH_COND_TYPE_WHILE);
  const auto left = on.word(0), sum = on.word(1);
  cudaFunction_t function = nullptr;
  CHECK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(count_down)));
  auto number = handle;
  auto first = left, second = sum;
  void* parameters[] = {&number, &first, &second};
  kernel(loop.bodies[0], nullptr, reinterpret_cast<CUfunction>(function), parameters);
  affine(on, graph, loop.node, 2, 1, 1);
  const auto exec = instantiate(graph);
  on.set(2, 0);
  for (const unsigned count : {1u, 2u, 3000u}) {
    on.set(0, count);
    on.set(1, 7);
    DRIVER(cuGraphLaunch(exec, on.stream));
    unsigned wanted = 7;
    for (unsigned i = count; i > 0; --i) wanted = wanted * 3 + i;
    program::expect(on.get(1) == wanted && on.get(0) == 0, "as many rounds as the CPU's loop has");
  }
  program::expect(on.get(2) == 3, "what comes after a loop comes once");
  // Launches that are under way one after the other, of which none was waited for.
  on.set(0, 20);
  on.set(1, 0);
  DRIVER(cuGraphLaunch(exec, on.stream));
  DRIVER(cuMemsetD32Async(left, 30, 1, on.stream));
  DRIVER(cuGraphLaunch(exec, on.stream));
  unsigned wanted = 0;
  for (const unsigned count : {20u, 30u})
    for (unsigned i = count; i > 0; --i) wanted = wanted * 3 + i;
  program::expect(on.get(1) == wanted, "in the order of the stream");
  DRIVER(cuGraphExecDestroy(exec));
  DRIVER(cuGraphDestroy(graph));
}

/// while (n != 1) { if (n & 1) n = 3 n + 1; else n /= 2; ++steps; }
void nested(const Device& on) {
  CUgraph graph = nullptr;
  DRIVER(cuGraphCreate(&graph, 0));
  const auto goes_on = handle_of(on, graph);
  const auto loop =
      conditional(on, graph, look(on, graph, nullptr, goes_on, 0, ~0u, 1), goes_on, CU_GRAPH_COND_TYPE_WHILE);
  const auto body = loop.bodies[0];
  // Of the body, for a node in it.
  const auto is_odd = handle_of(on, body);
  const auto either = conditional(on, body, look(on, body, nullptr, is_odd, 0, 1, 0), is_odd, CU_GRAPH_COND_TYPE_IF, 2);
  affine(on, either.bodies[0], nullptr, 0, 3, 1);
  auto to = on.word(0);
  void* parameters[] = {&to};
  kernel(either.bodies[1], nullptr, on.halve, parameters);
  look(on, body, affine(on, body, either.node, 1, 1, 1), goes_on, 0, ~0u, 1);
  const auto exec = instantiate(graph);
  for (const unsigned n : {1u, 6u, 27u, 97u}) {
    on.set(0, n);
    on.set(1, 0);
    DRIVER(cuGraphLaunch(exec, on.stream));
    unsigned steps = 0;
    for (auto at = n; at != 1; ++steps) at = at % 2 ? 3 * at + 1 : at / 2;
    const auto found = on.get(1);
    std::printf("%u takes %u steps\n", n, found);
    program::expect(found == steps && on.get(0) == 1, "a condition in a loop");
  }
  DRIVER(cuGraphExecDestroy(exec));
  DRIVER(cuGraphDestroy(graph));
}

void launch(const Device& on, CUstream stream, CUfunction function, void** parameters) {
  (void)on;
  DRIVER(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
}

/// As PyTorch and NeMo do it: a conditional node in the middle of a capture, its body captured in another stream.
void captured(const Device& on) {
  DRIVER(cuStreamBeginCapture(on.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  DRIVER(cuMemsetD32Async(on.word(1), 5, 1, on.stream));
  CUstreamCaptureStatus status{};
  CUgraph graph = nullptr, same = nullptr;
  const CUgraphNode* before = nullptr;
  std::size_t count = 0;
  DRIVER(cuStreamGetCaptureInfo(on.stream, &status, nullptr, &graph, &before, nullptr, &count));
  auto handle = handle_of(on, graph);
  auto at = on.word(0);
  unsigned mask = 0, other = 0;
  void* parameters[] = {&handle, &at, &mask, &other};
  launch(on, on.stream, on.look, parameters);
  DRIVER(cuStreamGetCaptureInfo(on.stream, &status, nullptr, &graph, &before, nullptr, &count));
  program::expect(count == 1, "a node to come after");
  auto made = conditional(on, graph, before[0], handle, CU_GRAPH_COND_TYPE_WHILE);
  DRIVER(cuStreamUpdateCaptureDependencies(on.stream, &made.node, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  DRIVER(
      cuStreamBeginCaptureToGraph(on.other, made.bodies[0], nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  auto to = on.word(1), counter = on.word(0);
  unsigned factor = 4, plus = 3, once = 1, less = ~0u;
  void* multiply[] = {&to, &factor, &plus};
  void* decrease[] = {&counter, &once, &less};
  launch(on, on.other, on.affine, multiply);
  DRIVER(cuMemcpyDtoDAsync(on.word(2), on.word(1), 4, on.other));
  launch(on, on.other, on.affine, decrease);
  launch(on, on.other, on.look, parameters);
  DRIVER(cuStreamEndCapture(on.other, &same));
  program::expect(same == made.bodies[0], "a body is what was captured to");
  DRIVER(cuMemcpyDtoDAsync(on.word(3), on.word(2), 4, on.stream));
  DRIVER(cuStreamEndCapture(on.stream, &same));
  program::expect(same == graph, "and the graph has the conditional node");
  const auto exec = instantiate(graph);
  for (const unsigned times : {0u, 1u, 6u}) {
    on.set(0, times);
    on.set(2, 0);
    DRIVER(cuGraphLaunch(exec, on.stream));
    unsigned wanted = 5;
    for (unsigned i = 0; i < times; ++i) wanted = wanted * 4 + 3;
    program::expect(on.get(1) == wanted && on.get(3) == (times ? wanted : 0), "a captured loop");
  }
  DRIVER(cuStreamBeginCapture(on.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  program::expect_error(cuGraphLaunch(exec, on.stream), CUDA_ERROR_NOT_SUPPORTED, "in a capture it would be a child");
  cuStreamEndCapture(on.stream, &same);
  if (same) DRIVER(cuGraphDestroy(same));
  DRIVER(cuGraphExecDestroy(exec));
  DRIVER(cuGraphDestroy(graph));
}

void asked_and_changed(const Device& on) {
  CUgraph graph = nullptr, child = nullptr;
  DRIVER(cuGraphCreate(&graph, 0));
  DRIVER(cuGraphCreate(&child, 0));
  affine(on, child, nullptr, 1, 2, 0);
  auto handle = handle_of(on, graph);
  const auto made = conditional(on, graph, look(on, graph, nullptr, handle, 0), handle, CU_GRAPH_COND_TYPE_IF);
  const auto body = made.bodies[0];
  const auto inner = affine(on, body, nullptr, 1, 1, 1);
  CUgraphNode parent = nullptr, twin = nullptr;
  DRIVER(cuGraphAddChildGraphNode(&parent, body, &inner, 1, child));
  CUgraphNodeType type{};
  DRIVER(cuGraphNodeGetType(made.node, &type));
  std::size_t nodes = 0, inside = 0;
  DRIVER(cuGraphGetNodes(graph, nullptr, &nodes));
  DRIVER(cuGraphGetNodes(body, nullptr, &inside));
  CUDA_KERNEL_NODE_PARAMS reported{};
  DRIVER(cuGraphKernelNodeGetParams(inner, &reported));
  program::expect(type == CU_GRAPH_NODE_TYPE_CONDITIONAL && nodes == 2 && inside == 2 &&
                      *static_cast<unsigned*>(reported.kernelParams[2]) == 1,
                  "a graph and its body say what they are made of");
  char name[] = "/tmp/cuda-graph-XXXXXX";
  close(mkstemp(name));
  DRIVER(cuGraphDebugDotPrint(graph, name, 0));
  auto* const file = std::fopen(name, "r");
  char text[4096] = {};
  const auto read = file ? std::fread(text, 1, sizeof text - 1, file) : 0;
  program::expect(read > 0 && std::string(text).find("CONDITIONAL") != std::string::npos &&
                      std::string(text).find("affine") != std::string::npos,
                  "and so they do as text");
  if (file) std::fclose(file);
  unlink(name);

  auto exec = instantiate(graph);
  const auto launched = [&](CUgraphExec which, unsigned condition) {
    on.set(0, condition);
    on.set(1, 10);
    DRIVER(cuGraphLaunch(which, on.stream));
    return on.get(1);
  };
  program::expect(launched(exec, 1) == 22 && launched(exec, 0) == 10, "a child graph in a body");
  auto to = on.word(1);
  unsigned factor = 1, plus = 5;
  void* parameters[] = {&to, &factor, &plus};
  reported.kernelParams = parameters;
  DRIVER(cuGraphExecKernelNodeSetParams(exec, inner, &reported));
  program::expect(launched(exec, 1) == 30, "a body's kernel with other parameters");
  plus = 7;
  DRIVER(cuGraphKernelNodeSetParams(inner, &reported));
  CUgraphExecUpdateResultInfo info{};
  DRIVER(cuGraphExecUpdate(exec, graph, &info));
  program::expect(launched(exec, 1) == 34, "the whole of it as its graph is now");
  DRIVER(cuGraphNodeSetEnabled(exec, inner, 0));
  program::expect(launched(exec, 1) == 20, "a body's kernel that is left out");
  // Another one at a time: what it was is not there any more.
  DRIVER(cuGraphExecDestroy(exec));
  affine(on, graph, made.node, 1, 1, 100);
  exec = instantiate(graph);
  program::expect(launched(exec, 1) == 134 && launched(exec, 0) == 110, "instantiated again with one node more");
  DRIVER(cuGraphExecDestroy(exec));
  CUgraph clone = nullptr;
  DRIVER(cuGraphClone(&clone, graph));
  DRIVER(cuGraphNodeFindInClone(&twin, inner, clone));
  program::expect(twin != inner, "a clone has bodies of its own");
  DRIVER(cuGraphDestroy(graph));
  exec = instantiate(clone);
  program::expect(launched(exec, 1) == 134, "and works without what it was cloned from");
  DRIVER(cuGraphDestroy(clone));
  program::expect(launched(exec, 1) == 134, "as what is instantiated does without either");
  DRIVER(cuGraphExecDestroy(exec));
  DRIVER(cuGraphDestroy(child));
}

void CUDA_CB nothing(void*) {}

void refused(const Device& on) {
  CUgraph graph = nullptr, stranger = nullptr;
  DRIVER(cuGraphCreate(&graph, 0));
  DRIVER(cuGraphCreate(&stranger, 0));
  auto handle = handle_of(on, graph);
  CUgraphConditionalHandle number = 0;
  program::expect_error(cuGraphConditionalHandleCreate(&number, graph, on.context, 0, 2), CUDA_ERROR_INVALID_VALUE,
                        "an unknown flag");
  program::expect_error(cuGraphConditionalHandleCreate(nullptr, graph, on.context, 0, 0), CUDA_ERROR_INVALID_VALUE,
                        "no place for the handle");
  Conditional made;
  const auto attempt = [&](CUgraph in, CUgraphConditionalHandle of, CUgraphConditionalNodeType type, unsigned size) {
    return try_conditional(on, in, nullptr, of, type, size, made);
  };
  program::expect_error(attempt(stranger, handle, CU_GRAPH_COND_TYPE_IF, 1), CUDA_ERROR_INVALID_VALUE,
                        "a handle of another graph");
  program::expect_error(attempt(graph, handle + 12345, CU_GRAPH_COND_TYPE_IF, 1), CUDA_ERROR_INVALID_VALUE,
                        "a handle that is none");
  program::expect_error(attempt(graph, handle, CU_GRAPH_COND_TYPE_IF, 3), CUDA_ERROR_INVALID_VALUE, "if with three");
  program::expect_error(attempt(graph, handle, CU_GRAPH_COND_TYPE_WHILE, 2), CUDA_ERROR_INVALID_VALUE,
                        "while with two");
  program::expect_error(attempt(graph, handle, CU_GRAPH_COND_TYPE_SWITCH, 0), CUDA_ERROR_INVALID_VALUE,
                        "switch with none");
  program::expect_error(attempt(graph, handle, static_cast<CUgraphConditionalNodeType>(3), 1), CUDA_ERROR_INVALID_VALUE,
                        "a kind that is none");
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  CUgraphExec exec = nullptr;
  program::expect_error(cuGraphInstantiateWithParams(&exec, graph, &how), CUDA_ERROR_INVALID_VALUE,
                        "a handle that no node has");
  program::expect(how.result_out == CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, "which is what is said");
  DRIVER(attempt(graph, handle, CU_GRAPH_COND_TYPE_IF, 1));
  const CUDA_HOST_NODE_PARAMS call{nothing, nullptr};
  CUgraphNode host = nullptr, node = nullptr;
  DRIVER(cuGraphAddHostNode(&host, made.bodies[0], nullptr, 0, &call));
  how = {};
  program::expect_error(cuGraphInstantiateWithParams(&exec, graph, &how), CUDA_ERROR_NOT_SUPPORTED,
                        "a host function in a body");
  program::expect(how.hErrNode_out == host && how.result_out == CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED,
                  "which is named");
  DRIVER(cuGraphDestroyNode(host));
  program::expect_error(cuGraphDestroy(made.bodies[0]), CUDA_ERROR_INVALID_VALUE, "a body on its own: destroyed");
  program::expect_error(cuGraphInstantiate(&exec, made.bodies[0], 0), CUDA_ERROR_INVALID_VALUE, "instantiated");
  CUgraph clone = nullptr;
  program::expect_error(cuGraphClone(&clone, made.bodies[0]), CUDA_ERROR_NOT_SUPPORTED, "cloned");
  program::expect_error(cuGraphAddChildGraphNode(&node, stranger, nullptr, 0, graph), CUDA_ERROR_NOT_SUPPORTED,
                        "a child graph with conditional nodes");
  // Who has the graph that was captured to need not be told.
  DRIVER(cuStreamBeginCaptureToGraph(on.other, stranger, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
  DRIVER(cuMemsetD32Async(on.word(3), 1, 1, on.other));
  DRIVER(cuStreamEndCapture(on.other, nullptr));
  std::size_t captured_nodes = 0;
  DRIVER(cuGraphGetNodes(stranger, nullptr, &captured_nodes));
  program::expect(captured_nodes == 1, "a capture to a graph that is there");
  DRIVER(cuStreamBeginCapture(on.other, CU_STREAM_CAPTURE_MODE_RELAXED));
  program::expect_error(cuStreamEndCapture(on.other, nullptr), CUDA_ERROR_INVALID_VALUE, "no place for the graph");
  DRIVER(cuStreamEndCapture(on.other, &clone));
  DRIVER(cuGraphDestroy(clone));
  const auto body = made.bodies[0];
  exec = instantiate(graph);
  DRIVER(cuGraphLaunch(exec, on.stream));
  DRIVER(cuStreamSynchronize(on.stream));
  DRIVER(cuGraphExecDestroy(exec));
  DRIVER(cuGraphDestroyNode(made.node));
  std::size_t count = 0;
  program::expect_error(cuGraphGetNodes(body, nullptr, &count), CUDA_ERROR_INVALID_VALUE, "a body without its node");
  DRIVER(cuGraphDestroy(graph));
  DRIVER(cuGraphDestroy(stranger));
  // It is of no graph that is launched; the context is lost with it.
  auto at = on.word(0);
  unsigned mask = 0, other = 0;
  void* parameters[] = {&handle, &at, &mask, &other};
  launch(on, on.stream, on.look, parameters);
  program::expect_error(cuStreamSynchronize(on.stream), CUDA_ERROR_ILLEGAL_ADDRESS, "set outside of a graph");
}

/// A loop on the second device, whose rounds the first one says and whose result it gets.
void over_devices(const Device& first, const Device& second, bool is_parted) {
  CUgraph graph = nullptr;
  DRIVER(cuGraphCreate(&graph, 0));
  const auto copy = [&](CUgraphNode before, const Device& to, int into, const Device& from, int of) {
    CUDA_MEMCPY3D as{};
    as.srcMemoryType = as.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    as.srcDevice = from.word(of), as.dstDevice = to.word(into);
    as.WidthInBytes = 4;
    as.Height = as.Depth = 1;
    CUgraphNode node = nullptr;
    DRIVER(cuGraphAddMemcpyNode(&node, graph, &before, 1, &as, from.context));
    return node;
  };
  const auto handle = handle_of(second, graph);
  const auto told = copy(affine(first, graph, nullptr, 0, 2, 1), second, 0, first, 0);
  const auto loop = conditional(second, graph, look(second, graph, told, handle, 0), handle, CU_GRAPH_COND_TYPE_WHILE);
  const auto body = loop.bodies[0];
  look(second, body, affine(second, body, affine(second, body, nullptr, 1, 3, 1), 0, 1, ~0u), handle, 0);
  affine(first, graph, copy(loop.node, first, 1, second, 1), 1, 1, 1000);
  const auto exec = instantiate(graph);
  for (const unsigned half : {0u, 4u, 11u}) {
    DRIVER(cuCtxSetCurrent(second.context));
    second.set(1, 0);
    DRIVER(cuCtxSetCurrent(first.context));
    first.set(0, half);
    DRIVER(cuGraphLaunch(exec, first.stream));
    unsigned wanted = 0;
    for (unsigned i = 0; i < 2 * half + 1; ++i) wanted = wanted * 3 + 1;
    const auto found = first.get(1);
    std::printf("%u rounds: %u\n", 2 * half + 1, found);
    program::expect(found == wanted + 1000, "a loop on one of two devices");
  }
  DRIVER(cuGraphExecDestroy(exec));
  if (is_parted) {
    CUgraphExec none = nullptr;
    look(first, graph, nullptr, handle, 0);
    program::expect_error(cuGraphInstantiate(&none, graph, 0), CUDA_ERROR_NOT_SUPPORTED,
                          "a condition that another server's kernel is to set");
    program::expect(none == nullptr, "which is not made");
  }
  DRIVER(cuGraphDestroy(graph));
}

/// A loop of as many rounds as the program's memory says, whose result comes back there and is taken by a function.
struct Counting {
  unsigned rounds = 0, result = 0, seen = 0;
  CUgraph graph = nullptr;
  CUgraphNode times = nullptr;
  static void CUDA_CB see(void* data) {
    auto& self = *static_cast<Counting*>(data);
    self.seen = self.result;
  }
  Counting(const Device& on, unsigned plus, unsigned first = 1) {
    DRIVER(cuGraphCreate(&graph, 0));
    const auto goes_on = handle_of(on, graph, first);
    const auto copy = [&](CUgraphNode before, void* to, const void* from) {
      CUDA_MEMCPY3D as{};
      as.srcMemoryType = as.dstMemoryType = CU_MEMORYTYPE_DEVICE;
      as.srcDevice = as.dstDevice = to ? on.word(1) : on.word(0);
      if (to) as.dstMemoryType = CU_MEMORYTYPE_HOST, as.dstHost = to;
      else as.srcMemoryType = CU_MEMORYTYPE_HOST, as.srcHost = from;
      as.WidthInBytes = 4;
      as.Height = as.Depth = 1;
      CUgraphNode node = nullptr;
      DRIVER(cuGraphAddMemcpyNode(&node, graph, &before, before ? 1 : 0, &as, on.context));
      return node;
    };
    const auto start = affine(on, graph, copy(nullptr, nullptr, &rounds), 1, 0, 1);
    const auto loop = conditional(on, graph, start, goes_on, CU_GRAPH_COND_TYPE_WHILE);
    times = affine(on, loop.bodies[0], nullptr, 1, 3, plus);
    look(on, loop.bodies[0], affine(on, loop.bodies[0], times, 0, 1, ~0u), goes_on, 0);
    const auto back = copy(loop.node, &result, nullptr);
    const CUDA_HOST_NODE_PARAMS call{see, this};
    CUgraphNode told = nullptr;
    DRIVER(cuGraphAddHostNode(&told, graph, &back, 1, &call));
  }
  Counting(const Counting&) = delete;
  ~Counting() { DRIVER(cuGraphDestroy(graph)); }

  bool gives(const Device& on, CUgraphExec exec, unsigned count, unsigned plus) {
    unsigned wanted = 1;
    for (unsigned i = 0; i < count; ++i) wanted = wanted * 3 + plus;
    rounds = count, result = seen = 0;
    DRIVER(cuGraphLaunch(exec, on.stream));
    DRIVER(cuStreamSynchronize(on.stream));
    if (result != wanted || seen != wanted) std::printf("%u of %u, wanted %u\n", result, seen, wanted);
    return result == wanted && seen == wanted;
  }
};

void set_factor(const Device& on, CUgraphExec exec, CUgraphNode node, unsigned plus) {
  CUDA_KERNEL_NODE_PARAMS as{};
  DRIVER(cuGraphKernelNodeGetParams(node, &as));
  auto to = on.word(1);
  unsigned factor = 3;
  void* parameters[] = {&to, &factor, &plus};
  as.kernelParams = parameters;
  DRIVER(cuGraphExecKernelNodeSetParams(exec, node, &as));
}

/// Several executable graphs of one graph at a time, each changed by itself, and updates from graphs with handles of
/// their own.
void with_others(const Device& on) {
  Counting one(on, 1), other(on, 2), never(on, 9, 0);
  const auto first = instantiate(one.graph), second = instantiate(one.graph);
  program::expect(one.gives(on, second, 6, 1) && one.gives(on, first, 5, 1), "two of the same graph do the same");
  set_factor(on, first, one.times, 4);
  set_factor(on, second, one.times, 5);
  program::expect(one.gives(on, first, 3, 4) && one.gives(on, second, 4, 5), "and are changed each by itself");
  DRIVER(cuGraphNodeSetEnabled(first, one.times, 0));
  program::expect(one.gives(on, first, 8, 4) == false && one.result == 1, "a node is left out of one of them");
  program::expect(one.gives(on, second, 2, 5), "and not of the other");
  DRIVER(cuGraphNodeSetEnabled(first, one.times, 1));
  set_factor(on, second, one.times, 6);
  program::expect(one.gives(on, second, 3, 6) && one.gives(on, first, 3, 4), "nor do they change places");

  CUgraphExecUpdateResultInfo info{};
  DRIVER(cuGraphExecUpdate(first, other.graph, &info));
  program::expect(other.gives(on, first, 7, 2) && one.gives(on, second, 2, 6),
                  "updated from a graph with a handle of its own");
  set_factor(on, first, other.times, 8);
  program::expect(other.gives(on, first, 4, 8), "whose nodes are its names from then on");
  const auto third = instantiate(other.graph);
  DRIVER(cuGraphExecUpdate(first, one.graph, &info));
  program::expect(one.gives(on, first, 5, 1) && other.gives(on, third, 5, 2), "and back, each with its own conditions");
  never.result = 3;
  DRIVER(cuGraphExecUpdate(first, never.graph, &info));
  never.rounds = 7;
  DRIVER(cuGraphLaunch(first, on.stream));
  DRIVER(cuStreamSynchronize(on.stream));
  program::expect(never.result == 1 && never.seen == 1, "defaults are updated, too");
  // Both under way, and one of them made into something else meanwhile.
  other.rounds = 2000;
  one.rounds = 0;
  DRIVER(cuGraphLaunch(third, on.stream));
  DRIVER(cuGraphExecUpdate(third, one.graph, &info));
  DRIVER(cuStreamSynchronize(on.stream));
  program::expect(other.seen == other.result && one.gives(on, third, 3, 1), "a launch under way stays what it was");
  for (const auto exec : {first, second, third}) DRIVER(cuGraphExecDestroy(exec));
}

Device made_on(int ordinal) {
  Device on;
  CUmodule module = nullptr;
  CHECK(cudaSetDevice(ordinal));
  CHECK(cudaFree(nullptr));
  DRIVER(cuCtxGetCurrent(&on.context));
  DRIVER(cuModuleLoadData(&module, kSource));
  DRIVER(cuModuleGetFunction(&on.affine, module, "affine"));
  DRIVER(cuModuleGetFunction(&on.halve, module, "halve"));
  DRIVER(cuModuleGetFunction(&on.look, module, "look"));
  DRIVER(cuMemAlloc(&on.words, 16));
  DRIVER(cuStreamCreate(&on.stream, 0));
  DRIVER(cuStreamCreate(&on.other, 0));
  return on;
}

/// A loop that never ends: whoever waits is ended.
void endless(const Device& on) {
  CUgraph graph = nullptr;
  DRIVER(cuGraphCreate(&graph, 0));
  const auto loop = conditional(on, graph, nullptr, handle_of(on, graph, 1), CU_GRAPH_COND_TYPE_WHILE);
  affine(on, loop.bodies[0], nullptr, 0, 1, 1);
  DRIVER(cuGraphLaunch(instantiate(graph), on.stream));
  std::printf("ready\n");
  std::fflush(stdout);
  DRIVER(cuStreamSynchronize(on.stream));
}

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "";
  const auto on = made_on(0);
  if (mode == "endless") return endless(on), 1;
  if (mode == "others") return with_others(on), program::verdict();
  if (mode == "devices" || mode == "parted") {
    const auto second = made_on(1);
    CHECK(cudaSetDevice(0));
    over_devices(on, second, mode == "parted");
    return program::verdict();
  }
  branches(on);
  rounds(on);
  nested(on);
  captured(on);
  asked_and_changed(on);
  refused(on);
  return program::verdict();
}
