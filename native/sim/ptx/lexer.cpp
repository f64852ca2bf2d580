#include "sim/ptx/lexer.h"

#include <bit>
#include <charconv>
#include <limits>

namespace flexrack::sim::ptx {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_follow(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
bool is_name_start(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }

int digit_of(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

}  // namespace

unsigned column_of(std::string_view text, std::uint32_t at) {
  const auto before = text.substr(0, at).rfind('\n');
  return before == std::string_view::npos ? at + 1 : static_cast<unsigned>(at - before);
}

bool Lexer::at_line_start() const {
  for (auto at = position_; at > 0; --at) {
    const char c = text_[at - 1];
    if (c == '\n') return true;
    if (c != ' ' && c != '\t' && c != '\r') return false;
  }
  return true;
}

void Lexer::skip_comment() {
  const bool is_line = peek(1) == '/';
  position_ += 2;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      if (is_line) return;
      ++line_;
    }
    ++position_;
    if (!is_line && c == '*' && peek() == '/') {
      ++position_;
      return;
    }
  }
}

void Lexer::skip_blank() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') ++line_;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f') {
      ++position_;
    } else if (c == '/' && (peek(1) == '/' || peek(1) == '*')) {
      skip_comment();
    } else if ((c == '#' || (c == '@' && peek(1) == '@')) && at_line_start()) {
      // Lines of a preprocessor, and of the old `@@DWARF` data, mean nothing here.
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  const auto before = position_;
  skip_blank();
  Token token;
  token.at = position_;
  token.line = line_;
  token.is_glued = position_ == before && position_ > 0;
  if (position_ >= text_.size()) return token;
  const char c = text_[position_];
  if (is_name_start(c)) return name_or_dotted(token);
  if (c == '.') {
    const bool follows_word = token.is_glued && (is_follow(text_[position_ - 1]) || text_[position_ - 1] == ']');
    if (is_digit(peek(1)) && !follows_word) return number(token);
    if (is_follow(peek(1))) return name_or_dotted(token);
    return punctuation(token);
  }
  if (is_digit(c)) return number(token);
  if (c == '"') return string(token);
  return punctuation(token);
}

Token Lexer::name_or_dotted(Token token) {
  const bool is_dotted = text_[position_] == '.';
  const auto first = position_ + (is_dotted ? 1 : 0);
  ++position_;
  while (position_ < text_.size()) {
    if (is_follow(text_[position_])) {
      ++position_;
    } else if (is_dotted && text_[position_] == ':' && peek(1) == ':' && is_follow(peek(2))) {
      position_ += 2;
    } else {
      break;
    }
  }
  token.kind = is_dotted ? Token::Kind::dotted : Token::Kind::name;
  token.text = text_.substr(first, position_ - first);
  if (token.text == "%") token.kind = Token::Kind::punctuation;   // of a division
  if (token.text == "$") token.kind = Token::Kind::bad;
  return token;
}

Token Lexer::number(Token token) {
  if (peek() == '0') {
    const char second = peek(1);
    if (second == 'f' || second == 'F') return hexadecimal_real(token, 8);
    if (second == 'd' || second == 'D') return hexadecimal_real(token, 16);
    if ((second == 'x' || second == 'X') && digit_of(peek(2)) < 16) return integer_in(token, 16, position_ + 2);
    if ((second == 'b' || second == 'B') && digit_of(peek(2)) < 2) return integer_in(token, 2, position_ + 2);
  }
  auto end = position_;
  bool is_real = false;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  if (end < text_.size() && text_[end] == '.') {
    is_real = true;
    ++end;
    while (end < text_.size() && is_digit(text_[end])) ++end;
  }
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    auto digits = end + 1;
    if (digits < text_.size() && (text_[digits] == '+' || text_[digits] == '-')) ++digits;
    if (digits < text_.size() && is_digit(text_[digits])) {
      is_real = true;
      end = digits;
      while (end < text_.size() && is_digit(text_[end])) ++end;
    }
  }
  if (is_real) return decimal_real(token, end);
  return integer_in(token, peek() == '0' ? 8 : 10, position_);
}

Token Lexer::hexadecimal_real(Token token, unsigned digits) {
  token.text = text_.substr(position_, 2 + digits);
  token.kind = token.text.size() == 2 + digits ? Token::Kind::real : Token::Kind::bad;
  for (const char c : token.text.substr(2)) {
    if (digit_of(c) >= 16) token.kind = Token::Kind::bad;
    token.value = token.value << 4 | static_cast<unsigned>(digit_of(c) & 15);
  }
  token.is_single = digits == 8;
  position_ += static_cast<std::uint32_t>(token.text.size());
  return token;
}

Token Lexer::integer_in(Token token, unsigned base, std::uint32_t first) {
  token.kind = Token::Kind::integer;
  const auto start = position_;
  position_ = first;
  while (position_ < text_.size() && digit_of(text_[position_]) < static_cast<int>(base)) {
    const auto digit = static_cast<unsigned>(digit_of(text_[position_++]));
    if (__builtin_mul_overflow(token.value, std::uint64_t{base}, &token.value) ||
        __builtin_add_overflow(token.value, std::uint64_t{digit}, &token.value)) {
      token.kind = Token::Kind::bad;
    }
  }
  if (token.value >> 63) token.is_unsigned = true;
  if (peek() == 'U') {
    token.is_unsigned = true;
    ++position_;
  }
  // `12ab` is no number; what is left is shown with it.
  if (is_follow(peek())) token.kind = Token::Kind::bad;
  while (is_follow(peek())) ++position_;
  token.text = text_.substr(start, position_ - start);
  return token;
}

Token Lexer::decimal_real(Token token, std::uint32_t end) {
  token.text = text_.substr(position_, end - position_);
  position_ = end;
  double value = 0;
  const auto* last = token.text.data() + token.text.size();
  const auto result = std::from_chars(token.text.data(), last, value);
  token.kind = result.ptr == last ? Token::Kind::real : Token::Kind::bad;
  if (result.ec == std::errc::result_out_of_range) {
    // Too small or too great: from_chars leaves the value alone.
    const auto exponent = token.text.find_first_of("eE");
    const bool is_small = exponent == std::string_view::npos ? token.text[0] == '0' || token.text[0] == '.'
                                                             : token.text[exponent + 1] == '-';
    value = is_small ? 0 : std::numeric_limits<double>::infinity();
  }
  token.value = std::bit_cast<std::uint64_t>(value);
  return token;
}

Token Lexer::string(Token token) {
  const auto first = ++position_;
  while (position_ < text_.size() && text_[position_] != '"' && text_[position_] != '\n')
    position_ += text_[position_] == '\\' && peek(1) != '\n' ? 2 : 1;
  if (position_ > text_.size()) position_ = static_cast<std::uint32_t>(text_.size());
  token.text = text_.substr(first, position_ - first);
  token.kind = peek() == '"' ? Token::Kind::string : Token::Kind::bad;
  if (peek() == '"') ++position_;
  return token;
}

Token Lexer::punctuation(Token token) {
  static constexpr std::string_view kPairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  token.kind = Token::Kind::punctuation;
  token.text = text_.substr(position_, 2);
  for (const auto pair : kPairs) {
    if (token.text != pair) continue;
    position_ += 2;
    return token;
  }
  token.text = text_.substr(position_, 1);
  if (std::string_view("()[]{}<>,;:=+-*/%!~&|^?@").find(token.text[0]) == std::string_view::npos)
    token.kind = Token::Kind::bad;
  ++position_;
  return token;
}

}  // namespace flexrack::sim::ptx
