// A warp: 32 lanes that run in lock step while they go the same way, and as several strands while they do not.
//
// Where lanes part, a join says at which step they meet again (the branch's post-dominator). A strand that comes to the
// step of its join waits there until all expected lanes have come or ended, and goes on with them as one. Strands also
// wait at barriers, and for the lanes that a shuffle or vote names. Nothing relies on lanes meeting: where a strand
// spins, or none can run, the lanes that wait at joins go on by themselves, so that lanes may wait for each other in
// any way (PTX ISA 9.0, 3.1: independent thread scheduling).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/exec/fault.h"
#include "sim/exec/range_cache.h"
#include "sim/exec/spaces.h"
#include "sim/exec/step.h"

namespace flexrack::sim::exec {

class Block;

inline constexpr unsigned kLanes = ptx::kLanes;
inline constexpr std::uint32_t kAllLanes = 0xffffffff;

/// Does it for every lane of a mask, the lowest first.
template <class F>
void each_lane(std::uint32_t mask, const F& work) {
  for (; mask != 0; mask &= mask - 1) work(static_cast<unsigned>(std::countr_zero(mask)));
}

/// Registers are bytes that are read as what an instruction takes them for.
template <class T>
struct RawOf {
  typedef T type __attribute__((may_alias));
};

/// A function's registers and where it returns to. Belongs to the lanes that are in it, strands of them may be in
/// different callees.
struct Frame {
  Frame* caller = nullptr;
  const Code* code = nullptr;
  std::byte* registers = nullptr;
  const Step* call = nullptr;  ///< the caller's step
  std::uint32_t lanes = 0;
  std::uint32_t local = 0;  ///< where its local frame begins in each lane's local memory
  std::uint32_t local_end = 0;  ///< and where the next one may begin: alloca moves it
  AlignedBytes own;  ///< what registers are in, of callees
  std::size_t capacity = 0;
};

struct Join {
  const Step* at = nullptr;
  Frame* frame = nullptr;
  std::uint32_t expected = 0, arrived = 0;
  Join* parent = nullptr;
};

/// Lanes that are at one step, when they are not the ones that run.
struct Strand {
  enum class State : std::uint8_t { ready, barrier, lanes };
  const Step* at = nullptr;
  Frame* frame = nullptr;
  Join* join = nullptr;
  std::uint32_t mask = 0;
  State state = State::ready;
  std::uint32_t waits_for = 0;  ///< barrier: its number; lanes: which ones
};

/// Why a strand does not just go on.
enum class Why : std::uint8_t {
  none,
  gone,  ///< it ended, or has become part of what waits at a join
  waits,  ///< it was put among the others, waiting
  pause,  ///< its slice is over
  polls,  ///< it sees the same value again and again
  fault,
};

struct Warp {
  std::byte* bases[2] = {nullptr, nullptr};  ///< the frame's registers, the constants
  std::uint32_t mask = 0;  ///< the lanes that a step works for
  std::uint32_t live = 0;  ///< lanes that have not ended
  std::int64_t budget = 0;  ///< instructions left in this slice
  RangeCache* ranges = nullptr;
  Frame* frame = nullptr;
  Join* join = nullptr;
  const Step* resume = nullptr;  ///< with why: where to go on
  Why why = Why::none;
  Block* block = nullptr;
  std::uint32_t index = 0;  ///< in the block
  std::byte* local_memory = nullptr;  ///< lane 0's local memory
  std::byte* shared_memory = nullptr;  ///< the block's, and its end
  std::byte* shared_end = nullptr;
  alignas(64) std::byte* targets[kLanes];  ///< where a memory access goes, lane by lane
  alignas(64) std::array<std::array<std::uint32_t, kLanes>, 3> thread;  ///< %tid
  std::vector<Strand> others;
  Frame root;
  std::uint32_t* compared = nullptr;  ///< where finish_compare() puts two predicates instead of into registers
  const Step* polled = nullptr;  ///< the step that may be spinning
  std::uint64_t polled_value = 0;
  std::uint32_t polls = 0;
  /// For steps of loops, by groups as RangeCache has them: the least address that translated code went to last.
  std::array<std::uint64_t, 64> met{};
  std::uint32_t cluster_phase = 0;  ///< of the cluster's barrier, when it arrived there
  bool is_current = false;  ///< there is a strand in mask, frame, join, resume
  std::uint32_t stale_slices = 0;  ///< slices since lanes last met, while some wait
  /// Of a loop in translated code whose registers lie evenly (jit/lines.h): whose the lines are, and the bases of
  /// registers that the frame does not have.
  std::uint64_t lines_owner = 0;
  std::array<std::uint64_t, 24> lines{};

