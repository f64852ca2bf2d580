// Loads by lanes that are far from each other (memory.h).
#include <cstddef>

#include "sim/exec/warp.h"
#include "sim/jit/memory.h"
#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {

/// A word for each lane from wherever it lies, all within the range that the step has met. What the code expects behind
/// the access is in registers then as if it had been made there; whatever does not fit is left to the handler, for
/// which nothing has changed.
void MemoryEmitter::gather(Call& call) {
  using When = Assembler::Condition;
  const At place = call.item->writes[0].at;
  std::array<unsigned, kEights> d{};
  unsigned found = 0;
  for (unsigned i = 0; i < Registers::kCount; ++i) {
    const auto& held = call.after[i];
    if (held.place == place && !call.before[i].is_dirty) d[held.part] = i, ++found;
  }
  if (found != kEights) {
    call.jumps.push_back(call.scattered);
    return;
  }
  to_.land(call.scattered);
  to_.test8(rsp, call.plan + kOthers, kScattered);
  call.jumps.push_back(to_.jump(When::equal));
  at_.at_item(call.item_number);
  at_.save_but(call.before, call.after);
  // Distances from the range's beginning, which are below zero or beyond its last word where a lane is not within.
  const auto number = (reinterpret_cast<std::uintptr_t>(call.item->step) >> 6) % 64;
  const auto entry = offset(number * sizeof(exec::RangeCache::Entry));
  const auto spread = [&](unsigned to, std::int32_t from, std::int32_t more) {
    to_.load64(rax, rcx, entry + from);
    to_.add64(rax, more);
    to_.vector(v::from_gpr64, to, 0, Source::vector(rax));
    to_.vector(v::spread64, to, 0, Source::vector(to));
  };
  constexpr unsigned kHere = Registers::kScratch, kRest = Registers::kScratch2;
  const auto [outside, begin, last, low] = d;
  to_.load64(rcx, rdi, offset(offsetof(exec::Warp, ranges)));
  spread(begin, offset(offsetof(exec::RangeCache::Entry, begin)), -call.displacement);
  spread(last, offset(offsetof(exec::RangeCache::Entry, read_span)), -4);
  for (const unsigned empty : {outside, low}) to_.vector(v::xor_, empty, empty, Source::vector(empty));
  for (unsigned part = 0; part < exec::kLanes / 4; ++part) {
    const auto addresses = Source::memory(rsp, call.plan + kAddresses + 32 * offset(part));
    to_.vector(v::load, kHere, 0, addresses);
    to_.vector(v::or_, low, low, Source::vector(kHere));
    to_.vector(v::sub64, kHere, kHere, Source::vector(begin));
    to_.vector(v::sub64, kRest, last, Source::vector(kHere));
    to_.vector(v::or_, kHere, kHere, Source::vector(kRest));
    to_.vector(v::or_, outside, outside, Source::vector(kHere));
  }
  to_.vector(v::signs64, rax, 0, Source::vector(outside));
  to_.bytes({0x85, 0xc0});                             // test eax, eax
  call.jumps.push_back(to_.jump(When::differs));
  to_.vector(v::test, low, 0, pool_.wide(3));
  call.jumps.push_back(to_.jump(When::differs));
  for (unsigned lane = 0; lane < exec::kLanes; ++lane) {
    const unsigned eight = d[lane / 8], to = lane % 8 < 4 ? eight : kHere;
    to_.load64(rax, rsp, call.plan + kAddresses + 8 * offset(lane));
    const auto from = Source::memory(rax, call.displacement);
    if (lane % 4 == 0) to_.vector(v::from_gpr32, to, 0, from);
    else to_.vector(v::insert32, to, to, from, static_cast<int>(lane % 4));
    if (lane % 8 == 7) to_.vector(v::insert_upper, eight, eight, Source::vector(kHere), 1);
  }
  at_.at_item(call.item_number + 1);
  at_.restore_but(call.after, call.before, place);
  to_.jump_back(When::always, call.back);
}

}  // namespace flexrack::sim::jit
