#include "backend/cuda/streams.h"

#include "backend/cuda/call_context.h"
#include "backend/cuda/graphs.h"
#include "backend/cuda/launch_attributes.h"
#include "backend/cuda/soon.h"
#include "backend/cuda/transfers.h"

namespace flexrack::backend::cuda {

void Streams::on(const cu::CreateStream& m) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  CUstream made = nullptr;
  if (!core_.handles.has_room(Kind::stream)) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  call.run(core_.table.cuStreamCreateWithPriority, &made, m.flags, m.priority);
  if (!call.keep(m.stream, made) && made) core_.table.cuStreamDestroy_v2(made);
  call.end();
}

void Streams::on(const cu::WaitStream& m, Respond<cu::WaitStreamReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  // Often it is there already: no other thread then.
  auto status = CUDA_SUCCESS;
  if (call.is_good() && core_.table.cuStreamQuery) status = soon([&] { return core_.table.cuStreamQuery(stream); });
  if (!call.is_good() || (status != CUDA_ERROR_NOT_READY && core_.mirrors.is_quiet())) {
    call.fail(status);
    core_.printed();
    return respond({.status = as_wire(call.status())});
  }
  // For an event of ours: the client may end the stream meanwhile.
  auto answer = std::make_shared<Respond<cu::WaitStreamReply>>(std::move(respond));
  const bool is_put = transfers_.when_reached(
      call, stream,
      [this, context = m.context, handle = m.stream, point = core_.mirrors.point(), answer](CUresult over) {
        core_.printed();
        core_.mirrors.tell_changes(point, context, handle);
        (*answer)({.status = as_wire(over)});
      });
  if (!is_put) (*answer)({.status = as_wire(call.status())});
}

void Streams::on(const cu::QueryStream& m, Respond<cu::QueryStreamReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  if (call.run(core_.table.cuStreamQuery, stream))
    core_.mirrors.tell_changes(core_.mirrors.point(), m.context, m.stream);
  respond({.status = as_wire(call.status())});
}

void Streams::on(const cu::SetStreamAttribute& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  auto value = call.flat<CUstreamAttrValue>(m.attribute.value);
  check_attribute(call, static_cast<CUlaunchAttributeID>(m.attribute.which), value, m.attribute.event);
  call.run(core_.table.cuStreamSetAttribute, stream, static_cast<CUstreamAttrID>(m.attribute.which), &value);
  call.end();
}

void Streams::on(const cu::StreamAttribute& m, Respond<cu::StreamAttributeReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  CUstreamAttrValue value{};
  call.run(core_.table.cuStreamGetAttribute, stream, static_cast<CUstreamAttrID>(m.which), &value);
  respond({.status = as_wire(call.status()), .value = wire::bytes_of(value)});
}

void Streams::on(const cu::CreateEvent& m) {
  CallContext call(core_, m.kOp, m.context);
  call.in_context();
  CUevent made = nullptr;
  if (!core_.handles.has_room(Kind::event)) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  call.run(core_.table.cuEventCreate, &made, m.flags);
  auto held = std::shared_ptr<void>(made, [this](void* event) {
    if (event) core_.table.cuEventDestroy_v2(static_cast<CUevent>(event));
  });
  if (auto* record = call.keep(m.event, made)) record->held = std::move(held);
  call.end();
}

void Streams::on(const cu::WaitEvent& m, Respond<cu::WaitEventReply> respond) {
  CallContext call(core_, m.kOp, 0);
  const auto* record = call.record(m.event, Kind::event);
  call.may_wait();
  if (!call.is_good()) return respond({.status = as_wire(call.status())});
  const auto event = static_cast<CUevent>(record->native);
  const auto context = record->context;
  const auto status = soon([&] { return core_.table.cuEventQuery(event); });
  if (status != CUDA_ERROR_NOT_READY && core_.mirrors.is_quiet()) {
    core_.printed();
    core_.noticed(context, status);
    return respond({.status = as_wire(status)});
  }
  core_.later_behind(event, context,
                     [this, event, held = record->held, context,
                      answer = std::make_shared<Respond<cu::WaitEventReply>>(std::move(respond))] {
                       const auto over = core_.table.cuEventSynchronize(event);
                       core_.printed();
                       core_.mirrors.tell_changes();
                       core_.noticed_elsewhere(context, over);
                       (*answer)({.status = as_wire(over)});
                     });
}

