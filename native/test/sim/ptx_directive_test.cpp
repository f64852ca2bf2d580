// Directives, declarations, constant expressions and initial values.
#include <bit>
#include <cstring>
#include <limits>

#include "sim/ptx_text.h"

using namespace flexrack::sim::ptx;

namespace {

const Variable& variable_of(const Module& module, std::string_view name) {
  const auto* found = module.variable(name);
  REQUIRE(found);
  return *found;
}

template <class T>
T value_at(const Variable& variable, std::size_t index) {
  REQUIRE(variable.initial.size() >= (index + 1) * sizeof(T));
  T out;
  std::memcpy(&out, variable.initial.data() + index * sizeof(T), sizeof(T));
  return out;
}

template <class T = std::int32_t>
T evaluated(const std::string& expression, const std::string& type = "s32") {
  const auto module = parse(kHead + ".global ." + type + " x = " + expression + ";");
  return value_at<T>(variable_of(*module, "x"), 0);
}

}  // namespace

TEST_CASE("version, target and address size") {
  const auto module = parse(".version 7.8\n.target sm_90a, debug\n.address_size 64\n");
  CHECK(module->version_major == 7);
  CHECK(module->version_minor == 8);
  CHECK(module->target == 90);
  CHECK(module->target_name == "sm_90a");
  CHECK(module->is_debug);
  CHECK(parse(".version 6.4 .target sm_75")->address_bits == 64);
}

TEST_CASE("a trailing NUL is no text") {
  CHECK(parse(std::string_view(".version 8.0 .target sm_75\0\0garbage", 36))->target == 75);
}

TEST_CASE("performance directives of a kernel") {
  const auto module = parse(
      kHead +
      ".entry k(.param .u32 n) .maxntid 128, 2, 3 .minnctapersm 4 .maxnreg 40 .reqntid 64 .reqnctapercluster 2, 1 .explicitcluster .maxclusterrank 8\n"
      ".pragma \"nounroll\"; { .pragma \"used_bytes_mask 0xf\"; ret; }");
  const auto& directives = module->kernel("k")->directives;
  CHECK(directives.max_threads == std::array<std::uint32_t, 3>{128, 2, 3});
  CHECK(directives.required_threads == std::array<std::uint32_t, 3>{64, 1, 1});
  CHECK(directives.required_cluster == std::array<std::uint32_t, 3>{2, 1, 1});
  CHECK(directives.min_blocks == 4);
  CHECK(directives.max_registers == 40);
  CHECK(directives.max_cluster_rank == 8);
  CHECK(directives.has_explicit_cluster);
}

TEST_CASE("a kernel's parameters have offsets, sizes and alignments as cuKernelGetParamInfo tells them") {
  const auto module = parse(
      kHead +
      ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .align 4 .b8 c[6], .param .f32 d, .param .v2 .f32 e) { ret; }");
  const auto& kernel = *module->kernel("k");
  REQUIRE(kernel.parameters.size() == 5);
  const std::uint32_t offsets[] = {0, 8, 16, 24, 32}, bytes[] = {1, 8, 6, 4, 8};
  for (std::size_t at = 0; at < 5; ++at) {
    CHECK(kernel.parameters[at].offset == offsets[at]);
    CHECK(kernel.parameters[at].bytes == bytes[at]);
  }
  CHECK(kernel.parameter_bytes == 40);
  CHECK(kernel.parameters[1].pointer_space == Space::global);
  CHECK(kernel.parameters[1].pointer_align == 16);
  CHECK(kernel.parameters[2].align == 4);
  CHECK(kernel.linkage == Linkage::visible);
}

