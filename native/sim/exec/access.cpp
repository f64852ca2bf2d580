#include "sim/exec/access.h"

#include <bit>

#include "sim/exec/block.h"
#include "sim/exec/shells.h"

namespace flexrack::sim::exec {
namespace {

using Kind = Fault::Kind;

/// Looks an address of memory up, and keeps its range for the step.
Kind find_memory(Warp& warp, const Step* step, std::uint64_t address, std::uint32_t size, bool is_write,
                 std::byte*& found) {
  auto& kept = warp.ranges->of(step);
  const auto fits = [&](std::uint64_t span) {
    return address - kept.begin < span && size <= span - (address - kept.begin);
  };
  if (!fits(is_write ? kept.write_span : kept.read_span)) {
    const Range* range = warp.block->worker().reader.now().find(address);
    if (range == nullptr || !range->holds(address, size)) return Kind::out_of_bounds;
    if (is_write && !range->is_writable) return Kind::read_only;
    kept = {range->begin, range->end - range->begin, range->is_writable ? range->end - range->begin : 0};
  }
  found = reinterpret_cast<std::byte*>(address);
  return Kind::stopped;  // none
}

std::byte* find_shared(Warp& warp, std::uint64_t address, std::uint32_t size) {
  Block* block = warp.block;
  if (address > 0xffffffffU) return nullptr;
  if (const auto field = cluster_field(address); field != 0) {
    if (field > block->cluster().size()) return nullptr;
    block = &block->cluster().block(field - 1);
  }
  const std::uint32_t offset = shared_offset(address);
  if (offset > block->shared_bytes() || size > block->shared_bytes() - offset) return nullptr;
  return block->shared() + offset;
}

std::byte* find_local(Warp& warp, unsigned lane, std::uint64_t offset, std::uint32_t size) {
  const std::uint32_t bytes = warp.block->local_bytes();
  if (offset > bytes || size > bytes - offset) return nullptr;
  return warp.local_memory + std::size_t{lane} * warp.block->grid().local_stride + offset;
}

/// The parameter block is only read.
std::byte* find_parameter(Warp& warp, std::uint64_t offset, std::uint32_t size, bool is_write) {
  const auto block = warp.block->grid().launch.parameters;
  if (is_write || offset > block.size() || size > block.size() - offset) return nullptr;
  return const_cast<std::byte*>(block.data()) + offset;
}

/// In an address space of its own, or by a window.
Kind find(Warp& warp, const Step* step, unsigned lane, ptx::Space space, std::uint64_t address, std::uint32_t size,
          bool is_write, std::byte*& found) {
  constexpr std::uint64_t kOffset = (std::uint64_t{1} << kWindowShift) - 1;
  switch (space) {
    case ptx::Space::shared:
    case ptx::Space::shared_cluster: found = find_shared(warp, address, size); break;
    case ptx::Space::local: found = find_local(warp, lane, address, size); break;
    case ptx::Space::param: found = find_parameter(warp, address, size, is_write); break;
    case ptx::Space::generic:
      switch (window_of(address)) {
        case Window::shared: found = find_shared(warp, address & kOffset, size); break;
        case Window::local: found = find_local(warp, lane, address & kOffset, size); break;
        case Window::param: found = find_parameter(warp, address & kOffset, size, is_write); break;
        default: return find_memory(warp, step, address, size, is_write, found);
      }
      break;
    default: return find_memory(warp, step, address, size, is_write, found);
  }
  return found == nullptr ? Kind::out_of_bounds : Kind::stopped;
}

bool locate_one(Warp& warp, const Step* step, unsigned lane, ptx::Space space, std::uint64_t address,
                std::uint32_t size, bool is_write, std::uint32_t align) {
  const auto kind = (address & (align - 1)) != 0
                        ? Kind::misaligned
                        : find(warp, step, lane, space, address, size, is_write, warp.targets[lane]);
  if (kind == Kind::stopped) return true;
  warp.fault(kind, step, lane, address, size, is_write);
  return false;
}

/// All lanes of shared memory by offsets, or of the range that the step met last: without a branch for each. False: to
/// be looked at one by one.
FLEXRACK_INLINE bool locate_at_once(Warp& warp, const Step* step, const Address& address, std::uint32_t size,
                                    bool is_write, std::uint32_t align) {
  std::uint64_t outside = 0;
  const std::uint32_t mask = warp.mask;
  const auto lane_bits = [mask](unsigned lane) { return std::uint64_t{0} - (mask >> lane & 1); };
  if (address.space == ptx::Space::shared && address.width == ptx::Width::w32) {
    const std::uint32_t bytes = warp.block->shared_bytes();
    if (bytes < size) return false;
    std::byte* const shared = warp.block->shared();
    const auto* base = warp.registers<const std::uint32_t>(address.base);
    FLEXRACK_INDEPENDENT for (unsigned lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t offset =
          static_cast<std::uint32_t>(base[lane] + static_cast<std::uint32_t>(address.displacement));
      outside |= (((bytes - size) - offset) >> 63 | (offset & (align - 1))) & lane_bits(lane);
      warp.targets[lane] = shared + offset;
    }
    return outside == 0;
  }
  if (address.width != ptx::Width::w64 || (address.space != ptx::Space::global && address.space != ptx::Space::generic))
    return false;
  const auto& kept = warp.ranges->of(step);
  const std::uint64_t span = is_write ? kept.write_span : kept.read_span;
  if (span < size) return false;
  const auto* base = warp.registers<const std::uint64_t>(address.base);
  FLEXRACK_INDEPENDENT for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t at = base[lane] + static_cast<std::uint64_t>(address.displacement), offset = at - kept.begin;
    outside |= ((offset | ((span - size) - offset)) >> 63 | (at & (align - 1))) & lane_bits(lane);
    warp.targets[lane] = reinterpret_cast<std::byte*>(at);
  }
  return outside == 0;
}

namespace any_machine {
template <bool Write>
__attribute__((FLEXRACK_FAST)) bool locates(Warp& warp, const Step* step, const Address& address, std::uint32_t size,
                                            std::uint32_t align) {
  return locate_at_once(warp, step, address, size, Write, align);
}
}  // namespace any_machine
#if defined(__x86_64__)
namespace with_avx2 {
template <bool Write>
__attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"), FLEXRACK_FAST)) bool locates(Warp& warp, const Step* step,
                                                                                           const Address& address,
                                                                                           std::uint32_t size,
                                                                                           std::uint32_t align) {
  return locate_at_once(warp, step, address, size, Write, align);
}
}  // namespace with_avx2
#endif

