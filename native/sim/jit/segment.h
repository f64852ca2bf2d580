// Instructions in a row that a translation carries out as one: arithmetic on registers, lane by lane, that cannot
// fault, wait or part the lanes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/exec/step.h"

namespace flexrack::sim::jit {

using exec::At;
using exec::kInConstants;
using exec::kNegated;
using exec::kNowhere;
using exec::Step;
using ptx::Instruction;
using ptx::Op;
using ptx::Type;

/// What a register is made of, for eight lanes: `word` is one vector, `wide` two, `half` (16 bits) one of words without
/// their upper half, `mask` (a predicate) one of words that are all ones or zero.
enum class Form : std::uint8_t { none, half, word, wide, mask };

struct Use {
  At at = kNowhere;
  Form form = Form::none;
};

/// How floating point takes subnormals. All of a segment that cares is of one kind: the processor is told once.
enum class Subnormals : std::uint8_t { any, kept, flushed };

struct Item {
  const Step* step = nullptr;
  const Instruction* from = nullptr;
  At guard = kNowhere;
  std::array<Use, 4> writes;
  std::array<Use, 6> reads;          ///< of a memory access the base first, then what is stored
  std::array<At, 3> known{kNowhere, kNowhere, kNowhere};   ///< of a shuffle: the constants that its registers hold
  exec::Handler handler = nullptr;   ///< what carries it out otherwise: of the step, or of the guard's before it
  bool is_whole = false;             ///< of all lanes at once: memory, shuffles, calls
  bool is_called = false;            ///< carried out by its handler in any case
  bool is_in_loop = false;           ///< a branch behind it leads back over it
  bool is_exit = false;  ///< where lanes may leave the segment (exits.h); the branch's predicate is the first read
  Subnormals subnormals = Subnormals::any;
  std::uint8_t latency = 1;  ///< cycles, about
};

/// To integers in a float, or of a result: what the processor calls a mode. -1: none of its four.
int rounding_mode(ptx::Rounding rounding);

/// f16, bf16 and pairs: what Emitter::halves() does.
bool is_half_arithmetic(const Instruction& from);

/// Fills in what is read and written. False: not to be translated.
bool describe(const exec::Code& code, const Step& step, Item& item);

/// For shfl: the lane that each lane reads, and which of them lie in their segment.
struct Exchange {
  std::array<std::uint8_t, ptx::kLanes> from{};
  std::uint32_t within = 0;
};
Exchange exchange_of(const exec::Code& code, const Item& item);

/// The value that a constant has in all lanes. False: they differ.
bool constant_of(const exec::Code& code, const Use& use, std::uint64_t& value);

struct Segment {
  const Step* first = nullptr;
  std::vector<Item> items;
  std::uint32_t steps = 0;
  bool flushes = false;
  bool has_whole = false;
};

/// Where a register's value goes from here.
class Fates {
 public:
  static constexpr unsigned kAtEnd = 0xfffffffe, kNever = 0xffffffff;
  Fates(const exec::Code& code, const Segment& segment);
  /// The next item from `from` on that reads it; kAtEnd: what comes behind the segment may; kNever: nobody.
  unsigned next_read(At place, unsigned from) const;
  bool is_read_after(At place, unsigned item) const { return next_read(place, item + 1) != kNever; }

 private:
  struct Event {
    unsigned item;
    bool is_read;  ///< else written wholly
  };
  struct Place {
    std::vector<Event> events;
    bool is_live_at_end = false;
  };
  std::map<At, Place> places_;
};

}  // namespace flexrack::sim::jit
