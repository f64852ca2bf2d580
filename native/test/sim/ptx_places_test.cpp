// Registers share places only where nobody can tell: random programs of branches and guards run by name and run by
// place give the same.
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sim/ptx/syntax.h"
#include "sim/ptx_text.h"
#include "sim/ptx_verify.h"

using namespace flexrack::sim::ptx;

namespace {

constexpr unsigned kLane = 5;
constexpr int kSteps = 400;

std::string random_program(std::mt19937& random) {
  const auto below = [&](unsigned limit) { return random() % limit; };
  // Names come near each other, so that most values are short-lived and places are shared.
  unsigned at = 0;
  const auto reg = [&] { return "%x" + std::to_string(at / 3 + below(5)); };
  const auto wide = [&] { return "%y" + std::to_string(at / 6 + below(2)); };
  const auto predicate = [&] { return "%p" + std::to_string(below(4)); };
  const unsigned labels = 1 + below(6);
  std::string out = ".reg .b32 %x<40>; .reg .b64 %y<20>;\n";
  const unsigned first = static_cast<unsigned>(out.size());
  for (unsigned each = 0; each < 25; each += 1 + below(3))
    out += "mov.u32 %x" + std::to_string(each) + ", " + std::to_string(below(100)) + ";\n";
  for (unsigned each = 0; each < 4; ++each)
    out += "setp.lt.u32 %p" + std::to_string(each) + ", " + std::to_string(below(2)) + ", 1;\n";
  for (; at < 60; ++at) {
    const std::string guard = below(4) == 0 ? (below(2) ? "@" : "@!") + predicate() + " " : "";
    switch (below(8)) {
      case 0: out += guard + "mov.u32 " + reg() + ", " + std::to_string(below(100)) + ";"; break;
      case 1: out += guard + "add.u32 " + reg() + ", " + reg() + ", " + reg() + ";"; break;
      case 2: out += guard + "xor.b32 " + reg() + ", " + reg() + ", " + std::to_string(below(1000)) + ";"; break;
      case 3: out += guard + "mul.wide.u32 " + wide() + ", " + reg() + ", " + reg() + ";"; break;
      case 4: out += guard + "cvt.u32.u64 " + reg() + ", " + wide() + ";"; break;
      case 5: out += "setp.lt.u32 " + predicate() + ", " + reg() + ", " + reg() + ";"; break;
      case 6: out += guard + "st.global.u32 [%rd15], " + reg() + ";"; break;
      default: out += guard + "bra M" + std::to_string(below(labels)) + ";"; break;
    }
    out += "\n";
  }
  // The labels that branches name, at random lines.
  for (unsigned label = 0; label < labels; ++label) {
    const auto line = out.find('\n', first + below(static_cast<unsigned>(out.size()) - first));
    out.insert(line == std::string::npos ? out.size() : line + 1, "M" + std::to_string(label) + ":\n");
  }
  return out;
}

struct Run {
  std::vector<std::optional<std::uint64_t>> stored;   ///< nullopt: of a register that was never written
  int steps = 0;   ///< until a branch or guard on a predicate that was never written, the end, or the limit
};

/// By the names in the text.
Run run_by_name(const std::string& text) {
  const auto unit = parse_unit("", text);
  const auto& function = unit.functions.front();
  std::map<std::string_view, std::size_t> labels;
  std::map<std::string_view, std::uint64_t> values;
  std::vector<const InstructionSyntax*> code;
  for (const auto& each : function.statements) {
    if (each.kind == Statement::Kind::label) labels[function.labels[each.index].first] = code.size();
    if (each.kind == Statement::Kind::instruction) code.push_back(&function.instructions[each.index]);
  }
  const auto value = [&](const Item& item) -> std::optional<std::uint64_t> {
    if (item.form == Item::Form::number) return item.number.integer;
    const auto found = values.find(item.name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
  Run out;
  for (std::size_t at = 0; at < code.size() && out.steps < kSteps; ++out.steps) {
    const auto& each = *code[at++];
    if (!each.guard.empty()) {
      const auto found = values.find(each.guard);
      if (found == values.end()) return out;
      if ((found->second != 0) == each.is_guard_negated) continue;
    }
    const auto* items = &function.items[each.first_item];
    if (each.name == "bra") {
      at = labels.at(items[0].name);
      continue;
    }
    if (each.name == "st") {
      out.stored.push_back(value(items[1]));
      continue;
    }
    const auto a = value(items[1]), b = each.item_count > 2 ? value(items[2]) : std::optional<std::uint64_t>(0);
    values.erase(items[0].name);
    if (!a || !b) continue;
    std::uint64_t result = *a;
    if (each.name == "add") result = static_cast<std::uint32_t>(*a + *b);
    if (each.name == "xor") result = *a ^ *b;
    if (each.name == "mul") result = *a * *b;
    if (each.name == "cvt") result = static_cast<std::uint32_t>(*a);
    if (each.name == "setp") result = *a < *b;
    values[items[0].name] = result;
  }
  return out;
}

/// By the places in the frame.
class PlaceRun {
 public:
  explicit PlaceRun(const Function& function) : function_(function), frame_(function.frame_bytes, std::byte{0xa5}) {}

  std::vector<std::uint64_t> run(int steps) {
    std::vector<std::uint64_t> stored;
    std::size_t at = 0;
    for (int step = 0; step < steps; ++step) {
      const auto& each = function_.code.at(at++);
      if (each.op == Op::exit && each.guard == kNone) break;
      if (each.guard != kNone && bit(frame_.data() + each.guard) == each.is_guard_negated) continue;
      if (each.op == Op::exit) break;
      if (each.op == Op::bra) at = each.ways.target;
      else if (each.op == Op::st) stored.push_back(get(each.o[1]));
      else compute(each);
    }
    return stored;
  }

 private:
  static bool bit(const std::byte* place) {
    std::uint32_t mask;
    std::memcpy(&mask, place, 4);
    return mask >> kLane & 1;
  }
  std::uint64_t get(const Operand& operand) const {
    const auto* base = operand.kind == Operand::Kind::constant ? function_.constants.data() : frame_.data();
    const auto step = lane_bytes(operand.width) / kLanes;
    std::uint64_t out = 0;
    std::memcpy(&out, base + operand.at + kLane * step, step);
    return out;
  }
  void compute(const Instruction& each) {
    const auto a = get(each.op == Op::setp ? each.o[2] : each.o[1]);
    const auto b = each.op == Op::setp ? get(each.o[3]) : each.o[2].kind == Operand::Kind::none ? 0 : get(each.o[2]);
    auto* to = frame_.data() + each.o[0].at;
    if (each.op == Op::setp) {
      std::uint32_t mask;
      std::memcpy(&mask, to, 4);
      mask = (mask & ~(1u << kLane)) | (a < b ? 1u << kLane : 0);
      std::memcpy(to, &mask, 4);
      return;
    }
    const auto result = each.op == Op::add         ? a + b
                        : each.op == Op::logic_xor ? a ^ b
                        : each.op == Op::mul_wide  ? a * b
                                                   : a;
    const auto step = lane_bytes(each.o[0].width) / kLanes;
    std::memcpy(to + kLane * step, &result, step);
  }

  const Function& function_;
  std::vector<std::byte> frame_;
};

}  // namespace

TEST_CASE("random programs give the same by name and by place") {
  std::mt19937 random(4711);
  std::size_t compared = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto text = kernel_text(random_program(random));
    const auto expected = run_by_name(text);
    auto module = parse(text);
    REQUIRE(unsound(*module) == nullptr);
    const auto stored = PlaceRun(*module->kernel("k")).run(expected.steps);
    INFO(text);
    // A branch to the end has become an end, so the last store may be all that is left out: nothing.
    REQUIRE(stored.size() == expected.stored.size());
    for (std::size_t at = 0; at < stored.size(); ++at) {
      if (!expected.stored[at]) continue;
      REQUIRE(stored[at] == *expected.stored[at]);
      ++compared;
    }
  }
  CHECK(compared > 10000);
}

TEST_CASE("values that follow each other need one place each at most, whatever they are called") {
  std::string body = "ld.global.u32 %x0, [%rd1];\n";
  for (int at = 1; at < 500; ++at)
    body += "add.u32 %x" + std::to_string(at) + ", %x" + std::to_string(at - 1) + ", 1;\n";
  const auto module = kernel_of(".reg .b32 %x<500>;\n" + body + "st.global.u32 [%rd1], %x499;");
  // Two of 32 bits, one of 64.
  CHECK(module->kernel("k")->frame_bytes == 2 * 128 + 256);
}

TEST_CASE("what a loop carries keeps its place through the loop") {
  const auto module = kernel_of(
      "mov.u32 %r1, 0;\nmov.u32 %r2, 1;\nL:\nadd.u32 %r3, %r1, 5;\nadd.u32 %r4, %r3, 6;\nadd.u32 %r1, %r4, %r2;\nsetp.lt.u32 %p1, %r1, 100;\n@%p1 bra "
      "L;\nst.global.u32 [%rd1], %r1;");
  const auto& code = module->kernel("k")->code;
  const auto carried = code[0].o[0].at, constant = code[1].o[0].at;
  for (const auto at : {2u, 3u}) {
    CHECK(code[at].o[0].at != carried);
    CHECK(code[at].o[0].at != constant);
  }
  CHECK(code[4].o[0].at == carried);
}

TEST_CASE("an instruction never overwrites its own sources") {
  const auto module =
      kernel_of("ld.global.u32 %r1, [%rd1];\nshfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\nst.global.u32 [%rd1], %r2;");
  const auto& shuffle = module->kernel("k")->code[1];
  CHECK(shuffle.o[0].at != shuffle.o[2].at);
}
