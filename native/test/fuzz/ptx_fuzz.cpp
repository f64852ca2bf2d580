// PTX texts: as they come; with pieces of one text put into another; two units linked. What is accepted must hold what
// an executor relies on, and is put into words.
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ptx/link.h"
#include "sim/ptx/text.h"
#include "test/sim/ptx_verify.h"

using namespace flexrack::sim::ptx;

namespace {

constexpr std::string_view kHead = ".version 8.5\n.target sm_90\n.address_size 64\n";

/// A kernel around statements, so that bodies need no frame of their own to be looked at.
std::string wrapped(std::string_view body) {
  return std::string(kHead) +
         ".global .u32 g[8]; .extern .shared .align 16 .b8 dyn[]; .shared .b32 s[16];\n.func (.param .b32 out) f(.param .b32 a, .reg .b32 b) { ret; }\n" +
         ".visible .entry k(.param .u64 p, .param .align 8 .b8 big[24])\n{\n.reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .b64 "
         "%rd<16>; "
         ".reg .f64 %fd<8>; .reg .b128 %q<4>; .local .b32 l[4];\n" +
         std::string(body) + "\n}\n";
}

void look_at(Module& module) {
  if (unsound(module)) std::abort();
  std::size_t length = 0;
  for (const auto& function : module.functions) {
    for (std::size_t at = 0; at < function->code.size() && at < 1000; ++at) length += to_text(*function, at).size();
  }
  if (length == 1) std::abort();   // keeps it from being left out
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string> texts;
  const auto middle = text.find('\x01');
  switch (data[0] % 3) {
    case 0: texts = {std::string(text)}; break;
    case 1: texts = {wrapped(text)}; break;
    default:
      texts = {std::string(kHead) + std::string(text.substr(0, middle))};
      if (middle != std::string_view::npos) texts.push_back(std::string(kHead) + std::string(text.substr(middle + 1)));
  }
  std::vector<Source> sources;
  for (const auto& each : texts) sources.push_back({"unit", each});
  try {
    const auto module = link(sources);
    look_at(*module);
  } catch (const ParseError& error) {
    if (error.log().empty()) std::abort();
  }
  return 0;
}
