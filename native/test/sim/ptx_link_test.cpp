// Functions, calls, shared memory, and several units as one.
#include <string>
#include <vector>

#include "sim/ptx/link.h"
#include "sim/ptx_text.h"

using namespace flexrack::sim::ptx;

namespace {

std::unique_ptr<Module> linked(const std::vector<std::string>& bodies) {
  std::vector<std::string> texts;
  for (const auto& each : bodies) texts.push_back(kHead + each);
  std::vector<Source> sources;
  for (std::size_t at = 0; at < texts.size(); ++at) sources.push_back({"unit" + std::to_string(at), texts[at]});
  return link(sources);
}

std::string link_complaint(const std::vector<std::string>& bodies) {
  try {
    linked(bodies);
  } catch (const ParseError& error) { return error.message; }
  return "";
}

const std::string kCall =
    ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
    "{ .param .b32 a; st.param.b32 [a], 5; .param .align 8 .b8 b[16]; st.param.b64 [b+8], %rd1; .param .b32 out;\n"
    "call.uni (out), f, (a, b); ld.param.b32 %r1, [out]; }\nret; }\n";
const std::string kExternal = ".extern .func (.param .b32 out) f(.param .b32 a, .param .align 8 .b8 b[16]);\n";
const std::string kDefined =
    ".visible .func (.param .b32 out) f(.param .b32 a, .param .align 8 .b8 b[16]) { .reg .b32 %r<2>; ld.param.b32 %r1, [a]; st.param.b32 [out], %r1; ret; }\n";

}  // namespace

TEST_CASE("a call copies parameters between local frames") {
  const auto module = parse(kHead + kDefined + kCall);
  const auto& kernel = *module->kernel("k");
  const auto& callee = *module->function("f");
  REQUIRE(kernel.calls.size() == 1);
  const auto& call = kernel.calls[0];
  CHECK(call.callee == callee.index);
  CHECK(call.is_checked);
  REQUIRE(call.arguments.size() == 2);
  CHECK(call.arguments[0].is_memory);
  CHECK(call.arguments[0].offset == 0);
  CHECK(call.arguments[0].bytes == 4);
  CHECK(call.arguments[1].offset == 8);
  CHECK(call.arguments[1].bytes == 16);
  CHECK(call.results[0].offset == 24);
  CHECK(kernel.local_bytes == 32);
  CHECK(callee.results[0].offset == 0);
  CHECK(callee.parameters[0].offset == 4);
  CHECK(callee.parameters[1].offset == 8);
  CHECK(callee.local_bytes == 32);
  // All of it is local: st.param, ld.param in caller and callee.
  CHECK(kernel.code[0].space == Space::local);
  CHECK(kernel.code[1].displacement == 16);
  CHECK(callee.code[0].space == Space::local);
  CHECK(callee.code[0].displacement == 4);
  CHECK(callee.code.back().op == Op::ret);
}

TEST_CASE("parameters in registers, and constants as arguments") {
  const auto module = parse(
      kHead +
      ".visible .func (.reg .u32 %out) f(.reg .u32 %a, .param .b32 b) { .reg .b32 %r<2>; ld.param.b32 %r1, [b]; add.u32 %out, %a, %r1; ret; }\n"
      ".visible .entry k() { .reg .u32 %r<4>; call (%r1), f, (7, %r2); call (_), f, (%r1, 3); call f, (1, 2); ret; }\n");
  const auto& callee = *module->function("f");
  CHECK(callee.parameters[0].is_register);
  CHECK(callee.results[0].is_register);
  CHECK(callee.results[0].place.kind == Operand::Kind::lanes);
  CHECK(callee.parameters[0].place.at != callee.results[0].place.at);
  CHECK_FALSE(callee.parameters[1].is_register);
  const auto& calls = module->kernel("k")->calls;
  REQUIRE(calls.size() == 3);
  CHECK(calls[0].arguments[0].value.kind == Operand::Kind::constant);
  CHECK(calls[0].arguments[1].value.kind == Operand::Kind::lanes);
  CHECK(calls[0].results[0].value.kind == Operand::Kind::lanes);
  CHECK(calls[1].results[0].value.kind == Operand::Kind::sink);
  CHECK(calls[2].results.empty());
}

