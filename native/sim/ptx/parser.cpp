// Tokens and module scope. Facts: PTX ISA 9.0, chapters 4, 5 and 11.
#include "sim/ptx/parser.h"

#include <atomic>
#include <utility>

namespace flexrack::sim::ptx {

namespace {

constexpr std::size_t kMaxText = std::size_t{1} << 30;
constexpr std::size_t kMaxShown = 60;

std::string shown(std::string_view text) { return std::string(text.substr(0, kMaxShown)); }

std::string_view without_end(std::string_view text) {
  // What is passed around as a C string counts its NUL now and then; nothing after it is text.
  const auto nul = text.find('\0');
  return nul == std::string_view::npos ? text : text.substr(0, nul);
}

/// Major and minor number in one: 100 * major + minor.
std::atomic<unsigned> newest{900};

}  // namespace

void set_newest_version(unsigned major, unsigned minor) { newest = major * 100 + minor; }

Unit parse_unit(std::string name, std::string_view text) { return Parser(std::move(name), text).run(); }

Parser::Parser(std::string name, std::string_view text) : lexer_(without_end(text)) {
  unit_.name = std::move(name);
  unit_.text = lexer_.whole();
}

void Parser::fail_at(Place where, std::string_view found, std::string said, ParseError::Kind kind) const {
  throw ParseError(kind, unit_.name, where.line, column_of(unit_.text, where.at), shown(found), std::move(said));
}

void Parser::fail(std::string_view expected) const {
  auto found = token_.text;
  if (token_.kind == Token::Kind::dotted) found = unit_.text.substr(token_.at, token_.text.size() + 1);
  const std::string near = token_.kind == Token::Kind::end ? "end of text" : "'" + shown(found) + "'";
  fail_at(place(), found, "Parsing error near " + near + ": syntax error, expected " + std::string(expected));
}

void Parser::advance() {
  token_ = has_ahead_ ? ahead_ : lexer_.next();
  has_ahead_ = false;
}

const Token& Parser::ahead() {
  if (!has_ahead_) ahead_ = lexer_.next();
  has_ahead_ = true;
  return ahead_;
}

bool Parser::accept(std::string_view punctuation) {
  if (!is(punctuation)) return false;
  advance();
  return true;
}

bool Parser::accept_dotted(std::string_view text) {
  if (!is_dotted(text)) return false;
  advance();
  return true;
}

void Parser::expect(std::string_view punctuation) {
  if (!accept(punctuation)) fail("'" + std::string(punctuation) + "'");
}

std::string_view Parser::expect_name(std::string_view what) {
  if (token_.kind != Token::Kind::name) fail(what);
  const auto text = token_.text;
  advance();
  return text;
}

std::string Parser::expect_string(std::string_view what) {
  if (token_.kind != Token::Kind::string) fail(what);
  std::string text(token_.text);
  advance();
  return text;
}

Unit Parser::run() {
  if (unit_.text.size() > kMaxText)
    throw ParseError(ParseError::Kind::too_big, unit_.name, 0, 0, "", "the text is longer than 1 GiB");
  advance();
  if (!is_dotted("version")) fail("the directive .version");
  version();
  while (token_.kind != Token::Kind::end) module_directive();
  return std::move(unit_);
}

void Parser::version() {
  advance();
  const auto where = place();
  const auto text = token_.text;
  if (token_.kind != Token::Kind::real) fail("a version, major.minor");
  const auto dot = text.find('.');
  const auto number = [&](std::string_view digits) {
    unsigned value = 0;
    for (const char c : digits)
      value = c < '0' || c > '9' || value > 1000 ? 10000 : value * 10 + static_cast<unsigned>(c - '0');
    return digits.empty() ? 10000 : value;
  };
  if (dot == std::string_view::npos) fail("a version, major.minor");
  unit_.version_major = number(text.substr(0, dot));
  unit_.version_minor = number(text.substr(dot + 1));
  const auto most = newest.load();
  const bool is_known = unit_.version_major >= 1 && unit_.version_major < 100 && unit_.version_minor < 100 &&
                        unit_.version_major * 100 + unit_.version_minor <= most;
  if (!is_known) {
    const auto current = std::to_string(most / 100) + "." + std::to_string(most % 100);
    fail_at(where, text, "Unsupported .version " + shown(text) + "; current version is '" + current + "'",
            ParseError::Kind::unsupported_version);
  }
  advance();
  if (!is_dotted("target")) fail("the directive .target");
  target();
}

void Parser::target() {
  advance();
  do {
    const auto name = expect_name("a target, as sm_75");
    if (name == "debug") unit_.is_debug = true;
    if (name.starts_with("sm_") || name.starts_with("compute_")) unit_.target = name;
  } while (accept(","));
  if (unit_.target.empty()) fail_at(place(), token_.text, ".target names no architecture");
}

void Parser::file() {
  advance();
  const auto number = static_cast<std::uint32_t>(natural("a file's number", 0xffffffff));
  unit_.files.emplace_back(number, expect_string("a file's name"));
  while (accept(",")) natural("a number", ~std::uint64_t{0});
}

void Parser::section() {
  advance();
  if (token_.kind != Token::Kind::dotted && token_.kind != Token::Kind::name && token_.kind != Token::Kind::string)
    fail("a section's name");
  while (token_.kind != Token::Kind::end && !is("{") && !is(";")) advance();
  if (accept(";")) return;
  if (!is("{")) fail("'{'");
  unsigned depth = 0;
  do {
    if (is("{")) ++depth;
    if (is("}")) --depth;
    if (token_.kind == Token::Kind::end) fail("'}'");
    advance();
  } while (depth);
}

void Parser::alias() {
  AliasSyntax out;
  advance();
  out.place = place();
  out.name = expect_name("a function's name");
  expect(",");
  out.target = expect_name("a function's name");
  expect(";");
  unit_.aliases.push_back(out);
}

bool Parser::skip_statement() {
  while (token_.kind != Token::Kind::end && !is(";")) advance();
  return accept(";");
}

void Parser::module_directive() {
  if (accept(";")) return;
  if (token_.kind != Token::Kind::dotted) fail("a directive");
  if (is_dotted("file")) return file();
  if (is_dotted("section")) return section();
  if (is_dotted("alias")) return alias();
  if (is_dotted("target")) return target();
  if (accept_dotted("address_size")) {
    const auto where = place();
    unit_.address_bits = static_cast<unsigned>(natural("64", 64));
    if (unit_.address_bits != 64) fail_at(where, "", "Only an .address_size of 64 is supported");
    return;
  }
  if (accept_dotted("pragma")) {
    do expect_string("a pragma's string");
    while (accept(","));
    return expect(";");
  }
  linked_declaration();
}

void Parser::linked_declaration() {
  auto linkage = Linkage::internal;
  if (accept_dotted("visible")) linkage = Linkage::visible;
  else if (accept_dotted("extern")) linkage = Linkage::external;
  else if (accept_dotted("weak")) linkage = Linkage::weak;
  else if (accept_dotted("common")) linkage = Linkage::common;
  if (accept_dotted("entry")) return function(linkage, true);
  if (accept_dotted("func")) return function(linkage, false);
  if (!is_space()) fail("a directive");
  variables(linkage, unit_.variables);
}

}  // namespace flexrack::sim::ptx
