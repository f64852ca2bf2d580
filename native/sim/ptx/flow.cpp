#include "sim/ptx/flow.h"

#include <algorithm>

#include "sim/ptx/post_dominators.h"

namespace flexrack::sim::ptx {

namespace {

bool is_end(const Instruction& instruction) {
  return instruction.guard == kNone &&
         (instruction.op == Op::ret || instruction.op == Op::exit || instruction.op == Op::trap);
}

bool ends_block(const Instruction& instruction) {
  return instruction.op == Op::bra || instruction.op == Op::brx || is_end(instruction);
}

void add_end(Function& function) {
  const auto size = function.code.size();
  bool is_needed = function.code.empty() || !is_end(function.code.back());
  for (const auto& each : function.code) is_needed |= each.op == Op::bra && each.ways.target == size;
  for (const auto& table : function.branch_tables)
    is_needed |= std::find(table.targets.begin(), table.targets.end(), size) != table.targets.end();
  if (!is_needed) return;
  Instruction end;
  end.op = function.is_kernel ? Op::exit : Op::ret;
  function.code.push_back(end);
  function.lines.push_back(function.lines.empty() ? Line() : function.lines.back());
}

/// Lanes that would only jump to the end leave at once, so nobody waits for them.
void leave_at_once(Function& function) {
  for (auto& each : function.code) {
    if (each.op != Op::bra || each.guard == kNone) continue;
    const auto& target = function.code[each.ways.target];
    if (!is_end(target) || target.op == Op::trap) continue;
    each.op = target.op;
    each.displacement = 0;
  }
}

std::vector<std::uint32_t> block_starts(const Function& function) {
  std::vector<bool> starts(function.code.size() + 1);
  starts[0] = true;
  for (std::size_t at = 0; at < function.code.size(); ++at) {
    const auto& each = function.code[at];
    if (each.op == Op::bra) starts[each.ways.target] = true;
    if (ends_block(each)) starts[at + 1] = true;
  }
  for (const auto& table : function.branch_tables) {
    for (const auto target : table.targets) starts[target] = true;
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t at = 0; at < function.code.size(); ++at) {
    if (starts[at]) out.push_back(at);
  }
  return out;
}

}  // namespace

Flow flow_of(const Function& function) {
  Flow out;
  const auto starts = block_starts(function);
  out.block_count = static_cast<std::uint32_t>(starts.size());
  const auto size = static_cast<std::uint32_t>(function.code.size());
  std::vector<std::uint32_t> block_at(size, 0);
  for (std::uint32_t at = 0; at < starts.size(); ++at) block_at[starts[at]] = at;
  const auto begin = [&](Flow::Node& node) {
    node.successor_first = static_cast<std::uint32_t>(out.successor_list.size());
  };
  const auto close = [&](Flow::Node& node) {
    node.successor_count = static_cast<std::uint32_t>(out.successor_list.size()) - node.successor_first;
  };
  for (std::uint32_t at = 0; at < starts.size(); ++at) {
    Flow::Node node;
    node.first = starts[at];
    node.end = at + 1 < starts.size() ? starts[at + 1] : size;
    begin(node);
    const auto& last = function.code[node.end - 1];
    const bool falls_through = !is_end(last) && (last.guard != kNone || !ends_block(last));
    if (falls_through && node.end < size) out.successor_list.push_back(at + 1);
    if (last.op == Op::bra) out.successor_list.push_back(block_at[last.ways.target]);
    if (last.op == Op::brx) out.successor_list.push_back(out.block_count + last.index);
    close(node);
    out.nodes.push_back(node);
  }
  for (const auto& table : function.branch_tables) {
    Flow::Node node;
    begin(node);
    for (const auto target : table.targets) out.successor_list.push_back(block_at[target]);
    close(node);
    out.nodes.push_back(node);
  }
  return out;
}

void close_flow(Function& function) {
  add_end(function);
  leave_at_once(function);
  const auto flow = flow_of(function);
  const auto meets = post_dominators(flow, function);
  for (std::uint32_t block = 0; block < flow.block_count; ++block) {
    auto& last = function.code[flow.nodes[block].end - 1];
    if (last.op != Op::bra && last.op != Op::brx) continue;
    auto at = meets[block];
    while (at != kNone && at >= flow.block_count) at = meets[at];
    last.ways.reconverge = at == kNone ? kNone : flow.nodes[at].first;
  }
}

}  // namespace flexrack::sim::ptx
