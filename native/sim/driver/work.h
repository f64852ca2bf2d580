// What can be done in a stream or by a node of a graph: copies, fills, kernels, host functions and so on.
#pragma once

#include <memory>
#include <vector>

#include "gen/cuda/cuda.h"
#include "sim/driver/context.h"
#include "sim/driver/stream.h"

namespace flexrack::sim {

namespace exec {
class Conditions;
}

/// A description that does not change once it is in a stream or a graph: the same may be carried out many times.
class Work {
 public:
  virtual ~Work() = default;
  /// Who carries it out; null: nobody has to, it is over when what it depends on is.
  virtual Worker* worker(Device& device) const = 0;
  /// On a thread of that worker. What it throws is what the context fails with.
  virtual void execute(Context& context) const = 0;
  /// The same by a graph whose conditions a kernel may set; null: it has none.
  virtual void execute_in_graph(Context& context, exec::Conditions*) const { execute(context); }
  /// As a node of a graph.
  virtual CUgraphNodeType type() const = 0;
  /// Does what it can from that step on, 0 at first, without waiting. False: it has to be called again.
  virtual bool advance(Context& context, std::size_t& /*step*/) const { return execute(context), true; }
  /// It may have to: its worker is one that asks.
  virtual bool is_awaited() const { return false; }
  /// Is done even where the context has failed.
  virtual bool is_always_done() const { return false; }

  /// Reads or writes memory of devices, and does not wait for others while it is at it.
  virtual bool touches_memory() const { return true; }

  /// What else has to be over; null: nothing.
  virtual Ref<Command> prerequisite() const { return nullptr; }
  /// It was put in order as this command.
  virtual void submitted(const Ref<Command>&) const {}
};
using WorkPointer = std::shared_ptr<const Work>;

/// A command that carries it out. `conditions`: of the graph that it is done by.
Ref<Command> command_for(const Ref<Context>& context, const WorkPointer& work,
                         const std::shared_ptr<exec::Conditions>& conditions = nullptr);

/// Puts it into a stream, or into the graph that the stream is captured as.
void enqueue(Stream& stream, const WorkPointer& work);
/// Puts it into a stream and waits until it is done, by this thread where it can. Throws where the stream is captured,
/// and the error of a context that has failed.
void carry_out(Stream& stream, const WorkPointer& work);
/// Throws where a stream is captured, or where the stream is the legacy one and one that it would wait for is captured.
void require_not_captured(Stream& stream);

}  // namespace flexrack::sim
