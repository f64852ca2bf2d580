// Which of the warp's registers are in the processor's while a segment is translated. A value is eight lanes of a
// register (Form); memory has it in the warp's frame. What is not needed any more is not written back; what is, is
// written when its place in the processor goes to another, or at the end.
//
// A float may be held in a form that arithmetic takes as it is and that memory must not have: a NaN of any bits, where
// PTX has one NaN; a subnormal, where it is to be zero. It is put right when something else looks at it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/jit/assembler.h"
#include "sim/jit/lines.h"
#include "sim/jit/segment.h"

namespace flexrack::sim::jit {

/// 32 bytes of constants each, side by side.
class Pool {
 public:
  /// Where a value lies that all lanes have: a dword, or two of them for each of four lanes.
  Source word(std::uint32_t value) { return wide(value | std::uint64_t{value} << 32); }
  Source wide(std::uint64_t value);
  Source eight(const std::array<std::uint32_t, 8>& values);
  Source lane_bits();                ///< 1, 2, 4, ... 128
  /// first, first + 1, ... times the step: eight words or four wide ones.
  Source series(std::int64_t step, bool is_wide, unsigned first);
  const std::vector<std::uint32_t>& words() const { return words_; }

 private:
  std::map<std::uint64_t, std::int32_t> known_;
  std::map<std::array<std::int64_t, 3>, std::int32_t> series_;
  std::map<std::array<std::uint32_t, 8>, std::int32_t> eights_;
  std::int32_t lane_bits_ = -1;
  std::vector<std::uint32_t> words_;
};

/// The processor's registers that hold addresses, of the first lanes that one turn of the loop works for.
inline constexpr Gpr kWords = r8, kWides = r9, kMasks = r10, kHalves = r11, kLaneMask = rdx;

class Registers {
 public:
  static constexpr unsigned kScratch = 14, kScratch2 = 15, kCount = 14;  ///< what writing back needs for itself

  /// `ways`: vectors of eight lanes that one turn works for. `is_partial`: some lanes do not work, and keep what they
  /// have.
  Registers(const exec::Code& code, Assembler& to, Pool& pool, const Fates& fates, unsigned ways, bool is_partial)
      : code_(code), to_(to), pool_(pool), fates_(fates), ways_(ways), is_partial_(is_partial) {}

  /// Registers that lie evenly are made of their bases where they are needed lane by lane.
  void follow(const Lines* lines) { lines_ = lines; }
  /// A base was written: what is held of that register is from before.
  void drop(At place);

  void at_item(unsigned item) { item_ = item; }
  /// All lanes have come to this item: those of one do not go ahead of others.
  void all_at(unsigned item) {
    item_ = item;
    next_.fill(item);
  }
  /// From here on so many vectors of eight lanes go through the items together, until all_at().
  void together(unsigned parts, unsigned first) { group_ = parts, first_ = first; }
  /// What follows is for these eight lanes of an item; all that was taken before may go.
  void at_lanes(unsigned part) {
    lanes_ = part;
    next_[part] = item_ + 1;
    release();
    for (auto& held : held_) held.is_new = false;
  }

  /// In a register, as memory would have it. Of wide values `part` counts vectors of four lanes.
  unsigned take(const Use& use, unsigned part);
  /// The same as the last source of an instruction: memory too.
  Source last(const Use& use, unsigned part);
  /// Floats for arithmetic.
  unsigned take_float(const Use& use, unsigned part);
  Source last_float(const Use& use, unsigned part);
  /// A register to change that has the value: the value's own where nobody needs it any more.
  bool is_last_read(const Use& use, const Item& item) const;
  unsigned copy_float(const Use& use, unsigned part, const Item& item);
  unsigned fresh();
  /// Makes a register's value what is written; only once for each part, and after all sources have been taken.
  void put(const Item& item, const Use& use, unsigned part, unsigned value, bool may_be_nan = false,
           bool may_be_tiny = false);
  /// What was taken for the lanes can go; all but one register.
  void release(unsigned but = kCount);
  /// Where the item is over: what nobody needs leaves.
  void forget();
  /// Writes back all that is needed behind the segment; in a loop, of one turn.
  void finish();
  /// Behind the loop.
  void finish_loop();

  /// Of what was taken, only these stay.
  template <class A, class B>
  void release_fresh(const A& some, const B& others) {
    release();
    for (const unsigned number : some) held_[number].is_taken = true;
    for (const unsigned number : others) held_[number].is_taken = true;
  }

  // ---- around a call of what carries an item out otherwise: it has the warp's frame, and nothing of ours outlives it
  struct Held {
    At place = kNowhere;  ///< kNowhere: nothing, or something for a moment
    Form form = Form::none;
    std::uint8_t part = 0;
    bool is_dirty = false, may_be_nan = false, may_be_tiny = false, is_taken = false;
    bool is_new = false;  ///< written by the item under way
  };
  using State = std::array<Held, kCount>;
  const State& state() const { return held_; }
  /// Writes back what a state has that is needed from the item on.
  void save(const State& state);
  /// Loads what a state has.
  void restore(const State& state);
  /// The same of what another state does not have in the same register, but of one place.
  void restore_but(const State& state, const State& other, At place);
  /// Writes back what a state has and another does not have in the same register.
  void save_but(const State& state, const State& other);
  /// The register of a state that has a value, or for a moment a scratch one.
  unsigned seen_in(const State& state, const Use& use, unsigned part);
  void forget_all() { held_ = {}; }

 private:
  int find(At place, unsigned part) const;
  static unsigned lanes_of(const Held& held);
  unsigned next_need(const Held& held) const;
  unsigned room();
  bool has_room() const;
  void write_back(unsigned number);
  void collect_mask(const std::array<unsigned, 4>& parts);
  void write_back_whole(const std::array<unsigned, 4>& parts);
  void put_right(unsigned number);
  const Line* line_of(At place) const { return lines_ == nullptr ? nullptr : lines_->find(place, item_); }
  void load(unsigned number, const Use& use, unsigned part);
  void load_line(unsigned number, const Line& line, unsigned part);
  void expand_mask(unsigned number, const Source& byte);
  void lane_mask(unsigned number, Form form, unsigned part);
  Source memory(At place, Form form, unsigned part) const;
  Source constant(const Use& use);

  const exec::Code& code_;
  Assembler& to_;
  Pool& pool_;
  const Fates& fates_;
  unsigned ways_;
  bool is_partial_;
  const Lines* lines_ = nullptr;
  unsigned item_ = 0, lanes_ = 0, group_ = 4, first_ = 0;
  std::array<unsigned, 4>
      next_{};  ///< for each eight lanes the item that they come to next; of those under way, behind it
  At collected_ = kNowhere;  ///< the predicate whose bits are in edi, in a loop
  State held_;
};

}  // namespace flexrack::sim::jit
