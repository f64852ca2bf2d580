// Constant expressions. Facts: PTX ISA 9.0, 4.6: integers are 64 bits wide, unsigned where an operand is; operators as
// in C.
#include <bit>

#include "sim/ptx/float_bits.h"
#include "sim/ptx/parser.h"

namespace flexrack::sim::ptx {

namespace {

constexpr unsigned kMaxDepth = 100;
/// Loosest first.
constexpr std::string_view kLevels[][4] = {
    {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<=", "<", ">=", ">"},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
constexpr unsigned kSumLevel = 8;
constexpr unsigned kLevelCount = sizeof(kLevels) / sizeof(kLevels[0]);

Constant truth(bool value) {
  Constant out;
  out.integer = value;
  return out;
}

bool is_true(const Constant& value) { return value.is_real ? value.real != 0 : value.integer != 0; }

template <class T>
std::optional<bool> compared(std::string_view op, T a, T b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  return std::nullopt;
}

std::optional<double> computed(std::string_view op, double a, double b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return b == 0 ? std::optional<double>() : a / b;
  return std::nullopt;
}

std::uint64_t divided(std::uint64_t a, std::uint64_t b, bool is_unsigned, bool is_remainder) {
  if (is_unsigned) return is_remainder ? a % b : a / b;
  const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
  if (y == -1) return is_remainder ? 0 : 0 - a;
  return static_cast<std::uint64_t>(is_remainder ? x % y : x / y);
}

std::optional<std::uint64_t> computed(std::string_view op, std::uint64_t a, std::uint64_t b, bool is_unsigned) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if ((op == "/" || op == "%") && b) return divided(a, b, is_unsigned, op == "%");
  if (op == "&") return a & b;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  return std::nullopt;
}

std::uint64_t shifted(bool is_left, const Constant& a, std::uint64_t by) {
  if (is_left) return by > 63 ? 0 : a.integer << by;
  if (a.is_unsigned) return by > 63 ? 0 : a.integer >> by;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(a.integer) >> (by > 63 ? 63 : by));
}

}  // namespace

std::uint64_t Parser::natural(std::string_view what, std::uint64_t limit) {
  const auto where = place();
  const auto text = token_.text;
  if (token_.kind != Token::Kind::integer && token_.kind != Token::Kind::name && !is("(")) fail(what);
  const auto value = expression();
  if (value.is_real || (!value.is_unsigned && value.integer >> 63) || value.integer > limit)
    fail_at(where, text, "Value out of range, expected " + std::string(what));
  return value.integer;
}

Constant Parser::expression(unsigned depth) {
  if (depth > kMaxDepth) fail("an expression that is nested less");
  const auto condition = binary(0, depth + 1);
  if (!accept("?")) return condition;
  const auto yes = expression(depth + 1);
  expect(":");
  const auto no = expression(depth + 1);
  return is_true(condition) ? yes : no;
}

Constant Parser::sum() { return binary(kSumLevel, 0); }

Constant Parser::term() { return binary(kSumLevel + 1, 0); }

Constant Parser::binary(unsigned level, unsigned depth) {
  if (level == kLevelCount) return unary(depth);
  auto left = binary(level + 1, depth);
  while (token_.kind == Token::Kind::punctuation) {
    std::string_view op;
    for (const auto candidate : kLevels[level]) {
      if (!candidate.empty() && token_.text == candidate) op = candidate;
    }
    if (op.empty()) break;
    const auto where = place();
    advance();
    left = apply(op, left, binary(level + 1, depth), where);
  }
  return left;
}

Constant Parser::apply(std::string_view op, const Constant& a, const Constant& b, Place where) const {
  if (op == "||") return truth(is_true(a) || is_true(b));
  if (op == "&&") return truth(is_true(a) && is_true(b));
  Constant out;
  if (a.is_real || b.is_real) {
    if (const auto verdict = compared(op, as_real(a), as_real(b))) return truth(*verdict);
    const auto value = computed(op, as_real(a), as_real(b));
    if (!value)
      fail_at(where, op, "Constant expression: '" + std::string(op) + "' cannot be computed with floating point");
    out.is_real = true;
    out.real = *value;
    return out;
  }
  out.is_unsigned = a.is_unsigned || b.is_unsigned;
  const auto verdict = out.is_unsigned
                           ? compared(op, a.integer, b.integer)
                           : compared(op, static_cast<std::int64_t>(a.integer), static_cast<std::int64_t>(b.integer));
  if (verdict) return truth(*verdict);
  if (op == "<<" || op == ">>") {
    out.is_unsigned = a.is_unsigned;
    out.integer = shifted(op == "<<", a, b.integer);
    return out;
  }
  const auto value = computed(op, a.integer, b.integer, out.is_unsigned);
  if (!value) fail_at(where, op, "Constant expression: division by zero");
  out.integer = *value;
  return out;
}

Constant Parser::unary(unsigned depth) {
  if (depth > kMaxDepth) fail("an expression that is nested less");
  if (accept("+")) return unary(depth + 1);
  if (accept("-")) {
    auto value = unary(depth + 1);
    value.integer = 0 - value.integer;
    value.single ^= 0x80000000u;
    value.real = -value.real;
    return value;
  }
  if (accept("!")) return truth(!is_true(unary(depth + 1)));
  const auto where = place();
  if (accept("~")) {
    auto value = unary(depth + 1);
    if (value.is_real) fail_at(where, "~", "Constant expression: '~' of floating point");
    value.integer = ~value.integer;
    return value;
  }
  return primary(depth);
}

Constant Parser::primary(unsigned depth) {
  Constant out;
  if (token_.kind == Token::Kind::integer) {
    out.integer = token_.value;
    out.is_unsigned = token_.is_unsigned;
    advance();
    return out;
  }
  if (token_.kind == Token::Kind::real) {
    out.is_real = true;
    out.is_single = token_.is_single;
    out.single = static_cast<std::uint32_t>(token_.value);
    out.real =
        token_.is_single ? static_cast<double>(std::bit_cast<float>(out.single)) : std::bit_cast<double>(token_.value);
    advance();
    return out;
  }
  if (token_.kind == Token::Kind::name && token_.text == "WARP_SZ") {
    out.integer = kLanes;
    advance();
    return out;
  }
  if (!accept("(")) fail("a number");
  if (is_dotted("s64") || is_dotted("u64")) {
    const bool is_unsigned = is_dotted("u64");
    advance();
    expect(")");
    out = unary(depth + 1);
    if (out.is_real) fail("an integer");
    out.is_unsigned = is_unsigned;
    return out;
  }
  out = expression(depth + 1);
  expect(")");
  return out;
}

}  // namespace flexrack::sim::ptx
