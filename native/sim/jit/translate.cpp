#include "sim/jit/translate.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "sim/exec/control.h"
#include "sim/exec/count.h"
#include "sim/exec/ops.h"
#include "sim/exec/shells.h"
#include "sim/jit/emitter.h"
#include "sim/jit/exits.h"
#include "sim/jit/line_emitter.h"
#include "sim/jit/lines.h"
#include "sim/jit/memory.h"
#include "sim/jit/vectors.h"

namespace flexrack::sim::jit {
namespace {

/// The interpreter alone, to compare with it.
bool is_asked_to_interpret() noexcept {
  const char* asked = std::getenv("FLEXRACK_SIM_INTERPRET");
  return asked != nullptr && std::string_view(asked) == "1";
}

std::atomic<bool> is_used{!is_asked_to_interpret()};
std::atomic<std::uint64_t> segments_made{0}, loops_made{0};

constexpr unsigned kTurns = exec::kLanes / 8;        ///< vectors of eight lanes
constexpr std::size_t kMaxSteps = 1U << 16;          ///< of a function; longer ones run as they are
constexpr std::size_t kMaxItems = 512;               ///< of a segment
constexpr std::ptrdiff_t kShortest = 2;
constexpr std::size_t kMuch = 48;
constexpr unsigned kMeetings = 2;                    ///< that a segment goes over: each begins another one, too

constexpr auto kMask = static_cast<std::int32_t>(offsetof(exec::Warp, mask)),
               kLive = static_cast<std::int32_t>(offsetof(exec::Warp, live)),
               kBases = static_cast<std::int32_t>(offsetof(exec::Warp, bases));

/// Instructions of the processor, about, and cycles that one must wait for another.
struct Cost {
  double instructions = 0, chain = 0;
};

double chain_of(const Segment& segment) {
  std::map<At, unsigned> ready;
  unsigned longest = 0;
  for (const auto& item : segment.items) {
    unsigned at = 0;
    for (const auto& use : item.reads) {
      if (use.at != kNowhere && !(use.at & kInConstants)) at = std::max(at, ready[use.at & ~kNegated]);
    }
    at += item.latency;
    longest = std::max(longest, at);
    for (const auto& use : item.writes) {
      if (use.at != kNowhere) ready[use.at] = at;
    }
  }
  return longest;
}

/// How many vectors of eight lanes shall go through arithmetic together: as many as have room for what it works with.
unsigned together(const Segment& segment, unsigned first, unsigned behind, unsigned ways) {
  constexpr unsigned kForAMoment = 4;
  struct Life {
    unsigned first, last, vectors;
  };
  std::map<At, Life> lives;
  for (unsigned i = first; i < behind; ++i) {
    const auto& item = segment.items[i];
    const auto meet = [&](const Use& use, bool is_read) {
      if (use.at == kNowhere || (use.at & kInConstants)) return;
      const auto [life, is_new] =
          lives.try_emplace(use.at & ~kNegated, Life{is_read ? first : i, i, use.form == Form::wide ? 2U : 1U});
      life->second.last = i;
    };
    for (const auto& use : item.reads) meet(use, true);
    meet({item.guard, Form::mask}, true);
    for (const auto& use : item.writes) meet(use, false);
  }
  unsigned most = 1;
  for (unsigned i = first; i < behind; ++i) {
    unsigned here = 0;
    for (const auto& [place, life] : lives) here += life.first <= i && i <= life.last ? life.vectors : 0;
    most = std::max(most, here);
  }
  while (ways > 1 && ways * most + kForAMoment > Registers::kCount) ways /= 2;
  return ways;
}

/// A segment that is all of a loop's body, whose registers lie evenly, and the branch behind it.
struct Loop {
  const Step* branch = nullptr;
  std::optional<Lines> lines;
};

/// One way to carry out a segment: so many vectors in each turn of a loop. `leave` emits the way out, to the step in
/// rax.
template <class Leave>
void emit_lanes(const exec::Code& code, const Segment& segment, const Fates& fates, Pool& pool, Assembler& to,
                unsigned ways, bool is_partial, const Leave& leave, const Loop* loop = nullptr) {
  if (ways < kTurns) to.set32(rsi, kTurns / ways);
  const std::size_t again = to.size();
  Registers registers(code, to, pool, fates, ways, is_partial);
  Emitter emitter(to, pool, registers, code);
  std::optional<LineEmitter> in_lines;
  const Lines* const lines = loop == nullptr ? nullptr : &*loop->lines;
  if (lines != nullptr) in_lines.emplace(code, to, pool, *lines, fates, segment);
  LineEmitter* const line_emitter = in_lines ? &*in_lines : nullptr;
  registers.follow(lines);
  MemoryEmitter memory(code, to, pool, registers, segment, is_partial, lines, line_emitter);
  Exits exits(code, to, registers, segment, is_partial, lines, line_emitter);
  const auto is_scalar = [lines](unsigned item) { return lines != nullptr && lines->is_scalar(item); };
  bool is_over = false;
  for (unsigned i = 0; i < segment.items.size() && !is_over;) {
    const auto& item = segment.items[i];
    registers.all_at(i);
    registers.together(ways, i);
    if (item.is_whole) {
      memory.at_item(i);
      if (item.is_exit) is_over = !exits.emit(item, i);
      else memory.emit(item);
      registers.all_at(++i);
      registers.at_item(i - 1);
      registers.forget();
      continue;
    }
    if (is_scalar(i)) {
      std::vector<std::size_t> leaving;
      line_emitter->emit(item, i, leaving);
      exits.leave_lines(i, leaving);
      registers.drop(item.writes[0].at);
      memory.passed(item);
      registers.all_at(++i);
      registers.at_item(i - 1);
      registers.forget();
      continue;
    }
    unsigned behind = i + 1;
    while (segment.has_whole && behind < segment.items.size() && !segment.items[behind].is_whole && !is_scalar(behind))
      ++behind;
    const unsigned group = segment.has_whole ? together(segment, i, behind, ways) : ways;
    registers.together(group, i);
    for (unsigned first = 0; first < ways; first += group) {
      for (unsigned number = i; number < behind; ++number) {
        registers.at_item(number);
        for (unsigned part = first; part < first + group; ++part) {
          registers.at_lanes(part);
          emitter.emit(segment.items[number], part);
        }
        registers.forget();
      }
    }
    for (; i < behind; ++i) memory.passed(segment.items[i]);
  }
  if (is_over) {
    leave();
    memory.finish(leave);
    return;
  }
  registers.finish();
  if (ways != kTurns) {
    const auto lanes = static_cast<std::int32_t>(8 * ways);
    to.add64(kWords, 4 * lanes);
    to.add64(kWides, 8 * lanes);
    to.add64(kHalves, 2 * lanes);
    to.add64(kMasks, lanes / 8);
    if (is_partial) to.add64(kLaneMask, lanes / 8);
    to.decrement32(rsi);
    to.jump_back(Assembler::Condition::differs, again);
    registers.finish_loop();
  }
  if (loop != nullptr) {
    std::vector<std::size_t> leaving;
    line_emitter->go_back(registers, *loop->branch, leaving);
    leave();
    for (const auto jump : leaving) to.land(jump);
    line_emitter->write_back(static_cast<unsigned>(segment.items.size()));
  }
  to.load64(rax, rsp, StackFrame::kStep);
  to.add64(rax, static_cast<std::int32_t>(segment.steps * sizeof(Step)));
  leave();
  exits.finish(leave);
  memory.finish(leave);
}

unsigned best_ways(const exec::Code& code, const Segment& segment, const Fates& fates) {
  constexpr double kWidth = 3.5, kWindow = 256;      // instructions begun in a cycle, and those under way
  constexpr double kBytes = 7.5;                     // of an instruction
  if (segment.has_whole) return kTurns;             // every instruction is over before the next begins
  const double chain = chain_of(segment);
  unsigned best = 1;
  double least = 0;
  for (const unsigned ways : {1U, 2U, 4U}) {
    Assembler trial;
    Pool pool;
    emit_lanes(code, segment, fates, pool, trial, ways, false, [] {});
    const double instructions = static_cast<double>(trial.size()) / kBytes, turns = double{kTurns} / ways;
    const double together = std::clamp(kWindow / instructions, 1.0, turns);
    const double cycles = std::max(instructions * turns / kWidth, chain * turns / together);
    if (ways == 1 || cycles < least) best = ways, least = cycles;
  }
  return best;
}

/// Subnormals as zero, for the code in between; MemoryEmitter::call_handler() ends and begins it, too.
void begin_flushing(Assembler& to) {
  static_assert(StackFrame::kControl == 0);
  to.bytes({0x0f, 0xae, 0x1c, 0x24});                    // stmxcsr [rsp]
  to.bytes({0x8b, 0x0c, 0x24, 0x83, 0xc9, 0x40});        // mov ecx, [rsp]; or ecx, 0x40 (DAZ)
  to.bytes({0x89, 0x4c, 0x24, 0x04});                    // mov [rsp + 4], ecx
  to.bytes({0x0f, 0xae, 0x54, 0x24, 0x04});              // ldmxcsr [rsp + 4]
}
void end_flushing(Assembler& to) { to.bytes({0x0f, 0xae, 0x14, 0x24}); }

/// A function (Warp&, const Step*) that returns the step behind the segment, or what a handler that it had to call
/// returned.
void emit_segment(const exec::Code& code, const Segment& segment, const Loop& loop, Pool& pool, Assembler& to) {
  const Fates fates(code, segment);
  const unsigned ways = best_ways(code, segment, fates);
  to.bytes({0xf3, 0x0f, 0x1e, 0xfa});  // endbr64
  to.bytes({0x56, 0x57});              // push rsi; push rdi
  to.add64(rsp, -StackFrame::kBytes);
  if (!code.counted.empty())
    to.add_to_counter(
        &exec::all_counts().in_segments,
        static_cast<std::uint32_t>(std::count_if(segment.items.begin(), segment.items.end(),
                                                 [](const Item& item) { return item.step->source != nullptr; })));
  to.load32(rax, rdi, kMask);
  to.load64(kWords, rdi, kBases);
  to.move64(kWides, kWords);
  to.move64(kMasks, kWords);
  to.move64(kHalves, kWords);
  if (segment.flushes) begin_flushing(to);
  // Lanes that have ended may be written to in registers, but not made accesses for.
  if (segment.has_whole) to.bytes({0x83, 0xf8, 0xff});  // cmp eax, -1
  else to.compare32(rax, rdi, kLive);
  const auto to_partial = to.jump(Assembler::Condition::differs);
  const auto leave = [&] {
    if (segment.flushes) end_flushing(to);
    to.add64(rsp, StackFrame::kBytes + 16);
    to.finish();
  };
  if (loop.lines) {
    ++loops_made;
    std::vector<std::size_t> others;
    LineEmitter(code, to, pool, *loop.lines, fates, segment).enter(others);
    emit_lanes(code, segment, fates, pool, to, ways, false, leave, &loop);
    for (const auto jump : others) to.land(jump);
  }
  emit_lanes(code, segment, fates, pool, to, ways, false, leave);
  to.land(to_partial);
  to.lea64(kLaneMask, rdi, kMask);
  emit_lanes(code, segment, fates, pool, to, ways, true, leave);
}

class Translation {
 public:
  explicit Translation(exec::Code& code) : code_(code) {}

