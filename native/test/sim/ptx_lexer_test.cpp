#include "sim/ptx/lexer.h"

#include <doctest/doctest.h>

#include <bit>
#include <limits>
#include <string>
#include <vector>

using namespace flexrack::sim::ptx;
using TokenKind = Token::Kind;

namespace {

std::vector<Token> all(std::string_view text) {
  Lexer lexer(text);
  std::vector<Token> out;
  while (true) {
    out.push_back(lexer.next());
    if (out.back().kind == TokenKind::end) return out;
  }
}

Token one(std::string_view text) {
  const auto tokens = all(text);
  REQUIRE(tokens.size() == 2);
  return tokens[0];
}

}  // namespace

TEST_CASE("words with dots are one token each, double colons included") {
  const auto tokens = all("ld.global.L2::128B.v4.f32 %r1.x, [$a+_b];");
  const std::vector<std::string> texts = {"ld", "global", "L2::128B", "v4", "f32", "%r1", "x", ",",
                                          "[",  "$a",     "+",        "_b", "]",   ";",   ""};
  REQUIRE(tokens.size() == texts.size());
  for (std::size_t at = 0; at < texts.size(); ++at) CHECK(tokens[at].text == texts[at]);
  CHECK(tokens[1].kind == TokenKind::dotted);
  CHECK(tokens[2].kind == TokenKind::dotted);
  CHECK(tokens[5].kind == TokenKind::name);
}

TEST_CASE("words that begin with digits follow a word; elsewhere a dot and digits are a number") {
  const auto tokens = all("tex.2d.v4 .5");
  CHECK(tokens[1].text == "2d");
  CHECK(tokens[3].kind == TokenKind::real);
  CHECK(std::bit_cast<double>(tokens[3].value) == 0.5);
}

TEST_CASE("integers in all bases") {
  CHECK(one("4711").value == 4711);
  CHECK(one("0x1fU").value == 31);
  CHECK(one("0x1fU").is_unsigned);
  CHECK_FALSE(one("31").is_unsigned);
  CHECK(one("017").value == 15);
  CHECK(one("0b101").value == 5);
  CHECK(one("0").value == 0);
  CHECK(one("0xffffffffffffffff").value == ~std::uint64_t{0});
  CHECK(one("18446744073709551615").is_unsigned);
  CHECK(one("18446744073709551616").kind == TokenKind::bad);
  CHECK(one("12ab").kind == TokenKind::bad);
}

TEST_CASE("floating constants, exact ones too") {
  CHECK(std::bit_cast<double>(one("1.5").value) == 1.5);
  CHECK(std::bit_cast<double>(one("2e3").value) == 2000);
  CHECK(std::bit_cast<double>(one("1.0e-2").value) == 0.01);
  CHECK(one("0f3F800000").value == 0x3f800000);
  CHECK(one("0f3F800000").is_single);
  CHECK(one("0d3FF0000000000000").value == 0x3ff0000000000000);
  CHECK(one("0d3FF").kind == TokenKind::bad);
  CHECK(std::bit_cast<double>(one("1e999").value) == std::numeric_limits<double>::infinity());
  CHECK(std::bit_cast<double>(one("1e-999").value) == 0);
}

TEST_CASE("comments, preprocessor lines and old debug data are blanks, and lines are counted through them") {
  const auto tokens = all("// one\n/* two\n three */ a /* x */ b\n# 1 \"file\"\n@@DWARF .byte 1\nc");
  REQUIRE(tokens.size() == 4);
  CHECK(tokens[0].line == 3);
  CHECK(tokens[1].line == 3);
  CHECK(tokens[2].text == "c");
  CHECK(tokens[2].line == 6);
}

TEST_CASE("what has no end ends with the text") {
  CHECK(all("/* never").size() == 1);
  CHECK(one("\"never").kind == TokenKind::bad);
  CHECK(one("\"a\\\"b\"").text == "a\\\"b");
  CHECK(all("\"\\").front().kind == TokenKind::bad);
  CHECK(one("`").kind == TokenKind::bad);
  CHECK(one("$").kind == TokenKind::bad);
  CHECK(one("%").kind == TokenKind::punctuation);
}

TEST_CASE("columns count from one") {
  CHECK(column_of("abc\ndef", 5) == 2);
  CHECK(column_of("abc", 0) == 1);
}
