#include "sim/exec/opcode_text.h"

#include <array>

namespace flexrack::sim::exec {
namespace {

using ptx::Op;

/// In the order of ptx::Op.
constexpr auto kNames = std::to_array<const char*>({
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
});
static_assert(kNames.size() == ptx::kOpCount);

const char* type_text(ptx::Type type) {
  static constexpr auto kTypes = std::to_array<const char*>({
      "",         ".pred",  ".b8",    ".b16",    ".b32",        ".b64",     ".b128",   ".u8",     ".u16",    ".u32",
      ".u64",     ".s8",    ".s16",   ".s32",    ".s64",        ".f16",     ".f16x2",  ".bf16",   ".bf16x2", ".tf32",
      ".f32",     ".f32x2", ".f64",   ".e4m3",   ".e5m2",       ".e4m3x2",  ".e5m2x2", ".e2m3x2", ".e3m2x2", ".e2m1x2",
      ".ue8m0x2", ".u16x2", ".s16x2", ".texref", ".samplerref", ".surfref", "",
  });
  static_assert(kTypes.size() == static_cast<unsigned>(ptx::Type::other) + 1);
  return kTypes[static_cast<unsigned>(type)];
}

const char* space_text(ptx::Space space) {
  switch (space) {
    case ptx::Space::global: return ".global";
    case ptx::Space::constant: return ".const";
    case ptx::Space::shared: return ".shared";
    case ptx::Space::shared_cluster: return ".shared::cluster";
    case ptx::Space::local: return ".local";
    case ptx::Space::param: return ".param";
    default: return "";
  }
}

const char* rounding_text(ptx::Rounding rounding) {
  static constexpr auto kRoundings =
      std::to_array<const char*>({"", ".rn", ".rz", ".rm", ".rp", ".rna", ".rs", ".rni", ".rzi", ".rmi", ".rpi"});
  return kRoundings[static_cast<unsigned>(rounding)];
}

bool has_space(Op op) {
  return op == Op::ld || op == Op::st || op == Op::atom || op == Op::cvta || op == Op::cvta_to || op == Op::isspacep;
}

}  // namespace

std::string opcode_text(const ptx::Instruction& instruction) {
  std::string text = kNames[static_cast<unsigned>(instruction.op)];
  if (has_space(instruction.op)) text += space_text(instruction.space);
  if (instruction.count > 1 && (instruction.op == Op::ld || instruction.op == Op::st))
    text += ".v" + std::to_string(instruction.count);
  text += rounding_text(instruction.rounding);
  text += type_text(instruction.type);
  if (instruction.op == Op::cvt || instruction.op == Op::set) text += type_text(instruction.source_type);
  return text;
}

}  // namespace flexrack::sim::exec
