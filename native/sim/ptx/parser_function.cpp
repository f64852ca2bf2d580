// Kernels and functions: head, directives, and the statements of a body. Facts: PTX ISA 9.0, 11.1, 11.4 and 7.
#include <utility>

#include "sim/ptx/parser.h"

namespace flexrack::sim::ptx {

void Parser::three_numbers(std::array<std::uint32_t, 3>& out) {
  out = {1, 1, 1};
  for (std::size_t at = 0; at < 3; ++at) {
    if (at > 0 && !accept(",")) return;
    out[at] = static_cast<std::uint32_t>(natural("a number", 0x7fffffff));
  }
}

bool Parser::performance_directive(Directives& out) {
  const auto one = [&](std::uint32_t& value) { value = static_cast<std::uint32_t>(natural("a number", 0x7fffffff)); };
  std::uint32_t ignored = 0;
  if (accept_dotted("maxntid")) three_numbers(out.max_threads);
  else if (accept_dotted("reqntid")) three_numbers(out.required_threads);
  else if (accept_dotted("reqnctapercluster")) three_numbers(out.required_cluster);
  else if (accept_dotted("maxnreg")) one(out.max_registers);
  else if (accept_dotted("minnctapersm")) one(out.min_blocks);
  else if (accept_dotted("maxnctapersm")) one(ignored);
  else if (accept_dotted("maxclusterrank")) one(out.max_cluster_rank);
  else if (accept_dotted("abi_preserve") || accept_dotted("abi_preserve_control")) one(ignored);
  else if (accept_dotted("explicitcluster")) out.has_explicit_cluster = true;
  else if (accept_dotted("blocksareclusters")) out.blocks_are_clusters = true;
  else if (accept_dotted("noreturn")) out.is_noreturn = true;
  else return false;
  return true;
}

void Parser::function(Linkage linkage, bool is_kernel) {
  FunctionSyntax out;
  out.linkage = linkage;
  out.is_kernel = is_kernel;
  if (accept_dotted("attribute")) {
    VariableSyntax ignored;
    attribute(ignored);
  }
  if (!is_kernel && is("(")) out.results = parameters();
  out.place = place();
  out.name = expect_name("a function's name");
  if (is("(")) out.parameters = parameters();
  while (token_.kind == Token::Kind::dotted) {
    if (performance_directive(out.directives)) continue;
    if (!accept_dotted("pragma")) fail("a performance directive, '{' or ';'");
    do expect_string("a pragma's string");
    while (accept(","));
    expect(";");
  }
  if (!accept(";")) body(out);
  unit_.functions.push_back(std::move(out));
}

void Parser::body(FunctionSyntax& function) {
  if (!is("{")) fail("'{' or ';'");
  function.has_body = true;
  unsigned depth = 0;
  constexpr unsigned kMaxBlocks = 200;
  do {
    if (accept("{")) {
      if (++depth > kMaxBlocks) fail("blocks that are nested less");
      function.statements.push_back({Statement::Kind::open});
    } else if (accept("}")) {
      --depth;
      function.statements.push_back({Statement::Kind::close});
    } else {
      statement(function);
    }
  } while (depth);
}

void Parser::statement(FunctionSyntax& function) {
  if (accept(";")) return;
  if (token_.kind == Token::Kind::dotted) return body_directive(function);
  const auto& next = ahead();
  if (token_.kind == Token::Kind::name && next.kind == Token::Kind::punctuation && next.text == ":")
    return label(function);
  instruction(function);
}

void Parser::body_directive(FunctionSyntax& function) {
  if (accept_dotted("loc")) return location(function);
  if (accept_dotted("pragma")) {
    do expect_string("a pragma's string");
    while (accept(","));
    return expect(";");
  }
  if (is_dotted("section")) return section();
  if (is_dotted("file")) return file();
  // Allowed at the start of a body too.
  if (performance_directive(function.directives)) {
    accept(";");
    return;
  }
  auto linkage = Linkage::internal;
  if (accept_dotted("extern")) linkage = Linkage::external;
  if (!is_space()) fail("a directive, a label or an instruction");
  const auto first = function.variables.size();
  variables(linkage, function.variables);
  for (auto at = first; at < function.variables.size(); ++at)
    function.statements.push_back({Statement::Kind::variable, static_cast<std::uint32_t>(at)});
}

void Parser::location(FunctionSyntax& function) {
  Statement out{Statement::Kind::location};
  out.index = static_cast<std::uint32_t>(natural("a file's number", 0xffffffff));
  out.line = static_cast<std::uint32_t>(natural("a line", 0xffffffff));
  if (token_.kind == Token::Kind::integer) natural("a column", 0xffffffff);
  // `, function_name label, inlined_at file line column`
  while (accept(",")) {
    const auto word = expect_name("function_name or inlined_at");
    if (word == "inlined_at") {
      for (int at = 0; at < 3; ++at) natural("a number", 0xffffffff);
    } else {
      expect_name("a label");
      if (accept("+")) natural("a number", 0xffffffff);
    }
  }
  function.statements.push_back(out);
}

void Parser::label(FunctionSyntax& function) {
  const auto where = place();
  const auto name = expect_name("a label");
  expect(":");
  if (accept_dotted("branchtargets")) return name_list(function, name, Statement::Kind::branch_targets);
  if (accept_dotted("calltargets")) return name_list(function, name, Statement::Kind::call_targets);
  if (accept_dotted("callprototype")) return prototype(function, name);
  function.statements.push_back({Statement::Kind::label, static_cast<std::uint32_t>(function.labels.size())});
  function.labels.emplace_back(name, where);
}

void Parser::name_list(FunctionSyntax& function, std::string_view label, Statement::Kind kind) {
  NameList out;
  out.label = label;
  do {
    const auto where = place();
    out.names.emplace_back(expect_name("a name"), where);
  } while (accept(","));
  expect(";");
  function.statements.push_back({kind, static_cast<std::uint32_t>(function.name_lists.size())});
  function.name_lists.push_back(std::move(out));
}

void Parser::prototype(FunctionSyntax& function, std::string_view label) {
  PrototypeSyntax out;
  if (is("(")) out.results = parameters();
  expect_name("'_'");
  if (is("(")) out.parameters = parameters();
  while (token_.kind == Token::Kind::dotted) {
    Directives directives;
    if (!performance_directive(directives)) fail("';'");
    out.is_noreturn |= directives.is_noreturn;
  }
  expect(";");
  function.statements.push_back({Statement::Kind::prototype, static_cast<std::uint32_t>(function.prototypes.size())});
  function.prototypes.emplace_back(label, std::move(out));
}

}  // namespace flexrack::sim::ptx
