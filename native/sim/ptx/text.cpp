#include "sim/ptx/text.h"

#include <cstring>
#include <iterator>

namespace flexrack::sim::ptx {

namespace {

constexpr std::string_view kOps[] = {
    "nop",
    "unsupported",
    "add",
    "sub",
    "mul.lo",
    "mul.hi",
    "mul.wide",
    "mul",
    "mad.lo",
    "mad.hi",
    "mad.wide",
    "mul24.lo",
    "mul24.hi",
    "mad24.lo",
    "mad24.hi",
    "sad",
    "div",
    "rem",
    "abs",
    "neg",
    "min",
    "max",
    "fma",
    "rcp",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "lg2",
    "ex2",
    "tanh",
    "copysign",
    "testp",
    "popc",
    "clz",
    "bfind",
    "fns",
    "brev",
    "bfe",
    "bfi",
    "bmsk",
    "szext",
    "dp4a",
    "dp2a.lo",
    "dp2a.hi",
    "and",
    "or",
    "xor",
    "not",
    "cnot",
    "lop3",
    "lop3",
    "shl",
    "shr",
    "shf.l",
    "shf.r",
    "prmt",
    "set",
    "setp",
    "selp",
    "slct",
    "mov",
    "mov",
    "mov",
    "mov",
    "mov",
    "mov",
    "mov",
    "mov",
    "mov",
    "cvt",
    "cvt.pack",
    "cvta",
    "cvta.to",
    "isspacep",
    "mapa",
    "getctarank",
    "alloca",
    "stacksave",
    "stackrestore",
    "ld",
    "st",
    "atom",
    "membar",
    "cp.async",
    "cp.async.commit_group",
    "cp.async.wait_group",
    "cp.async.mbarrier.arrive",
    "cp.async.bulk",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group",
    "shfl",
    "vote",
    "match",
    "activemask",
    "redux",
    "elect",
    "bar.sync",
    "bar.arrive",
    "bar.red",
    "bar.warp.sync",
    "barrier.cluster.arrive",
    "barrier.cluster.wait",
    "mbarrier.init",
    "mbarrier.inval",
    "mbarrier.arrive",
    "mbarrier.expect_tx",
    "mbarrier.complete_tx",
    "mbarrier.test_wait",
    "mbarrier.pending_count",
    "bra",
    "brx.idx",
    "call",
    "ret",
    "exit",
    "trap",
    "brkpt",
    "nanosleep",
    "tex",
    "tld4",
    "txq",
    "suq",
    "suld",
    "sust",
    "sured",
    "mma",
    "wmma.mma",
    "wmma.load",
    "wmma.store",
    "ldmatrix",
    "stmatrix",
    "movmatrix",
};
static_assert(sizeof(kOps) / sizeof(kOps[0]) == kOpCount);

constexpr std::string_view kTypes[] = {
    "",        "pred",  "b8",    "b16",    "b32",        "b64",     "b128",   "u8",     "u16",    "u32",
    "u64",     "s8",    "s16",   "s32",    "s64",        "f16",     "f16x2",  "bf16",   "bf16x2", "tf32",
    "f32",     "f32x2", "f64",   "e4m3",   "e5m2",       "e4m3x2",  "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2",
    "ue8m0x2", "u16x2", "s16x2", "texref", "samplerref", "surfref", "other",
};
static_assert(sizeof(kTypes) / sizeof(kTypes[0]) == static_cast<unsigned>(Type::other) + 1);

constexpr std::string_view kSpaces[] = {"",      "global", "const", "shared", "shared::cluster",
                                        "local", "param",  "reg",   "sreg"};
constexpr std::string_view kRoundings[] = {"", "rn", "rz", "rm", "rp", "rna", "rs", "rni", "rzi", "rmi", "rpi"};
constexpr std::string_view kCompares[] = {"",    "eq",  "ne",  "lt",  "le",  "gt",  "ge", "equ",
                                          "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
constexpr std::string_view kCombines[] = {"", "and", "or", "xor"};
constexpr std::string_view kScopes[] = {"", "cta", "cluster", "gpu", "sys"};
constexpr std::string_view kOrders[] = {"", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile", "mmio"};
constexpr std::string_view kAtomics[] = {"", "add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"};
constexpr std::string_view kFlags[] = {"ftz",  "sat",      "approx", "relu",  "satfinite", "NaN",  "xorsign",  "uni",
                                       "sync", "carry_in", "cc",     "noftz", "all",       "wrap", "shiftamt", "oob"};

template <class Enum, std::size_t size>
void add_word(std::string& out, Enum value, const std::string_view (&names)[size]) {
  const auto name = names[static_cast<std::size_t>(value)];
  if (!name.empty()) out += "." + std::string(name);
}

void add_words(std::string& out, const Instruction& instruction) {
  add_word(out, instruction.order, kOrders);
  add_word(out, instruction.scope, kScopes);
  add_word(out, instruction.space, kSpaces);
  add_word(out, instruction.atomic, kAtomics);
  add_word(out, instruction.compare, kCompares);
  add_word(out, instruction.combine, kCombines);
  add_word(out, instruction.rounding, kRoundings);
  for (std::size_t at = 0; at < std::size(kFlags); ++at) {
    if (instruction.flags >> at & 1) out += "." + std::string(kFlags[at]);
  }
  if (instruction.count > 1) out += ".v" + std::to_string(instruction.count);
  add_word(out, instruction.type, kTypes);
  add_word(out, instruction.source_type, kTypes);
}

std::uint64_t value_of(const Function& function, const Operand& operand) {
  std::uint64_t out = 0;
  const auto step = operand.width == Width::w1 ? 4u : lane_bytes(operand.width) / kLanes;
  std::memcpy(&out, function.constants.data() + operand.at, step < 8 ? step : 8);
  return operand.width == Width::w1 ? out & 1 : out;
}

std::string at_text(const Instruction& instruction) {
  return instruction.displacement ? "+" + std::to_string(instruction.displacement) : "";
}

std::string operand_text(const Function& function, const Instruction& instruction, const Operand& operand) {
  const std::string sign = operand.is_negated ? "!" : "";
  const auto at = std::to_string(operand.at);
  switch (operand.kind) {
    case Operand::Kind::none: return "";
    case Operand::Kind::sink: return "_";
    case Operand::Kind::lanes: return sign + (operand.width == Width::w1 ? "p" : "r") + at;
    case Operand::Kind::constant: return sign + "#" + std::to_string(value_of(function, operand));
    case Operand::Kind::address_register: return "[r" + at + at_text(instruction) + "]";
    case Operand::Kind::address_absolute: return "[" + std::to_string(instruction.displacement) + "]";
    case Operand::Kind::address_variable: return "[v" + at + at_text(instruction) + "]";
    case Operand::Kind::symbol: return "s" + at;
    case Operand::Kind::list: break;
  }
  std::string out = "{";
  for (unsigned part = 0; part < operand.count; ++part)
    out += (part ? ", " : "") + operand_text(function, instruction, function.operands[operand.at + part]);
  return out + "}";
}

std::string ways_text(const Instruction& instruction) {
  const auto one = [](std::uint32_t at) { return at == kNone ? std::string("end") : std::to_string(at); };
  if (instruction.op == Op::bra)
    return " -> " + one(instruction.ways.target) + " | " + one(instruction.ways.reconverge);
  return instruction.op == Op::brx ? " | " + one(instruction.ways.reconverge) : "";
}

}  // namespace

std::string_view name_of(Op op) { return kOps[static_cast<unsigned>(op)]; }
std::string_view name_of(Type type) { return kTypes[static_cast<unsigned>(type)]; }
std::string_view name_of(Space space) { return kSpaces[static_cast<unsigned>(space)]; }
std::string_view name_of(Rounding rounding) { return kRoundings[static_cast<unsigned>(rounding)]; }

std::string to_text(const Function& function, std::size_t at) {
  const auto& instruction = function.code[at];
  std::string out;
  if (instruction.guard != kNone)
    out += std::string("@") + (instruction.is_guard_negated ? "!" : "") + "p" + std::to_string(instruction.guard) + " ";
  if (instruction.op == Op::unsupported) return out + "unsupported: " + function.texts[instruction.index];
  out += name_of(instruction.op);
  add_words(out, instruction);
  auto count = instruction.o.size();
  while (count > 0 && instruction.o[count - 1].kind == Operand::Kind::none) --count;
  for (std::size_t each = 0; each < count; ++each)
    out += (each ? ", " : " ") + operand_text(function, instruction, instruction.o[each]);
  return out + ways_text(instruction);
}

}  // namespace flexrack::sim::ptx
