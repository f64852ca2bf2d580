#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "client/cuda/graph_partition.h"

using namespace flexrack::client::cuda;

namespace {

/// Names, and nothing behind them.
CudaServer* server(std::uintptr_t number) { return reinterpret_cast<CudaServer*>(number * 64); }
CudaServer* const a = server(1);
CudaServer* const b = server(2);
CudaServer* const c = server(3);

std::string shown(const Partition& made) {
  const auto name = [](const CudaServer* one) { return one == a ? "a" : one == b ? "b" : one == c ? "c" : "?"; };
  std::string text;
  for (const auto& step : made.steps) {
    if (!text.empty()) text += " ";
    text += name(step.server);
    if (step.kind == Step::Kind::part) text += std::to_string(step.number);
    if (step.kind == Step::Kind::copy) text += std::string("=") + name(step.other);
    if (step.kind == Step::Kind::signal) text += std::string(">") + name(step.other);
    if (step.kind == Step::Kind::await) text += std::string("<") + name(step.other);
  }
  return text;
}

std::string parted(const std::vector<PartedNode>& nodes) { return shown(partition(nodes, a)); }

}  // namespace

TEST_CASE("what one server has is one part, however its nodes depend on each other") {
  CHECK(parted({{{}, a}, {{0}, a}, {{0}, a}, {{1, 2}, a}}) == "a0");
  CHECK(parted({}).empty());
}

TEST_CASE("servers that have nothing for each other wait for nothing") { CHECK(parted({{{}, a}, {{}, b}}) == "a0 b1"); }

TEST_CASE("an edge between two servers is a signal, and one tells of all before it") {
  CHECK(parted({{{}, a}, {{0}, b}}) == "a0 a>b b<a b1");
  CHECK(parted({{{}, a}, {{}, a}, {{0}, b}, {{1}, b}}) == "a0 a>b b<a b1");
  // What came behind the signal before is told by another one.
  CHECK(parted({{{}, a}, {{0}, b}, {{1}, a}, {{2, 0}, b}}) == "a0 a>b b<a b1 b>a a<b a2 a>b b<a b3");
}

TEST_CASE("a copy comes behind what both servers have done, and needs no signal of its own") {
  CHECK(parted({{{}, a}, {{}, b}, {{0, 1}, a, b}, {{2}, b}, {{2}, a}}) == "a0 b1 a=b b2 a3");
  // Round a ring, each copy behind the one before it.
  CHECK(parted({{{}, a, b}, {{0}, b, c}, {{1}, c, a}}) == "a=b b=c c=a");
  // Of a third server's work it has to hear.
  CHECK(parted({{{}, c}, {{0}, a, b}}) == "c0 c>a a<c a=b");
}

TEST_CASE("a third server hears of a copy from where it ends") {
  CHECK(parted({{{}, a, b}, {{0}, c}}) == "a=b b>c c<b c0");
}

TEST_CASE("what could be anywhere is where the last thing before it ends") {
  const auto made = partition(std::vector<PartedNode>{{{}, b}, {{0}, nullptr}, {{}, nullptr}}, a);
  CHECK(made.part_of == std::vector<std::size_t>{0, 0, 1});
  CHECK(made.parts == std::vector<CudaServer*>{b, a});
  CHECK(parted({{{}, a, b}, {{0}, nullptr}}) == "a=b b0");
}

TEST_CASE("nodes that are copies are in no part") {
  const auto made = partition(std::vector<PartedNode>{{{}, a, b}, {{0}, b}}, a);
  CHECK(made.part_of == std::vector<std::size_t>{Partition::kNone, 0});
}
