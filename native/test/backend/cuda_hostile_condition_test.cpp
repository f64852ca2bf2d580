#include <atomic>

#include "test/backend/cuda_graph_client.h"

using namespace flexrack;
using namespace flexrack::test;

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
  using Grapher::Grapher;

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

TEST_CASE("a node that a graph was refused is not in it") {
  Conditional client;
  const auto graph = client.graph(), condition = client.condition(graph, 1);
  const auto first = client.add(graph, client.filling(1));
  // Of handles that are taken: what the driver made for them would be there without a name.
  for (const auto taken : {first, graph, client.at, std::uint64_t{0}}) {
    CAPTURE(taken);
    auto work = client.filling(7);
    work.context = client.at;
    client.send(cu::AddNode{.graph = graph, .node = taken, .dependencies = {{first}}, .work = work});
    CHECK(client.tried(graph) == CUDA_ERROR_INVALID_HANDLE);
    for (const bool is_body : {false, true}) {
      auto one = client.adding(graph, condition, {client.mint(), client.mint()});
      one.after = {first};
      (is_body ? one.bodies.back() : one.node) = taken;
      client.add(one);
      client.add(one.bodies.front(), client.filling(7));
      CHECK(client.tried(graph) == CUDA_ERROR_INVALID_HANDLE);
    }
  }
  const auto used = client.adding(graph, condition, {client.mint()});
  client.add(used);
  const auto exec = client.instantiate(graph);
  client.send(cu::LaunchGraph{.context = client.at, .exec = exec});
  CHECK(client.wait(client.at) == CUDA_SUCCESS);
  CHECK(client.read(client.at, client.memory, 1) == Bytes{1});
  client.still_works();
}

TEST_CASE("conditions are made for no more graphs than a session may have of them") {
  Conditional client;
  const auto made = [&](std::uint64_t graph) {
    return static_cast<CUresult>(
        client.call(cu::ConditionalHandle{.context = client.at, .graph = graph, .flags = 1}).status);
  };
  std::vector<std::uint64_t> graphs;
  auto status = CUDA_SUCCESS;
  std::size_t all = 0;
  for (; all < 200'000 && status == CUDA_SUCCESS; ++all) {
    if (all % 1000 == 0) graphs.push_back(client.graph());
    status = made(graphs.back());
  }
  CHECK(status == CUDA_ERROR_OUT_OF_MEMORY);
  // They go with their graph.
  client.send(cu::Release{.object = graphs.front()});
  CHECK(made(graphs.back()) == CUDA_SUCCESS);
  for (std::size_t i = 1; i < graphs.size(); ++i) client.send(cu::Release{.object = graphs[i]});
  client.still_works();
}

namespace {

constexpr std::string_view kLook = R"(.version 7.0
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);
.visible .entry look(.param .u64 handle, .param .u64 at) {
  .reg .u64 %h, %a; .reg .u32 %v;
  ld.param.u64 %h, [handle];
  ld.param.u64 %a, [at];
  ld.volatile.global.u32 %v, [%a];
  { .param .b64 one; st.param.b64 [one], %h; .param .b32 two; st.param.b32 [two], %v;
    call.uni cudaGraphSetConditional, (one, two); }
  ret;
}
)";

}  // namespace

TEST_CASE("a loop without end does not hold up the end of its session, nor another session") {
  // As in a worker, whose threads use all of it until the process is gone.
  static auto& client = *new Conditional(false);
  const auto graph = client.graph(), condition = client.condition(graph, 0x80000000u), module = client.mint(),
             body = client.mint();
  REQUIRE(client.load(client.at, module, kLook).status == 0);
  auto loop = client.adding(graph, condition, {body});
  loop.type = CU_GRAPH_COND_TYPE_WHILE;
  client.add(loop);
  const std::uint64_t parameters[] = {condition, client.memory};
  client.add(body, {.kind = CU_GRAPH_NODE_TYPE_KERNEL,
                    .object = client.kernel(client.at, module, "look"),
                    .grid = {1, 1, 1},
                    .block = {1, 1, 1},
                    .parameters = flat(parameters)});
  const auto exec = client.instantiate(graph);
  auto& word = *reinterpret_cast<std::uint32_t*>(client.memory);   // of a device in software: this process's
  std::atomic_ref(word).store(1);
  client.send(cu::LaunchGraph{.context = client.at, .exec = exec, .stream = client.stream(client.at)});
  // What it was made of goes while it runs.
  client.send(cu::ClearGraph{.graph = graph});
  client.send(cu::Release{.object = graph});
  client.send(cu::Release{.object = exec});
  CHECK_FALSE(client.link.has_refusals());
  Conditional().still_works();
  client.link.lose();
  client.backend->on_over("the test is over");
  client.backend->stop();
  CHECK(client.grant.used(0) == 0);
  std::atomic_ref(word).store(0);   // other tests have the device, too
}