bool locate_all(Warp& warp, const Step* step, const Address& address, std::uint32_t size, bool is_write,
                std::uint32_t align) {
#if defined(__x86_64__)
  if (has_avx2())
    return is_write ? with_avx2::locates<true>(warp, step, address, size, align)
                    : with_avx2::locates<false>(warp, step, address, size, align);
#endif
  return is_write ? any_machine::locates<true>(warp, step, address, size, align)
                  : any_machine::locates<false>(warp, step, address, size, align);
}

}  // namespace

Address address_of(const Step& step) {
  const auto& from = *step.source;
  const bool is_first = from.op == ptx::Op::st;
  const auto& operand = from.o[is_first ? 0 : 1];
  return {from.space, step.a, operand.width, step.displacement};
}

Address address_in(const Warp& warp, const ptx::Instruction& from, const ptx::Operand& operand, ptx::Space space) {
  Address address{space, kNowhere, operand.width, from.displacement};
  if (operand.kind == ptx::Operand::Kind::address_register) address.base = operand.at;
  if (operand.kind == ptx::Operand::Kind::address_variable)
    address.displacement += static_cast<std::int64_t>(warp.block->grid().image.variable(operand.at));
  return address;
}

bool locate(Warp& warp, const Step* step, const Address& address, std::uint32_t size, bool is_write,
            std::uint32_t align) {
  if (address.base != kNowhere && locate_all(warp, step, address, size, is_write, align)) return true;
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    std::uint64_t at = static_cast<std::uint64_t>(address.displacement);
    if (address.base == kNowhere) {
      // Of the frame's own variables.
      if (address.space == ptx::Space::local) at += warp.frame->local;
    } else if (address.width == ptx::Width::w64) {
      at += warp.registers<const std::uint64_t>(address.base)[lane];
    } else {
      at = static_cast<std::uint32_t>(at + warp.registers<const std::uint32_t>(address.base)[lane]);
    }
    if (!locate_one(warp, step, lane, address.space, at, size, is_write, align)) return false;
  }
  return true;
}

bool locate_generic(Warp& warp, const Step* step, const std::uint64_t* addresses, std::uint32_t size, bool is_write,
                    std::uint32_t align) {
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    if (!locate_one(warp, step, lane, ptx::Space::generic, addresses[lane], size, is_write, align)) return false;
  }
  return true;
}

std::byte* find_bytes(Warp& warp, unsigned lane, std::uint64_t address, std::uint64_t size, bool is_write) {
  if (window_of(address) == Window::memory) {
    const Range* range = warp.block->worker().reader.now().find(address);
    return range != nullptr && range->holds(address, size) && (!is_write || range->is_writable)
               ? reinterpret_cast<std::byte*>(address)
               : nullptr;
  }
  std::byte* found = nullptr;
  if (size > 0xffffffffU) return nullptr;
  find(warp, nullptr, lane, ptx::Space::generic, address, static_cast<std::uint32_t>(size), is_write, found);
  return found;
}

}  // namespace flexrack::sim::exec
