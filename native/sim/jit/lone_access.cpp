// Loads and stores of one byte, 16 or 64 bits for each lane (memory.h).
#include "sim/jit/memory.h"
#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {

void MemoryEmitter::load_lone(const Item& item, std::int32_t plan, unsigned part) {
  const unsigned bytes = ptx::bytes_of(item.from->type);
  const bool is_signed = ptx::is_signed(item.from->type);
  const auto at = Source::memory(rax, static_cast<std::int32_t>(item.step->displacement));
  Item plain = item;
  plain.guard = kNowhere;  // it holds for all
  const unsigned d = at_.fresh(), upper = bytes == 8 ? at_.fresh() : 0;
  to_.load64(rax, rsp, plan + kPointers + 8 * static_cast<std::int32_t>(part));
  to_.compare8(rsp, plan + kKinds + static_cast<std::int32_t>(part), 0);
  const auto to_same = to_.jump(Assembler::Condition::differs);
  const Vex& widen = bytes == 2 ? (is_signed ? v::widen16_signed : v::widen16) : is_signed ? v::widen8_signed : v::widen8;
  if (bytes == 8) {
    to_.vector(v::load, d, 0, at);
    to_.vector(v::load, upper, 0, Source::memory(rax, at.at + 32));
  } else {
    to_.vector(widen, d, 0, at);
  }
  const auto over = to_.jump(Assembler::Condition::always);
  to_.land(to_same);
  if (bytes == 8) {
    to_.vector(v::spread64, d, 0, at);
    to_.vector(v::move, upper, 0, Source::vector(d));
  } else {
    to_.vector(bytes == 2 ? v::spread16 : v::spread8, d, 0, at);
    to_.vector(widen, d, 0, Source::vector(d));
  }
  to_.land(over);
  if (bytes == 8) {
    at_.put(plain, item.writes[0], 2 * part, d);
    return at_.put(plain, item.writes[0], 2 * part + 1, upper);
  }
  if (is_signed && item.writes[0].form == Form::half) to_.vector(v::and_, d, d, pool_.word(0xffff));
  at_.put(plain, item.writes[0], part, d);
}

void MemoryEmitter::store_lone(const Item& item, std::int32_t plan, unsigned part) {
  const unsigned bytes = ptx::bytes_of(item.from->type);
  const auto at = Source::memory(rax, static_cast<std::int32_t>(item.step->displacement));
  const Use& use = item.reads[1];
  const auto point = [&] { to_.load64(rax, rsp, plan + kPointers + 8 * static_cast<std::int32_t>(part)); };  // behind what may have to be written back for room
  if (bytes == 8) {
    const unsigned lower = at_.take(use, 2 * part), upper = at_.take(use, 2 * part + 1);
    point();
    to_.vector(v::store, lower, 0, at);
    return to_.vector(v::store, upper, 0, Source::memory(rax, at.at + 32));
  }
  const unsigned from = at_.take(use, part), made = at_.fresh();
  point();
  to_.vector(v::and_, made, from, pool_.word(bytes == 2 ? 0xffff : 0xff));
  to_.vector(v::pack16, made, made, Source::vector(made));
  to_.vector(v::permute64, made, 0, Source::vector(made), 0xd8);
  if (bytes == 2) return to_.vector(v::store_short, made, 0, at);
  to_.vector(v::pack8, made, made, Source::vector(made));
  to_.vector(v::store_half, made, 0, at);
}

}  // namespace flexrack::sim::jit
