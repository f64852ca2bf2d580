#include "sim/ptx/liveness.h"

#include <algorithm>

#include "sim/ptx/register_use.h"

namespace flexrack::sim::ptx {

namespace {

constexpr std::size_t kMaxWords = std::size_t{1} << 22;    ///< of a set for each block
constexpr std::size_t kMaxSteps = std::size_t{1} << 27;    ///< words looked at until nothing changes

class Liveness {
 public:
  Liveness(Function& function, const Flow& flow, std::size_t registers)
      : function_(function), flow_(flow), intervals_(registers) {
    only_block_.assign(registers, kNone);
    global_.assign(registers, kNone);
    written_in_.assign(registers, kNone);
  }
  std::vector<Interval> run();

 private:
  using Word = std::uint64_t;

  template <class Visit>
  void each_use(std::uint32_t at, Visit&& visit);
  void find_globals();
  void touch(std::uint32_t reg, std::uint32_t at);
  bool solve();
  bool update(std::uint32_t node);
  void extend();
  void live_everywhere();
  Word* row(std::vector<Word>& of, std::uint32_t node) { return of.data() + std::size_t{node} * words_; }

  Function& function_;
  const Flow& flow_;
  std::vector<Interval> intervals_;
  std::vector<std::uint32_t> only_block_;    ///< the one it is used in; kNone: none yet
  std::vector<std::uint32_t> global_;        ///< number among those that live across blocks; kNone: does not
  std::vector<std::uint32_t> written_in_;    ///< the block that last wrote it wholly, while looking
  std::vector<std::uint32_t> globals_;
  std::size_t words_ = 0;
  std::vector<Word> in_, out_, kill_;
};

/// Reads first, then writes: visit(register, is_written, is_whole).
template <class Visit>
void Liveness::each_use(std::uint32_t at, Visit&& visit) {
  auto& instruction = function_.code[at];
  if (instruction.guard != kNone) visit(instruction.guard, false, false);
  const bool is_guarded = instruction.guard != kNone;
  for_each_register(function_, instruction, [&](Operand& operand, bool is_written) {
    if (!is_written) visit(operand.at, false, false);
  });
  for_each_register(function_, instruction, [&](Operand& operand, bool is_written) {
    if (is_written) visit(operand.at, true, !is_guarded);
  });
}

void Liveness::touch(std::uint32_t reg, std::uint32_t at) {
  intervals_[reg].first = std::min(intervals_[reg].first, at);
  intervals_[reg].last = std::max(intervals_[reg].last, at);
}

void Liveness::find_globals() {
  const auto add = [&](std::uint32_t reg) {
    if (global_[reg] != kNone) return;
    global_[reg] = static_cast<std::uint32_t>(globals_.size());
    globals_.push_back(reg);
  };
  for (std::uint32_t block = 0; block < flow_.block_count; ++block) {
    for (auto at = flow_.nodes[block].first; at < flow_.nodes[block].end; ++at) {
      each_use(at, [&](std::uint32_t reg, bool is_written, bool is_whole) {
        touch(reg, at);
        if (only_block_[reg] == kNone) only_block_[reg] = block;
        else if (only_block_[reg] != block) add(reg);
        // Read before it is written: what an earlier turn of a loop left there, perhaps.
        if (is_written && is_whole) written_in_[reg] = block;
        else if (written_in_[reg] != block) add(reg);
      });
    }
  }
}

bool Liveness::update(std::uint32_t node) {
  auto* out = row(out_, node);
  for (const auto to : flow_.successors(node)) {
    const auto* from = row(in_, to);
    for (std::size_t at = 0; at < words_; ++at) out[at] |= from[at];
  }
  auto* in = row(in_, node);
  const auto* kill = row(kill_, node);
  bool is_changed = false;
  for (std::size_t at = 0; at < words_; ++at) {
    const auto now = in[at] | (out[at] & ~kill[at]);
    is_changed |= now != in[at];
    in[at] = now;
  }
  return is_changed;
}

bool Liveness::solve() {
  words_ = (globals_.size() + 63) / 64;
  const auto size = words_ * flow_.nodes.size();
  if (size > kMaxWords) return false;
  for (auto* each : {&in_, &out_, &kill_}) each->assign(size, 0);
  for (std::uint32_t block = 0; block < flow_.block_count; ++block) {
    auto* in = row(in_, block);
    auto* kill = row(kill_, block);
    for (auto at = flow_.nodes[block].first; at < flow_.nodes[block].end; ++at) {
      each_use(at, [&](std::uint32_t reg, bool is_written, bool is_whole) {
        const auto number = global_[reg];
        if (number == kNone) return;
        const auto bit = Word{1} << (number & 63);
        if (is_written && is_whole) kill[number / 64] |= bit;
        else if (!(kill[number / 64] & bit)) in[number / 64] |= bit;
      });
    }
  }
  std::size_t steps = 0;
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (auto node = static_cast<std::uint32_t>(flow_.nodes.size()); node-- > 0;) {
      steps += words_ * (1 + flow_.nodes[node].successor_count);
      is_changed |= update(node);
    }
    if (steps > kMaxSteps) return false;
  }
  return true;
}

void Liveness::extend() {
  for (std::uint32_t block = 0; block < flow_.block_count; ++block) {
    const auto each_bit = [&](const Word* words, std::uint32_t at) {
      for (std::size_t word = 0; word < words_; ++word) {
        for (auto left = words[word]; left; left &= left - 1)
          touch(globals_[word * 64 + static_cast<unsigned>(__builtin_ctzll(left))], at);
      }
    };
    each_bit(row(in_, block), flow_.nodes[block].first);
    each_bit(row(out_, block), flow_.nodes[block].end - 1);
  }
}

void Liveness::live_everywhere() {
  const auto last = static_cast<std::uint32_t>(function_.code.size() - 1);
  for (auto& each : intervals_) {
    if (each.first <= each.last) each = {0, last};
  }
}

std::vector<Interval> Liveness::run() {
  find_globals();
  if (solve()) extend();
  else live_everywhere();
  const auto last = static_cast<std::uint32_t>(function_.code.size() - 1);
  for (auto* list : {&function_.parameters, &function_.results}) {
    for (const auto& each : *list) {
      if (each.is_register) intervals_[each.place.at] = {0, last};
    }
  }
  return std::move(intervals_);
}

}  // namespace

std::vector<Interval> live_intervals(Function& function, const Flow& flow, std::size_t registers) {
  return Liveness(function, flow, registers).run();
}

}  // namespace flexrack::sim::ptx
