// Registers of a loop whose lanes lie evenly: what a lane has is a base and lane times a stride. Counters, indices and
// addresses of most kernels do. While they do, one number stands for all lanes: a sum is one of the processor's, a
// comparison is decided once, and an access needs no look at 32 addresses.
//
// Strides are known when code is made, by a guess that is looked at before it is believed: when a warp comes to a loop
// for the second time, all registers that are guessed at are compared with it. From then on whatever happens to them in
// the loop is known, for as long as all lanes stay in it.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "sim/jit/segment.h"

namespace flexrack::sim::jit {

struct Line {
  unsigned slot = 0;  ///< of Warp::lines, where the base is; of a predicate all bits or none
  std::int64_t stride = 0;  ///< of words a word, of both signs
  Form form = Form::none;
  bool is_stale = false;  ///< what the frame has is from before
};

/// Of the slot, in a warp.
std::int32_t slot_offset(const Line& line);

/// What a stride is thought to be where a loop begins, by a look at the code before it; of whatever is not found,
/// nobody knows. Never to be believed.
using Strides = std::map<At, std::int64_t>;
Strides strides_before(const exec::Code& code, const Step* loop);

/// The stride of an instruction's result, of the strides of what it reads; nothing where it does not lie evenly, or
/// only for some values of which nothing is known while code is made.
std::optional<std::int64_t> stride_of_result(const exec::Code& code, const Item& item, const Strides& strides);

/// Whether lanes would part from their line where a number that they have goes beyond its width.
bool may_wrap(const Item& item, const Strides& strides);

class Lines {
 public:
  using State = std::map<At, Line>;
  static constexpr unsigned kSlots = 24;

  /// For a segment that is all of a loop's body. Nothing where it would gain nothing.
  static std::optional<Lines> of(const exec::Code& code, const Segment& segment, const Strides& guess);

  /// What is known when an item begins; of the number behind the last one, at the end, where the same is known as at
  /// the beginning, and more.
  const State& before(unsigned item) const { return states_[item]; }
  const State& at_entry() const { return entry_; }
  const Line* find(At place, unsigned item) const {
    const auto found = states_[item].find(place & ~kNegated);
    return found == states_[item].end() ? nullptr : &found->second;
  }
  /// An item that is carried out once for all lanes.
  bool is_scalar(unsigned item) const { return scalar_[item]; }
  Strides strides(unsigned item) const;

 private:
  State entry_;
  std::vector<State> states_;
  std::vector<bool> scalar_;
};

/// Whether an access's addresses are known by a line, in a way that needs no look at the lanes.
const Line* line_of_access(const Lines& lines, const Item& item, unsigned number);

}  // namespace flexrack::sim::jit
