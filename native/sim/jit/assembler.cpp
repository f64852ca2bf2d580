#include "sim/jit/assembler.h"

namespace flexrack::sim::jit {

void Assembler::word(std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) code_.push_back(static_cast<std::uint8_t>(value >> shift));
}

/// ModRM with a base and, always, 32 bits of displacement. None of our bases has the low bits of rsp but rsp itself,
/// which needs a SIB byte.
void Assembler::memory(unsigned reg, unsigned base, std::int32_t displacement) {
  code_.push_back(static_cast<std::uint8_t>(0x80 | (reg & 7) << 3 | (base & 7)));
  if ((base & 7) == rsp) code_.push_back(0x24);
  word(static_cast<std::uint32_t>(displacement));
}

void Assembler::vector(const Vex& what, unsigned first, unsigned second, const Source& last, int immediate) {
  const bool is_memory = last.kind == Source::Kind::memory, is_pool = last.kind == Source::Kind::pool;
  const unsigned far_reg = first >> 3 & 1, far_last = is_pool ? 0 : last.number >> 3 & 1;
  code_.push_back(0xc4);
  code_.push_back(static_cast<std::uint8_t>((far_reg ^ 1) << 7 | 0x40 | (far_last ^ 1) << 5 | what.map));
  code_.push_back(static_cast<std::uint8_t>((what.is_wide ? 0x80 : 0) | (~second & 15) << 3 | (what.is_short ? 0 : 4) |
                                            what.prefix));
  code_.push_back(what.opcode);
  if (is_pool) {
    code_.push_back(static_cast<std::uint8_t>((first & 7) << 3 | 5));
    pool_uses_.push_back({code_.size(), code_.size() + 4 + (immediate >= 0 ? 1 : 0), last.at});
    word(0);
  } else if (is_memory) {
    memory(first, last.number, last.at);
  } else {
    code_.push_back(static_cast<std::uint8_t>(0xc0 | (first & 7) << 3 | (last.number & 7)));
  }
  if (immediate >= 0) code_.push_back(static_cast<std::uint8_t>(immediate));
}

void Assembler::general(std::uint8_t opcode, bool is_wide, unsigned reg, Gpr base, std::int32_t displacement) {
  code_.push_back(static_cast<std::uint8_t>(0x40 | (is_wide ? 8 : 0) | (reg >> 3) << 2 | base >> 3));
  code_.push_back(opcode);
  memory(reg, base, displacement);
}

void Assembler::load8(Gpr to, Gpr base, std::int32_t displacement) {
  code_.push_back(static_cast<std::uint8_t>(0x40 | (to >> 3) << 2 | base >> 3));
  bytes({0x0f, 0xb6});
  memory(to, base, displacement);
}

void Assembler::move64(Gpr to, Gpr from) {
  bytes({static_cast<std::uint8_t>(0x48 | from >> 3 << 2 | to >> 3), 0x89,
         static_cast<std::uint8_t>(0xc0 | (from & 7) << 3 | (to & 7))});
}
void Assembler::xor32(Gpr to, Gpr from) {
  bytes({static_cast<std::uint8_t>(0x40 | from >> 3 << 2 | to >> 3), 0x31,
         static_cast<std::uint8_t>(0xc0 | (from & 7) << 3 | (to & 7))});
}
void Assembler::add64(Gpr to, std::int32_t value) {
  bytes({static_cast<std::uint8_t>(0x48 | to >> 3), 0x81, static_cast<std::uint8_t>(0xc0 | (to & 7))});
  word(static_cast<std::uint32_t>(value));
}
void Assembler::set32(Gpr to, std::uint32_t value) {
  bytes({static_cast<std::uint8_t>(0x40 | to >> 3), static_cast<std::uint8_t>(0xb8 | (to & 7))});
  word(value);
}
void Assembler::set64(Gpr to, std::uint64_t value) {
  if (value >> 32 == 0) return set32(to, static_cast<std::uint32_t>(value));
  bytes({static_cast<std::uint8_t>(0x48 | to >> 3), static_cast<std::uint8_t>(0xb8 | (to & 7))});
  word(static_cast<std::uint32_t>(value));
  word(static_cast<std::uint32_t>(value >> 32));
}
void Assembler::scalar(Arithmetic what, bool is_wide, Gpr to, Gpr from) {
  bytes({static_cast<std::uint8_t>(is_wide ? 0x48 : 0x40), what, static_cast<std::uint8_t>(0xc0 | from << 3 | to)});
}
void Assembler::multiply(bool is_wide, Gpr to, Gpr from) {
  bytes(
      {static_cast<std::uint8_t>(is_wide ? 0x48 : 0x40), 0x0f, 0xaf, static_cast<std::uint8_t>(0xc0 | to << 3 | from)});
}
void Assembler::shift(unsigned how, bool is_wide, Gpr what, std::uint8_t by) {
  bytes(
      {static_cast<std::uint8_t>(is_wide ? 0x48 : 0x40), 0xc1, static_cast<std::uint8_t>(0xc0 | how << 3 | what), by});
}
void Assembler::negate(bool is_wide, Gpr what) {
  bytes({static_cast<std::uint8_t>(is_wide ? 0x48 : 0x40), 0xf7, static_cast<std::uint8_t>(0xd8 | what)});
}
void Assembler::widen_signed(Gpr to, Gpr from) {
  bytes({0x48, 0x63, static_cast<std::uint8_t>(0xc0 | to << 3 | from)});
}
void Assembler::set_if(Condition when, Gpr to) {
  // setcc; movzx.
  bytes({0x40, 0x0f, static_cast<std::uint8_t>(static_cast<std::uint8_t>(when) + 0x10),
         static_cast<std::uint8_t>(0xc0 | to)});
  bytes({0x40, 0x0f, 0xb6, static_cast<std::uint8_t>(0xc0 | to << 3 | to)});
}
void Assembler::decrement32(Gpr what) {
  bytes({static_cast<std::uint8_t>(0x40 | what >> 3), 0xff, static_cast<std::uint8_t>(0xc8 | (what & 7))});
}

