// Loads, stores, sums in shared memory, shuffles: what all lanes do at once.
#include "sim/exec/collective.h"
#include "sim/exec/ops.h"
#include "sim/exec/warp.h"
#include "sim/jit/describe.h"

namespace flexrack::sim::jit {

using ptx::Width;

namespace {

/// What one element is in a register: of loads and stores of a byte, 16 or 64 bits, which come alone.
Form lone_form(const Instruction& from, Width width) {
  const unsigned bytes = ptx::bytes_of(from.type);
  if (bytes == 8) return width == Width::w64 ? Form::wide : Form::none;
  return width == Width::w16 ? Form::half : width == Width::w32 ? Form::word : Form::none;
}

}  // namespace

/// Words, by vectors of up to four, or one element of another size, where a register says: of shared memory by offsets,
/// of global memory by addresses.
bool describe_memory(Item& item) {
  const auto& from = *item.from;
  const bool is_load = from.op == Op::ld;
  const auto& address = from.o[is_load ? 1 : 0];
  const auto& step = *item.step;
  if (address.kind != ptx::Operand::Kind::address_register) return false;
  const bool is_shared = from.space == ptx::Space::shared, is_strong = from.order != ptx::Order::weak;
  if (!is_shared && from.space != ptx::Space::global && from.space != ptx::Space::generic &&
      from.space != ptx::Space::constant)
    return false;
  if (address.width != (is_shared ? Width::w32 : Width::w64)) return false;
  const unsigned bytes = ptx::bytes_of(from.type);
  if (bytes == 0 || bytes > 8 || (from.count != 1 && from.count != 2 && (bytes != 4 || from.count != 4)) ||
      (from.count == 2 && bytes < 4))
    return false;
  // Those are one access for each lane; what waits in shared memory is found out by the handler alone.
  if (is_strong && (bytes < 4 || (is_shared && is_load))) return false;
  if (step.displacement < -(1 << 24) || step.displacement > (1 << 24) ||
      step.displacement % (static_cast<int>(bytes) * from.count) != 0)
    return false;
  const auto& value = from.o[is_load ? 0 : 1];
  if (bytes == 8 && from.count == 2) {
    if (value.kind != ptx::Operand::Kind::list) return false;
    for (unsigned i = 0; i < 2; ++i) {
      if (form_of(step.extra[i].width) != Form::wide || step.extra[i].kind == ptx::Operand::Kind::sink) return false;
    }
    item.is_whole = true;
    item.reads[0] = {step.a, form_of(address.width)};
    const At places[] = {step.d, step.b};
    for (unsigned i = 0; i < 2; ++i) (is_load ? item.writes[i] : item.reads[1 + i]) = {places[i], Form::wide};
    return true;
  }
  if (bytes != 4) {
    const Form form = value.kind == ptx::Operand::Kind::list ? Form::none : lone_form(from, value.width);
    if (form == Form::none || step.d == kNowhere) return false;
    item.is_whole = true;
    item.reads[0] = {step.a, form_of(address.width)};
    (is_load ? item.writes[0] : item.reads[1]) = {step.d, form};
    return true;
  }
  if (value.kind == ptx::Operand::Kind::list) {
    for (unsigned i = 0; i < value.count; ++i) {
      if (form_of(step.extra[i].width) != Form::word || step.extra[i].kind == ptx::Operand::Kind::sink) return false;
    }
  } else if (value.width != Width::w32) {
    return false;
  }
  item.is_whole = true;
  item.reads[0] = {step.a, form_of(address.width)};
  const At places[] = {step.d, step.b, step.c, step.e};
  for (unsigned i = 0; i < from.count; ++i) (is_load ? item.writes[i] : item.reads[1 + i]) = {places[i], Form::word};
  return true;
}

/// Sums of words in the block's shared memory that nobody reads at once.
bool describe_sum_in_shared(Item& item) {
  const auto& from = *item.from;
  const auto& step = *item.step;
  const auto& address = from.o[1];
  if (from.atomic != ptx::AtomicOp::add || from.count != 1 || !is_32(from.type) || from.type == Type::b32 ||
      from.space != ptx::Space::shared || step.d != kNowhere)
    return false;
  if (address.kind != ptx::Operand::Kind::address_register || address.width != Width::w32 ||
      from.o[2].width != Width::w32)
    return false;
  if (step.displacement < -(1 << 24) || step.displacement > (1 << 24)) return false;
  item.is_whole = true;
  item.is_called = item.guard != kNowhere;
  item.reads[0] = {step.a, Form::word}, item.reads[1] = {step.b, Form::word};
  return true;
}

/// Shuffles by numbers among all lanes; nvcc puts the numbers into registers first.
bool describe_shuffle(const exec::Code& code, Item& item) {
  const auto& step = *item.step;
  if (item.guard != kNowhere || !(item.from->flags & ptx::kSync) || step.d == kNowhere) return false;
  const At places[] = {step.b, step.c, exec::place_of(item.from->o[5])};
  std::array<At, 3> numbers{};
  for (unsigned i = 0; i < 3; ++i) {
    numbers[i] = places[i] != kNowhere && (places[i] & kInConstants) ? places[i] : item.known[i];
    if (numbers[i] == kNowhere) return false;
    // The handler looks into the register.
    if (places[i] != numbers[i]) item.reads[3 + i] = {places[i], Form::word};
  }
  std::uint64_t all = 0;
  if (!constant_of(code, {numbers[2], Form::word}, all) || all != exec::kAllLanes) return false;
  item.is_whole = true;
  item.writes[0] = {step.d, Form::word}, item.writes[1] = {step.e, Form::mask};
  item.reads[0] = {step.a, Form::word}, item.reads[1] = {numbers[0], Form::word},
  item.reads[2] = {numbers[1], Form::word};
  return true;
}

Exchange exchange_of(const exec::Code& code, const Item& item) {
  std::uint64_t b = 0, c = 0;
  constant_of(code, item.reads[1], b);
  constant_of(code, item.reads[2], c);
  Exchange made;
  for (unsigned lane = 0; lane < ptx::kLanes; ++lane) {
    bool is_within = false;
    made.from[lane] = static_cast<std::uint8_t>(exec::source_lane(static_cast<ptx::ShuffleMode>(item.from->detail),
                                                                  lane, static_cast<std::uint32_t>(b),
                                                                  static_cast<std::uint32_t>(c), is_within));
    made.within |= static_cast<std::uint32_t>(is_within) << lane;
  }
  return made;
}

}  // namespace flexrack::sim::jit
