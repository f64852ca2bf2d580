// Dominators of the reversed graph, by Lengauer and Tarjan's simple method (TOPLAS 1979): almost linear, also for
// graphs that were made to be slow. Nothing here recurses.
#include "sim/ptx/post_dominators.h"

#include <algorithm>

namespace flexrack::sim::ptx {

namespace {

class Region {
 public:
  Region(const Flow& flow, const Function& function);
  std::vector<std::uint32_t> run();

 private:
  void invert();
  void visit(std::uint32_t root);
  void dominate(std::uint32_t first);
  std::uint32_t lowest(std::uint32_t node);

  const Flow& flow_;
  const Function& function_;
  std::uint32_t count_;
  std::vector<std::uint32_t> predecessor_first_, predecessors_;
  // By node: its number in the order of visit (kNone: not visited), and what the method keeps.
  std::vector<std::uint32_t> number_, parent_, semi_, label_, ancestor_, meets_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> bucket_head_, bucket_next_;
  std::vector<std::uint32_t> path_;
};

Region::Region(const Flow& flow, const Function& function)
    : flow_(flow), function_(function), count_(static_cast<std::uint32_t>(flow.nodes.size())) {
  for (auto* each : {&number_, &parent_, &semi_, &label_, &ancestor_, &meets_, &bucket_head_, &bucket_next_})
    each->assign(count_, kNone);
  invert();
}

void Region::invert() {
  predecessor_first_.assign(count_ + 1, 0);
  for (const auto to : flow_.successor_list) ++predecessor_first_[to + 1];
  for (std::uint32_t at = 0; at < count_; ++at) predecessor_first_[at + 1] += predecessor_first_[at];
  predecessors_.resize(flow_.successor_list.size());
  auto next = predecessor_first_;
  for (std::uint32_t from = 0; from < count_; ++from) {
    for (const auto to : flow_.successors(from)) predecessors_[next[to]++] = from;
  }
}

void Region::visit(std::uint32_t root) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stack;   // node, next predecessor
  const auto enter = [&](std::uint32_t node, std::uint32_t from) {
    number_[node] = semi_[node] = static_cast<std::uint32_t>(order_.size());
    label_[node] = node;
    parent_[node] = from;
    order_.push_back(node);
    stack.emplace_back(node, predecessor_first_[node]);
  };
  enter(root, kNone);
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next == predecessor_first_[node + 1]) {
      stack.pop_back();
      continue;
    }
    const auto from = predecessors_[next++];
    if (number_[from] == kNone) enter(from, node);
  }
}

/// The node of least semi-dominator on the way up; ways are shortened as they are walked.
std::uint32_t Region::lowest(std::uint32_t node) {
  if (ancestor_[node] == kNone) return node;
  path_.clear();
  for (auto at = node; ancestor_[ancestor_[at]] != kNone; at = ancestor_[at]) path_.push_back(at);
  for (auto at = path_.rbegin(); at != path_.rend(); ++at) {
    const auto above = ancestor_[*at];
    if (semi_[label_[above]] < semi_[label_[*at]]) label_[*at] = label_[above];
    ancestor_[*at] = ancestor_[above];
  }
  return label_[node];
}

void Region::dominate(std::uint32_t first) {
  const auto end = static_cast<std::uint32_t>(order_.size());
  for (auto at = end; at-- > first + 1;) {
    const auto node = order_[at];
    // Number less than first: visited with an earlier end, which this node would reach too; it cannot be.
    for (const auto to : flow_.successors(node)) {
      if (number_[to] == kNone || number_[to] < first) continue;
      semi_[node] = std::min(semi_[node], semi_[lowest(to)]);
    }
    const auto above = order_[semi_[node]];
    bucket_next_[node] = bucket_head_[above];
    bucket_head_[above] = node;
    ancestor_[node] = parent_[node];
    auto& head = bucket_head_[parent_[node]];
    while (head != kNone) {
      const auto each = head;
      head = bucket_next_[each];
      const auto low = lowest(each);
      meets_[each] = semi_[low] < semi_[each] ? low : parent_[node];
    }
  }
  for (auto at = first + 1; at < end; ++at) {
    const auto node = order_[at];
    if (meets_[node] != order_[semi_[node]]) meets_[node] = meets_[meets_[node]];
  }
}

std::vector<std::uint32_t> Region::run() {
  // Ends from the last to the first, traps after them, then what never ends.
  const auto rank = [&](std::uint32_t node) {
    if (flow_.nodes[node].successor_count) return 2;
    return node < flow_.block_count && function_.code[flow_.nodes[node].end - 1].op == Op::trap ? 1 : 0;
  };
  for (int wanted = 0; wanted < 3; ++wanted) {
    for (auto node = count_; node-- > 0;) {
      if (number_[node] != kNone || rank(node) != wanted) continue;
      const auto first = static_cast<std::uint32_t>(order_.size());
      visit(node);
      dominate(first);
    }
  }
  return std::move(meets_);
}

}  // namespace

std::vector<std::uint32_t> post_dominators(const Flow& flow, const Function& function) {
  return Region(flow, function).run();
}

}  // namespace flexrack::sim::ptx
