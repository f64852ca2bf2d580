#include "sim/exec/fault.h"

#include <cstdio>

namespace flexrack::sim::exec {
namespace {

std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string place(const Dim3& at) {
  return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + ")";
}

std::string what(const Fault& fault) {
  const std::string access =
      (fault.is_write ? "write of " : "read of ") + std::to_string(fault.size) + " bytes at " + hex(fault.address);
  switch (fault.kind) {
    case Fault::Kind::out_of_bounds: return "out-of-bounds " + access;
    case Fault::Kind::read_only:
      return "write of " + std::to_string(fault.size) + " bytes to read-only memory at " + hex(fault.address);
    case Fault::Kind::misaligned: return "misaligned " + access;
    case Fault::Kind::stack_overflow: return "stack overflow";
    case Fault::Kind::illegal_instruction: return "illegal or unsupported instruction";
    case Fault::Kind::bad_call: return "call of " + hex(fault.address) + ", which is no function of this module,";
    case Fault::Kind::bad_object: return "no such texture or surface: " + hex(fault.address);
    case Fault::Kind::bad_condition: return "no condition of the graph that was launched: " + hex(fault.address);
    case Fault::Kind::surface_bounds: return "access outside of a surface";
    case Fault::Kind::assertion: return "assertion failed";
    case Fault::Kind::trap: return "trap";
    case Fault::Kind::deadlock: return "deadlock: all threads of a block wait at barriers that cannot complete,";
    case Fault::Kind::out_of_memory: return "no memory for a block";
    case Fault::Kind::stopped: return "stopped";
  }
  return "fault";
}

}  // namespace

std::string Fault::describe() const {
  std::string said = what(*this) + " in kernel " + kernel;
  if (kind == Kind::stopped) return said;
  said += ", block " + place(block) + " thread " + place(thread);
  if (line != 0) said += ", " + (file.empty() ? "PTX line " + std::to_string(line) : file + ":" + std::to_string(line));
  if (!text.empty()) said += " (" + text + ")";
  return said;
}

}  // namespace flexrack::sim::exec
