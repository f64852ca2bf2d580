// A client of the CUDA backend that makes graphs.
#pragma once

#include "test/backend/cuda_client.h"

namespace flexrack::test {

/// A handle that nobody has.
inline constexpr std::uint64_t kNobodys = 4711;

template <class T>
View flat(const T& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

/// A client with a graph, or many.
class Grapher : public CudaClient {
 public:
  explicit Grapher(bool is_primary = true) : at(context(is_primary)) {}

  const std::uint64_t at, memory = CudaClient::memory(at, 4096);

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

}  // namespace flexrack::test
