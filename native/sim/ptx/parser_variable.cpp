// Declarations of variables, registers and parameters. Facts: PTX ISA 9.0, 5.1 to 5.4.
#include "sim/ptx/parser.h"
#include "sim/ptx/words.h"

namespace flexrack::sim::ptx {

namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 48;
constexpr std::size_t kMaxDimensions = 16;

}  // namespace

bool Parser::is_space() const {
  return token_.kind == Token::Kind::dotted && (token_.text == "tex" || word_of(token_.text).kind == Word::Kind::space);
}

void Parser::attribute(VariableSyntax& variable) {
  expect("(");
  do {
    if (token_.kind == Token::Kind::dotted) {
      variable.is_managed |= token_.text == "managed";
      advance();
    } else {
      fail("an attribute");
    }
    if (accept("(")) {
      do natural("a number", ~std::uint64_t{0});
      while (accept(","));
      expect(")");
    }
  } while (accept(","));
  expect(")");
}

bool Parser::variable_attribute(VariableSyntax& variable) {
  if (accept_dotted("align")) {
    const auto where = place();
    const auto value = natural("an alignment", 1u << 20);
    if (value == 0 || (value & (value - 1))) fail_at(where, "", "Alignment must be a power of two");
    (variable.pointer_space ? variable.pointer_align : variable.align) = static_cast<std::uint32_t>(value);
    return true;
  }
  if (accept_dotted("attribute")) {
    attribute(variable);
    return true;
  }
  if (accept_dotted("ptr")) {
    variable.pointer_space = Space::generic;
    return true;
  }
  const auto word = word_of(token_.text);
  if (variable.pointer_space && word.kind == Word::Kind::space) variable.pointer_space = static_cast<Space>(word.value);
  else if (word.kind == Word::Kind::type) variable.type = static_cast<Type>(word.value);
  else if (word.kind == Word::Kind::vector) variable.vector = static_cast<std::uint8_t>(word.value);
  else return false;
  advance();
  return true;
}

VariableSyntax Parser::variable_head(Linkage linkage, bool is_parameter) {
  VariableSyntax variable;
  variable.linkage = linkage;
  if (accept_dotted("tex")) {
    variable.space = Space::global;
    variable.type = Type::texref;
    if (token_.kind == Token::Kind::dotted) advance();
    return variable;
  }
  if (!is_space()) fail("a state space");
  variable.space = static_cast<Space>(word_of(token_.text).value);
  const bool is_allowed = !is_parameter || variable.space == Space::param || variable.space == Space::reg;
  if (!is_allowed) fail("the state space .param or .reg");
  advance();
  if (variable.space == Space::constant && accept("[")) {
    natural("a bank of constants", 10);
    expect("]");
  }
  while (token_.kind == Token::Kind::dotted) {
    if (!variable_attribute(variable)) fail("a type");
  }
  if (variable.type == Type::none) fail("a type");
  if (variable.type == Type::pred && variable.space != Space::reg) fail("a type that memory can hold");
  return variable;
}

void Parser::variable_tail(VariableSyntax& variable, bool is_parameter) {
  variable.place = place();
  variable.name = expect_name("a name");
  if (accept("<")) {
    // The > that closes is no comparison.
    const auto count = sum();
    if (count.is_real || count.integer > 0xfffffffe)
      fail_at(variable.place, variable.name, "Value out of range, expected how many registers");
    variable.family = count.integer ? static_cast<std::uint32_t>(count.integer) : kNone;
    expect(">");
    if (variable.space != Space::reg) fail("registers: only they come in families");
    return;
  }
  std::vector<std::uint64_t> dimensions;
  while (accept("[")) {
    std::uint64_t size = 0;
    if (is("]")) variable.is_unsized |= dimensions.empty();
    else size = natural("an array's size", kMaxBytes);
    if (dimensions.size() == kMaxDimensions) fail("an array of fewer dimensions");
    dimensions.push_back(size);
    expect("]");
  }
  variable.is_array = !dimensions.empty();
  for (const auto size : dimensions) {
    if (__builtin_mul_overflow(variable.elements, size, &variable.elements) || variable.elements > kMaxBytes) {
      fail_at(variable.place, variable.name, "Variable '" + std::string(variable.name) + "' is too big",
              ParseError::Kind::too_big);
    }
  }
  if (variable.is_array && variable.space == Space::reg)
    fail_at(variable.place, variable.name, "Registers have no arrays");
  if (!is_parameter && is("=")) initial(variable, dimensions);
}

void Parser::variables(Linkage linkage, std::vector<VariableSyntax>& out) {
  const auto head = variable_head(linkage, false);
  do {
    out.push_back(head);
    variable_tail(out.back(), false);
  } while (accept(","));
  expect(";");
}

std::vector<VariableSyntax> Parser::parameters() {
  std::vector<VariableSyntax> out;
  expect("(");
  if (accept(")")) return out;
  do {
    out.push_back(variable_head(Linkage::internal, true));
    variable_tail(out.back(), true);
  } while (accept(","));
  expect(")");
  return out;
}

}  // namespace flexrack::sim::ptx
