#include "sim/jit/segment.h"

#include <algorithm>
#include <cstring>

namespace flexrack::sim::jit {

bool constant_of(const exec::Code& code, const Use& use, std::uint64_t& value) {
  const std::size_t bytes = use.form == Form::wide ? 8 : use.form == Form::half ? 2 : 4;
  const std::byte* first = code.constants.get() + (use.at & ~3U);
  value = 0;
  std::memcpy(&value, first, bytes);
  for (unsigned lane = 1; lane < ptx::kLanes; ++lane) {
    if (std::memcmp(first, first + lane * bytes, bytes) != 0) return false;
  }
  return true;
}

namespace {

/// Whether a register is needed behind an instruction.
bool is_live(const ptx::Function& function, At place, std::uint32_t instruction) {
  auto life = std::lower_bound(function.lives.begin(), function.lives.end(), place,
                               [](const ptx::Life& one, At at) { return one.place < at; });
  for (; life != function.lives.end() && life->place == place; ++life) {
    if (life->first <= instruction && life->last > instruction) return true;
  }
  return false;
}

}  // namespace

Fates::Fates(const exec::Code& code, const Segment& segment) {
  const auto register_of = [](At at) { return at & ~kNegated; };
  for (unsigned i = 0; i < segment.items.size(); ++i) {
    const auto& item = segment.items[i];
    const auto read = [&](At at) {
      if (at != kNowhere) places_[register_of(at)].events.push_back({i, true});
    };
    for (const auto& use : item.reads) read(use.at);
    read(item.guard);
    // Whatever may be needed there, if it has come so far.
    const auto here = static_cast<std::uint32_t>(item.from - code.function->code.data());
    for (auto& [place, about] : places_) {
      if (item.is_exit && is_live(*code.function, place, here)) about.events.push_back({i, true});
    }
    for (const auto& use : item.writes) {
      if (use.at == kNowhere) continue;
      if (item.guard != kNowhere) read(use.at);
      else places_[use.at].events.push_back({i, false});
    }
  }
  const auto& function = *code.function;
  const auto last = static_cast<std::uint32_t>(segment.items.back().from - function.code.data());
  for (auto& [place, about] : places_) { about.is_live_at_end = is_live(function, place, last); }
}

unsigned Fates::next_read(At place, unsigned from) const {
  const auto found = places_.find(place);
  if (found == places_.end()) return kAtEnd;
  const auto& events = found->second.events;
  const auto next = std::lower_bound(events.begin(), events.end(), from,
                                     [](const Event& event, unsigned item) { return event.item < item; });
  if (next != events.end()) return next->is_read ? next->item : kNever;
  return found->second.is_live_at_end ? kAtEnd : kNever;
}

}  // namespace flexrack::sim::jit
