// Programs by chance, as the interpreter runs them and as machine code (sim/jit): the same bits in every register and
// in memory.
#include <string>

#include "chance_program.h"
#include "exec_lanes.h"
#include "sim/jit/translate.h"

namespace {

using namespace flexrack::test;

std::vector<u32> results(const std::string& text, std::vector<u32> values, bool translated) {
  flexrack::sim::jit::use_translations(translated);
  Rig rig(text);
  rig.is_repeatable = false;  // compared here
  Buffer<u32> in(rig.map, std::move(values)), out(rig.map, in.size(), 0x5a5a5a5a), scratch(rig.map, in.all());
  // The last warp of a block has no more than 13 lanes.
  rig.go("k", {1, 1, 1}, {77, 1, 1}, in.address(), out.address(), scratch.address());
  flexrack::sim::jit::use_translations(true);
  auto all = out.all();
  all.insert(all.end(), scratch.all().begin(), scratch.all().end());
  return all;
}

TEST_CASE("programs by chance, translated and not") {
  const auto before = flexrack::sim::jit::translated_segments();
  std::string wrong;
  for (unsigned seed = 1; seed <= 250; ++seed) {
    const auto text = ChanceProgram(seed).text(20 + seed % 60);
    std::vector<u32> values;
    const auto floats = reals<float>(173 * 32, seed);
    const auto whole = integers<u32>(173 * 32, seed);
    for (std::size_t i = 0; i < floats.size(); ++i)
      values.push_back(i % 5 == 0 ? whole[i] : std::bit_cast<u32>(floats[i]));
    if (results(text, values, true) == results(text, values, false)) continue;
    if (wrong.empty()) MESSAGE(text);
    wrong += std::to_string(seed) + " ";
  }
  CHECK(wrong == "");
#if defined(__x86_64__)
  if (exec::has_avx2()) CHECK(flexrack::sim::jit::translated_segments() > before + 300);
#else
  CHECK(flexrack::sim::jit::translated_segments() == before);
#endif
}

}  // namespace
