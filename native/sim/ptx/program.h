// The decoded form of PTX: what an executor runs. Registers and immediates have places, labels are instruction indices,
// every branch knows where its lanes meet again.
//
// A warp's registers are one block of bytes, its frame: 64-byte aligned, Function::frame_bytes long, zeroed by the
// executor at a function's start. A register is an offset into it, where the 32 lanes lie side by side: `T lanes[32]`
// with T 2 (Width::w16, for 8-bit registers too), 4, 8 or 16 bytes; a predicate is one 32-bit mask, bit = lane. Offsets
// of registers that never live at once may be the same, so an instruction must write active lanes only. Immediates lie
// in the same way in Function::constants, shared by all warps: a source operand is lanes in one of the two and
// arithmetic need not tell which.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/ptx/op.h"
#include "sim/ptx/types.h"

namespace flexrack::sim::ptx {

inline constexpr unsigned kLanes = 32;
inline constexpr std::uint32_t kNone = 0xffffffff;

enum class Width : std::uint8_t { w1, w16, w32, w64, w128 };

/// Bytes of a register of all lanes in the frame.
constexpr std::uint32_t lane_bytes(Width width) {
  return width == Width::w1 ? 4u : kLanes << static_cast<unsigned>(width);
}

struct Operand {
  enum class Kind : std::uint8_t {
    none,
    sink,  ///< `_`: what would be written is dropped
    lanes,  ///< at: offset into the frame
    constant,  ///< at: offset into Function::constants
    list,  ///< at: first in Function::operands, count of them
    address_register,  ///< at: offset into the frame of the base (width w32 or w64); Instruction::displacement is added
    address_absolute,  ///< Instruction::displacement in the instruction's space: into the local frame, the block's
                       ///< shared memory, the parameter block; generic or global: the address itself
    address_variable,  ///< at: into Module::variables; displacement is added
    symbol,  ///< at: into Module::variables (textures, surfaces) or as the Op says
  };
  Kind kind = Kind::none;
  Width width = Width::w32;
  bool is_negated = false;  ///< predicates as sources: `!p`
  std::uint8_t count = 0;
  std::uint32_t at = 0;
};
static_assert(sizeof(Operand) == 8);

/// Where a branch leads.
struct Ways {
  std::uint32_t target;  ///< bra: an instruction's index
  std::uint32_t reconverge;  ///< where the lanes that took different ways meet; kNone: only when the function ends. May
                             ///< be the target, or the next
};

struct Instruction {
  Op op = Op::nop;
  Type type = Type::none;
  Type source_type = Type::none;
  std::uint32_t guard = kNone;  ///< offset of the predicate in the frame; lanes whose bit differs skip it
  bool is_guard_negated = false;
  std::uint8_t detail = 0;  ///< an enum that depends on op
  Rounding rounding = Rounding::none;
  Compare compare = Compare::none;
  Combine combine = Combine::none;
  AtomicOp atomic = AtomicOp::none;
  Space space = Space::generic;
  Scope scope = Scope::none;
  Order order = Order::weak;
  std::uint8_t count = 1;  ///< elements of a vector access
  std::uint16_t flags = 0;  ///< Flag
  std::uint32_t index = kNone;  ///< into Function::calls, branch_tables, textures, matrices, texts
  std::array<Operand, 6> o;
  union {
    std::int64_t displacement = 0;
    Ways ways;  ///< bra, brx
  };
};
static_assert(sizeof(Instruction) == 80);

/// Where an instruction came from: a file of .loc (Module::files; 0: none, then the line is the PTX text's) and a line.
struct Line {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
};

/// A formal parameter, or a result, of a function. Of kernels: offset is into the parameter block. Of device functions
/// it is in the local frame of the function, or a register.
struct Parameter {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t align = 1;
  Type type = Type::none;  ///< of an element
  bool is_register = false;  ///< then place is a lanes operand and offset means nothing
  Operand place;
  std::optional<Space> pointer_space;  ///< .ptr
  std::uint32_t pointer_align = 0;
};

/// An actual argument or result of a call.
struct Argument {
  bool is_memory =
      false;  ///< bytes at offset of the caller's local frame; else value: lanes, a constant, or (results) a sink
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  Operand value;
};

/// What a call does: the arguments are copied to the callee's parameters one by one, and back when it returns; a .param
/// is in the local frames of both sides.
struct Call {
  std::uint32_t callee = kNone;  ///< into Module::functions; kNone: the address in o[0]
  std::vector<Argument> arguments, results;
  std::vector<std::uint32_t> targets;  ///< what an indirect call may reach, where .calltargets says it
  bool is_checked = false;  ///< arguments agree with the callee's in number and bytes (always so for direct calls)
};

/// What an indexed branch may reach: instruction indices.
struct BranchTable {
  std::vector<std::uint32_t> targets;
};

enum class Geometry : std::uint8_t {
  d1,
  d2,
  d3,
  a1,
  a2,
  cube,
  acube,
  dms2,
  adms2,
  b1
};  ///< a: array; 2dms: multi-sample; b1: linear buffer
enum class Clamp : std::uint8_t { none, trap, clamp, zero };

/// The rest of a texture or surface instruction.
struct Texture {
  Geometry geometry = Geometry::d1;
  Operand sampler;  ///< none: unified mode
  Operand level;  ///< .level: mip level; .base: none with is_base
  Operand dpdx, dpdy;  ///< .grad: lists
  Operand offset;  ///< of coordinates: a list
  Operand compare;  ///< depth to compare with
  Type coordinate = Type::s32;  ///< s32 or f32
  bool is_base = false;  ///< .base: level 0
  bool is_formatted = false;  ///< sust.p, sured.p; else .b
  Clamp clamp = Clamp::none;
};

/// The rest of a matrix instruction: d (m x n) = a (m x k) * b (k x n) + c.
struct Matrix {
  unsigned m = 0, n = 0, k = 0;
  bool is_a_column = false, is_b_column = false;  ///< column-major: as written (mma: row and col are the rule)
  bool is_column = false;  ///< wmma_load, wmma_store: the layout in memory
  Type d = Type::none, a = Type::none, b = Type::none,
       c = Type::none;  ///< wmma_load, wmma_store: only that of the fragment
};

enum class Builtin : std::uint8_t { none, vprintf, malloc, free, assertfail, set_condition };

/// Performance directives; 0 where not given.
struct Directives {
  std::array<std::uint32_t, 3> max_threads{}, required_threads{}, required_cluster{};
  std::uint32_t max_registers = 0, min_blocks = 0, max_cluster_rank = 0;
  bool has_explicit_cluster = false, is_noreturn = false, blocks_are_clusters = false;
};

/// From the first to the last of these instructions a place in the frame holds a value that is still needed.
struct Life {
  std::uint32_t place = 0, first = 0, last = 0;
};

struct Function {
  std::string name;
  Linkage linkage = Linkage::internal;
  bool is_kernel = false;
  bool is_defined = false;  ///< false: .extern; the executor's own, by builtin
  Builtin builtin = Builtin::none;
  std::uint32_t index = 0;  ///< in Module::functions
  std::uint32_t alias_of = kNone;  ///< .alias: calls go there already
  std::vector<Parameter> parameters, results;
  std::uint32_t parameter_bytes = 0;  ///< kernels: of the parameter block
  Directives directives;

