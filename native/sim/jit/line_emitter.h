// The machine code of a loop's lines (lines.h): what is carried out once for all lanes, and how a warp comes to that
// and leaves it. Works in rax, rcx, rdx and rsi.
#pragma once

#include <vector>

#include "sim/jit/registers.h"

namespace flexrack::sim::jit {

class LineEmitter {
 public:
  LineEmitter(const exec::Code& code, Assembler& to, Pool& pool, const Lines& lines, const Fates& fates,
              const Segment& segment)
      : code_(code), to_(to), pool_(pool), lines_(lines), fates_(fates), segment_(segment) {}

  /// Where a segment is entered by all lanes. Whoever was here before with lines goes to the code that comes behind
  /// this; whoever comes again is looked at first. `others`: jumps for those whose lanes do not lie so, or come for the
  /// first time.
  void enter(std::vector<std::size_t>& others);
  /// An item, once for all lanes. `leaving`: jumps, for lanes that this has no number for; nothing has happened then.
  void emit(const Item& item, unsigned number, std::vector<std::size_t>& leaving);
  /// All that is needed from the item on becomes what the frame has. `but_entry`: what the loop begins with stays.
  void write_back(unsigned number, bool but_entry = false);
  /// The warp comes to this loop without lines, once or always.
  void give_up(bool for_good) { own(for_good ? kNever : kOnce); }
  /// Behind the last item, where the branch leads back to it: rax is the step to go to then. `leaving`: jumps for where
  /// not all lanes take it, before anything of it has happened. `pausing`: for where the slice is over; rax is 0.
  void go_back(Registers& registers, const Step& branch, std::vector<std::size_t>& leaving);

 private:
  /// What a warp's owner is beside the loop's number: that it was here once; that it is not to be asked again.
  enum Owner : std::uint8_t { kAll = 0, kOnce = 1, kNever = 2 };
  void own(Owner how);
  std::uint64_t number() const { return reinterpret_cast<std::uint64_t>(segment_.first); }
  void load(Gpr to, const Use& use, unsigned number, bool is_wide);
  void check(Gpr value, std::int64_t stride, bool is_wide, bool is_signed, std::vector<std::size_t>& leaving);
  void compare(const Item& item, unsigned number, std::vector<std::size_t>& leaving);
  std::int64_t stride_of(const Use& use, unsigned number) const;

  const exec::Code& code_;
  Assembler& to_;
  Pool& pool_;
  const Lines& lines_;
  const Fates& fates_;
  const Segment& segment_;
};

}  // namespace flexrack::sim::jit
