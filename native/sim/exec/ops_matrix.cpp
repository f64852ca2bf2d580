// mma, wmma, ldmatrix, stmatrix, movmatrix (PTX ISA 9.0, 9.7.14). A warp's lanes are all there (.aligned), so registers
// of all 32 are read whatever the mask.
//
// Sums of half, bfloat16, tf32 and 8-bit floats are made in double and rounded once: hardware keeps fewer bits on the
// way. Where the elements of a wmma fragment are is nobody's business but ours: a lane has consecutive elements of the
// matrix, by rows; where there are more places than elements, matrices repeat.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "sim/exec/access.h"
#include "sim/exec/block.h"
#include "sim/exec/fragment.h"
#include "sim/exec/narrow.h"
#include "sim/exec/ops_matrix.h"
#include "sim/exec/rounding.h"
#include "sim/exec/tile_layout.h"

namespace flexrack::sim::exec {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ptx::Fragment;
using ptx::Matrix;
using ptx::Operand;
using ptx::Width;

constexpr unsigned kMost = 32 * 32;

unsigned element_bits(Type type) {
  switch (type) {
    case Type::e4m3:
    case Type::e5m2:
    case Type::u8:
    case Type::s8: return 8;
    case Type::f16:
    case Type::bf16: return 16;
    case Type::f64: return 64;
    default: return 32;
  }
}

bool is_integer_element(Type type) { return type == Type::u8 || type == Type::s8 || type == Type::s32; }

/// Any element is exact in a double.
double decoded(u64 raw, Type type) {
  switch (type) {
    case Type::u8: return static_cast<double>(raw & 0xff);
    case Type::s8: return static_cast<std::int8_t>(raw);
    case Type::s32: return static_cast<std::int32_t>(static_cast<u32>(raw));
    case Type::f16: return half_to_float(static_cast<u16>(raw));
    case Type::bf16: return bfloat_to_float(static_cast<u16>(raw));
    case Type::tf32: return bits<float>(static_cast<u32>(raw) & 0xffffe000U);
    case Type::e4m3: return decode(static_cast<u32>(raw & 0xff), kE4m3);
    case Type::e5m2: return decode(static_cast<u32>(raw & 0xff), kE5m2);
    case Type::f64: return bits<double>(raw);
    default: return bits<float>(static_cast<u32>(raw));
  }
}

u64 encoded(double value, Type type) {
  switch (type) {
    case Type::s32: return static_cast<u32>(static_cast<std::int64_t>(value));
    case Type::f16: return encode(value, kF16, Rounding::rn, false);
    case Type::bf16: return encode(value, kBf16, Rounding::rn, false);
    case Type::f64: return bits<u64>(value);
    default: return bits<u32>(nan_to_one(static_cast<float>(value)));
  }
}

struct Registers {
  Warp& warp;
  std::span<const Operand> list;
  Type type;

  Registers(Warp& in, const Operand& of, Type element)
      : warp(in), list(&in.frame->code->function->operands[of.at], of.count), type(element) {}
  unsigned each() const {
    return (8U << static_cast<unsigned>(list[0].width)) / element_bits(type);
  }  ///< elements of a register
  unsigned count() const { return each() * static_cast<unsigned>(list.size()); }