  void make() {
    find_targets();
    find_numbers();
    struct Entry {
      Step* step;
      std::size_t at;
    };
    std::vector<Entry> entries;
    for (std::size_t at = 0; at < code_.steps.size();) {
      const Segment segment = segment_at(at);
      if (std::count_if(segment.items.begin(), segment.items.end(), [](const Item& item) { return !item.is_called; }) >=
          kShortest) {
        entries.push_back({&code_.steps[at], to_.size()});
        emit_segment(code_, segment, loop_of(segment), pool_, to_);
      }
      // What a guard's step calls begins no segment: it is carried out for some lanes, and alone.
      const std::uint32_t skipped = code_.steps[at].run == exec::guards ? 2 : 1;
      const std::size_t behind = at + std::max(segment.steps, skipped);
      do { ++at; } while (at < behind && !targets_.contains(&code_.steps[at]));
    }
    if (entries.empty() || !code_.machine_code.fill(to_.finished(pool_.words()))) return;
    for (const auto& entry : entries)
      entry.step->run =
          reinterpret_cast<exec::Handler>(reinterpret_cast<std::uintptr_t>(code_.machine_code.begin() + entry.at));
    segments_made += entries.size();
  }

 private:
  void find_targets() {
    for (const auto& step : code_.steps) {
      if (step.source == nullptr) continue;
      const bool is_branch =
          step.source->op == Op::bra || (step.guard != kNowhere && step.run == exec::branch_handler(true, false));
      if (is_branch) targets_.insert(step.target);
      if (is_branch && step.target <= &step) {
        begins_loop_.insert(step.target);
        loops_.emplace_back(step.target, &step);
      }
      if (is_branch || step.source->op == Op::brx) targets_.insert(step.meet);
    }
    for (const auto& table : code_.tables) targets_.insert(table.begin(), table.end());
    for (const auto& table : code_.tables) begins_loop_.insert(table.begin(), table.end());
  }

