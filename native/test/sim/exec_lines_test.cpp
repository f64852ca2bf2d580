// Loops whose registers lie evenly (sim/jit/lines.h), as the interpreter runs them and as machine code: the same bits.
#include <cstdlib>
#include <string>

#include "chance_loop.h"
#include "exec_lanes.h"
#include "sim/jit/translate.h"

namespace {

using namespace flexrack::test;

struct Shape {
  exec::Dim3 block;
  u32 rounds;
};

/// Whatever a kernel leaves behind in memory: the same memory for both, as addresses are numbers, too.
class Results {
 public:
  explicit Results(unsigned seed)
      : in_(integers<u32>(kThreads * 8, seed)), before_(integers<u32>(kWarps * ChanceLoop::kRoom / 4, seed + 1)) {}

  std::vector<u32> of(const std::string& text, const Shape& shape, bool translated) {
    flexrack::sim::jit::use_translations(translated);
    Rig rig(text);
    out_.assign(kThreads * ChanceLoop::kKept / 4, 0x5a5a5a5a);
    std::copy(before_.begin(), before_.end(), scratch_.begin());
    for (auto* memory : {&in_, &out_, &scratch_}) rig.map.add(address_of(*memory), memory->size() * sizeof(u32));
    const auto parameters = Parameters(address_of(in_), address_of(out_), address_of(scratch_), shape.rounds);
    const auto fault = rig.run(rig.launch("k", {kBlocks, 1, 1}, shape.block), parameters);
    flexrack::sim::jit::use_translations(true);
    const std::string said = fault ? fault->describe() + "\n" + text : "";
    REQUIRE_MESSAGE(!fault, said);
    auto all = out_;
    all.insert(all.end(), scratch_.begin(), scratch_.end());
    return all;
  }

 private:
  static constexpr std::size_t kBlocks = 5, kWarps = 4 * kBlocks, kThreads = 32 * kWarps;
  static u64 address_of(const std::vector<u32>& memory) { return reinterpret_cast<u64>(memory.data()); }

  std::vector<u32> in_, before_, scratch_ = before_, out_ = std::vector<u32>(kThreads * ChanceLoop::kKept / 4);
};

TEST_CASE("loops by chance with registers that lie evenly, translated and not") {
  const auto before = flexrack::sim::jit::loops_in_lines();
  std::string wrong;
  const unsigned seeds = std::getenv("FLEXRACK_LONG") == nullptr ? 120 : 4000;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const auto text = ChanceLoop(seed).text(seed % 2 == 0);
    // The last warp has lanes that are not there; threads of rows do not lie evenly.
    const Shape shapes[] = {{{128, 1, 1}, 6}, {{64, 1, 1}, 1 + seed % 4}, {{77, 1, 1}, 5}, {{16, 8, 1}, 5}};
    const auto& shape = shapes[seed % 4 == 3 && seed % 3 == 0 ? 3 : seed % 3];
    Results results(seed);
    if (results.of(text, shape, true) == results.of(text, shape, false)) continue;
    if (wrong.empty()) MESSAGE(text);
    wrong += std::to_string(seed) + " ";
  }
  CHECK(wrong == "");
#if defined(__x86_64__)
  if (exec::has_avx2()) CHECK(flexrack::sim::jit::loops_in_lines() > before + 30);
#else
  CHECK(flexrack::sim::jit::loops_in_lines() == before);
#endif
}

}  // namespace