TEST_CASE("calls that do not fit their function") {
  const std::string f = ".visible .func (.param .b32 out) f(.param .b32 a) { ret; }\n";
  const auto said = [&](const std::string& call) {
    return complaint(kHead + f + ".visible .entry k() { .reg .b32 %r<4>; .reg .b64 %rd<4>; .param .b64 wide; " + call +
                     " ret; }");
  };
  for (const std::string call : {"call (%r1), f, (%r2, %r3);", "call (%r1), f;", "call (%rd1), f, (%r1);",
                                 "call (%r1), f, (wide);", "call (%r1), %r2, (%r1);"}) {
    INFO(call);
    CHECK(said(call).find("mismatch") != std::string::npos);
  }
  CHECK(said("call (%r1), f, (%r2);").empty());
}

TEST_CASE("indirect calls by prototype and by list") {
  const auto module = parse(
      kHead + kDefined +
      ".visible .entry k() { .reg .b64 %rd<4>; .reg .b32 %r<4>; mov.u64 %rd1, f;\n"
      "{ .param .b32 a; .param .align 8 .b8 b[16]; .param .b32 out; P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 "
      ".b8 _[16]); call (out), %rd1, (a, b), P; }\n"
      "{ .param .b32 a; .param .align 8 .b8 b[16]; .param .b32 out; T: .calltargets f; call (out), %rd1, (a, b), T; }\nret; }");
  const auto& kernel = *module->kernel("k");
  CHECK(kernel.has_indirect_calls);
  REQUIRE(kernel.calls.size() == 2);
  CHECK(kernel.calls[0].callee == kNone);
  CHECK(kernel.calls[0].arguments[1].bytes == 16);
  CHECK(kernel.calls[0].targets.empty());
  CHECK(kernel.calls[1].targets == std::vector<std::uint32_t>{module->function("f")->index});
}