void Assembler::jump_through(Gpr base, std::int8_t displacement) {
  bytes({static_cast<std::uint8_t>(0x40 | base >> 3), 0xff, static_cast<std::uint8_t>(0x60 | (base & 7)),
         static_cast<std::uint8_t>(displacement)});
}

void Assembler::compare_with_zero64(Gpr base, std::int32_t displacement) {
  general(0x83, true, 7, base, displacement);
  bytes({0});
}
void Assembler::compare_with_zero32(Gpr base, std::int32_t displacement) {
  general(0x83, false, 7, base, displacement);
  bytes({0});
}
void Assembler::prefetch(Gpr base, std::int32_t displacement, bool is_second) {
  bytes({0x0f, 0x18});
  memory(is_second ? 2 : 1, base, displacement);
}
void Assembler::compare8(Gpr base, std::int32_t displacement, std::uint8_t value) {
  general(0x80, false, 7, base, displacement);
  bytes({value});
}
void Assembler::test8(Gpr base, std::int32_t displacement, std::uint8_t value) {
  general(0xf6, false, 0, base, displacement);
  bytes({value});
}
void Assembler::add_to_counter(const void* address, std::uint32_t value) {
  bytes({0x48, 0xb8});  // mov rax, ...
  const auto number = reinterpret_cast<std::uint64_t>(address);
  word(static_cast<std::uint32_t>(number));
  word(static_cast<std::uint32_t>(number >> 32));
  bytes({0xf0, 0x48, 0x81, 0x00});  // lock add qword [rax], ...
  word(value);
}

void Assembler::call(const void* function) {
  bytes({0x48, 0xb8});  // mov rax, ...
  const auto address = reinterpret_cast<std::uint64_t>(function);
  word(static_cast<std::uint32_t>(address));
  word(static_cast<std::uint32_t>(address >> 32));
  bytes({0xff, 0xd0});  // call rax
}

std::size_t Assembler::jump(Condition when) {
  if (when == Condition::always) bytes({0xe9});
  else bytes({0x0f, static_cast<std::uint8_t>(when)});
  word(0);
  return code_.size();
}

void Assembler::land(std::size_t jump) {
  const auto distance = static_cast<std::uint32_t>(code_.size() - jump);
  std::memcpy(&code_[jump - 4], &distance, 4);
}

void Assembler::jump_back(Condition when, std::size_t to) {
  if (when == Condition::always) bytes({0xe9});
  else bytes({0x0f, static_cast<std::uint8_t>(when)});
  word(static_cast<std::uint32_t>(to - (code_.size() + 4)));
}

std::vector<std::uint8_t> Assembler::finished(const std::vector<std::uint32_t>& pool) {
  code_.resize((code_.size() + 31) / 32 * 32, 0xcc);
  const std::size_t at = code_.size();
  for (const auto& use : pool_uses_) {
    const auto distance = static_cast<std::uint32_t>(at + static_cast<std::size_t>(use.at) - use.end);
    std::memcpy(&code_[use.field], &distance, 4);
  }
  // A pool's entry is a dword that all eight lanes have, or eight of them.
  for (const auto value : pool) word(value);
  return std::move(code_);
}

}  // namespace flexrack::sim::jit
