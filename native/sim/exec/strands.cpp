// How a warp's lanes part, meet, call, return and end.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "sim/exec/block.h"
#include "sim/exec/calls.h"
#include "sim/exec/collective.h"
#include "sim/exec/warp.h"

namespace flexrack::sim::exec {
namespace {

constexpr unsigned kPolls = 16;         ///< the same value so often in a row: a strand that waits
constexpr unsigned kStaleSlices = 64;   ///< so many slices may lanes wait at a join for others that run

}  // namespace

void Warp::enter(Frame* to) {
  frame = to;
  bases[0] = to->registers;
  bases[1] = to->code->constants.get();
}

void Warp::set_current(const Strand& strand) {
  enter(strand.frame);
  join = strand.join;
  mask = strand.mask;
  resume = strand.at;
  is_current = true;
}

void Warp::remember(Strand::State state) {
  others.push_back({resume, frame, join, mask, state, 0});
  is_current = false;
}

const Step* Warp::branch(const Step* step, std::uint32_t taken) {
  const std::uint32_t rest = mask & ~taken;
  const Step* next = step + 1;
  if (step->meet != nullptr && !(join != nullptr && join->at == step->meet && join->frame == frame)) {
    join = block->new_join({step->meet, frame, mask, 0, join});
  }
  if (step->meet == step->target) {
    join->arrived |= taken;
    mask = rest;
    return next;
  }
  if (step->meet == next) {
    join->arrived |= rest;
    mask = taken;
    return step->target;
  }
  others.push_back({next, frame, join, rest, Strand::State::ready, 0});
  mask = taken;
  return step->target;
}

void Warp::split(const Step* step, std::uint32_t others_lanes) {
  others.push_back({step, frame, join, others_lanes, Strand::State::ready, 0});
  mask &= ~others_lanes;
}

const Step* Warp::arrive(const Step* step) {
  join->arrived |= mask;
  if (join->arrived != join->expected) {
    why = Why::gone;
    is_current = false;
    return nullptr;
  }
  Join* const over = join;
  mask = over->expected;
  join = over->parent;
  block->free_join(over);
  stale_slices = 0;
  return step;
}

const Step* Warp::wait(const Step* step, Strand::State state, std::uint32_t for_what) {
  others.push_back({step, frame, join, mask, state, for_what});
  is_current = false;
  why = Why::waits;
  return nullptr;
}

const Step* Warp::polled_at(const Step* step, std::uint64_t value) {
  if (polled != step || polled_value != value) {
    polled = step, polled_value = value, polls = 0;
    return step + 1;
  }
  if (++polls < kPolls) return step + 1;
  polls = 0;
  return pause(step + 1, Why::polls);
}

/// These lanes will not come to the joins of a frame but to that at its end, or with nullptr to none at all. Lanes that
/// waited for them only go on.
void Warp::forsake(std::uint32_t lanes, const Frame* in) {
  const bool is_whole = (mask & ~lanes) == 0;
  bool is_inner = is_whole;  // whether no strand is left that has this join as its innermost
  for (Join* at = join; at != nullptr && (in == nullptr || (at->frame == in && at->at != in->code->end));) {
    Join* const parent = at->parent;
    at->expected &= ~lanes;
    if (is_inner && at->arrived == at->expected) {
      if (at->expected != 0) {
        others.push_back({at->at, at->frame, parent, at->expected, Strand::State::ready, 0});
        is_inner = false;
      }
      block->free_join(at);
    } else {
      is_inner = false;
    }
    at = parent;
    if (is_whole) join = parent;
  }
}

const Step* Warp::return_lanes(const Step* step, std::uint32_t lanes) {
  forsake(lanes, frame);
  if (lanes == mask) return frame->code->end;
  // What is guarded has a join at the function's end.
  join_at_end()->arrived |= lanes;
  mask &= ~lanes;
  return step + 1;
}

Join* Warp::join_at_end() const {
  Join* at = join;
  while (at->at != frame->code->end || at->frame != frame) at = at->parent;
  return at;
}

const Step* Warp::end_lanes(const Step* step, std::uint32_t lanes) {
  live &= ~lanes;
  for (Frame* in = frame; in->caller != nullptr;) {
    Frame* const caller = in->caller;
    in->lanes &= ~lanes;
    if (in->lanes == 0) give_back(in);
    in = caller;
  }
  forsake(lanes, nullptr);
  mask &= ~lanes;
  block->threads_ended(static_cast<unsigned>(std::popcount(lanes)));
  if (mask != 0) return step + 1;
  is_current = false;
  why = Why::gone;
  return nullptr;
}

const Step* Warp::call(const Step* step, const Code& callee) {
  const auto& function = *callee.function;
  const std::uint32_t local =
      (frame->local_end + function.local_align - 1) / function.local_align * function.local_align;
  // Every call costs some stack, as a return address does.
  const std::uint64_t local_end = std::uint64_t{local} + std::max(function.local_bytes, 16U);
  if (local_end > block->local_bytes()) return fault(Fault::Kind::stack_overflow, step, std::countr_zero(mask));
  Frame* const made = block->new_frame(function.frame_bytes);
  made->caller = frame;
  made->code = &callee;
  made->call = step;
  made->lanes = mask;
  made->local = local;
  made->local_end = static_cast<std::uint32_t>(local_end);
  std::memset(made->registers, 0, function.frame_bytes);
  pass_arguments(*this, step, *made);
  enter(made);
  if (callee.has_branches) join = block->new_join({callee.end, made, mask, 0, join});
  return callee.steps.data();
}

const Step* Warp::leave(const Step*) {
  Frame* const old = frame;
  Frame* const caller = old->caller;
  pass_results(*this, *old);
  enter(caller);
  const Step* next = old->call + 1;
  old->lanes &= ~mask;
  if (old->lanes == 0) give_back(old);
  return next;
}

void Warp::give_back(Frame* old) { block->free_frame(old); }

void Warp::start(const Code& code, std::uint32_t lanes) {
  const auto& kernel = *code.function;
  root.code = &code;
  root.caller = nullptr;
  root.lanes = lanes;
  root.local = 0;
  root.local_end = kernel.local_bytes;
  live = mask = lanes;
  join = nullptr;
  others.clear();
  polled = nullptr;
  polls = stale_slices = 0;
  lines_owner = 0;
  std::memset(root.registers, 0, kernel.frame_bytes);
  enter(&root);
  resume = code.steps.data();
  is_current = true;
}

/// Strands that are ready at the same place go on as one.
void Warp::merge_ready() {
  for (std::size_t i = 0; i < others.size(); ++i) {
    auto& into = others[i];
    if (into.state != Strand::State::ready) continue;
    for (std::size_t j = others.size() - 1; j > i; --j) {
      const auto& from = others[j];
      if (from.state != Strand::State::ready || from.at != into.at || from.frame != into.frame ||
          from.join != into.join)
        continue;
      into.mask |= from.mask;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

/// Lanes that wait at the innermost joins go on alone. False: none waits.
bool Warp::release_joins() {
  bool is_any = false;
  for (std::size_t i = 0, count = others.size(); i < count; ++i) {
    for (Join* at = others[i].join; at != nullptr; at = at->parent) {
      if (at->arrived == 0) continue;
      others.push_back({at->at, at->frame, at->parent, at->arrived, Strand::State::ready, 0});
      at->expected &= ~at->arrived;
      at->arrived = 0;
      is_any = true;
      break;
    }
  }
  stale_slices = 0;
  return is_any;
}

/// Makes a strand current. False: none can run.
bool Warp::choose() {
  if (others.empty()) return false;
  for (;;) {
    auto found = std::find_if(others.begin(), others.end(),
                              [](const Strand& strand) { return strand.state == Strand::State::ready; });
    if (found == others.end() && complete_meetings(*this)) {
      merge_ready();
      continue;
    }
    if (found == others.end()) {
      if (!release_joins()) return false;
      continue;
    }
    const Strand next = *found;
    others.erase(found);
    set_current(next);
    return true;
  }
}

bool Warp::can_run() const {
  return is_current || std::any_of(others.begin(), others.end(),
                                   [](const Strand& strand) { return strand.state == Strand::State::ready; });
}

Why Warp::run(std::int64_t instructions, std::int64_t together) {
  budget = std::min(together, instructions);
  auto rest = instructions - budget;
  const auto over = [&](Why reason) {
    budget += rest;
    return reason;
  };
  std::size_t polls_in_a_row = 0;
  for (;;) {
    if (!is_current && !choose()) return over(live == 0 ? Why::gone : Why::waits);
    why = Why::none;
    const Step* step = resume;
    do { step = step->run(*this, step); } while (step != nullptr);
    if (why == Why::fault) return over(Why::fault);
    if (why == Why::gone || why == Why::waits) {
      polls_in_a_row = 0;
      if (budget + rest <= 0 && !others.empty()) return over(Why::pause);
      continue;
    }
    // A pause, or a poll. Alone and with nobody waiting at a join, there is nothing to choose from.
    if (others.empty() && join == nullptr) return over(why);
    if (why == Why::pause && rest > 0) {
      budget += std::exchange(rest, 0);
      continue;
    }
    const Why reason = why;
    remember(Strand::State::ready);
    complete_meetings(*this);
    merge_ready();
    if (reason == Why::polls) {
      if (++polls_in_a_row > others.size()) {
        polls_in_a_row = 0;
        if (!release_joins()) return over(Why::polls);
      }
    } else if (++stale_slices >= kStaleSlices) {
      release_joins();
    }
    if (budget + rest <= 0) return over(reason);
  }
}

}  // namespace flexrack::sim::exec