TEST_CASE("variables: spaces, linkage, alignment, attributes, arrays") {
  const auto module = parse(
      kHead +
      ".visible .global .align 16 .b8 a[3][5];\n.const .f64 b = 2;\n.weak .global .u32 c;\n.common .global .u32 d;\n"
      ".global .attribute(.managed) .u64 e;\n.const[2] .v4 .f32 f = {1, 2, 3, 4};\n.visible .const .b32 g, h = 7;\n.extern .global .u32 unused;\n");
  CHECK(variable_of(*module, "a").bytes == 15);
  CHECK(variable_of(*module, "a").align == 16);
  CHECK(variable_of(*module, "a").linkage == Linkage::visible);
  CHECK(variable_of(*module, "b").space == Space::constant);
  CHECK(value_at<double>(variable_of(*module, "b"), 0) == 2.0);
  CHECK(variable_of(*module, "c").linkage == Linkage::weak);
  CHECK(variable_of(*module, "d").linkage == Linkage::common);
  CHECK(variable_of(*module, "e").is_managed);
  CHECK(variable_of(*module, "f").bytes == 16);
  CHECK(variable_of(*module, "f").align == 16);
  CHECK(value_at<float>(variable_of(*module, "f"), 3) == 4.0f);
  CHECK(value_at<std::int32_t>(variable_of(*module, "h"), 0) == 7);
  CHECK(module->variable("unused") == nullptr);
}

TEST_CASE("initial values: lists, rows that are shorter, sizes from the list, floats") {
  const auto module = parse(
      kHead +
      ".global .s32 a[2][3] = {{1}, {4, 5}};\n.global .u16 b[] = {1, 2, 3};\n.global .f32 c[3] = {1.5, 0f40000000, -3};\n.global .b8 d[4] = {104, -1};\n"
      ".global .f16 e = 1.5;\n.global .u32 f[][2] = {{1, 2}, {3}};\n.global .bf16 g = 1.0;\n");
  const auto& a = variable_of(*module, "a");
  CHECK(value_at<std::int32_t>(a, 0) == 1);
  CHECK(value_at<std::int32_t>(a, 1) == 0);
  CHECK(value_at<std::int32_t>(a, 3) == 4);
  CHECK(value_at<std::int32_t>(a, 4) == 5);
  CHECK(a.bytes == 24);
  CHECK(variable_of(*module, "b").bytes == 6);
  CHECK(value_at<float>(variable_of(*module, "c"), 0) == 1.5f);
  CHECK(value_at<float>(variable_of(*module, "c"), 1) == 2.0f);
  CHECK(value_at<float>(variable_of(*module, "c"), 2) == -3.0f);
  CHECK(value_at<std::uint8_t>(variable_of(*module, "d"), 1) == 255);
  CHECK(value_at<std::uint16_t>(variable_of(*module, "e"), 0) == 0x3e00);
  CHECK(variable_of(*module, "f").bytes == 16);
  CHECK(value_at<std::uint32_t>(variable_of(*module, "f"), 2) == 3);
  CHECK(value_at<std::uint16_t>(variable_of(*module, "g"), 0) == 0x3f80);
}

TEST_CASE("halves as constants are rounded to nearest even, through subnormals to infinity") {
  const std::pair<const char*, std::uint16_t> cases[] = {{"0.0", 0},
                                                         {"-0.0", 0x8000},
                                                         {"65504.0", 0x7bff},
                                                         {"65519.9", 0x7bff},
                                                         {"65520.0", 0x7c00},
                                                         {"6.103515625e-05", 0x0400},
                                                         {"5.960464477539063e-08", 1},
                                                         {"2.98e-08", 0},
                                                         {"2.9803e-08", 1},
                                                         {"-1.0", 0xbc00},
                                                         {"1.00048828125", 0x3c00},
                                                         {"0.333251953125", 0x3555}};
  for (const auto& [text, bits] : cases) {
    INFO(text);
    CHECK(evaluated<std::uint16_t>(text, "f16") == bits);
  }
}

TEST_CASE("addresses as initial values") {
  const auto module = parse(
      kHead +
      ".global .u32 x;\n.const .u32 y[4];\n.visible .func f() { ret; }\n"
      ".global .u64 a[3] = {x, generic(y)+8, f};\n.global .b8 b[4] = {0xff(x), 0xff00(x), 0xff0000(generic(x)), 1};\n");
  const auto& a = variable_of(*module, "a").relocations;
  REQUIRE(a.size() == 3);
  CHECK(module->variables[a[0].target].name == "x");
  CHECK_FALSE(a[0].is_generic);
  CHECK(a[1].is_generic);
  CHECK(a[1].addend == 8);
  CHECK(a[1].offset == 8);
  CHECK(a[2].is_function);
  CHECK(module->functions[a[2].target]->name == "f");
  const auto& b = variable_of(*module, "b").relocations;
  REQUIRE(b.size() == 3);
  CHECK(b[1].shift == 8);
  CHECK(b[1].bytes == 1);
  CHECK(b[2].offset == 2);
  CHECK(b[2].is_generic);
}

