#include "test/backend/cuda_client.h"

using namespace flexrack;
using namespace flexrack::test;

namespace {

constexpr std::string_view kStore = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 to, .param .u32 what) {
  .reg .u64 %a; .reg .u32 %v;
  ld.param.u64 %a, [to];
  ld.param.u32 %v, [what];
  st.global.u32 [%a], %v;
  ret;
}
)";
constexpr std::uint64_t kNobodys = 4711;

template <class T>
View flat(const T& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

/// A client with a graph, or many.
class Grapher : public CudaClient {
 public:
  const std::uint64_t at = context(), memory = CudaClient::memory(at, 4096);

  std::uint64_t graph() {
    const auto handle = mint();
    send(cu::CreateGraph{.context = at, .graph = handle});
    return handle;
  }
  std::uint64_t add(std::uint64_t graph, cu::NodeWork work, std::vector<std::uint64_t> after = {}) {
    const auto handle = mint();
    work.context = at;
    send(cu::AddNode{.graph = graph, .node = handle, .dependencies = after, .work = work});
    return handle;
  }
  std::uint64_t instantiate(std::uint64_t graph) {
    const auto handle = mint();
    REQUIRE(call(cu::Instantiate{.context = at, .graph = graph, .exec = handle}).status == 0);
    return handle;
  }
  /// What is said of a graph of that node alone; it is named where it is what is wrong.
  CUresult tried(cu::NodeWork work) {
    const auto in = graph(), node = add(in, std::move(work));
    const auto reply = call(cu::Instantiate{.context = at, .graph = in, .exec = mint()});
    if (reply.status != 0) CHECK(reply.node == node);
    send(cu::Release{.object = in});
    return static_cast<CUresult>(reply.status);
  }
  /// Whether a graph with bytes from the client and to it does its work.
  void still_works() {
    const auto in = graph(), input = add(in, input_of(8)), output = add(in, output_of(8), {input}),
               exec = instantiate(in);
    for (std::uint8_t round = 1; round < 4; ++round) {
      const Bytes bytes(8, round);
      const auto ticket = link.ticket();
      send(cu::LaunchGraph{.context = at,
                           .exec = exec,
                           .inputs = {{.node = input, .data = {0, 8, bytes}}},
                           .outputs = {{.node = output, .ticket = ticket}}});
      REQUIRE(link.payload(ticket) == bytes);
    }
    CHECK(wait(at) == CUDA_SUCCESS);
    send(cu::Release{.object = exec});
    send(cu::Release{.object = in});
  }
  cu::NodeWork input_of(std::uint64_t size) const {
    return {.kind = CU_GRAPH_NODE_TYPE_MEMCPY,
            .source = {.kind = 2},
            .target = {.object = memory, .pitch = size},
            .extent = {size, 1, 1}};
  }
  cu::NodeWork output_of(std::uint64_t size) const {
    return {.kind = CU_GRAPH_NODE_TYPE_MEMCPY,
            .source = {.object = memory, .pitch = size},
            .target = {.kind = 2},
            .extent = {size, 1, 1}};
  }
};

}  // namespace

