// PTX text as tokens. Words with a leading dot are one token, `::` included: `.shared::cta`, `.2d`, `.f32`. Facts: PTX
// ISA 9.0, 4.1 to 4.5.
#pragma once

#include <cstdint>
#include <string_view>

namespace flexrack::sim::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    name,         ///< identifiers; `_` too
    dotted,       ///< text without the dot
    integer,      ///< value
    real,         ///< value: bits of a double; is_single: bits of a float (0f...)
    string,       ///< text without the quotes, escapes as written
    punctuation,  ///< text: one or two characters
    bad,          ///< what can be no token
  };
  Kind kind = Kind::end;
  bool is_unsigned = false;  ///< integers with U, or beyond the signed range
  bool is_single = false;
  bool is_glued = false;     ///< no blank before it
  std::uint32_t at = 0;      ///< offset in the text
  std::uint32_t line = 1;
  std::uint64_t value = 0;
  std::string_view text;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();
  std::string_view whole() const { return text_; }

 private:
  void skip_blank();
  void skip_comment();
  bool at_line_start() const;
  Token name_or_dotted(Token token);
  Token number(Token token);
  Token hexadecimal_real(Token token, unsigned digits);
  Token integer_in(Token token, unsigned base, std::uint32_t first);
  Token decimal_real(Token token, std::uint32_t end);
  Token string(Token token);
  Token punctuation(Token token);
  char peek(std::uint32_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }

  std::string_view text_;
  std::uint32_t position_ = 0;
  std::uint32_t line_ = 1;
};

/// Column of an offset, from 1.
unsigned column_of(std::string_view text, std::uint32_t at);

}  // namespace flexrack::sim::ptx