void Streams::on(const cu::QueryEvent& m, Respond<cu::QueryEventReply> respond) {
  CallContext call(core_, m.kOp, 0);
  const auto event = call.get<CUevent>(m.event);
  if (call.run(core_.table.cuEventQuery, event)) core_.mirrors.tell_changes();
  respond({.status = as_wire(call.status())});
}

void Streams::on(const cu::WatchEvent& m) {
  CallContext call(core_, m.kOp, 0);
  const auto* record = call.record(m.event, Kind::event);
  call.may_wait();
  if (!call.is_good()) return call.end();
  const auto native = static_cast<CUevent>(record->native);
  core_.later_behind(native, record->context, [this, native, held = record->held, handle = m.event, number = m.number] {
    const auto status = core_.table.cuEventSynchronize(native);
    core_.printed();
    core_.mirrors.tell_changes();
    core_.tell(cu::EventReached{.event = handle, .number = number, .status = as_wire(status)});
  });
}

void Streams::on(const cu::ElapsedTime& m, Respond<cu::ElapsedTimeReply> respond) {
  CallContext call(core_, m.kOp, 0);
  const auto start = call.get<CUevent>(m.start), end = call.get<CUevent>(m.end);
  float milliseconds = 0;
  call.run(core_.table.cuEventElapsedTime_v2 ? core_.table.cuEventElapsedTime_v2 : core_.table.cuEventElapsedTime,
           &milliseconds, start, end);
  auto status = call.status();
  auto elapsed = static_cast<double>(milliseconds);
  if (status == CUDA_ERROR_INVALID_HANDLE && !core_.reached_before.empty()) elapsed = elapsed_over_the_move(m, status);
  respond({.status = as_wire(status), .milliseconds = elapsed});
}

/// The session has come from another server: what was reached there the driver here knows nothing of. The move itself
/// takes no time.
double Streams::elapsed_over_the_move(const cu::ElapsedTime& m, CUresult& status) {
  const auto *start = core_.handles.find(m.start), *end = core_.handles.find(m.end);
  if (!start || !end) return 0;
  const auto between = [&](CUevent from, CUevent to) -> std::optional<double> {
    float milliseconds = 0;
    if (core_.table.cuEventElapsedTime(&milliseconds, from, to) != CUDA_SUCCESS) return std::nullopt;
    return static_cast<double>(milliseconds);
  };
  // How long after the move: less than nothing for what was reached before it and has not been recorded since.
  const auto after_move = [&](const Record& one) -> std::optional<double> {
    const auto native = static_cast<CUevent>(one.native);
    if (const auto mark = core_.moved_at.find(one.context); between(native, native) && mark != core_.moved_at.end())
      return between(mark->second, native);
    const auto before = core_.reached_before.find(one.handle);
    return before == core_.reached_before.end() ? std::nullopt : std::optional(-before->second);
  };
  const auto from = after_move(*start), to = after_move(*end);
  if (!from || !to) return 0;
  status = CUDA_SUCCESS;
  return *to - *from;
}

// ---- host functions and latches

namespace {

/// On its way through the driver.
struct Callback {
  std::function<void(CUresult)> reached;
};

void reach(CUstream, CUresult status, void* data) {
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
  callback->reached(status);
}

}  // namespace

