// Where lanes that took different ways meet again.
#include <cstring>
#include <vector>

#include "sim/ptx_text.h"

using namespace flexrack::sim::ptx;

namespace {

/// The points of reconvergence of the branches, by the order of the branches in the text. Every instruction but
/// branches and ends is `mov.u32 %r1, <number>`, so that a point is told as that number; -1: the end of the function,
/// -2: something else.
std::vector<int> meets(const std::string& body, const std::string& before = "") {
  const auto module = kernel_of(body, before);
  const auto& kernel = *module->kernel("k");
  std::vector<int> out;
  for (const auto& each : kernel.code) {
    if (each.op != Op::bra && each.op != Op::brx) continue;
    if (each.op == Op::bra && each.guard == kNone) continue;
    if (each.ways.reconverge == kNone) {
      out.push_back(-1);
      continue;
    }
    const auto& at = kernel.code.at(each.ways.reconverge);
    int number = -2;
    if (at.op == Op::mov && at.o[1].kind == Operand::Kind::constant)
      std::memcpy(&number, kernel.constants.data() + at.o[1].at, sizeof number);
    out.push_back(number);
  }
  return out;
}

std::string mark(int number) { return "mov.u32 %r1, " + std::to_string(number) + ";\n"; }

}  // namespace

TEST_CASE("if and if-else meet behind themselves") {
  CHECK(meets("@%p1 bra A;\n" + mark(1) + "A:\n" + mark(2)) == std::vector<int>{2});
  CHECK(meets("@%p1 bra A;\n" + mark(1) + "bra.uni B;\nA:\n" + mark(2) + "B:\n" + mark(3)) == std::vector<int>{3});
}

TEST_CASE("nested ifs meet inside first") {
  CHECK(meets("@%p1 bra A;\n@%p2 bra B;\n" + mark(1) + "B:\n" + mark(2) + "A:\n" + mark(3)) == std::vector<int>{3, 2});
}

TEST_CASE("a loop's lanes meet behind the loop, also those that break out or go on early") {
  CHECK(meets("L:\n" + mark(1) + "@%p1 bra L;\n" + mark(2)) == std::vector<int>{2});
  CHECK(meets("L:\n" + mark(1) + "@%p1 bra E;\n" + mark(2) + "@%p2 bra N;\n" + mark(3) + "N:\n" + mark(4) +
              "@%p3 bra L;\nE:\n" + mark(5)) == std::vector<int>{5, 4, 5});
  CHECK(meets("L:\nM:\n" + mark(1) + "@%p1 bra M;\n" + mark(2) + "@%p2 bra L;\n" + mark(3)) == std::vector<int>{2, 3});
}

TEST_CASE("a switch meets behind all cases, those that fall through too") {
  const std::string list = "T: .branchtargets A, B, C;\n";
  CHECK(meets(list + "brx.idx %r1, T;\nA:\n" + mark(1) + "bra E;\nB:\n" + mark(2) + "C:\n" + mark(3) + "E:\n" +
              mark(4)) == std::vector<int>{4});
  const auto module =
      kernel_of(list + "@%p1 brx.idx.uni %r1, T;\nA:\n" + mark(1) + "B:\n" + mark(2) + "C:\n" + mark(3));
  const auto& kernel = *module->kernel("k");
  CHECK(kernel.branch_tables.at(kernel.code[0].index).targets == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(kernel.code[0].ways.reconverge == 3);
}

TEST_CASE("lanes that are gone are not waited for") {
  // Returning early inside an if: the rest meets behind the outer one.
  CHECK(meets("@%p1 bra A;\n@%p2 bra B;\n" + mark(1) + "ret;\nB:\n" + mark(2) + "A:\n" + mark(3)) ==
        std::vector<int>{3, 2});
  CHECK(meets("@%p1 bra A;\n@%p2 exit;\n" + mark(2) + "A:\n" + mark(3)) == std::vector<int>{3});
  CHECK(meets("@%p1 bra A;\n" + mark(1) + "trap;\nA:\n" + mark(2)) == std::vector<int>{2});
}

TEST_CASE("a branch to the end is an end") {
  const auto module = kernel_of("@%p1 bra E;\n" + mark(1) + "E:\nret;");
  const auto& code = module->kernel("k")->code;
  REQUIRE(code.size() == 3);
  CHECK(code[0].op == Op::exit);
  CHECK(code[0].guard != kNone);
}

TEST_CASE("loops without an end, and code that nobody reaches") {
  CHECK(meets("L:\n@%p1 bra A;\n" + mark(1) + "A:\n" + mark(2) + "bra L;\n") == std::vector<int>{2});
  CHECK(meets("bra E;\n@%p1 bra E;\n" + mark(1) + "E:\n" + mark(2)) == std::vector<int>{2});
  // At the branch back.
  CHECK(meets("L:\n@%p1 bra L;\nbra L;\n") == std::vector<int>{-2});
}

TEST_CASE("lanes may meet nowhere before the end") {
  // Two loops into each other that end in two places.
  const auto module =
      parse(kHead + ".visible .func f(.param .u32 n)\n{\n.reg .pred %p<4>; .reg .b32 %r<4>;\n@%p1 bra A;\n" + mark(1) +
            "@%p2 trap;\nret;\nA:\n" + mark(2) + "ret;\n}\n");
  const auto& code = module->function("f")->code;
  CHECK(code[0].ways.reconverge == 4);
  CHECK(code.back().op == Op::ret);
}

TEST_CASE("labels are seen from inner blocks, and inner ones hide outer ones") {
  const auto module =
      kernel_of("{ bra A; }\n" + mark(1) + "A:\n" + mark(2) + "{ bra A;\n" + mark(3) + "A:\n" + mark(4) + "}\n");
  const auto& code = module->kernel("k")->code;
  CHECK(code[0].ways.target == 2);
  CHECK(code[3].ways.target == 5);
  CHECK(complaint(kernel_text("{ A: " + mark(1) + "}\nbra A;")).find("Unknown symbol 'A'") != std::string::npos);
}

TEST_CASE("a body ends with an end") {
  CHECK(kernel_of("")->kernel("k")->code.size() == 1);
  CHECK(kernel_of("L: bra L;")->kernel("k")->code.back().op == Op::exit);
  CHECK(kernel_of("@%p1 ret;")->kernel("k")->code.size() == 2);
  CHECK(kernel_of("bra E; ret; E:")->kernel("k")->code.size() == 3);
}
