// Loads and stores of one byte, 16 or 64 bits for each lane, and of two of 64 bits (memory.h).
#include "sim/jit/memory.h"
#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {

void MemoryEmitter::load_lone(const Item& item, const Plan& how, unsigned part) {
  const unsigned bytes = ptx::bytes_of(item.from->type);
  const bool is_signed = ptx::is_signed(item.from->type);
  const auto at = Source::memory(how.base(), displacement_of(item, how, part));
  Item plain = item;
  plain.guard = kNowhere;  // it holds for all
  const unsigned d = at_.fresh(), upper = bytes == 8 ? at_.fresh() : 0;
  point(how, part);
  const Vex& widen = bytes == 2  ? (is_signed ? v::widen16_signed : v::widen16)
                     : is_signed ? v::widen8_signed
                                 : v::widen8;
  const auto side_by_side = [&] {
    if (bytes != 8) return to_.vector(widen, d, 0, at);
    to_.vector(v::load, d, 0, at);
    to_.vector(v::load, upper, 0, Source::memory(how.base(), at.at + 32));
  };
  either(how, part, side_by_side, [&] {
    if (bytes == 8) {
      to_.vector(v::spread64, d, 0, at);
      to_.vector(v::move, upper, 0, Source::vector(d));
    } else {
      to_.vector(bytes == 2 ? v::spread16 : v::spread8, d, 0, at);
      to_.vector(widen, d, 0, Source::vector(d));
    }
  });
  if (bytes == 8) {
    at_.put(plain, item.writes[0], 2 * part, d);
    return at_.put(plain, item.writes[0], 2 * part + 1, upper);
  }
  if (is_signed && item.writes[0].form == Form::half) to_.vector(v::and_, d, d, pool_.word(0xffff));
  at_.put(plain, item.writes[0], part, d);
}

/// Two of 64 bits: each lane's are one access of 16 bytes, which is one for other threads too (exec/strong_access.h).
void MemoryEmitter::load_pair(const Item& item, const Plan& how, unsigned part) {
  const auto at = [&](std::int32_t bytes) {
    return Source::memory(how.base(), displacement_of(item, how, part) + bytes);
  };
  Item plain = item;
  plain.guard = kNowhere;  // it holds for all
  const std::array<unsigned, 2> a{at_.fresh(), at_.fresh()}, b{at_.fresh(), at_.fresh()};
  const unsigned x = at_.fresh(), y = at_.fresh();
  point(how, part);
  const auto side_by_side = [&] {
    for (unsigned half = 0; half < 2; ++half) {
      const auto first = 64 * static_cast<std::int32_t>(half);
      to_.vector(v::load_short, x, 0, at(first));
      to_.vector(v::insert_upper, x, x, at(first + 32), 1);
      to_.vector(v::load_short, y, 0, at(first + 16));
      to_.vector(v::insert_upper, y, y, at(first + 48), 1);
      to_.vector(v::unpack_low64, a[half], x, Source::vector(y));
      to_.vector(v::unpack_high64, b[half], x, Source::vector(y));
    }
  };
  either(how, part, side_by_side, [&] {
    for (unsigned half = 0; half < 2; ++half) {
      to_.vector(v::spread64, a[half], 0, at(0));
      to_.vector(v::spread64, b[half], 0, at(8));
    }
  });
  for (unsigned half = 0; half < 2; ++half) {
    at_.put(plain, item.writes[0], 2 * part + half, a[half]);
    at_.put(plain, item.writes[1], 2 * part + half, b[half]);
  }
}

void MemoryEmitter::store_pair(const Item& item, const Plan& how, unsigned part) {
  const auto at = [&](std::int32_t bytes) {
    return Source::memory(how.base(), displacement_of(item, how, part) + bytes);
  };
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned a = at_.take(item.reads[1], 2 * part + half), b = at_.take(item.reads[2], 2 * part + half),
                   x = at_.fresh(), y = at_.fresh();
    point(how, part);  // behind what may have to be written back for room
    to_.vector(v::unpack_low64, x, a, Source::vector(b));
    to_.vector(v::unpack_high64, y, a, Source::vector(b));
    const auto first = 64 * static_cast<std::int32_t>(half);
    to_.vector(v::store_short, x, 0, at(first));
    to_.vector(v::store_short, y, 0, at(first + 16));
    to_.vector(v::upper_half, x, 0, at(first + 32), 1);
    to_.vector(v::upper_half, y, 0, at(first + 48), 1);
    at_.release();
  }
}

void MemoryEmitter::store_lone(const Item& item, const Plan& how, unsigned part) {
  const unsigned bytes = ptx::bytes_of(item.from->type);
  const auto at = Source::memory(how.base(), displacement_of(item, how, part));
  const Use& use = item.reads[1];
  if (bytes == 8) {
    const unsigned lower = at_.take(use, 2 * part), upper = at_.take(use, 2 * part + 1);
    point(how, part);  // behind what may have to be written back for room
    to_.vector(v::store, lower, 0, at);
    return to_.vector(v::store, upper, 0, Source::memory(how.base(), at.at + 32));
  }
  const unsigned from = at_.take(use, part), made = at_.fresh();
  point(how, part);
  to_.vector(v::and_, made, from, pool_.word(bytes == 2 ? 0xffff : 0xff));
  to_.vector(v::pack16, made, made, Source::vector(made));
  to_.vector(v::permute64, made, 0, Source::vector(made), 0xd8);
  if (bytes == 2) return to_.vector(v::store_short, made, 0, at);
  to_.vector(v::pack8, made, made, Source::vector(made));
  to_.vector(v::store_half, made, 0, at);
}

}  // namespace flexrack::sim::jit