TEST_CASE("nodes of graphs name memory of their session only") {
  Grapher client;
  const Bytes untouched(64, 0x5a);
  auto victim = untouched;
  const auto memory = client.memory, pinned = client.CudaClient::memory(client.at, 4096, 1);
  const auto fill = [](std::uint64_t address, std::uint64_t width = 4) {
    return cu::NodeWork{
        .kind = CU_GRAPH_NODE_TYPE_MEMSET, .target = {.object = address}, .extent = {width, 1, 1}, .element = 1};
  };
  const auto copy = [](cu::Place from, cu::Place to, cu::Extent extent = {4, 1, 1}) {
    return cu::NodeWork{.kind = CU_GRAPH_NODE_TYPE_MEMCPY, .source = from, .target = to, .extent = extent};
  };
  const cu::Place good{.object = memory, .pitch = 4}, of_client{.kind = 2};
  CHECK(client.tried(fill(memory)) == CUDA_SUCCESS);
  CHECK(client.tried(copy(good, {.object = pinned, .pitch = 4})) == CUDA_SUCCESS);
  const auto nobodys = reinterpret_cast<std::uint64_t>(victim.data());
  for (const std::uint64_t wrong :
       {nobodys, memory + 4093, pinned + 4093, memory - 1, std::uint64_t{0}, ~std::uint64_t{0} - 3}) {
    CAPTURE(wrong);
    const cu::Place bad{.object = wrong, .pitch = 4};
    CHECK(client.tried(fill(wrong)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(client.tried(copy(bad, good)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(client.tried(copy(good, bad)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(client.tried(copy(of_client, bad)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(client.tried(copy(bad, of_client)) == CUDA_ERROR_INVALID_VALUE);
    for (const auto operation : {CU_STREAM_MEM_OP_WAIT_VALUE_32, CU_STREAM_MEM_OP_WRITE_VALUE_32,
                                 CU_STREAM_MEM_OP_WAIT_VALUE_64, CU_STREAM_MEM_OP_WRITE_VALUE_64}) {
      CUstreamBatchMemOpParams one{};
      one.writeValue.operation = operation;
      one.writeValue.address = wrong;
      CHECK(client.tried({.kind = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, .parameters = flat(one)}) ==
            CUDA_ERROR_INVALID_VALUE);
    }
    // What is changed in a graph that is instantiated already.
    const auto in = client.graph(), node = client.add(in, fill(memory)), exec = client.instantiate(in);
    auto changed = fill(wrong);
    changed.context = client.at;
    CHECK(client.refusal(cu::SetExecNode{.exec = exec, .node = node, .work = changed}) == CUDA_ERROR_INVALID_VALUE);
    client.send(cu::Release{.object = exec});
    client.send(cu::Release{.object = in});
  }
  CHECK(client.tried(copy(of_client, of_client)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.tried(copy({.kind = 3, .object = memory, .pitch = 4}, good)) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.tried(copy(of_client, good, {~std::uint64_t{0}, 2, 1})) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.tried(copy(good, {.object = memory, .pitch = 2048}, {4, 3, 1})) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.tried(fill(memory, 4097)) == CUDA_ERROR_INVALID_VALUE);
  auto odd = fill(memory);
  odd.element = 3;
  CHECK(client.tried(odd) == CUDA_ERROR_INVALID_VALUE);
  CHECK(victim == untouched);
  client.still_works();
}

TEST_CASE("a node with a kernel hands over as many bytes as that reads, and is of a kind there is") {
  Grapher client;
  const auto module = client.mint();
  REQUIRE(client.load(client.at, module, kStore).status == 0);
  const auto kernel = client.kernel(client.at, module, "store");
  Bytes all(64, 0);
  std::memcpy(all.data(), &client.memory, sizeof client.memory);
  for (const std::size_t size : {0, 8, 11, 13, 64}) {
    CAPTURE(size);
    CHECK(client.tried({.kind = CU_GRAPH_NODE_TYPE_KERNEL,
                        .object = kernel,
                        .grid = {1, 1, 1},
                        .block = {1, 1, 1},
                        .parameters = View(all).first(size)}) == CUDA_ERROR_INVALID_VALUE);
  }
  CHECK(client.tried({.kind = CU_GRAPH_NODE_TYPE_KERNEL,
                      .object = kernel,
                      .grid = {1, 1, 1},
                      .block = {1, 1, 1},
                      .parameters = View(all).first(12)}) == CUDA_SUCCESS);
  CHECK(client.tried({.kind = CU_GRAPH_NODE_TYPE_KERNEL, .object = module, .grid = {1, 1, 1}, .block = {1, 1, 1}}) ==
        CUDA_ERROR_INVALID_HANDLE);
  for (const auto kind : {CU_GRAPH_NODE_TYPE_GRAPH, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, CU_GRAPH_NODE_TYPE_MEM_ALLOC,
                          CU_GRAPH_NODE_TYPE_MEM_FREE, CU_GRAPH_NODE_TYPE_CONDITIONAL}) {
    CAPTURE(kind);
    CHECK(client.tried({.kind = kind, .value = client.memory}) == CUDA_ERROR_NOT_SUPPORTED);
  }
  CHECK(client.tried({.kind = 77}) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(client.tried({.kind = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .object = module}) == CUDA_ERROR_INVALID_HANDLE);
  client.still_works();
}

TEST_CASE("launches, inputs and switches of graphs take handles and numbers that are the client's, of the right kind") {
  Grapher client;
  const auto in = client.graph(), input = client.add(in, client.input_of(8)),
             output = client.add(in, client.output_of(8), {input});
  const auto plain = client.add(in, {.kind = CU_GRAPH_NODE_TYPE_EMPTY}), exec = client.instantiate(in),
             stream = client.stream(client.at);
  const auto other_graph = client.graph(), others = client.add(other_graph, client.input_of(8)),
             other = client.instantiate(other_graph);
  const Bytes eight(8, 1);
  const auto ticket = [&] { return client.link.ticket(); };
  // Launches: of no graph, of a graph that is not instantiated, on no stream, with inputs and outputs that are none.
  // All they speak of is called off.
  const auto launch = [&](std::uint64_t which, std::uint64_t on, std::uint64_t from, std::uint64_t to) {
    const auto coming = ticket(), going = ticket();
    const auto status = client.refusal(cu::LaunchGraph{.context = client.at,
                                                       .exec = which,
                                                       .stream = on,
                                                       .inputs = {{.node = from, .data = {coming, 8, {}}}},
                                                       .outputs = {{.node = to, .ticket = going}}});
    CHECK(client.link.is_cancelled(going));
    return status;
  };
  for (const auto wrong : {std::uint64_t{0}, kNobodys, in, stream, client.at, input, ~std::uint64_t{0}}) {
    CAPTURE(wrong);
    CHECK(launch(wrong, stream, input, output) == CUDA_ERROR_INVALID_HANDLE);
    if (wrong != stream && wrong != 0) CHECK(launch(exec, wrong, input, output) == CUDA_ERROR_INVALID_HANDLE);
    if (wrong != input) CHECK(launch(exec, stream, wrong, output) == CUDA_ERROR_INVALID_VALUE);
    CHECK(launch(exec, stream, input, wrong) == CUDA_ERROR_INVALID_VALUE);
    CHECK(client.refusal(cu::EnableNode{.exec = wrong, .node = input, .is_enabled = 0}) == CUDA_ERROR_INVALID_HANDLE);
    if (wrong != input)
      CHECK(client.refusal(cu::EnableNode{.exec = exec, .node = wrong, .is_enabled = 0}) == CUDA_ERROR_INVALID_HANDLE);
    if (wrong != input)
      CHECK(client.refusal(cu::GraphInput{.node = wrong, .data = {0, 8, eight}}) == CUDA_ERROR_INVALID_VALUE);
    auto work = client.input_of(8);
    work.context = client.at;
    CHECK(client.refusal(cu::SetExecNode{.exec = wrong, .node = input, .work = work}) == CUDA_ERROR_INVALID_HANDLE);
    if (wrong != input)
      CHECK(client.refusal(cu::SetExecNode{.exec = exec, .node = wrong, .work = work}) == CUDA_ERROR_INVALID_HANDLE);
    if (wrong != in)
      CHECK(client.refusal(
                cu::AddNode{.graph = wrong, .node = client.mint(), .work = {.kind = CU_GRAPH_NODE_TYPE_EMPTY}}) ==
            CUDA_ERROR_INVALID_HANDLE);
  }
  CHECK(launch(exec, stream, plain, output) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(exec, stream, output, input) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::EnableNode{.exec = other, .node = plain, .is_enabled = 0}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::EnableNode{.exec = exec, .node = others, .is_enabled = 0}) == CUDA_ERROR_INVALID_VALUE);
  // Bytes of another size than the node's.
  for (const std::uint64_t size : {std::uint64_t{4}, std::uint64_t{9}, ~std::uint64_t{0}}) {
    const auto coming = ticket();
    CHECK(client.refusal(cu::GraphInput{.node = input, .data = {coming, size, {}}}) == CUDA_ERROR_INVALID_VALUE);
    CHECK(client.link.is_cancelled(coming));
  }
  const auto gone = ticket();
  CHECK(client.refusal(cu::GraphInput{.node = output, .data = {gone, 8, {}}}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.link.is_cancelled(gone));
  // A host function has no parameters of the client's to change, and runs are what the client was told of.
  CHECK(
      client.refusal(cu::SetExecNode{
          .exec = exec, .node = input, .work = {.kind = CU_GRAPH_NODE_TYPE_HOST, .context = client.at, .value = 1}}) ==
      CUDA_ERROR_INVALID_VALUE);
  for (const auto bit : {std::uint64_t{0}, std::uint64_t{1} << 63})
    CHECK(client.refusal(cu::RanHostFunction{.run = bit | 1}) == CUDA_ERROR_INVALID_VALUE);
  // Nodes that are gone with their graph.
  client.send(cu::Release{.object = other_graph});
  CHECK(client.refusal(cu::GraphInput{.node = others, .data = {0, 8, eight}}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(other, stream, others, output) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.wait(client.at, stream) == CUDA_SUCCESS);
  client.still_works();
}

TEST_CASE("memory that was given back is not touched by graphs that still name it") {
  Grapher client;
  const auto pinned = client.CudaClient::memory(client.at, 4096, 1),
             device = client.CudaClient::memory(client.at, 4096);
  const auto fill = [](std::uint64_t address) {
    return cu::NodeWork{
        .kind = CU_GRAPH_NODE_TYPE_MEMSET, .target = {.object = address}, .extent = {4, 1, 1}, .element = 1};
  };
  const auto copy = [&](std::uint64_t from, std::uint64_t to) {
    return cu::NodeWork{.kind = CU_GRAPH_NODE_TYPE_MEMCPY,
                        .source = {.object = from, .pitch = 4},
                        .target = {.object = to, .pitch = 4},
                        .extent = {4, 1, 1}};
  };
  CUstreamBatchMemOpParams write{};
  write.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  write.writeValue.address = pinned;
  struct Launched {
    std::uint64_t graph, node, exec;
  };
  std::vector<Launched> all;
  for (const auto& work : {fill(pinned), copy(pinned, client.memory), copy(client.memory, pinned), fill(device),
                           cu::NodeWork{.kind = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, .parameters = flat(write)}}) {
    const auto in = client.graph(), node = client.add(in, work);
    all.push_back({in, node, client.instantiate(in)});
  }
  for (const auto& one : all) client.send(cu::LaunchGraph{.context = client.at, .exec = one.exec});
  REQUIRE(client.wait(client.at) == CUDA_SUCCESS);
  const auto kept = client.graph();
  client.add(kept, copy(client.memory, pinned));   // instantiated when it is gone
  for (const auto gone : {pinned, device}) client.send(cu::Free{.context = client.at, .address = gone});
  for (const auto& one : all) {
    CAPTURE(one.node);
    CHECK(client.refusal(cu::LaunchGraph{.context = client.at, .exec = one.exec}) == CUDA_ERROR_INVALID_VALUE);
  }
  const auto late = client.mint();
  if (client.call(cu::Instantiate{.context = client.at, .graph = kept, .exec = late}).status == 0) {
    CHECK(client.refusal(cu::LaunchGraph{.context = client.at, .exec = late}) == CUDA_ERROR_INVALID_VALUE);
  }
  // What came for such a launch is called off.
  const auto in = client.graph(), output = client.add(in, client.output_of(8), {client.add(in, fill(client.memory))}),
             exec = client.instantiate(in), ticket = client.link.ticket();
  client.send(cu::Free{.context = client.at, .address = client.memory});
  CHECK(client.refusal(
            cu::LaunchGraph{.context = client.at, .exec = exec, .outputs = {{.node = output, .ticket = ticket}}}) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(client.link.is_cancelled(ticket));
  // A node that is left out, or names other memory from now on, is no reason.
  const auto fresh = client.CudaClient::memory(client.at, 4096);
  auto& first = all.front();
  client.send(cu::EnableNode{.exec = first.exec, .node = first.node, .is_enabled = 0});
  client.send(cu::LaunchGraph{.context = client.at, .exec = first.exec});
  client.send(cu::EnableNode{.exec = first.exec, .node = first.node, .is_enabled = 1});
  CHECK(client.refusal(cu::LaunchGraph{.context = client.at, .exec = first.exec}) == CUDA_ERROR_INVALID_VALUE);
  auto changed = fill(fresh);
  changed.context = client.at;
  client.send(cu::SetExecNode{.exec = first.exec, .node = first.node, .work = changed});
  client.send(cu::LaunchGraph{.context = client.at, .exec = first.exec});
  CHECK(client.wait(client.at) == CUDA_SUCCESS);
  CHECK_FALSE(client.link.has_refusals());
}

TEST_CASE("a session ends while its graphs wait for the client") {
  Grapher client;
  const auto in = client.graph(), called = client.add(in, {.kind = CU_GRAPH_NODE_TYPE_HOST, .value = 9}),
             input = client.add(in, client.input_of(8), {called});
  const auto exec = client.instantiate(in), ticket = client.link.ticket();
  client.send(
      cu::LaunchGraph{.context = client.at, .exec = exec, .inputs = {{.node = input, .data = {ticket, 8, {}}}}});
  CHECK(client.link.is_waiting_for(ticket));
  CHECK(client.link.run_of(9).function == 9);
  client.stop();
  CHECK(client.grant.used(0) == 0);
  CHECK_FALSE(client.grant.is_overdrawn());
}

namespace {

constexpr std::string_view kSet = R"(.version 7.0
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);
.visible .entry set(.param .u64 handle, .param .u32 what) {
  .reg .u64 %h; .reg .u32 %v;
  ld.param.u64 %h, [handle];
  ld.param.u32 %v, [what];
  { .param .b64 one; st.param.b64 [one], %h; .param .b32 two; st.param.b32 [two], %v;
    call.uni cudaGraphSetConditional, (one, two); }
  ret;
}
)";

/// A client with conditions in its graphs.
class Conditional : public Grapher {
 public:
  std::uint64_t condition(std::uint64_t graph, std::uint32_t value = 0) {
    const auto reply = call(cu::ConditionalHandle{.context = at, .graph = graph, .value = value, .flags = 1});
    REQUIRE(reply.status == 0);
    return reply.condition;
  }
  /// What a conditional node is made with, in the form that the test may change.
  struct Adding {
    std::uint64_t graph, condition, node, context;
    std::vector<std::uint64_t> bodies{}, after{};
    std::uint32_t type = CU_GRAPH_COND_TYPE_SWITCH;
  };
  Adding adding(std::uint64_t graph, std::uint64_t condition, std::vector<std::uint64_t> bodies) {
    return {.graph = graph, .condition = condition, .node = mint(), .context = at, .bodies = std::move(bodies)};
  }
  void add(const Adding& one) {
    send(cu::AddCondition{.graph = one.graph,
                          .node = one.node,
                          .dependencies = one.after,
                          .context = one.context,
                          .condition = one.condition,
                          .type = one.type,
                          .bodies = one.bodies});
  }
  using Grapher::add;
  cu::NodeWork filling(std::uint8_t value) const {
    return {.kind = CU_GRAPH_NODE_TYPE_MEMSET,
            .target = {.object = memory},
            .extent = {4, 1, 1},
            .value = value,
            .element = 1};
  }
  CUresult tried(std::uint64_t graph, std::uint64_t wrong = 0) {
    const auto exec = mint();
    const auto reply = call(cu::Instantiate{.context = at, .graph = graph, .exec = exec});
    if (wrong != 0 && reply.status != 0) CHECK(reply.node == wrong);
    if (reply.status == 0) send(cu::Release{.object = exec});
    return static_cast<CUresult>(reply.status);
  }
};

}  // namespace

TEST_CASE("conditions are their graph's, and bodies are nested no deeper and are no more than a server allows") {
  Conditional client;
  const auto graph = client.graph(), other = client.graph();
  const auto own = client.condition(graph), others = client.condition(other);
  std::uint64_t body = 0;
  // What was wrong is told by instantiate, and so is what was said of bodies that were not made.
  const auto with = [&](auto change) {
    body = client.mint();
    auto one = client.adding(graph, own, {body});
    change(one);
    client.send(cu::ClearGraph{.graph = graph});
    client.add(one);
    if (one.bodies.size() <= 1024) client.add(one.bodies.front(), client.filling(1));
    return client.tried(graph, one.node);
  };
  for (const auto wrong : {others, std::uint64_t{0}, kNobodys, own + 1, ~std::uint64_t{0}})
    CHECK(with([&](auto& m) { m.condition = wrong; }) == CUDA_ERROR_INVALID_VALUE);
  CHECK(with([&](auto& m) { m.type = 3; }) == CUDA_ERROR_INVALID_VALUE);
  CHECK(with([&](auto& m) { m.context = kNobodys; }) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(with([&](auto& m) { m.after = {kNobodys}; }) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(with([&](auto& m) { m.bodies = {client.mint(), other}; }) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(with([&](auto& m) { m.bodies.resize(1025); }) == CUDA_ERROR_INVALID_VALUE);
  CHECK(with([&](auto& m) { m.bodies = {client.mint(), client.mint()}, m.type = CU_GRAPH_COND_TYPE_WHILE; }) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(with([](auto&) {}) == CUDA_SUCCESS);
  // A body is not instantiated by itself, has no conditions made for it, is not cleared, and nothing of it is the
  // client's to carry out; what is let go of it is not the driver's graph.
  CHECK(client.tried(body) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.call(cu::ConditionalHandle{.context = client.at, .graph = body, .flags = 1}).status ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::ClearGraph{.graph = body}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::ClearGraph{.graph = kNobodys}) == CUDA_ERROR_INVALID_HANDLE);
  for (const auto& work :
       {client.input_of(8), client.output_of(8), cu::NodeWork{.kind = CU_GRAPH_NODE_TYPE_HOST, .value = 1}}) {
    CHECK(with([](auto&) {}) == CUDA_SUCCESS);
    const auto node = client.add(body, work);
    CHECK(client.tried(graph, node) == CUDA_ERROR_NOT_SUPPORTED);
  }
  client.send(cu::Release{.object = body});
  CHECK(client.tried(body) == CUDA_ERROR_INVALID_HANDLE);
  // In each other: a driver goes no deeper than programs do.
  client.send(cu::ClearGraph{.graph = graph});
  auto in = graph;
  for (int depth = 0; depth < 32; ++depth) {
    const auto inner = client.mint();
    client.add(client.adding(in, own, {inner}));
    in = inner;
  }
  CHECK(client.tried(graph) == CUDA_SUCCESS);
  const auto deeper = client.adding(in, own, {client.mint()});
  client.add(deeper);
  CHECK(client.tried(graph, deeper.node) == CUDA_ERROR_INVALID_VALUE);
  client.send(cu::Release{.object = graph});
  client.send(cu::Release{.object = other});
  CHECK_FALSE(client.link.has_refusals());
  client.still_works();
}

TEST_CASE("kernels set conditions of the graph that they are in, and of no other session's") {
  Conditional client, stranger;
  const auto module = stranger.mint();
  const auto condition = client.condition(client.graph(), 1);
  REQUIRE(stranger.load(stranger.at, module, kSet).status == 0);
  struct {
    std::uint64_t handle;
    std::uint32_t value;
  } parameters{condition, 1};
  const auto graph = stranger.graph(), own = stranger.condition(graph), body = stranger.mint();
  stranger.add(stranger.adding(graph, own, {body}));
  stranger.add(graph, {.kind = CU_GRAPH_NODE_TYPE_KERNEL,
                       .object = stranger.kernel(stranger.at, module, "set"),
                       .grid = {1, 1, 1},
                       .block = {1, 1, 1},
                       .parameters = flat(parameters).first(12)});
  const auto exec = stranger.instantiate(graph);
  stranger.send(cu::LaunchGraph{.context = stranger.at, .exec = exec});
  CHECK(stranger.wait(stranger.at) == CUDA_ERROR_ILLEGAL_ADDRESS);
}