  /// What registers hold where shuffles read them: numbers that a move has put there, since lanes have met last. Where
  /// all lanes work then, all have made the move.
  void find_numbers() {
    std::map<At, At> held;
    const auto number_in = [&](At place) {
      const auto found = held.find(place);
      return found == held.end() ? kNowhere : found->second;
    };
    bool is_guarded = false;
    for (const auto& step : code_.steps) {
      if (step.source == nullptr || targets_.contains(&step)) held.clear();
      if (step.source == nullptr) continue;
      if (step.run == exec::guards) {
        is_guarded = true;
        continue;
      }
      const auto& from = *step.source;
      const bool is_move = from.op == Op::mov && !is_guarded && from.o[0].width == ptx::Width::w32 &&
                           step.a != kNowhere && (step.a & kInConstants);
      Item item;
      item.handler = step.run;
      if (from.op == Op::shfl && step.guard == kNowhere) {
        numbers_[&step] = {number_in(step.b), number_in(step.c), number_in(exec::place_of(from.o[5]))};
        held.erase(step.d), held.erase(step.e);
      } else if (from.op == Op::bra || from.op == Op::st || from.op == Op::bar_sync) {
        // Nothing is written.
      } else if (describe(code_, step, item)) {
        for (const auto& use : item.writes) held.erase(use.at);
        if (is_move) held[step.d] = step.a;
      } else {
        held.clear();
      }
      is_guarded = false;
    }
  }

