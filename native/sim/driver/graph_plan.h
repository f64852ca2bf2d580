// What a launch of a graph does. Made once, for all launches until something of the graph is changed; those under way
// keep theirs.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/driver/graph.h"
#include "sim/exec/conditions.h"

namespace flexrack::sim {

/// Never changes.
struct GraphPlan {
  struct Branch {
    CUgraphConditionalHandle handle = 0;
    CUgraphConditionalNodeType type{};
    std::vector<std::shared_ptr<const GraphPlan>> bodies{};
  };
  struct Step {
    WorkPointer work{};                        ///< null: nothing, or what follows
    Ref<Context> context{};                    ///< null: that of the stream it is launched in
    std::vector<std::size_t> before{};         ///< by number, all of them smaller; none: it begins with the graph
    std::shared_ptr<const GraphPlan> child{};
    std::optional<Branch> branch{};            ///< a conditional node
  };
  std::vector<Step> steps{};
  std::vector<std::size_t> last{};             ///< what nothing waits for
  // Of the whole graph; null and empty in its parts.
  std::shared_ptr<exec::Conditions> conditions{};
  std::vector<std::pair<CUgraphConditionalHandle, unsigned>> values{};   ///< at the begin of each launch
};

std::shared_ptr<const GraphPlan> plan_of(const Graph& graph);

/// One launch of it.
class GraphRun : public std::enable_shared_from_this<GraphRun> {
 public:
  GraphRun(std::shared_ptr<const GraphPlan> plan, Ref<Context> context, int priority)
      : plan_(std::move(plan)), context_(std::move(context)), priority_(priority) {}
  /// What its conditions are at first. Short.
  void begin() const;
  /// All of it behind `begin`; gives what has to be over for it to be over. Which bodies of conditional nodes are done,
  /// and how often, turns out on the way.
  std::vector<Ref<Command>> submit(const Ref<Command>& begin) { return submit(*plan_, {begin}); }

 private:
  std::vector<Ref<Command>> submit(const GraphPlan& plan, const std::vector<Ref<Command>>& begin);
  void submit_branch(const GraphPlan::Step& step, const Ref<Command>& end, const std::vector<Ref<Command>>& before);
  void decide(const GraphPlan::Step& step, const Ref<Command>& end);
  const GraphPlan* chosen(const GraphPlan::Branch& branch) const;

  const std::shared_ptr<const GraphPlan> plan_;
  const Ref<Context> context_;
  const int priority_;
};

}  // namespace flexrack::sim
