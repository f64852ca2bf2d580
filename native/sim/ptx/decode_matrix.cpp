// Matrix instructions of a warp. Facts: PTX ISA 9.0, 9.7.14. Sparse, sub-byte and block-scaled ones have words nobody
// takes here, so they are unsupported.
#include "sim/ptx/decoder.h"

namespace flexrack::sim::ptx {

namespace {

/// m16n8k16.
bool take_shape(Decoder& in, Matrix& matrix) {
  auto text = in.take_starting("m");
  const auto number = [&](char letter, unsigned& out) {
    if (text.empty() || text[0] != letter) return false;
    text.remove_prefix(1);
    out = 0;
    while (!text.empty() && text[0] >= '0' && text[0] <= '9' && out < 1000) {
      out = out * 10 + static_cast<unsigned>(text[0] - '0');
      text.remove_prefix(1);
    }
    return out > 0;
  };
  return number('m', matrix.m) && number('n', matrix.n) && number('k', matrix.k) && text.empty();
}

/// The type of the registers that hold elements of a type.
Type held_in(Type element) {
  if (element == Type::f64 || element == Type::f32 || element == Type::s32) return element;
  return element == Type::none ? Type::none : Type::b32;
}

void keep(Decoder& in, const Matrix& matrix) {
  auto& matrices = in.builder().function().matrices;
  in.out.index = static_cast<std::uint32_t>(matrices.size());
  matrices.push_back(matrix);
}

bool multiply(Decoder& in, Matrix& matrix, bool is_wmma) {
  in.out.op = is_wmma ? Op::wmma_mma : Op::mma;
  const auto a = in.take_either("row", "col"), b = in.take_either("row", "col");
  if (a.empty() || b.empty() || !take_shape(in, matrix)) return false;
  matrix.is_a_column = a == "col";
  matrix.is_b_column = b == "col";
  in.take_rounding();
  in.take_flags(kSatFinite);
  matrix.d = in.take_type();
  matrix.a = in.take_type();
  matrix.b = in.take_type();
  matrix.c = in.take_type();
  if (is_wmma && matrix.b == Type::none) {
    // Of halves only d and c are given.
    matrix.c = matrix.a;
    matrix.a = matrix.b = Type::f16;
  }
  if (matrix.c == Type::none || in.item_count() != 4) return false;
  in.out.o[0] = in.list(in.item(0), held_in(matrix.d), Decoder::Use::write);
  in.out.o[1] = in.list(in.item(1), held_in(matrix.a), Decoder::Use::read);
  in.out.o[2] = in.list(in.item(2), held_in(matrix.b), Decoder::Use::read);
  in.out.o[3] = in.list(in.item(3), held_in(matrix.c), Decoder::Use::read);
  in.out.type = matrix.d;
  return true;
}

bool move(Decoder& in, Matrix& matrix, bool is_load) {
  in.out.op = is_load ? Op::wmma_load : Op::wmma_store;
  static constexpr std::string_view kFragments[] = {"a", "b", "c", "d"};
  unsigned fragment = 0;
  while (fragment < 4 && !in.take(kFragments[fragment])) ++fragment;
  const auto layout = in.take_either("row", "col");
  if (fragment == 4 || layout.empty() || !take_shape(in, matrix)) return false;
  matrix.is_column = layout == "col";
  in.out.detail = static_cast<std::uint8_t>(fragment);
  const auto space = in.take_space(Space::generic);
  in.out.type = in.take_type();
  (fragment == 0 ? matrix.a : fragment == 1 ? matrix.b : fragment == 2 ? matrix.c : matrix.d) = in.out.type;
  if (in.out.type == Type::none || in.item_count() < 2 || in.item_count() > 3) return false;
  const std::size_t list_at = is_load ? 0 : 1;
  in.out.o[list_at] =
      in.list(in.item(list_at), held_in(in.out.type), is_load ? Decoder::Use::write : Decoder::Use::read);
  if (in.item_count() == 3) in.out.o[2] = in.source(in.item(2), Type::b32);
  in.out.o[1 - list_at] = in.address(in.item(1 - list_at), space);
  return true;
}

}  // namespace

bool decode_matrix(Decoder& in) {
  Matrix matrix;
  const bool is_wmma = in.name() == "wmma";
  bool is_made = false;
  if (is_wmma && in.take("load")) is_made = in.take("sync") && in.take("aligned") && move(in, matrix, true);
  else if (is_wmma && in.take("store")) is_made = in.take("sync") && in.take("aligned") && move(in, matrix, false);
  else if (!is_wmma || in.take("mma")) is_made = in.take("sync") && in.take("aligned") && multiply(in, matrix, is_wmma);
  if (is_made) keep(in, matrix);
  return is_made;
}

bool decode_matrix_move(Decoder& in) {
  if (!in.take("sync") || !in.take("aligned") || !in.take("m8n8")) return false;
  const bool is_transposed = in.take("trans");
  in.out.detail = is_transposed;
  if (in.name() == "movmatrix") {
    in.out.op = Op::movmatrix;
    if (in.take_type() != Type::b16 || !is_transposed) return false;
    in.out.type = Type::b32;
    in.operands("Da");
    return true;
  }
  const bool is_load = in.name() == "ldmatrix";
  in.out.op = is_load ? Op::ldmatrix : Op::stmatrix;
  in.out.count = in.take("x1") ? 1 : in.take("x2") ? 2 : in.take("x4") ? 4 : 0;
  const auto space = in.take_space(Space::generic);
  in.out.type = in.take_type();
  if (in.out.count == 0 || in.out.type != Type::b16 || in.item_count() != 2) return false;
  const std::size_t list_at = is_load ? 0 : 1;
  in.out.o[list_at] = in.list(in.item(list_at), Type::b32, is_load ? Decoder::Use::write : Decoder::Use::read);
  if (in.out.o[list_at].count != in.out.count) in.mismatch();
  in.out.o[1 - list_at] = in.address(in.item(1 - list_at), space);
  return true;
}

}  // namespace flexrack::sim::ptx
