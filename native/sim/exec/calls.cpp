#include "sim/exec/calls.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/exec/access.h"
#include "sim/exec/block.h"
#include "sim/exec/conditions.h"
#include "sim/exec/heap.h"
#include "sim/exec/ops.h"

namespace flexrack::sim::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::size_t kLongestText = 1 << 20;  ///< of a string that a kernel gives

std::byte* local_of(const Warp& warp, const Frame& frame, unsigned lane, u32 offset) {
  return warp.local_memory + std::size_t{lane} * warp.block->grid().local_stride + frame.local + offset;
}

/// Where one lane's value of a register or constant is.
std::byte* lane_of(const Frame& frame, const ptx::Operand& operand, unsigned lane) {
  const At at = place_of(operand);
  std::byte* const base = at & kInConstants ? frame.code->constants.get() : frame.registers;
  return base + (at & ~3U) + std::size_t{lane} * (ptx::lane_bytes(operand.width) / kLanes);
}

/// One side of a call's value: memory in a local frame, or a register.
struct Side {
  const Frame* frame;
  bool is_memory;
  u32 offset;
  const ptx::Operand* value;
};

/// Up to 8 bytes of registers are cut or zero-extended; memory is copied as it is.
void copy(const Warp& warp, const Side& to, const Side& from, u32 bytes) {
  if (!to.is_memory && (to.value->kind == ptx::Operand::Kind::sink || to.value->kind == ptx::Operand::Kind::none))
    return;
  if (!to.is_memory && to.value->width == ptx::Width::w1) {
    const bool is_register = !from.is_memory && from.value->width == ptx::Width::w1;
    auto* bits = reinterpret_cast<u32*>(to.frame->registers + to.value->at);
    if (is_register) {
      u32 holds = 0;
      std::memcpy(&holds,
                  (from.value->kind == ptx::Operand::Kind::constant ? from.frame->code->constants.get()
                                                                    : from.frame->registers) +
                      from.value->at,
                  sizeof holds);
      *bits = (*bits & ~warp.mask) | ((from.value->is_negated ? ~holds : holds) & warp.mask);
    }
    return;
  }
  each_lane(warp.mask, [&](unsigned lane) {
    std::byte* target = to.is_memory ? local_of(warp, *to.frame, lane, to.offset) : lane_of(*to.frame, *to.value, lane);
    const std::byte* source =
        from.is_memory ? local_of(warp, *from.frame, lane, from.offset) : lane_of(*from.frame, *from.value, lane);
    const u32 target_room = to.is_memory ? bytes : ptx::lane_bytes(to.value->width) / kLanes,
              source_room = from.is_memory ? bytes : ptx::lane_bytes(from.value->width) / kLanes;
    std::byte between[16] = {};
    if (bytes > sizeof between) {
      std::memcpy(target, source, bytes);
    } else {
      std::memcpy(between, source, std::min(bytes, source_room));
      std::memcpy(target, between, target_room);
    }
  });
}

Side side_of(const Frame& frame, const ptx::Argument& argument) {
  return {&frame, argument.is_memory, argument.offset, &argument.value};
}
Side side_of(const Frame& frame, const ptx::Parameter& parameter) {
  return {&frame, !parameter.is_register, parameter.offset, &parameter.place};
}

const ptx::Call& call_of(const Frame& caller, const Step* step) {
  return caller.code->function->calls[step->source->index];
}

/// An argument of a call to one of ours, as a number.
u64 argument_of(const Warp& warp, const Step* step, std::size_t at, unsigned lane) {
  const auto& arguments = call_of(*warp.frame, step).arguments;
  if (at >= arguments.size()) return 0;
  const auto& argument = arguments[at];
  u64 value = 0;
  const std::byte* from = argument.is_memory ? local_of(warp, *warp.frame, lane, argument.offset)
                                             : lane_of(*warp.frame, argument.value, lane);
  std::memcpy(&value, from, std::min<std::size_t>(argument.bytes, sizeof value));
  return value;
}

void give_result(const Warp& warp, const Step* step, unsigned lane, u64 value) {
  const auto& results = call_of(*warp.frame, step).results;
  if (results.empty()) return;
  const auto& result = results.front();
  if (!result.is_memory && result.value.kind != ptx::Operand::Kind::lanes) return;
  std::byte* to =
      result.is_memory ? local_of(warp, *warp.frame, lane, result.offset) : lane_of(*warp.frame, result.value, lane);
  std::memcpy(to, &value, std::min<std::size_t>(result.bytes, sizeof value));
}

/// A string of the kernel's; nullopt where it is not in its memory.
std::optional<std::string> text_at(Warp& warp, unsigned lane, u64 address) {
  std::string text;
  for (; text.size() < kLongestText; ++address) {
    const auto* byte = find_bytes(warp, lane, address, 1, false);
    if (byte == nullptr) return std::nullopt;
    if (*byte == std::byte{0}) return text;
    text += static_cast<char>(*byte);
  }
  return text;
}

