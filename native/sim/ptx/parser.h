// Text to Unit, by recursive descent; nesting is bounded, so that no text can exhaust the stack.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/ptx/lexer.h"
#include "sim/ptx/parse.h"
#include "sim/ptx/syntax.h"

namespace flexrack::sim::ptx {

class Parser {
 public:
  Parser(std::string name, std::string_view text);
  Unit run();

 private:
  // Tokens.
  void advance();
  const Token& ahead();
  bool is(std::string_view punctuation) const {
    return token_.kind == Token::Kind::punctuation && token_.text == punctuation;
  }
  bool is_dotted(std::string_view text) const { return token_.kind == Token::Kind::dotted && token_.text == text; }
  bool accept(std::string_view punctuation);
  bool accept_dotted(std::string_view text);
  void expect(std::string_view punctuation);
  std::string_view expect_name(std::string_view what);
  std::string expect_string(std::string_view what);
  Place place() const { return {token_.at, token_.line}; }
  [[noreturn]] void fail(std::string_view expected) const;
  [[noreturn]] void fail_at(Place where, std::string_view found, std::string said,
                            ParseError::Kind kind = ParseError::Kind::syntax) const;

  // Module scope: parser.cpp.
  void version();
  void target();
  void module_directive();
  void file();
  void section();
  void alias();
  bool skip_statement();
  void linked_declaration();

  // Functions: parser_function.cpp, parser_body.cpp.
  void function(Linkage linkage, bool is_kernel);
  std::vector<VariableSyntax> parameters();
  bool performance_directive(Directives& directives);
  void three_numbers(std::array<std::uint32_t, 3>& out);
  void body(FunctionSyntax& function);
  void statement(FunctionSyntax& function);
  void body_directive(FunctionSyntax& function);
  void label(FunctionSyntax& function);
  void location(FunctionSyntax& function);
  void name_list(FunctionSyntax& function, std::string_view label, Statement::Kind kind);
  void prototype(FunctionSyntax& function, std::string_view label);
  void instruction(FunctionSyntax& function);
  Item item(FunctionSyntax& function, bool lists_allowed, unsigned depth);
  Item bracketed(FunctionSyntax& function, Item::Form form, std::string_view close, unsigned depth);
  void name_item(FunctionSyntax& function, Item& out, unsigned depth);

  // Variables and their initial values: parser_variable.cpp, parser_initial.cpp.
  bool is_space() const;
  void variables(Linkage linkage, std::vector<VariableSyntax>& out);
  VariableSyntax variable_head(Linkage linkage, bool is_parameter);
  bool variable_attribute(VariableSyntax& variable);
  void attribute(VariableSyntax& variable);
  void variable_tail(VariableSyntax& variable, bool is_parameter);
  void initial(VariableSyntax& variable, const std::vector<std::uint64_t>& dimensions);
  void initial_list(VariableSyntax& variable, const std::vector<std::uint64_t>& dimensions, std::size_t level,
                    std::uint64_t first);
  void initial_value(VariableSyntax& variable, std::uint64_t offset);
  void initial_address(VariableSyntax& variable, std::uint64_t offset, std::uint32_t bytes, std::uint32_t shift);
  void initial_state(VariableSyntax& variable);

  // Constant expressions: parser_expression.cpp.
  Constant expression(unsigned depth = 0);
  /// Without operators that bind less than + and -; and those that bind less than *.
  Constant sum();
  Constant term();
  Constant binary(unsigned level, unsigned depth);
  Constant unary(unsigned depth);
  Constant primary(unsigned depth);
  Constant apply(std::string_view op, const Constant& a, const Constant& b, Place where) const;
  std::uint64_t natural(std::string_view what, std::uint64_t limit);

  Lexer lexer_;
  Token token_, ahead_;
  bool has_ahead_ = false;
  Unit unit_;
};

}  // namespace flexrack::sim::ptx
