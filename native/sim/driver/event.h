// Events: the last place in a stream's order that was marked by them.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "gen/cuda/cuda.h"
#include "sim/driver/context.h"
#include "sim/driver/ipc_event.h"
#include "sim/driver/stream.h"
#include "sim/driver/work.h"

namespace flexrack::sim {

class Capture;
class GraphNode;

/// Thread-safe.
class Event : public Object<Event>, public Owned {
 public:
  Event(Ref<Context> in, unsigned with_flags, std::shared_ptr<SharedEvent> with = nullptr)
      : context(std::move(in)), flags(with_flags), shared(std::move(with)) {}
  CUevent handle() { return reinterpret_cast<CUevent>(this); }
  void context_over() noexcept override { close(); }

  const Ref<Context> context;
  const unsigned flags;   ///< CU_EVENT_*
  const std::shared_ptr<SharedEvent> shared;   ///< of several processes; null: of this one alone

  /// It was recorded as this command, outside of a capture.
  void set(Ref<Command> command);
  /// Null where it was never recorded, or is reached in another process. Throws CUDA_ERROR_CAPTURED_EVENT where it was
  /// recorded last in a capture.
  Ref<Command> command() const;

  /// What was captured when it was recorded: the capture, and the nodes that it stands for.
  struct Captured {
    std::weak_ptr<Capture> capture;
    std::uint64_t capture_id = 0;
    std::vector<Ref<GraphNode>> nodes;
  };
  void set_captured(Captured captured);
  std::shared_ptr<const Captured> captured() const;

 private:
  mutable std::mutex lock_;
  mutable Ref<Command> command_;
  mutable std::uint64_t number_ = 0;   ///< of a shared one: the record that the command is, or waits for
  std::shared_ptr<const Captured> captured_;
};

/// Throws CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_CONTEXT_IS_DESTROYED.
Ref<Event> event_of(CUevent handle);

class EventRecordWork : public Work {
 public:
  explicit EventRecordWork(Ref<Event> recorded) : event(std::move(recorded)) {}
  Worker* worker(Device&) const override { return nullptr; }
  void execute(Context&) const override {}
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_EVENT_RECORD; }
  void submitted(const Ref<Command>& command) const override { event->set(command); }
  const Ref<Event> event;
};

class EventWaitWork : public Work {
 public:
  explicit EventWaitWork(Ref<Event> awaited) : event(std::move(awaited)) {}
  Worker* worker(Device&) const override { return nullptr; }
  void execute(Context&) const override {}
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_WAIT_EVENT; }
  Ref<Command> prerequisite() const override { return event->command(); }
  const Ref<Event> event;
};

}  // namespace flexrack::sim
