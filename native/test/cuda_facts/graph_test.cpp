#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include "cuda/graph_dot.h"
#include "cuda/graph_facts.h"

using namespace flexrack::cuda;

TEST_CASE("a graph as text has every node, what depends on it, and graphs inside of nodes") {
  const std::vector<DotNode> graph{
      {.number = 1, .type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = "add", .after = {2}},
      {.number = 2,
       .type = CU_GRAPH_NODE_TYPE_GRAPH,
       .after = {3},
       .parts = {{{.number = 1, .type = CU_GRAPH_NODE_TYPE_MEMSET, .after = {2}},
                  {.number = 2, .type = CU_GRAPH_NODE_TYPE_HOST}}}},
      {.number = 3,
       .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
       .parts = {{{.number = 1, .type = CU_GRAPH_NODE_TYPE_EMPTY}}, {}}},
  };
  char path[] = "/tmp/flexrack-dot-XXXXXX";
  close(mkstemp(path));
  REQUIRE(write_dot(graph, nullptr, path));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  unlink(path);
  CHECK(text.str() == R"(digraph graph_(nil) {
  "1" [shape=box label="1\nKERNEL\nadd"];
  "1" -> "2";
  "2" [shape=box label="2\nGRAPH"];
  "2" -> "3";
  subgraph "cluster_2" {
  label="2";
  "2.1" [shape=box label="2.1\nMEMSET"];
  "2.1" -> "2.2";
  "2.2" [shape=box label="2.2\nHOST"];
  }
  "3" [shape=box label="3\nCONDITIONAL"];
  subgraph "cluster_3#0" {
  label="3#0";
  "3#0.1" [shape=box label="3#0.1\nEMPTY"];
  }
  subgraph "cluster_3#1" {
  label="3#1";
  }
}
)");
  CHECK(!write_dot(graph, nullptr, "/nowhere/graph.dot"));
}

TEST_CASE("a list is as long as there is room for, and says how many there are") {
  std::array<int, 4> list{7, 7, 7, 7};
  const auto give = [&](std::size_t i, bool is_there) { list[i] = is_there ? static_cast<int>(i) + 1 : 0; };
  std::size_t count = 9;
  CHECK(give_list(2, &count, false, give));
  CHECK(count == 2);
  CHECK(list[0] == 7);
  count = 3;
  CHECK(give_list(2, &count, true, give));
  CHECK(count == 2);
  CHECK(list == std::array{1, 2, 0, 7});
  count = 1;
  CHECK(give_list(2, &count, true, give));
  CHECK(count == 1);
  CHECK_FALSE(give_list(2, nullptr, true, give));
}