  std::vector<Instruction> code;  ///< ends with ret, exit or trap, always
  std::vector<Line> lines;  ///< one for each instruction
  std::vector<Operand> operands;
  std::vector<std::byte> constants;  ///< copy to 64-byte aligned memory, or read unaligned
  std::vector<Call> calls;
  std::vector<BranchTable> branch_tables;
  std::vector<Texture> textures;
  std::vector<Matrix> matrices;
  std::vector<std::string> texts;

  std::uint32_t frame_bytes = 0;  ///< of a warp's registers, a multiple of 64
  std::vector<Life> lives;  ///< of all registers, by place
  std::uint32_t register_count = 0;  ///< 32-bit registers that live at once at most: an estimate for cuFuncGetAttribute
  std::uint32_t local_bytes = 0;  ///< of one thread's frame in .local, a multiple of local_align: .local variables,
                                  ///< .param of calls, own parameters
  std::uint32_t local_align = 16;
  std::uint32_t shared_bytes = 0;  ///< kernels: static shared memory of it and all it may call
  std::uint32_t dynamic_shared_offset =
      0;  ///< kernels: where .extern .shared begins: the same in all functions it calls, at or after shared_bytes
  std::uint32_t barriers = 0;  ///< kernels: bar.sync barriers used; 16 where one is in a register
  bool has_indirect_calls = false;
  bool uses_dynamic_stack = false;  ///< alloca, or recursion may be

  const Parameter* parameter(std::size_t at) const { return at < parameters.size() ? &parameters[at] : nullptr; }
};

/// An address in an initialiser.
struct Relocation {
  std::uint32_t offset = 0;  ///< into Variable::initial
  std::uint32_t bytes = 8;  ///< bytes written, the low ones of (address + addend) >> shift
  std::uint32_t shift = 0;  ///< mask(): 0xFF.. operators
  bool is_function = false;
  std::uint32_t target = 0;  ///< into Module::functions or Module::variables
  bool is_generic = false;  ///< generic(name)
  std::int64_t addend = 0;
};

/// A variable in .global or .const, or a texture, sampler or surface reference there.
struct Variable {
  std::string name;
  Space space = Space::global;
  Linkage linkage = Linkage::internal;
  Type type = Type::none;  ///< of an element; texref, samplerref, surfref
  std::uint64_t bytes = 0;
  std::uint32_t align = 1;
  bool is_managed = false;  ///< .attribute(.managed)
  std::vector<std::byte> initial;  ///< may be shorter than bytes: the rest is zero
  std::vector<Relocation> relocations;
  std::vector<std::pair<std::string, std::string>> state;  ///< texture and sampler references: `addr_mode_0 = wrap`
};

struct Module {
  unsigned version_major = 0, version_minor = 0;
  unsigned target = 0;  ///< 75 of sm_75, of the first unit
  std::string target_name;  ///< "sm_90a"
  unsigned address_bits = 64;
  bool is_debug = false;
  std::vector<std::string> files{""};  ///< by Line::file
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<Variable> variables;

  /// Kernels and functions, variables, by name; internal ones of linked units may share names: the first is found.
  /// nullptr: none.
  const Function* function(std::string_view name) const;
  const Function* kernel(std::string_view name) const;
  const Variable* variable(std::string_view name) const;
};

}  // namespace flexrack::sim::ptx
