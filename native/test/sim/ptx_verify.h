// What an executor relies on without looking: every index inside its table, every register inside the frame. nullptr:
// all is well.
#pragma once

#include "sim/ptx/program.h"
#include "sim/ptx/register_use.h"

namespace flexrack::sim::ptx {

inline bool is_inside(const Function& function, const Operand& operand, const Module& module) {
  using Kind = Operand::Kind;
  const auto bytes = lane_bytes(operand.width);
  switch (operand.kind) {
    case Kind::none:
    case Kind::sink:
    case Kind::address_absolute: return true;
    case Kind::lanes:
      return operand.at % (operand.width == Width::w1 ? 4 : 64) == 0 &&
             std::size_t{operand.at} + bytes <= function.frame_bytes;
    case Kind::constant: return operand.at % 64 == 0 && std::size_t{operand.at} + bytes <= function.constants.size();
    case Kind::address_register:
      return (operand.width == Width::w32 || operand.width == Width::w64) &&
             std::size_t{operand.at} + bytes <= function.frame_bytes;
    case Kind::address_variable: return operand.at < module.variables.size();
    case Kind::symbol: return operand.at < module.variables.size() || operand.at < module.functions.size();
    case Kind::list: break;
  }
  if (std::size_t{operand.at} + operand.count > function.operands.size()) return false;
  for (unsigned at = 0; at < operand.count; ++at) {
    const auto& part = function.operands[operand.at + at];
    if (part.kind == Kind::list || !is_inside(function, part, module)) return false;
  }
  return true;
}

inline bool is_call_sound(const Module& module, const Function& function, const Call& call) {
  if (call.callee != kNone && call.callee >= module.functions.size()) return false;
  for (const auto target : call.targets)
    if (target >= module.functions.size()) return false;
  const auto fits = [&](const Argument& argument) {
    if (argument.is_memory) return std::uint64_t{argument.offset} + argument.bytes <= function.local_bytes;
    return is_inside(function, argument.value, module) && argument.value.kind != Operand::Kind::none &&
           argument.value.kind != Operand::Kind::list;
  };
  for (const auto& each : call.arguments)
    if (!fits(each)) return false;
  for (const auto& each : call.results)
    if (!fits(each)) return false;
  if (call.callee == kNone) return true;
  const auto& callee = *module.functions[call.callee];
  if (call.arguments.size() != callee.parameters.size() ||
      (!call.results.empty() && call.results.size() != callee.results.size()))
    return false;
  for (std::size_t at = 0; at < call.arguments.size(); ++at)
    if (call.arguments[at].bytes != callee.parameters[at].bytes) return false;
  for (std::size_t at = 0; at < call.results.size(); ++at)
    if (call.results[at].bytes != callee.results[at].bytes) return false;
  return true;
}

inline const char* unsound_index(const Module& module, const Function& function, const Instruction& instruction) {
  const auto in = [&](std::size_t size) { return instruction.index < size; };
  switch (instruction.op) {
    case Op::unsupported: return in(function.texts.size()) ? nullptr : "text";
    case Op::bra:
      if (instruction.ways.target >= function.code.size()) return "target";
      return instruction.ways.reconverge == kNone || instruction.ways.reconverge < function.code.size()
                 ? nullptr
                 : "reconvergence";
    case Op::brx: return in(function.branch_tables.size()) ? nullptr : "branch table";
    case Op::call:
      return in(function.calls.size()) && is_call_sound(module, function, function.calls[instruction.index]) ? nullptr
                                                                                                             : "call";
    case Op::tex:
    case Op::tld4:
    case Op::suld:
    case Op::sust:
    case Op::sured: return in(function.textures.size()) ? nullptr : "texture";
    case Op::mma:
    case Op::wmma_mma:
    case Op::wmma_load:
    case Op::wmma_store: return in(function.matrices.size()) ? nullptr : "matrix";
    case Op::mov_variable: return instruction.o[1].at < module.variables.size() ? nullptr : "variable";
    case Op::mov_function: return instruction.o[1].at < module.functions.size() ? nullptr : "function";
    default: return nullptr;
  }
}

inline const char* unsound(const Module& module, Function& function) {
  if (!function.is_defined) return nullptr;
  if (function.code.empty() || function.lines.size() != function.code.size()) return "no code, or lines missing";
  const auto& last = function.code.back();
  if (last.guard != kNone || (last.op != Op::ret && last.op != Op::exit && last.op != Op::trap)) return "no end";
  if (function.frame_bytes % 64) return "frame";
  for (auto& each : function.code) {
    if (static_cast<unsigned>(each.op) >= kOpCount) return "op";
    if (each.guard != kNone && std::size_t{each.guard} + 4 > function.frame_bytes) return "guard";
    for (const auto& operand : each.o)
      if (!is_inside(function, operand, module)) return "operand";
    if (const auto* what = unsound_index(module, function, each)) return what;
    bool is_written_elsewhere = false;
    for_each_register(function, each, [&](Operand& operand, bool is_written) {
      is_written_elsewhere |= is_written && operand.kind != Operand::Kind::lanes;
    });
    if (is_written_elsewhere) return "a destination that is no register";
  }
  for (const auto& table : function.branch_tables)
    for (const auto target : table.targets)
      if (target >= function.code.size()) return "branch table's target";
  for (const auto* list : {&function.parameters, &function.results}) {
    for (const auto& each : *list) {
      if (each.is_register && !is_inside(function, each.place, module)) return "parameter";
      if (!each.is_register && std::uint64_t{each.offset} + each.bytes >
                                   (function.is_kernel ? function.parameter_bytes : function.local_bytes))
        return "parameter's place";
    }
  }
  return nullptr;
}

inline const char* unsound(Module& module) {
  for (auto& each : module.functions)
    if (const auto* what = unsound(module, *each)) return what;
  for (const auto& each : module.variables) {
    if (each.initial.size() > each.bytes) return "initial value";
    for (const auto& relocation : each.relocations) {
      if (std::uint64_t{relocation.offset} + relocation.bytes > each.initial.size()) return "relocation";
      if (relocation.target >= (relocation.is_function ? module.functions.size() : module.variables.size()))
        return "relocation's target";
    }
  }
  return nullptr;
}

}  // namespace flexrack::sim::ptx