const Step* prints(Warp& warp, const Step* step) {
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const u64 pattern_at = argument_of(warp, step, 0, lane), block_at = argument_of(warp, step, 1, lane);
    const auto pattern = text_at(warp, lane, pattern_at);
    if (!pattern) return warp.fault(Fault::Kind::out_of_bounds, step, lane, pattern_at, 1);
    u64 bad = 0;
    bool is_bad = false;
    const auto argument = [&](u32 offset, u32 bytes) -> u64 {
      u64 value = 0;
      const auto* from = find_bytes(warp, lane, block_at + offset, bytes, false);
      if (from == nullptr) return is_bad = true, bad = block_at + offset, 0;
      std::memcpy(&value, from, bytes);
      return value;
    };
    const auto formatted = format(*pattern, argument, [&](u64 address) { return text_at(warp, lane, address); });
    if (is_bad) return warp.fault(Fault::Kind::out_of_bounds, step, lane, bad, 4);
    const bool is_printed = warp.block->grid().printer.print(formatted.text);
    give_result(warp, step, lane, is_printed ? formatted.arguments : ~u64{0});
  }
  return step + 1;
}

const Step* allocates(Warp& warp, const Step* step) {
  Heap* const heap = warp.block->grid().launch.heap;
  each_lane(warp.mask, [&](unsigned lane) {
    give_result(warp, step, lane, heap == nullptr ? 0 : heap->allocate(argument_of(warp, step, 0, lane)));
  });
  return step + 1;
}

const Step* releases(Warp& warp, const Step* step) {
  Heap* const heap = warp.block->grid().launch.heap;
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const u64 address = argument_of(warp, step, 0, lane);
    if (address != 0 && (heap == nullptr || !heap->release(address)))
      return warp.fault(Fault::Kind::out_of_bounds, step, lane, address, 1, true, "free");
  }
  return step + 1;
}

/// __assertfail(message, file, line, function, bytes a character).
const Step* fails_assertion(Warp& warp, const Step* step) {
  const auto text = [&](unsigned lane, std::size_t at) {
    return text_at(warp, lane, argument_of(warp, step, at, lane)).value_or("?");
  };
  const auto& at = warp.block->at();
  each_lane(warp.mask, [&](unsigned lane) {
    const auto place = [](u32 x, u32 y, u32 z) {
      return "[" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + "]";
    };
    warp.block->grid().printer.assertion(text(lane, 1) + ":" + std::to_string(argument_of(warp, step, 2, lane)) + ": " +
                                         text(lane, 3) + ": block: " + place(at.x, at.y, at.z) + ", thread: " +
                                         place(warp.thread[0][lane], warp.thread[1][lane], warp.thread[2][lane]) +
                                         " Assertion `" + text(lane, 0) + "` failed.\n");
  });
  const auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  return warp.fault(Fault::Kind::assertion, step, lane, 0, 0, false, text(lane, 0));
}

/// cudaGraphSetConditional(handle, value): of the graph that the kernel is in, and of no other one.
const Step* sets_condition(Warp& warp, const Step* step) {
  auto* const conditions = warp.block->grid().launch.conditions;
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const u64 handle = argument_of(warp, step, 0, lane);
    if (conditions == nullptr || !conditions->set(handle, static_cast<u32>(argument_of(warp, step, 1, lane))))
      return warp.fault(Fault::Kind::bad_condition, step, lane, handle, 0, true, "cudaGraphSetConditional");
  }
  return step + 1;
}

}  // namespace

void pass_arguments(Warp& warp, const Step* step, const Frame& callee) {
  const auto& arguments = call_of(*warp.frame, step).arguments;
  const auto& parameters = callee.code->function->parameters;
  for (std::size_t i = 0; i < arguments.size() && i < parameters.size(); ++i) {
    copy(warp, side_of(callee, parameters[i]), side_of(*warp.frame, arguments[i]),
         std::min(arguments[i].bytes, parameters[i].bytes));
  }
}

void pass_results(Warp& warp, const Frame& callee) {
  const Frame& caller = *callee.caller;
  const auto& results = call_of(caller, callee.call).results;
  const auto& formals = callee.code->function->results;
  for (std::size_t i = 0; i < results.size() && i < formals.size(); ++i) {
    copy(warp, side_of(caller, results[i]), side_of(callee, formals[i]), std::min(results[i].bytes, formals[i].bytes));
  }
}

Handler builtin_handler(ptx::Builtin builtin) {
  switch (builtin) {
    case ptx::Builtin::vprintf: return prints;
    case ptx::Builtin::malloc: return allocates;
    case ptx::Builtin::free: return releases;
    case ptx::Builtin::assertfail: return fails_assertion;
    case ptx::Builtin::set_condition: return sets_condition;
    case ptx::Builtin::none: break;
  }
  return nullptr;
}

}  // namespace flexrack::sim::exec