TEST_CASE("a graph that is cleared and filled again leaves alone what it was instantiated to") {
  Conditional client;
  const auto graph = client.graph(), condition = client.condition(graph, 0xffffffffu);
  const auto with = [&](std::uint8_t value) {
    const auto one = client.adding(graph, condition, {client.mint()});
    client.send(cu::ClearGraph{.graph = graph});
    // A value that is no body's: none is done.
    client.add(one);
    client.add(one.bodies.front(), client.filling(99));
    client.add(graph, client.filling(value));
    return client.instantiate(graph);
  };
  const auto first = with(1), second = with(2);
  const auto launched = [&](std::uint64_t exec) {
    client.send(cu::LaunchGraph{.context = client.at, .exec = exec});
    CHECK(client.wait(client.at) == CUDA_SUCCESS);
    return client.read(client.at, client.memory, 1).front();
  };
  CHECK(launched(first) == 1);
  CHECK(launched(second) == 2);
  client.send(cu::ClearGraph{.graph = graph});
  CHECK(launched(first) == 1);
  client.send(cu::Release{.object = graph});
  CHECK(launched(second) == 2);
  CHECK_FALSE(client.link.has_refusals());
}

TEST_CASE("what is instantiated keeps the stops that it has in the client, whatever it is updated from") {
  Conditional client;
  const auto graph = client.graph(), other = client.graph(), condition = client.condition(graph),
             others = client.condition(other);
  // A conditional node whose body is not done, bytes from the client, and back.
  struct Made {
    std::uint64_t input, output;
  };
  const auto fill = [&](std::uint64_t in, std::uint64_t of, Made as = {}) {
    client.send(cu::ClearGraph{.graph = in});
    auto input = client.input_of(8), output = client.output_of(8);
    input.object = as.input, output.object = as.output;
    const auto one = client.adding(in, of, {client.mint()});
    client.add(one);
    const auto first = client.add(in, input, {one.node});
    return Made{first, client.add(in, output, {first})};
  };
  const auto made = fill(graph, condition);
  const auto exec = client.instantiate(graph);
  const auto works = [&](Made by) {
    const Bytes bytes(8, 7);
    const auto ticket = client.link.ticket();
    client.send(cu::LaunchGraph{.context = client.at,
                                .exec = exec,
                                .inputs = {{.node = by.input, .data = {0, 8, bytes}}},
                                .outputs = {{.node = by.output, .ticket = ticket}}});
    CHECK(client.link.payload(ticket) == bytes);
  };
  const auto updated = [&](std::uint64_t from, std::uint64_t what) {
    return static_cast<CUresult>(client.call(cu::UpdateExec{.exec = what, .graph = from}).status);
  };
  works(made);
  CHECK(updated(graph, exec) == CUDA_SUCCESS);
  // Stops of its own would be gone with the graph.
  fill(other, others);
  CHECK(updated(other, exec) == CUDA_ERROR_INVALID_VALUE);
  // Of nobody, of the wrong sort, for another function; a graph without conditions shares none.
  for (const auto& wrong : {Made{kNobodys, made.output}, Made{made.input, kNobodys}, Made{made.output, made.input}}) {
    fill(other, others, wrong);
    CHECK(updated(other, exec) == CUDA_ERROR_INVALID_VALUE);
  }
  auto alien = client.input_of(8);
  alien.object = made.input;
  const auto plain = client.graph();
  client.add(plain, alien);
  CHECK(client.tried(plain) == CUDA_ERROR_INVALID_VALUE);
  fill(other, others, made);
  CHECK(updated(other, exec) == CUDA_SUCCESS);
  works(made);
  for (const auto wrong : {std::uint64_t{0}, kNobodys, graph, client.at}) {
    CHECK(updated(other, wrong) == CUDA_ERROR_INVALID_HANDLE);
    if (wrong != graph) CHECK(updated(wrong, exec) == CUDA_ERROR_INVALID_HANDLE);
  }
  client.send(cu::ClearGraph{.graph = other});
  CHECK(updated(other, exec) == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  // Names are taken for as long as what was instantiated is launched by them.
  client.send(cu::ClearGraph{.graph = graph});
  auto work = client.input_of(8);
  work.context = client.at;
  client.send(cu::AddNode{.graph = plain, .node = made.input, .work = work});
  CHECK(client.tried(plain) == CUDA_ERROR_INVALID_HANDLE);
  work.object = made.input;
  CHECK(client.refusal(cu::SetExecNode{.exec = exec, .node = made.input, .work = work}) == CUDA_ERROR_INVALID_HANDLE);
  client.send(cu::Release{.object = graph});
  client.send(cu::Release{.object = other});
  works(made);
  client.send(cu::Release{.object = exec});
  const auto late = client.link.ticket();
  CHECK(client.refusal(cu::GraphInput{.node = made.input, .data = {late, 8, {}}}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.wait(client.at) == CUDA_SUCCESS);
  CHECK_FALSE(client.link.has_refusals());
  client.still_works();
}
