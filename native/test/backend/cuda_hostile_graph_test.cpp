#include "test/backend/cuda_graph_client.h"

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
  // Nodes that are gone with their graph and what it was instantiated to.
  client.send(cu::Release{.object = other_graph});
  client.send(cu::Release{.object = other});
  CHECK(client.refusal(cu::GraphInput{.node = others, .data = {0, 8, eight}}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(exec, stream, others, output) == CUDA_ERROR_INVALID_VALUE);
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
