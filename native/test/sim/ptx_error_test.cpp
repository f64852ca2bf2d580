// What is wrong with a text, and where.
#include <string>

#include "sim/ptx/link.h"
#include "sim/ptx_text.h"

using namespace flexrack::sim::ptx;

namespace {

ParseError error_of(const std::string& text) {
  try {
    parse(text, "file.ptx");
  } catch (const ParseError& error) { return error; }
  FAIL("no error");
  return ParseError(ParseError::Kind::syntax, "", 0, 0, "", "");
}

void check_said(const std::string& body, const std::string& part) {
  INFO(body);
  const auto said = complaint(kernel_text(body));
  INFO(said);
  CHECK(said.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("an error has a place, a token and what was expected") {
  const auto error = error_of(kHead + ".visible .entry k()\n{\n.reg .b32 %r<4>;\n  mov.u32 %r1 %r2;\n}\n");
  CHECK(error.kind == ParseError::Kind::syntax);
  CHECK(error.unit == "file.ptx");
  CHECK(error.line == 7);
  CHECK(error.column == 15);
  CHECK(error.text == "%r2");
  CHECK(error.message == "Parsing error near '%r2': syntax error, expected ';'");
  CHECK(
      error.log() ==
      "ptxas file.ptx, line 7; error   : Parsing error near '%r2': syntax error, expected ';'\nptxas fatal   : Ptx assembly aborted due to errors\n");
  CHECK(std::string(error.what()) == "line 7, column 15: Parsing error near '%r2': syntax error, expected ';'");
}

TEST_CASE("versions that are not known") {
  CHECK(error_of(".version 9.9\n.target sm_90\n").kind == ParseError::Kind::unsupported_version);
  CHECK(error_of(".version 9.9\n.target sm_90\n").message == "Unsupported .version 9.9; current version is '9.0'");
  CHECK(error_of(".version 99999999999999999999.0\n.target sm_90\n").kind == ParseError::Kind::unsupported_version);
  CHECK(complaint("garbage").find("expected the directive .version") != std::string::npos);
  CHECK(complaint(".version 8.0").find("end of text") != std::string::npos);
  CHECK(complaint(".version 8.0 .target debug").find("no architecture") != std::string::npos);
  CHECK(complaint(".version 8.0 .target sm_75 .address_size 32").find("64") != std::string::npos);
  CHECK(complaint("").find("end of text") != std::string::npos);
}

TEST_CASE("names") {
  check_said("add.u32 %r1, %r2, %r16;", "Unknown symbol '%r16'");
  check_said("add.u32 %r1, %r2, %r01;", "Unknown symbol '%r01'");
  check_said("mov.u32 %r1, %nosuch;", "Unknown symbol '%nosuch'");
  check_said("mov.u32 %r1, %tid.q;", "Unknown symbol '%tid'");
  check_said("bra NOWHERE;", "Unknown symbol 'NOWHERE'");
  check_said("A: A: ret;", "Duplicate definition of label 'A'");
  check_said(".reg .b32 %r<4>;.reg .b32 %r<4>;", "Duplicate definition of variable '%r'");
  check_said("brx.idx %r1, T;", "Unknown symbol 'T'");
  check_said("call f;", "Unknown symbol 'f'");
  check_said("@%p9 ret;", "Unknown symbol '%p9'");
}

TEST_CASE("what PTX does not have at all") {
  check_said("frobnicate.u32 %r1, %r2;", "Not a name of any known instruction: 'frobnicate'");
  CHECK(complaint(kernel_text("tcgen05.anything;")).empty());
}

TEST_CASE("operands that do not fit") {
  for (const std::string text : {"add.u32 %r1, %r2;",
                                 "add.u32 %r1, %r2, %r3, %r4;",
                                 "add.u32 %rd1, %r2, %r3;",
                                 "add.u32 %r1, %rd2, %r3;",
                                 "add.s32 %f1, %r1, %r2;",
                                 "add.f32 %f1, %p1, %f2;",
                                 "add.u32 7, %r1, %r2;",
                                 "add.u32 %r1, [%r2], %r3;",
                                 "shl.b64 %rd1, %rd1, %rd2;",
                                 "selp.b32 %r1, %r2, %r3, %r4;",
                                 "cvt.u64.u32 %r1, %r2;",
                                 "cvt.u32.u64 %r1, %r2;",
                                 "ld.global.v2.u32 {%r1}, [%rd1];",
                                 "ld.global.u32 %r1, %rd1;",
                                 "ld.global.u64 %r1, [%rd1];",
                                 "st.global.u64 [%rd1], %r1;",
                                 "ld.global.u32 %r1, [%h1];",
                                 "mov.b64 %rd1, {%r1, %r2, %r3};",
                                 "mov.u16 %r1, %r2;",
                                 "setp.eq.u32 %r1, %r1, %r2;",
                                 "@%r1 ret;",
                                 "ret 5;",
                                 "bra 7;",
                                 "lop3.b32 %r1, %r2, %r3, %r4, 256;",
                                 "atom.global.cas.b32 %r1, [%rd1], %r2;",
                                 "vote.sync.all.pred %p1, %r1, -1;",
                                 "prmt.b32 %r1|%p1, %r2, %r3, 1;"}) {
    check_said(text, "mismatch");
  }
  check_said("ld.local.u32 %r1, [p];", "State space mismatch");
  for (const std::string text : {"add.u32 _, %r1, %r2;", "ld.global.u32 _, [%rd1];",
                                 "shfl.sync.idx.b32 _|%p1, %r1, 1, 31, -1;", "cvt.u32.u64 _, %rd1;"})
    check_said(text, "Result discard mode is not allowed");
  CHECK(
      complaint(
          kernel_text(
              "setp.eq.u32 _|%p1, %r1, %r2; setp.eq.u32 %p1|_, %r1, %r2; atom.global.add.u32 _, [%rd1], 1; match.all.sync.b32 _|%p1, %r1, -1;"))
          .empty());
}

TEST_CASE("grammar") {
  check_said("add.u32 %r1, %r2, ;", "expected a number");
  check_said("add.u32 %r1, %r2, %r3", "expected ';'");
  check_said(".reg %r1;", "expected a type");
  check_said(".nonsense 1;", "expected a directive");
  check_said("}}", "expected a directive");
  check_said("mov.u32 %r1, -%r2;", "expected a number");
  check_said(".shared .b8 x[-1];", "expected an array's size");
  check_said(".shared .b8 x[(-1)];", "out of range");
  check_said(".shared .align 3 .b8 x[4];", "power of two");
  check_said(".global .b8 x[281474976710657];", "");
  check_said("mov.u32 %r1, 0x;", "expected");
  check_said("mov.u32 %r1, (1;", "expected ')'");
  CHECK(complaint(kHead + ".visible .entry k(").find("expected a state space") != std::string::npos);
  CHECK(complaint(kHead + ".section .x { ").find("'}'") != std::string::npos);
  CHECK(complaint(kHead + ".global .pred x;").find("memory") != std::string::npos);
  CHECK(complaint(kHead + ".global .u32 x[2] = {1,2,3};").find("Too many initial values") != std::string::npos);
  CHECK(complaint(kHead + ".global .u64 x = y;").find("Unknown symbol 'y'") != std::string::npos);
  CHECK(complaint(kHead + ".shared .u32 x = 1;").find(".global and .const") != std::string::npos);
  CHECK(complaint(kHead + ".entry k(.param .b8 x[40000]) { ret; }").find("too big") != std::string::npos);
}

TEST_CASE("sizes that no device has") {
  CHECK(error_of(kernel_text(".local .b8 x[1000000];")).kind == ParseError::Kind::too_big);
  CHECK(error_of(kernel_text(".shared .b8 x[49153]; st.shared.u8 [x], 1;")).message ==
        "Entry function 'k' uses too much shared data (0xc000 bytes max)");
  CHECK(complaint(kernel_text(".shared .b8 x[49152]; st.shared.u8 [x], 1;")).empty());
  CHECK(error_of(kHead + ".global .b8 x[1000][1000][1000][1000][1000][1000];").kind == ParseError::Kind::too_big);
  CHECK(error_of(kHead + ".global .b8 x[2][1000000000] = {{1},{2}};").kind == ParseError::Kind::too_big);
}

TEST_CASE("deep nesting and long lists end in an error, not in the stack") {
  const auto many = [](const std::string& what, std::size_t times) {
    std::string out;
    for (std::size_t at = 0; at < times; ++at) out += what;
    return out;
  };
  CHECK_FALSE(complaint(kernel_text("mov.u32 %r1, " + many("(", 100000))).empty());
  CHECK_FALSE(complaint(kernel_text("mov.u32 %r1, " + many("-", 100000) + "1;")).empty());
  CHECK_FALSE(complaint(kernel_text("mov.u32 %r1, " + many("1?", 100000))).empty());
  CHECK_FALSE(complaint(kernel_text("vadd " + many("{", 100000))).empty());
  CHECK_FALSE(complaint(kernel_text(many("{", 100000))).empty());
  CHECK_FALSE(complaint(kHead + ".global .u32 x" + many("[1]", 1000) + ";").empty());
  CHECK_FALSE(complaint(kHead + ".global .u32 x[1] = " + many("{", 100000)).empty());
  CHECK(complaint(kernel_text("vadd " + many("1,", 100000) + "1;")).empty());
}

TEST_CASE("a declared size of anything costs no memory") {
  CHECK(complaint(kernel_text(".reg .b64 %huge<4294967294>; mov.u64 %huge4294967293, %huge7;")).empty());
  CHECK(complaint(kHead + ".global .b8 x[281474976710656];").empty());
}
