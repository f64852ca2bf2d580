#include "sim/driver/graph_plan.h"

namespace flexrack::sim {
namespace {

std::shared_ptr<const GraphPlan> part_of(const Graph& graph, exec::Conditions& conditions) {
  auto made = std::make_shared<GraphPlan>();
  std::map<const GraphNode*, std::size_t> numbers;
  for (const auto* node : graph.in_order()) {
    const auto number = made->steps.size();
    auto& step = made->steps.emplace_back();
    if (node->is_enabled) step.work = node->work;
    step.context = node->context;
    for (const auto& edge : node->before) step.before.push_back(numbers.at(edge.node));
    if (node->child) step.child = part_of(*node->child, conditions);
    if (node->condition) {
      const auto& condition = *node->condition;
      auto& branch = step.branch.emplace(GraphPlan::Branch{.handle = condition.handle, .type = condition.type});
      conditions.add(condition.handle);
      for (const auto& body : condition.bodies) branch.bodies.push_back(part_of(*body, conditions));
    }
    numbers[node] = number;
    if (node->after.empty()) made->last.push_back(number);
  }
  return made;
}

}  // namespace

std::shared_ptr<const GraphPlan> plan_of(const Graph& graph) {
  const auto conditions = std::make_shared<exec::Conditions>();
  auto whole = std::make_shared<GraphPlan>(*part_of(graph, *conditions));
  const std::lock_guard guard(graph.conditions->lock);
  for (const auto& [handle, one] : graph.conditions->all)
    if (one.has_value) whole->values.emplace_back(handle, one.value);
  if (!graph.conditions->all.empty()) whole->conditions = conditions;
  return whole;
}

void GraphRun::begin() const {
  for (const auto& [handle, value] : plan_->values) plan_->conditions->set(handle, value);
}

std::vector<Ref<Command>> GraphRun::submit(const GraphPlan& plan, const std::vector<Ref<Command>>& begin) {
  std::vector<std::vector<Ref<Command>>> ends(plan.steps.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto& step = plan.steps[i];
    std::vector<Ref<Command>> before;
    for (const auto number : step.before) before.insert(before.end(), ends[number].begin(), ends[number].end());
    if (step.before.empty()) before = begin;
    if (step.child) {
      ends[i] = submit(*step.child, before);
      // An empty child graph is passed through.
      if (ends[i].empty()) ends[i] = before;
      continue;
    }
    const auto& home = step.context ? step.context : context_;
    const auto command = step.work ? command_for(home, step.work, plan_->conditions) : Command::marker(home);
    command->priority = priority_;
    ends[i] = {command};
    if (step.branch) {
      submit_branch(step, command, before);
      continue;
    }
    if (auto also = step.work ? step.work->prerequisite() : nullptr) before.push_back(std::move(also));
    command->submit(before);
    if (step.work) step.work->submitted(command);
  }
  std::vector<Ref<Command>> last;
  for (const auto number : plan.last) last.insert(last.end(), ends[number].begin(), ends[number].end());
  return last;
}

/// The next look at the condition is work of the device's, as a kernel is: a loop of nothing at all would not let
/// whoever runs it go.
void GraphRun::submit_branch(const GraphPlan::Step& step, const Ref<Command>& end,
                             const std::vector<Ref<Command>>& before) {
  const auto& home = step.context ? step.context : context_;
  // Also where the context has failed: what waits for the end waits for this.
  const auto look = Command::make(
      home, &home->device.compute, [self = shared_from_this(), &step, end] { self->decide(step, end); }, true);
  look->priority = priority_;
  look->submit(before);
}

const GraphPlan* GraphRun::chosen(const GraphPlan::Branch& branch) const {
  const std::size_t value = plan_->conditions->value(branch.handle);
  std::size_t which = 0;
  switch (branch.type) {
    case CU_GRAPH_COND_TYPE_IF: which = value != 0 ? 0 : 1; break;
    case CU_GRAPH_COND_TYPE_WHILE: which = value != 0 ? 0 : branch.bodies.size(); break;
    case CU_GRAPH_COND_TYPE_SWITCH: which = value; break;
  }
  return which < branch.bodies.size() ? branch.bodies[which].get() : nullptr;
}

void GraphRun::decide(const GraphPlan::Step& step, const Ref<Command>& end) {
  const auto& home = step.context ? step.context : context_;
  const auto* const body = home->has_failed() ? nullptr : chosen(*step.branch);
  if (!body) return end->submit({});
  try {
    const auto ends = submit(*body, {});
    if (step.branch->type == CU_GRAPH_COND_TYPE_WHILE) submit_branch(step, end, ends);
    else end->submit(ends);
  } catch (...) {
    home->fail_from_exception();
    end->submit({});
  }
}

}  // namespace flexrack::sim
