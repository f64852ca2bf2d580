// One instruction with its guard and operands, of any form: what they mean is decided later, so that an unknown
// instruction is no syntax error.
#include <utility>

#include "sim/ptx/parser.h"

namespace flexrack::sim::ptx {

namespace {

constexpr unsigned kMaxNesting = 8;

}  // namespace

void Parser::instruction(FunctionSyntax& function) {
  InstructionSyntax out;
  out.place = place();
  if (accept("@")) {
    out.is_guard_negated = accept("!");
    out.guard = expect_name("a predicate");
  }
  out.name = expect_name("an instruction");
  out.first_word = static_cast<std::uint32_t>(function.words.size());
  while (token_.kind == Token::Kind::dotted) {
    function.words.push_back(token_.text);
    advance();
  }
  out.word_count = static_cast<std::uint32_t>(function.words.size()) - out.first_word;
  std::vector<Item> items;
  if (!is(";")) {
    const bool is_call = out.name == "call";
    do items.push_back(item(function, is_call, 0));
    while (accept(","));
  }
  out.end = token_.at;
  expect(";");
  out.first_item = static_cast<std::uint32_t>(function.items.size());
  out.item_count = static_cast<std::uint32_t>(items.size());
  function.items.insert(function.items.end(), items.begin(), items.end());
  function.statements.push_back(
      {Statement::Kind::instruction, static_cast<std::uint32_t>(function.instructions.size())});
  function.instructions.push_back(out);
}

Item Parser::bracketed(FunctionSyntax& function, Item::Form form, std::string_view close, unsigned depth) {
  Item out;
  out.form = form;
  out.place = place();
  advance();
  if (depth > kMaxNesting) fail("operands that are nested less");
  std::vector<Item> children;
  if (!is(close)) {
    do children.push_back(item(function, false, depth + 1));
    while (accept(","));
  }
  expect(close);
  out.first = static_cast<std::uint32_t>(function.items.size());
  out.count = static_cast<std::uint32_t>(children.size());
  function.items.insert(function.items.end(), children.begin(), children.end());
  return out;
}

Item Parser::item(FunctionSyntax& function, bool lists_allowed, unsigned depth) {
  Item out;
  if (is("[")) {
    out = bracketed(function, Item::Form::address, "]", depth);
    accept_dotted("unified");
    return out;
  }
  if (is("{")) {
    out = bracketed(function, Item::Form::vector, "}", depth);
    if (accept("|")) out.partner = expect_name("a predicate");
    return out;
  }
  if (lists_allowed && is("(")) return bracketed(function, Item::Form::list, ")", depth);
  out.place = place();
  if (is("!") && ahead().kind == Token::Kind::name) {
    advance();
    out.is_negated = true;
  }
  if (token_.kind == Token::Kind::name && token_.text != "WARP_SZ") {
    name_item(function, out, depth);
  } else {
    out.form = Item::Form::number;
    out.number = expression();
  }
  return out;
}

void Parser::name_item(FunctionSyntax& function, Item& out, unsigned depth) {
  out.name = token_.text;
  out.form = out.name == "_" ? Item::Form::sink : Item::Form::name;
  advance();
  if (token_.kind == Token::Kind::dotted && token_.is_glued) {
    out.component = token_.text;
    advance();
  }
  if (accept("|")) {
    out.partner = expect_name("a predicate");
    return;
  }
  if (is("[")) {
    const auto inner = bracketed(function, Item::Form::address, "]", depth);
    out.subscript = static_cast<std::uint32_t>(function.items.size());
    function.items.push_back(inner);
  }
  while (is("+") || is("-")) {
    const bool is_minus = is("-");
    advance();
    const auto where = place();
    const auto value = term();
    if (value.is_real) fail_at(where, "", "An address needs an integer");
    out.number.integer += is_minus ? 0 - value.integer : value.integer;
  }
}

}  // namespace flexrack::sim::ptx
