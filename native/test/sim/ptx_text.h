// PTX texts for tests, and decoded instructions with the places of registers left out: `add.rn.f32 r, r, #1`.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "sim/ptx/parse.h"
#include "sim/ptx/text.h"
#include "sim/ptx_verify.h"

namespace flexrack::sim::ptx {

inline const std::string kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// A kernel `k` with registers of all kinds and one parameter, `p`.
inline std::string kernel_text(const std::string& body, const std::string& before = "") {
  return kHead + before +
         ".visible .entry k(.param .u64 p, .param .align 8 .b8 big[24])\n{\n"
         ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .b64 %rd<16>; .reg .f64 %fd<8>; .reg .b128 %q<4>;\n" +
         body + "\n}\n";
}

inline std::unique_ptr<Module> kernel_of(const std::string& body, const std::string& before = "") {
  auto module = parse(kernel_text(body, before));
  CHECK(std::string(unsound(*module) ? unsound(*module) : "sound") == "sound");
  return module;
}

/// Offsets of registers, variables and lists differ with every other instruction: `r128` becomes `r`.
inline std::string without_places(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    out += text[at];
    const char before = at ? text[at - 1] : ' ';
    const bool is_place = (text[at] == 'r' || text[at] == 'p' || text[at] == 's' || text[at] == 'v') &&
                          std::string(" [{!@").find(before) != std::string::npos;
    if (is_place && at + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 1]))) {
      while (at + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 1]))) ++at;
    }
  }
  return out;
}

/// The kernel's instructions but the exit at the end, one a line where there are several.
inline std::string decoded(const std::string& body, const std::string& before = "") {
  const auto module = kernel_of(body, before);
  const auto& code = *module->kernel("k");
  std::string out;
  for (std::size_t at = 0; at + 1 < code.code.size(); ++at) out += (at ? "\n" : "") + without_places(to_text(code, at));
  return out;
}

/// What is said about a text that is wrong; empty: nothing.
inline std::string complaint(const std::string& text) {
  try {
    parse(text);
  } catch (const ParseError& error) { return error.what(); }
  return "";
}

}  // namespace flexrack::sim::ptx