  u64 raw(unsigned lane, unsigned at) const {
    const auto& operand = list[at / each()];
    const At place = place_of(operand);
    const u64 word = operand.width == Width::w64   ? u64{warp.registers<const u64>(place)[lane]}
                     : operand.width == Width::w16 ? warp.registers<const u16>(place)[lane]
                                                   : warp.registers<const u32>(place)[lane];
    const unsigned width = element_bits(type);
    return word >> (at % each() * width) & (width == 64 ? ~u64{0} : (u64{1} << width) - 1);
  }
  double get(unsigned lane, unsigned at) const { return decoded(raw(lane, at), type); }
  void put_raw(unsigned lane, unsigned at, u64 value) const {
    const auto& operand = list[at / each()];
    const At place = place_of(operand);
    const unsigned shift = at % each() * element_bits(type);
    if (operand.width == Width::w64) {
      warp.registers<u64>(place)[lane] = value;
    } else if (operand.width == Width::w16) {
      warp.registers<u16>(place)[lane] = static_cast<u16>(value);
    } else {
      auto* word = warp.registers<u32>(place) + lane;
      const u32 mask = element_bits(type) == 32 ? ~0U : ((1U << element_bits(type)) - 1) << shift;
      *word = (*word & ~mask) | (static_cast<u32>(value) << shift & mask);
    }
  }
};

/// The same for the m8n8k4 of halves (9.7.14.5.1), of which a warp makes four: one each by lanes q*4.. and 16+q*4...
Place quad_place(Fragment fragment, const Matrix& shape, unsigned lane, unsigned at, bool is_wide) {
  const unsigned in = lane % 4, lower = lane < 16 ? 0 : 4;
  switch (fragment) {
    case Fragment::a: return shape.is_a_column ? Place{at + lower, in} : Place{in + lower, at};
    case Fragment::b: return shape.is_b_column ? Place{at, in + lower} : Place{in, at + lower};
    default:
      return is_wide ? Place{(lane & 1) + (at & 2) + lower, (at & 4) + (lane & 2) + (at & 1)} : Place{in + lower, at};
  }
}

/// Where it lies for wmma.
Place wmma_place(unsigned columns, unsigned total, unsigned lane, unsigned at, unsigned count) {
  const unsigned number = (lane * count + at) % total;
  return {number / columns, number % columns};
}

unsigned rows_of(Fragment fragment, const Matrix& shape) { return fragment == Fragment::b ? shape.k : shape.m; }
unsigned columns_of(Fragment fragment, const Matrix& shape) { return fragment == Fragment::a ? shape.k : shape.n; }

struct Elements {
  std::array<double, kMost> of;
};

/// d = a * b + c, all by rows.
void multiply(const Matrix& shape, const Elements& a, const Elements& b, const Elements& c, Elements& d, Rounding mode,
              bool saturates) {
  for (unsigned row = 0; row < shape.m; ++row) {
    for (unsigned column = 0; column < shape.n; ++column) {
      double sum = c.of[row * shape.n + column];
      if (is_integer_element(shape.d)) {
        auto whole = static_cast<std::int64_t>(sum);
        for (unsigned k = 0; k < shape.k; ++k)
          whole += static_cast<std::int64_t>(a.of[row * shape.k + k]) *
                   static_cast<std::int64_t>(b.of[k * shape.n + column]);
        if (saturates) whole = whole > INT32_MAX ? INT32_MAX : whole < INT32_MIN ? INT32_MIN : whole;
        sum = static_cast<double>(whole);
      } else if (shape.d == Type::f64) {
        for (unsigned k = 0; k < shape.k; ++k) {
          const double x = a.of[row * shape.k + k], y = b.of[k * shape.n + column];
          sum = mode == Rounding::rn || mode == Rounding::none ? std::fma(x, y, sum) : fma_rounded(x, y, sum, mode);
        }
      } else {
        for (unsigned k = 0; k < shape.k; ++k) sum += a.of[row * shape.k + k] * b.of[k * shape.n + column];
      }
      d.of[row * shape.n + column] = sum;
    }
  }
}

const Matrix& shape_of(const Warp& warp, const Step* step) {
  return warp.frame->code->function->matrices[step->source->index];
}

const Step* multiplies(Warp& warp, const Step* step) {
  const auto& from = *step->source;
  const Matrix& shape = shape_of(warp, step);
  const bool is_wmma = from.op == Op::wmma_mma,
             is_quad = !is_wmma && shape.m == 8 && shape.n == 8 && shape.k == 4 && shape.a == Type::f16;
  const Registers a(warp, from.o[1], shape.a), b(warp, from.o[2], shape.b), c(warp, from.o[3], shape.c),
      d(warp, from.o[0], shape.d);
  const auto place = [&](Fragment fragment, const Registers& of, unsigned lane, unsigned at) {
    if (is_wmma)
      return wmma_place(columns_of(fragment, shape), rows_of(fragment, shape) * columns_of(fragment, shape), lane, at,
                        of.count());
    return is_quad ? quad_place(fragment, shape, lane, at, element_bits(of.type) == 32)
                   : mma_place(fragment, shape, lane, at, of.each());
  };
  static thread_local Elements va, vb, vc, vd;
  for (unsigned quad = 0; quad < (is_quad ? 4U : 1U); ++quad) {
    const auto takes_part = [&](unsigned lane) { return !is_quad || lane % 16 / 4 == quad; };
    const auto gather = [&](Fragment fragment, const Registers& of, Elements& values) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        for (unsigned at = 0; takes_part(lane) && at < of.count(); ++at) {
          const auto [row, column] = place(fragment, of, lane, at);
          values.of[row * columns_of(fragment, shape) + column] = of.get(lane, at);
        }
      }
    };
    gather(Fragment::a, a, va);
    gather(Fragment::b, b, vb);
    gather(Fragment::c, c, vc);
    multiply(shape, va, vb, vc, vd, from.rounding, from.flags & ptx::kSatFinite);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      for (unsigned at = 0; takes_part(lane) && at < d.count(); ++at) {
        const auto [row, column] = place(Fragment::d, d, lane, at);
        d.put_raw(lane, at, encoded(vd.of[row * shape.n + column], shape.d));
      }
    }
  }
  return step + 1;
}

