#include "sim/exec/count.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "sim/exec/control.h"
#include "sim/exec/opcode_text.h"
#include "sim/exec/warp.h"

namespace flexrack::sim::exec {
namespace {

constexpr std::size_t kMostLines = 40;

/// Never destroyed: threads may count while the process ends.
struct CountTable {
  std::mutex lock;
  std::map<std::string, std::uint64_t> of;   // its values stay where they are
  Counts all;

  static CountTable& instance() {
    static auto* one = new CountTable;
    return *one;
  }
};

std::uint64_t value_of(const std::uint64_t& counter) { return __atomic_load_n(&counter, __ATOMIC_RELAXED); }

void print_counts() {
  auto& table = CountTable::instance();
  const std::scoped_lock held(table.lock);
  std::vector<std::pair<std::uint64_t, std::string>> lines;
  std::uint64_t interpreted = 0;
  for (const auto& [name, counter] : table.of) {
    const auto count = value_of(counter);
    interpreted += count;
    if (count != 0) lines.emplace_back(count, name);
  }
  const auto translated = value_of(table.all.in_segments) - value_of(table.all.called), all = interpreted + translated;
  if (all == 0) return;
  std::sort(lines.rbegin(), lines.rend());
  std::fprintf(stderr, "flexrack-sim: %llu instructions of warps, %.1f %% of them as machine code. Interpreted were:\n",
               static_cast<unsigned long long>(all),
               100.0 * static_cast<double>(translated) / static_cast<double>(all));
  for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
    std::fprintf(stderr, "%12llu  %5.1f %%  %s\n", static_cast<unsigned long long>(lines[i].first),
                 100.0 * static_cast<double>(lines[i].first) / static_cast<double>(all), lines[i].second.c_str());
  }
  if (lines.size() > kMostLines) std::fprintf(stderr, "              and %zu more\n", lines.size() - kMostLines);
}

bool is_counting() {
  static const bool is = [] {
    const char* asked = std::getenv("FLEXRACK_SIM_COUNT");
    if (asked == nullptr || std::string_view(asked) != "1") return false;
    CountTable::instance();
    return std::atexit(print_counts) == 0;
  }();
  return is;
}

}  // namespace

Counts& all_counts() { return CountTable::instance().all; }

void begin_counting(Code& code) {
  if (!is_counting()) return;
  auto& table = CountTable::instance();
  const std::scoped_lock held(table.lock);
  for (const auto& step : code.steps) {
    // What looks at a guard is counted as what it guards; where lanes meet there is no instruction.
    const bool is_instruction = step.source != nullptr && step.run != guards;
    code.counted.push_back({step.run, is_instruction ? &table.of[opcode_text(*step.source)] : nullptr});
  }
}

void finish_counting(Code& code) {
  for (std::size_t i = 0; i < code.counted.size(); ++i) {
    if (code.counted[i].counter != nullptr && code.steps[i].run == code.counted[i].run) code.steps[i].run = counts;
  }
}

const Step* counts(Warp& warp, const Step* step) {
  const auto& code = *warp.frame->code;
  const auto& counted = code.counted[static_cast<std::size_t>(step - code.steps.data())];
  __atomic_fetch_add(counted.counter, 1, __ATOMIC_RELAXED);
  return counted.run(warp, step);
}

}  // namespace flexrack::sim::exec
