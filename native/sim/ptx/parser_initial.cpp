// Initial values. Facts: PTX ISA 9.0, 5.4.4: lists as in C; names are addresses, generic(name) generic ones,
// 0xff00(name) a byte of one.
#include <bit>
#include <cstring>

#include "sim/ptx/float_bits.h"
#include "sim/ptx/parser.h"

namespace flexrack::sim::ptx {

namespace {

/// How far a value may lie beyond what the text's length explains: `{{1}, {2}}` of huge rows would fill the memory.
constexpr std::uint64_t kMaxGap = std::uint64_t{64} << 20;

}  // namespace

void Parser::initial(VariableSyntax& variable, const std::vector<std::uint64_t>& dimensions) {
  advance();
  if (variable.space != Space::global && variable.space != Space::constant)
    fail("no initial value: only .global and .const variables have one");
  if (variable.linkage == Linkage::external) fail("no initial value: the variable is .extern");
  const bool is_object =
      variable.type == Type::texref || variable.type == Type::samplerref || variable.type == Type::surfref;
  if (is_object) return initial_state(variable);
  auto shape = dimensions;
  if (variable.vector > 1) shape.push_back(variable.vector);
  if (shape.empty()) {
    const bool is_braced = accept("{");
    initial_value(variable, 0);
    if (is_braced) expect("}");
    return;
  }
  initial_list(variable, shape, 0, 0);
}

void Parser::initial_list(VariableSyntax& variable, const std::vector<std::uint64_t>& dimensions, std::size_t level,
                          std::uint64_t first) {
  // `first` counts elements; a row's own values follow each other whether nested or not.
  std::uint64_t row = 1;
  for (auto at = level + 1; at < dimensions.size(); ++at) row *= dimensions[at];
  const bool is_open = level == 0 && variable.is_unsized;
  const auto count = dimensions[level];
  std::uint64_t index = 0;
  const auto step = bytes_of(variable.type);
  expect("{");
  while (!is("}")) {
    const auto where = place();
    if (is("{")) {
      if (level + 1 >= dimensions.size()) fail("a value");
      index = (index + row - (row ? 1 : 0)) / (row ? row : 1) * row;
    }
    if (!is_open && index >= count * row)
      fail_at(where, token_.text, "Too many initial values for '" + std::string(variable.name) + "'");
    if (is("{")) {
      initial_list(variable, dimensions, level + 1, first + index);
      index += row;
    } else {
      initial_value(variable, (first + index) * step);
      ++index;
    }
    if (!accept(",")) break;
  }
  expect("}");
  if (is_open) variable.elements = row ? (index + row - 1) / row * row / (variable.vector ? variable.vector : 1) : 0;
}

void Parser::initial_value(VariableSyntax& variable, std::uint64_t offset) {
  const auto bytes = bytes_of(variable.type);
  if (bytes == 0) fail("a type that can have initial values");
  if (offset > token_.at + kMaxGap)
    fail_at(place(), token_.text, "Initial value of '" + std::string(variable.name) + "' lies too far",
            ParseError::Kind::too_big);
  if (token_.kind == Token::Kind::name && token_.text != "WARP_SZ") return initial_address(variable, offset, bytes, 0);
  const auto where = place();
  const bool may_mask =
      token_.kind == Token::Kind::integer && ahead().kind == Token::Kind::punctuation && ahead().text == "(";
  const auto value = may_mask ? primary(0) : expression();
  if (may_mask) {
    unsigned shift = 0;
    while (shift < 64 && value.integer != std::uint64_t{0xff} << shift) shift += 8;
    if (shift == 64) fail_at(where, "", "A mask selects one byte: 0xff, 0xff00, ...");
    expect("(");
    initial_address(variable, offset, 1, shift);
    return expect(")");
  }
  if (variable.initial.size() < offset + bytes) variable.initial.resize(offset + bytes);
  const auto bits = bits_of(value, variable.type);
  std::memcpy(variable.initial.data() + offset, &bits, bytes < 8 ? bytes : 8);
}

void Parser::initial_address(VariableSyntax& variable, std::uint64_t offset, std::uint32_t bytes, std::uint32_t shift) {
  RelocationSyntax out;
  out.offset = static_cast<std::uint32_t>(offset);
  out.bytes = bytes;
  out.shift = shift;
  out.place = place();
  if (offset > 0xffffffff) fail_at(out.place, token_.text, "Initial value lies too far", ParseError::Kind::too_big);
  out.name = expect_name("a name");
  if (out.name == "generic" && accept("(")) {
    out.is_generic = true;
    out.place = place();
    out.name = expect_name("a name");
    expect(")");
  }
  while (is("+") || is("-")) {
    const bool is_minus = is("-");
    advance();
    const auto value = term().integer;
    out.addend = static_cast<std::int64_t>(static_cast<std::uint64_t>(out.addend) + (is_minus ? 0 - value : value));
  }
  variable.relocations.push_back(out);
  if (variable.initial.size() < offset + bytes) variable.initial.resize(offset + bytes);
}

void Parser::initial_state(VariableSyntax& variable) {
  // Arrays of references are given field by field in nested braces; what is kept is every field with the words as
  // written.
  expect("{");
  while (!is("}")) {
    if (accept("{") || accept(",")) continue;
    std::string field(expect_name("a field of a texture or sampler"));
    expect("=");
    std::string value(token_.text);
    if (token_.kind != Token::Kind::name && token_.kind != Token::Kind::integer) fail("a value of the field");
    advance();
    variable.state.emplace_back(std::move(field), std::move(value));
    if (!is("}")) expect(",");
  }
  expect("}");
}

}  // namespace flexrack::sim::ptx