TEST_CASE("what a unit lacks is found in another") {
  const auto module = linked({kExternal + kCall + ".extern .global .u32 v;\n.global .u64 to = v;\n",
                              kDefined + ".visible .global .u32 v = 7;\n"});
  CHECK(module->function("f")->is_defined);
  CHECK(module->kernel("k")->calls[0].callee == module->function("f")->index);
  CHECK(module->variables.at(module->variable("to")->relocations[0].target).initial[0] == std::byte{7});
  CHECK(link_complaint({kExternal + kCall}) == "Unresolved extern function 'f'");
  CHECK(link_complaint({".extern .global .u32 v;\n.global .u64 to = v;\n"}) == "Unresolved extern variable 'v'");
  // Declared and not used is no error, nor is what the executor has itself.
  CHECK(link_complaint({kExternal}).empty());
  CHECK(parse(kHead + ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n")
            ->function("vprintf")
            ->builtin == Builtin::vprintf);
  check({"unit", kHead + kExternal + kCall});
}

TEST_CASE("names of one unit are its own; definitions twice are an error unless weak") {
  const std::string own = ".func own() { ret; }\n.global .u32 g = 1;\n";
  const auto module =
      linked({own + ".visible .entry a() { call own; ret; }\n", own + ".visible .entry b() { call own; ret; }\n"});
  CHECK(module->kernel("a")->calls[0].callee != module->kernel("b")->calls[0].callee);
  CHECK(link_complaint({kDefined, kDefined}) == "Duplicate definition of function 'f'");
  CHECK(link_complaint({kDefined + kDefined}) == "Duplicate definition of function 'f'");
  CHECK(link_complaint({".visible .global .u32 v;", ".visible .global .u32 v;"}) ==
        "Duplicate definition of variable 'v'");
  CHECK(link_complaint({".visible .global .u32 f;", kDefined}) == "Duplicate definition of 'f'");
  const auto weak = linked({".weak .global .u32 v = 1;", ".visible .global .u32 v = 2;", ".weak .global .u32 v = 3;"});
  CHECK(weak->variable("v")->initial[0] == std::byte{2});
  const auto code =
      linked({".weak .func f() { trap; }", ".visible .func f() { ret; }", ".weak .func f() { trap; trap; }"});
  CHECK(code->function("f")->code[0].op == Op::ret);
  const auto common = linked({".common .global .b8 v[4];", ".common .global .b8 v[8];"});
  CHECK(common->variable("v")->bytes == 8);
  CHECK(linked({".extern .func f();\n.visible .func f() { ret; }\n"})->function("f")->is_defined);
}

TEST_CASE("aliases are the function they stand for") {
  const auto module = parse(
      kHead +
      ".visible .func real() { ret; }\n.visible .func other();\n.alias other, real;\n.visible .entry k() { call other; ret; }\n");
  CHECK(module->kernel("k")->calls[0].callee == module->function("real")->index);
  CHECK(module->function("other")->alias_of == module->function("real")->index);
  CHECK_FALSE(complaint(kHead + ".func f();\n.alias f, g;").empty());
  CHECK_FALSE(complaint(kHead + ".func f();\n.func g();\n.alias f, g;").empty());
}

TEST_CASE("each kernel has its own layout of shared memory; device functions have one for all") {
  const auto module = parse(
      kHead +
      ".shared .b32 a[4]; .shared .align 16 .b8 b[20]; .shared .b32 unused[1000]; .extern .shared .align 32 .b8 dyn[];\n"
      ".visible .func f() { .shared .b32 inner[3]; st.shared.u32 [inner+4], 1; st.shared.u8 [dyn], 2; ret; }\n"
      ".visible .entry one() { st.shared.u32 [a+4], 1; st.shared.u8 [b], 1; ret; }\n"
      ".visible .entry two() { st.shared.u8 [b], 1; st.shared.u8 [dyn+3], 1; ret; }\n"
      ".visible .entry three() { .shared .b8 own[5]; st.shared.u8 [own], 1; call f; ret; }\n.visible .entry four() { call f; ret; }\n");
  const auto& one = *module->kernel("one");
  CHECK(one.shared_bytes == 36);
  CHECK(one.code[0].displacement == 4);
  CHECK(one.code[1].displacement == 16);
  CHECK(one.dynamic_shared_offset == 48);
  const auto& two = *module->kernel("two");
  CHECK(two.shared_bytes == 20);
  CHECK(two.code[0].displacement == 0);
  CHECK(two.code[1].displacement == 35);
  const auto& three = *module->kernel("three");
  CHECK(three.shared_bytes == 17);
  CHECK(three.code[0].displacement == 12);
  CHECK(three.dynamic_shared_offset == 32);
  CHECK(module->function("f")->code[0].displacement == 4);
  CHECK(module->function("f")->code[1].displacement == 32);
  CHECK(module->kernel("four")->shared_bytes == 12);
  CHECK(module->kernel("four")->dynamic_shared_offset == 32);
}

TEST_CASE("what follows from who calls whom: barriers, recursion") {
  const auto module = parse(
      kHead +
      ".visible .func leaf() { bar.sync 3; ret; }\n.visible .func again();\n.visible .func again() { call again; ret; }\n"
      ".visible .entry a() { bar.sync 0; call leaf; ret; }\n.visible .entry b() { call again; ret; }\n.visible .entry c() { .reg .b32 "
      "%r<2>; bar.sync %r1; ret; }\n");
  CHECK(module->kernel("a")->barriers == 4);
  CHECK_FALSE(module->kernel("a")->uses_dynamic_stack);
  CHECK(module->kernel("b")->uses_dynamic_stack);
  CHECK(module->function("again")->uses_dynamic_stack);
  CHECK(module->kernel("c")->barriers == 16);
}
