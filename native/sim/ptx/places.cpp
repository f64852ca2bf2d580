#include "sim/ptx/places.h"

#include <algorithm>
#include <array>
#include <queue>

#include "sim/ptx/liveness.h"

namespace flexrack::sim::ptx {

namespace {

constexpr unsigned kWidths = 5;
constexpr std::uint64_t kMaxFrame = std::uint64_t{256} << 20;

struct Held {
  std::uint32_t last;
  std::uint32_t slot;
  bool operator>(const Held& other) const { return last > other.last; }
};

/// Slots of one width, handed out in the order of the intervals' starts.
struct Slots {
  std::priority_queue<Held, std::vector<Held>, std::greater<>> held;
  std::vector<std::uint32_t> free;
  std::uint32_t count = 0;

  std::uint32_t take(const Interval& interval) {
    // What ends in the instruction that writes is not given to it: an instruction never overwrites its own sources.
    while (!held.empty() && held.top().last < interval.first) {
      free.push_back(held.top().slot);
      held.pop();
    }
    if (free.empty()) free.push_back(count++);
    const auto slot = free.back();
    free.pop_back();
    held.push({interval.last, slot});
    return slot;
  }
};

using Regions = std::array<Slots, kWidths>;

/// The widest first, predicates last; each register of lanes begins at a multiple of 64.
std::array<std::uint32_t, kWidths> region_starts(const Regions& regions, std::uint64_t& end) {
  std::array<std::uint32_t, kWidths> out{};
  std::uint64_t at = 0;
  for (unsigned width = kWidths; width-- > 0;) {
    out[width] = static_cast<std::uint32_t>(at);
    at += std::uint64_t{regions[width].count} * lane_bytes(static_cast<Width>(width));
  }
  end = (std::max<std::uint64_t>(at, 1) + 63) / 64 * 64;
  return out;
}

void replace(Function& function, const std::vector<std::uint32_t>& places) {
  const auto one = [&](Operand& operand) {
    if (operand.kind == Operand::Kind::lanes || operand.kind == Operand::Kind::address_register)
      operand.at = places[operand.at];
  };
  for (auto& each : function.code) {
    if (each.guard != kNone) each.guard = places[each.guard];
    for (auto& operand : each.o) one(operand);
  }
  for (auto& each : function.operands) one(each);
  for (auto& call : function.calls) {
    for (auto& each : call.arguments) one(each.value);
    for (auto& each : call.results) one(each.value);
  }
  for (auto& each : function.textures) {
    for (auto* operand : {&each.sampler, &each.level, &each.dpdx, &each.dpdy, &each.offset, &each.compare})
      one(*operand);
  }
  for (auto* list : {&function.parameters, &function.results}) {
    for (auto& each : *list) one(each.place);
  }
}

std::uint32_t estimate(const Regions& regions) {
  const auto count = [&](Width width) { return std::uint64_t{regions[static_cast<unsigned>(width)].count}; };
  const auto total = count(Width::w16) + count(Width::w32) + 2 * count(Width::w64) + 4 * count(Width::w128);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(total, 8, 255));
}

}  // namespace

bool assign_places(Function& function, const std::vector<Width>& widths) {
  const auto intervals = live_intervals(function, flow_of(function), widths.size());
  std::vector<std::uint32_t> order;
  for (std::uint32_t at = 0; at < widths.size(); ++at) {
    if (intervals[at].first <= intervals[at].last) order.push_back(at);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return intervals[a].first < intervals[b].first; });
  Regions regions;
  std::vector<std::uint32_t> places(widths.size(), 0);
  for (const auto reg : order) places[reg] = regions[static_cast<unsigned>(widths[reg])].take(intervals[reg]);
  std::uint64_t end = 0;
  const auto starts = region_starts(regions, end);
  if (end > kMaxFrame) return false;
  function.frame_bytes = static_cast<std::uint32_t>(end);
  for (const auto reg : order) {
    const auto width = widths[reg];
    places[reg] = starts[static_cast<unsigned>(width)] + places[reg] * lane_bytes(width);
    function.lives.push_back({places[reg], intervals[reg].first, intervals[reg].last});
  }
  std::stable_sort(function.lives.begin(), function.lives.end(),
                   [](const Life& a, const Life& b) { return a.place < b.place; });
  replace(function, places);
  function.register_count = estimate(regions);
  return true;
}

}  // namespace flexrack::sim::ptx