/// wmma.load and wmma.store.
const Step* moves_fragment(Warp& warp, const Step* step) {
  const auto& from = *step->source;
  const bool is_load = from.op == Op::wmma_load;
  const Matrix& shape = shape_of(warp, step);
  const auto fragment = is_load ? static_cast<Fragment>(from.detail) : Fragment::d;
  const unsigned rows = rows_of(fragment, shape), columns = columns_of(fragment, shape);
  const Registers registers(warp, from.o[is_load ? 0 : 1], from.type);
  const unsigned bytes = element_bits(from.type) / 8, lines = shape.is_column ? columns : rows,
                 line = shape.is_column ? rows : columns;
  u64 stride = line;
  if (from.o[2].kind != Operand::Kind::none)
    stride = warp.registers<const u32>(place_of(from.o[2]))[std::countr_zero(warp.mask)];
  const u64 extent = ((lines - 1) * stride + line) * bytes;
  if (extent > 0xffffffffU)
    return warp.fault(Fault::Kind::out_of_bounds, step, static_cast<unsigned>(std::countr_zero(warp.mask)), 0, bytes,
                      !is_load);
  if (!locate(warp, step, address_in(warp, from, from.o[is_load ? 1 : 0], from.space), static_cast<u32>(extent),
              !is_load, bytes))
    return nullptr;
  for (u32 left = warp.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    for (unsigned at = 0; at < registers.count(); ++at) {
      const auto [row, column] = wmma_place(columns, rows * columns, lane, at, registers.count());
      std::byte* place = warp.targets[lane] + (shape.is_column ? column * stride + row : row * stride + column) * bytes;
      u64 raw = 0;
      if (is_load) {
        std::memcpy(&raw, place, bytes);
        registers.put_raw(lane, at, raw);
      } else {
        raw = registers.raw(lane, at);
        std::memcpy(place, &raw, bytes);
      }
    }
  }
  return step + 1;
}

/// 8x8 matrices of 16-bit elements: lane l's address is of row l % 8 of matrix l / 8; in registers a lane has two
/// elements of row l / 4 (9.7.14.5.15).
const Step* moves_matrices(Warp& warp, const Step* step) {
  const auto& from = *step->source;
  const bool is_load = from.op == Op::ldmatrix, is_transposed = from.detail & 1;
  const unsigned count = from.count;
  const Registers registers(warp, from.o[is_load ? 0 : 1], Type::f16);
  const u32 all = warp.mask;
  warp.mask = count == 4 ? kAllLanes : (1U << (8 * count)) - 1;
  const bool is_found =
      locate(warp, step, address_in(warp, from, from.o[is_load ? 1 : 0], from.space), 16, !is_load, 16);
  warp.mask = all;
  if (!is_found) return nullptr;
  if (is_load) {
    for (unsigned matrix = 0; matrix < count; ++matrix)
      gather_rows(warp.targets + 8 * matrix, is_transposed,
                  reinterpret_cast<u32*>(warp.registers<u32>(place_of(registers.list[matrix]))));
    return step + 1;
  }
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned first = lane / 4, second = 2 * (lane % 4) + half, row = is_transposed ? second : first,
                       column = is_transposed ? first : second;
        std::byte* place = warp.targets[8 * matrix + row] + 2 * column;
        const auto value = static_cast<u16>(registers.raw(lane, 2 * matrix + half));
        std::memcpy(place, &value, sizeof value);
      }
    }
  }
  return step + 1;
}

const Step* transposes(Warp& warp, const Step* step) {
  const auto* a = warp.registers<const u32>(step->a);
  std::array<u16, 64> matrix{};
  for (unsigned lane = 0; lane < kLanes; ++lane)
    matrix[2 * lane] = static_cast<u16>(a[lane]), matrix[2 * lane + 1] = static_cast<u16>(a[lane] >> 16);
  auto* d = warp.registers<u32>(step->d);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned row = lane / 4, column = 2 * (lane % 4);
    d[lane] = matrix[column * 8 + row] | static_cast<u32>(matrix[(column + 1) * 8 + row]) << 16;
  }
  return step + 1;
}

bool is_known(const Making& making, const Instruction& from) {
  const Matrix& shape = making.function.matrices[from.index];
  const bool is_small = shape.m <= 32 && shape.n <= 32 && shape.k <= 32;
  for (const Type type : {shape.a, shape.b, shape.c, shape.d}) {
    switch (type) {
      case Type::none:
      case Type::e4m3:
      case Type::e5m2:
      case Type::u8:
      case Type::s8:
      case Type::f16:
      case Type::bf16:
      case Type::tf32:
      case Type::f32:
      case Type::s32:
      case Type::f64: break;
      default: return false;
    }
  }
  return is_small;
}

}  // namespace

Handler matrix_handler(const Making& making, const Instruction& from, Step&) {
  switch (from.op) {
    case Op::mma:
      if (const auto found = tile_handler(making, from)) return found;
      return is_known(making, from) ? multiplies : nullptr;
    case Op::wmma_mma: return is_known(making, from) ? multiplies : nullptr;
    case Op::wmma_load:
    case Op::wmma_store: return is_known(making, from) ? moves_fragment : nullptr;
    case Op::ldmatrix:
    case Op::stmatrix: return moves_matrices;
    case Op::movmatrix: return transposes;
    default: return nullptr;
  }
}

}  // namespace flexrack::sim::exec
