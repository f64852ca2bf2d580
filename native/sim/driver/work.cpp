#include "sim/driver/work.h"

#include <optional>

#include "sim/driver/capture.h"
#include "sim/driver/memory_gate.h"

namespace flexrack::sim {
namespace {

std::vector<Ref<Command>> prerequisites(const Work& work) {
  auto also = work.prerequisite();
  if (!also) return {};
  return {std::move(also)};
}

void execute(const Work& work, Context& context, exec::Conditions* conditions = nullptr) {
  std::optional<MemoryUse> use;
  if (work.touches_memory()) use.emplace();
  work.execute_in_graph(context, conditions);
}

}  // namespace

Ref<Command> command_for(const Ref<Context>& context, const WorkPointer& work,
                         const std::shared_ptr<exec::Conditions>& conditions) {
  auto* worker = work->worker(context->device);
  if (!worker) return Command::marker(context);
  if (work->is_awaited())
    return Command::awaited(context, worker,
                            [context, work, step = std::size_t{0}]() mutable { return work->advance(*context, step); });
  return Command::make(
      context, worker, [context, work, conditions] { execute(*work, *context, conditions.get()); },
      work->is_always_done());
}

void require_not_captured(Stream& stream) {
  if (const auto capture = stream.capture()) {
    capture->invalidate();
    fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "not possible in a stream that is captured");
  }
  if (stream.kind != Stream::Kind::legacy || !stream.context->has_captures()) return;
  for (const auto& other : stream.context->streams()) {
    const auto capture = other->is_blocking() ? other->capture() : nullptr;
    if (!capture) continue;
    capture->invalidate();
    fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the legacy stream would wait for a stream that is captured");
  }
}

void enqueue(Stream& stream, const WorkPointer& work) {
  if (const auto capture = stream.capture()) {
    capture->add(stream, work);
    return;
  }
  require_not_captured(stream);
  const auto command = command_for(stream.context, work);
  stream.append(command, prerequisites(*work));
  work->submitted(command);
}

void carry_out(Stream& stream, const WorkPointer& work) {
  require_not_captured(stream);
  const auto context = stream.context;
  const auto command = Command::for_caller(context, [context, work] { execute(*work, *context); });
  stream.carry_out(command, prerequisites(*work));
  context->printing.flush();
  require_working(*context);
}

}  // namespace flexrack::sim