  /// Of two steps where the first looks at a guard.
  std::uint32_t item_at(std::size_t at, Item& item, bool is_first) const {
    const Step& step = code_.steps[at];
    if (!is_first && describe_exit(step, item)) return 1;
    item = {};
    const bool is_guarded = step.run == exec::guards;
    if (step.source == nullptr || (!is_guarded && step.guard != kNowhere)) return 0;
    if (is_guarded) item.guard = step.guard;
    item.is_in_loop = std::any_of(loops_.begin(), loops_.end(),
                                  [&](const auto& loop) { return loop.first <= &step && &step <= loop.second; });
    item.handler = step.run;
    if (const auto found = numbers_.find(&step); found != numbers_.end()) item.known = found->second;
    return describe(code_, code_.steps[at + (is_guarded ? 1 : 0)], item) ? (is_guarded ? 2 : 1) : 0;
  }

  Segment segment_at(std::size_t first) const {
    Segment segment;
    segment.first = &code_.steps[first];
    auto subnormals = Subnormals::any;
    std::size_t since_memory = 0;      // items, and the steps until there
    std::uint32_t steps_to_memory = 0;
    unsigned meetings = 0;
    for (std::size_t at = first; at < code_.steps.size() && segment.items.size() < kMaxItems;) {
      if (at != first && targets_.contains(&code_.steps[at])) {
        // What comes from elsewhere finds a segment that begins here.
        if (code_.steps[at].run != exec::meets || begins_loop_.contains(&code_.steps[at]) || meetings++ == kMeetings)
          break;
      }
      Item item;
      const auto steps = item_at(at, item, at == first);
      if (steps == 0) break;
      if (item.subnormals != Subnormals::any) {
        if (subnormals != Subnormals::any && subnormals != item.subnormals) break;
        subnormals = item.subnormals;
      }
      // Much arithmetic is better by itself: in the registers for few lanes at a time.
      if (item.is_whole && !segment.has_whole && segment.items.size() > kMuch) break;
      since_memory = item.is_whole ? 0 : since_memory + 1;
      segment.has_whole |= item.is_whole;
      if (segment.has_whole && since_memory > kMuch) {
        segment.items.resize(segment.items.size() + 1 - since_memory);
        segment.steps = steps_to_memory;
        break;
      }
      segment.items.push_back(item);
      at += steps;
      segment.steps += steps;
      if (item.is_whole) steps_to_memory = segment.steps;
    }
    // Where lanes meet there is nothing to do.
    while (!segment.items.empty() && segment.items.back().step->source == nullptr)
      segment.items.pop_back(), --segment.steps;
    segment.flushes = subnormals == Subnormals::flushed;
    return segment;
  }

  /// Where all of it is one segment, and a line of some register saves something.
  Loop loop_of(const Segment& segment) const {
    Loop made;
    const std::size_t behind = static_cast<std::size_t>(segment.first - code_.steps.data()) + segment.steps;
    if (!segment.has_whole || behind >= code_.steps.size()) return made;
    const Step& branch = code_.steps[behind];
    const bool is_back = branch.run == exec::branch_handler(branch.guard != kNowhere, true) &&
                         branch.source != nullptr && branch.source->op == Op::bra;
    if (!is_back) return made;
    // Where lanes may meet at the loop's beginning there is a step before it.
    const bool is_ours =
        branch.target == segment.first || (branch.target + 1 == segment.first && branch.target->run == exec::meets);
    if (!is_ours) return made;
    made.branch = &branch;
    made.lines = Lines::of(code_, segment, strides_before(code_, segment.first));
    return made;
  }

  exec::Code& code_;
  std::set<const Step*> targets_, begins_loop_;
  std::vector<std::pair<const Step*, const Step*>> loops_;  ///< first and last step of each
  std::map<const Step*, std::array<At, 3>> numbers_;
  Assembler to_;
  Pool pool_;
};

}  // namespace

void use_translations(bool use) { is_used = use; }
std::uint64_t translated_segments() { return segments_made; }
std::uint64_t loops_in_lines() { return loops_made; }

void translate(exec::Code& code) {
#if defined(__x86_64__)
  if (!is_used.load(std::memory_order_relaxed) || !exec::has_avx2() || code.steps.size() > kMaxSteps) return;
  Translation(code).make();
#else
  (void)code;
#endif
}

}  // namespace flexrack::sim::jit