  /// A register's lanes, or with T const a constant's.
  template <class T>
  typename RawOf<T>::type* registers(At place) const {
    return reinterpret_cast<typename RawOf<T>::type*>(bases[place & kInConstants] + (place & ~3U));
  }
  std::uint32_t predicate(At place) const {
    const std::uint32_t holds = *registers<std::uint32_t>(place);
    return place & kNegated ? ~holds : holds;
  }
  /// The same where machine code may have written it just now, eight lanes each: read as one word it would have to wait
  /// until all that was stored before is in the cache.
  std::uint32_t predicate_by_eights(At place) const {
    const volatile std::uint8_t* eights = registers<std::uint8_t>(place);
    const std::uint32_t a = eights[0], b = eights[1], c = eights[2], d = eights[3];
    const std::uint32_t holds = a | b << 8 | c << 16 | d << 24;
    return place & kNegated ? ~holds : holds;
  }
  void set_predicate(At place, std::uint32_t holds) {
    auto* const to = registers<std::uint32_t>(place);
    *to = (*to & ~mask) | (holds & mask);
  }

  /// The lanes of `mask` that work when others of the warp have ended count as all.
  bool is_full() const { return mask == live; }

  // ---- how strands part and meet (strands.cpp); each returns what the handler shall return
  const Step* branch(const Step* step, std::uint32_t taken);
  const Step* arrive(const Step* step);
  const Step* end_lanes(const Step* step, std::uint32_t lanes);
  const Step* call(const Step* step, const Code& callee);
  const Step* return_lanes(const Step* step, std::uint32_t lanes);
  const Step* leave(const Step* step);
  /// Parts the lanes into those at `step` again and these, which go on at once.
  void split(const Step* step, std::uint32_t others_lanes);
  const Step* pause(const Step* next, Why reason) {
    resume = next, why = reason;
    return nullptr;
  }
  const Step* wait(const Step* step, Strand::State state, std::uint32_t for_what);
  /// Called by what reads memory that others may write: a strand that sees one value over and over lets others run.
  const Step* polled_at(const Step* step, std::uint64_t value);

  /// Runs until no strand can go on, or the budget is spent, or the strand that runs only polls. Why::gone: all lanes
  /// have ended; waits: all strands wait.
  /// While no lanes wait for others of the warp it is over after `together` instructions, and so is the warp's turn.
  Why run(std::int64_t instructions, std::int64_t together);
  void start(const Code& code, std::uint32_t lanes);
  bool is_over() const { return live == 0; }
  bool can_run() const;

  // ---- faults (faults.cpp)
  const Step* fault(Fault::Kind kind, const Step* step, unsigned lane, std::uint64_t address = 0,
                    std::uint32_t size = 0, bool is_write = false, std::string text = {});
  const Step* unsupported(const Step* step, std::string text);

  void enter(Frame* to);
  void give_back(Frame* old);
  void set_current(const Strand& strand);

 private:
  bool choose();
  bool release_joins();
  void forsake(std::uint32_t lanes, const Frame* in);
  Join* join_at_end() const;
  void remember(Strand::State state);
  void merge_ready();
};

}  // namespace flexrack::sim::exec
