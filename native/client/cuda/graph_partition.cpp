#include "client/cuda/graph_partition.h"

#include <algorithm>
#include <map>
#include <utility>

namespace flexrack::client::cuda {
namespace {

/// Where a node is, and in which round of its servers' streams: first parts, then copies.
struct Spot {
  CudaServer* server;
  CudaServer* target;
  std::size_t level;
  bool is_copy() const { return target != nullptr; }
  bool is_at(const CudaServer* one) const { return server == one || target == one; }
  /// Whose stream is behind all of it.
  CudaServer* end() const { return target ? target : server; }
};

/// One of its streams comes after `before` without being told.
bool share_stream(const Spot& node, const Spot& before) {
  return before.is_at(node.server) || (node.target && before.is_at(node.target));
}

std::vector<Spot> spots_of(std::span<const PartedNode> nodes, CudaServer* home) {
  std::vector<Spot> all;
  all.reserve(nodes.size());
  for (const auto& node : nodes) {
    Spot spot{node.server, node.target, 0};
    if (!spot.server) {
      const auto last = std::max_element(node.before.begin(), node.before.end(),
                                         [&](auto one, auto other) { return all[one].level < all[other].level; });
      spot.server = last == node.before.end() ? home : all[*last].end();
    }
    for (const auto number : node.before) {
      const auto& before = all[number];
      const bool is_in_turn = share_stream(spot, before) && (spot.is_copy() || !before.is_copy());
      spot.level = std::max(spot.level, before.level + (is_in_turn ? 0 : 1));
    }
    all.push_back(spot);
  }
  return all;
}

/// By who waits and in which round, and whom for: the round of that one which has to be over.
using Waits = std::map<std::pair<std::size_t, CudaServer*>, std::map<CudaServer*, std::size_t>>;

Waits waits_of(std::span<const PartedNode> nodes, const std::vector<Spot>& spots) {
  Waits all;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const auto number : nodes[i].before) {
      const auto& before = spots[number];
      if (share_stream(spots[i], before)) continue;
      auto& level = all[{spots[i].level, spots[i].server}][before.end()];
      level = std::max(level, before.level);
    }
  }
  return all;
}

}  // namespace

Partition partition(std::span<const PartedNode> nodes, CudaServer* home) {
  const auto spots = spots_of(nodes, home);
  Partition made;
  std::map<std::pair<std::size_t, CudaServer*>, std::size_t> parts;
  std::map<std::size_t, std::vector<Step>> rounds, copies, signals, awaits;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& spot = spots[i];
    if (spot.is_copy()) {
      made.part_of.push_back(Partition::kNone);
      copies[spot.level].push_back({Step::Kind::copy, spot.server, spot.target, i});
      continue;
    }
    const auto [at, is_new] = parts.try_emplace({spot.level, spot.server}, made.parts.size());
    made.part_of.push_back(at->second);
    if (!is_new) continue;
    made.parts.push_back(spot.server);
    rounds[spot.level].push_back({Step::Kind::part, spot.server, nullptr, at->second});
  }
  std::map<std::pair<CudaServer*, CudaServer*>, std::size_t> heard;   ///< by who waits and whom for: rounds so far
  for (const auto& [when, whom] : waits_of(nodes, spots)) {
    const auto& [level, server] = when;
    for (const auto& [other, until] : whom) {
      auto& so_far = heard[{server, other}];
      if (so_far > until) continue;
      so_far = until + 1;
      signals[until].push_back({Step::Kind::signal, other, server, made.signals});
      awaits[level].push_back({Step::Kind::await, server, other, made.signals++});
    }
  }
  std::size_t last = 0;
  for (const auto& spot : spots) last = std::max(last, spot.level);
  for (std::size_t level = 0; level <= last; ++level) {
    for (auto* const kind : {&awaits, &rounds, &copies, &signals}) {
      const auto found = kind->find(level);
      if (found != kind->end()) made.steps.insert(made.steps.end(), found->second.begin(), found->second.end());
    }
  }
  return made;
}

}  // namespace flexrack::client::cuda