TEST_CASE("textures, samplers and surfaces as variables keep what they were given") {
  const auto module = parse(
      kHead +
      ".global .texref t;\n.global .samplerref s = {addr_mode_0 = wrap, filter_mode = nearest};\n.tex .u32 old;\n.global .surfref u;\n");
  CHECK(variable_of(*module, "t").type == Type::texref);
  CHECK(variable_of(*module, "old").type == Type::texref);
  CHECK(variable_of(*module, "u").type == Type::surfref);
  REQUIRE(variable_of(*module, "s").state.size() == 2);
  CHECK(variable_of(*module, "s").state[1] == std::pair<std::string, std::string>("filter_mode", "nearest"));
}

TEST_CASE("constant expressions are C's, with 64-bit integers") {
  CHECK(evaluated("1 + 2 * 3") == 7);
  CHECK(evaluated("(1 + 2) * 3") == 9);
  CHECK(evaluated("-7 / 2") == -3);
  CHECK(evaluated("-7 % 4") == -3);
  CHECK(evaluated("7U / 2") == 3);
  CHECK(evaluated("1 << 4 | 3") == 19);
  CHECK(evaluated("-16 >> 2") == -4);
  CHECK(evaluated("~0 & 0xff ^ 1") == 254);
  CHECK(evaluated("3 > 2 && 2 >= 2 || 0") == 1);
  CHECK(evaluated("!5 + (1 != 2)") == 1);
  CHECK(evaluated("1 ? 10 : 20") == 10);
  CHECK(evaluated("WARP_SZ * 2") == 64);
  CHECK(evaluated("(.u64) -1 > 1") == 1);
  CHECK(evaluated("1.5 + 2", "f32") == std::bit_cast<std::int32_t>(3.5f));
  CHECK(evaluated("-0f3F800000", "f32") == std::bit_cast<std::int32_t>(-1.0f));
  CHECK(evaluated("1 << 70") == 0);
  CHECK(evaluated<std::int64_t>("0x8000000000000000 / -1", "s64") == 0);
  CHECK(evaluated<std::int64_t>("(.s64) 0x8000000000000000 / -1", "s64") == std::numeric_limits<std::int64_t>::min());
  CHECK(complaint(kHead + ".global .s32 x = 1 / 0;").find("division by zero") != std::string::npos);
  CHECK(complaint(kHead + ".global .s32 x = 1.5 % 2;").find("floating point") != std::string::npos);
}

TEST_CASE("debug data and files are read over, lines come from .loc") {
  const auto module = parse(
      kHead +
      ".file 1 \"a.cu\", 12345, 678\n.file 2 \"b.h\"\n.section .debug_info { .b8 1,2,3\n.b64 label+4\nlabel: .b32 0x10 }\n.section "
      ".debug_str\n{\ninfo:\n.b8 0\n}\n"
      ".visible .entry k()\n{\n.reg .b32 %r<3>;\nmov.u32 %r1, 1;\n.loc 1 10 3\nmov.u32 %r1, 2;\n.loc 2 20 1, function_name info+8, "
      "inlined_at 1 11 2\nmov.u32 %r1, 3;\nret;\n}\n");
  const auto& kernel = *module->kernel("k");
  REQUIRE(kernel.lines.size() == 4);
  CHECK(kernel.lines[0].file == 0);
  CHECK(kernel.lines[0].line == 17);
  CHECK(module->files[kernel.lines[1].file] == "a.cu");
  CHECK(kernel.lines[1].line == 10);
  CHECK(module->files[kernel.lines[2].file] == "b.h");
  CHECK(kernel.lines[3].line == 20);
}