/// The stream tells us and waits at a latch, which the client's answer opens: a function that takes long holds up its
/// own stream only. A callback, whichever of both the client put: a driver calls it behind a kernel that failed too
/// (cuStreamAddCallback), where it leaves a host function out, and nobody would hear of that.
void Streams::on(const cu::HostFunction& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  if (runs_.size() >= kMostRuns) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  const auto latch = call.is_good() ? HostSide::latch(core_.host_of(m.context)) : Latch{};
  if (call.is_good() && !latch) {
    // In a context that has failed already there are no more latches: what the client is told is why.
    const auto why = core_.table.cuStreamQuery ? core_.table.cuStreamQuery(stream) : CUDA_SUCCESS;
    call.fail(is_sticky(why) ? why : CUDA_ERROR_OUT_OF_MEMORY);
  }
  const auto number = next_run_++;
  if (call.is_good()) runs_[number] = {latch, m.function, m.context};
  auto callback = std::make_unique<Callback>();
  callback->reached = [this, function = m.function, number](CUresult status) {
    core_.mirrors.tell_changes();
    core_.tell(cu::RunHostFunction{.function = function, .run = number, .status = as_wire(status)});
  };
  if (call.run(core_.table.cuStreamAddCallback, stream, reach, static_cast<void*>(callback.get()), 0u)) {
    static_cast<void>(callback.release());
    call.fail(latch.wait(stream));
  } else {
    // Nothing of it is on the stream: the client hears so in place of the driver's call, and waits for it no longer.
    if (latch) latch.open();
    if (runs_.size() < kMostRuns) runs_[number] = {latch, m.function, m.context};
    callback->reached(call.status());
  }
  call.end();
}

void Streams::on(const cu::RanHostFunction& m) {
  if (graphs_.ran(m.run)) return;
  const auto found = runs_.find(m.run);
  if (found == runs_.end()) return core_.refused(0, m.kOp, CUDA_ERROR_INVALID_VALUE, 0);
  if (found->second.latch) found->second.latch.open_and_recycle();
  runs_.erase(found);
}

void Streams::on(const cu::WaitLatch& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto stream = call.get<CUstream>(m.stream);
  const auto* record = core_.handles.find(m.latch);
  if (call.is_good() && (record ? record->kind != Kind::latch : !core_.handles.insert(m.latch, {.kind = Kind::latch})))
    call.fail(CUDA_ERROR_INVALID_HANDLE);
  if (call.is_good()) {
    auto& latch = client_latches_[m.latch][m.context];
    if (!latch) latch = HostSide::latch(core_.host_of(m.context));
    call.fail(latch ? latch.wait(stream) : CUDA_ERROR_OUT_OF_MEMORY);
  }
  call.end();
}

void Streams::on(const cu::OpenLatch& m) {
  const auto* record = core_.handles.find(m.latch);
  if (!record || record->kind != Kind::latch) return core_.refused(0, m.kOp, CUDA_ERROR_INVALID_HANDLE, m.latch);
  open_latch(m.latch);
  core_.handles.take(m.latch);
}

void Streams::abandon(std::uint64_t context, CUresult status) {
  for (const auto& [number, run] : runs_) {
    if (run.context == context)
      core_.tell(cu::RunHostFunction{.function = run.function, .run = number, .status = as_wire(status)});
  }
}

void Streams::let_go(std::uint64_t context) {
  for (const auto& [number, waiting] : runs_) {
    if (waiting.context == context && waiting.latch) waiting.latch.open();
  }
  for (auto& [latch, words] : client_latches_) {
    if (const auto word = words.find(context); word != words.end()) {
      if (word->second) word->second.open();
      words.erase(word);
    }
  }
}

void Streams::let_go_all() {
  for (auto& [number, run] : runs_)
    if (run.latch) run.latch.open();
  runs_.clear();
  for (auto& [handle, latches] : client_latches_) {
    for (auto& [context, latch] : latches)
      if (latch) latch.open();
  }
  client_latches_.clear();
}

void Streams::open_latch(std::uint64_t handle) {
  const auto found = client_latches_.find(handle);
  if (found == client_latches_.end()) return;
  for (auto& [context, latch] : found->second) {
    if (latch) latch.open_and_recycle();
  }
  client_latches_.erase(found);
}

}  // namespace flexrack::backend::cuda
