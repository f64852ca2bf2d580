// Streams, events, and what waits for them.
#include "backend/cuda/soon.h"
#include "backend/cuda/turn.h"

namespace flexrack::backend::cuda {

void Session::on(const cu::CreateStream& m) {
  Turn turn(*this, m.kOp, m.context);
  turn.in_context();
  CUstream made = nullptr;
  if (!handles_.has_room(Kind::stream)) turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
  turn.run(table_.cuStreamCreateWithPriority, &made, m.flags, m.priority);
  if (!turn.keep(m.stream, made) && made) table_.cuStreamDestroy_v2(made);
  turn.end();
}

void Session::on(const cu::WaitStream& m, Respond<cu::WaitStreamReply> respond) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  // Often it is there already: no other thread then.
  auto status = CUDA_SUCCESS;
  if (turn.is_good() && table_.cuStreamQuery) status = soon([&] { return table_.cuStreamQuery(stream); });
  if (!turn.is_good() || (status != CUDA_ERROR_NOT_READY && mirrors_.is_quiet())) {
    turn.fail(status);
    printed();
    return respond({.status = as_wire(turn.status())});
  }
  // For an event of ours: the client may end the stream meanwhile.
  auto answer = std::make_shared<Respond<cu::WaitStreamReply>>(std::move(respond));
  const bool is_put = when_reached(turn, stream, [this, context = m.context, handle = m.stream, point = mirrors_.point(), answer](CUresult over) {
    printed();
    mirrors_.tell_changes(point, context, handle);
    (*answer)({.status = as_wire(over)});
  });
  if (!is_put) (*answer)({.status = as_wire(turn.status())});
}

void Session::on(const cu::QueryStream& m, Respond<cu::QueryStreamReply> respond) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  if (turn.run(table_.cuStreamQuery, stream)) mirrors_.tell_changes(mirrors_.point(), m.context, m.stream);
  respond({.status = as_wire(turn.status())});
}

void Session::on(const cu::SetStreamAttribute& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  auto value = turn.flat<CUstreamAttrValue>(m.attribute.value);
  check_attribute(turn, static_cast<CUlaunchAttributeID>(m.attribute.which), value, m.attribute.event);
  turn.run(table_.cuStreamSetAttribute, stream, static_cast<CUstreamAttrID>(m.attribute.which), &value);
  turn.end();
}

void Session::on(const cu::StreamAttribute& m, Respond<cu::StreamAttributeReply> respond) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  CUstreamAttrValue value{};
  turn.run(table_.cuStreamGetAttribute, stream, static_cast<CUstreamAttrID>(m.which), &value);
  respond({.status = as_wire(turn.status()), .value = bytes_of(value)});
}

void Session::on(const cu::CreateEvent& m) {
  Turn turn(*this, m.kOp, m.context);
  turn.in_context();
  CUevent made = nullptr;
  if (!handles_.has_room(Kind::event)) turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
  // Events of other processes are refused by the client; a flag for it would only cost.
  turn.run(table_.cuEventCreate, &made, m.flags & ~static_cast<unsigned>(CU_EVENT_INTERPROCESS));
  auto held = std::shared_ptr<void>(made, [this](void* event) { if (event) table_.cuEventDestroy_v2(static_cast<CUevent>(event)); });
  if (auto* record = turn.keep(m.event, made)) record->held = std::move(held);
  turn.end();
}

void Session::on(const cu::WaitEvent& m, Respond<cu::WaitEventReply> respond) {
  Turn turn(*this, m.kOp, 0);
  const auto* record = turn.record(m.event, Kind::event);
  turn.may_wait();
  if (!turn.is_good()) return respond({.status = as_wire(turn.status())});
  const auto event = static_cast<CUevent>(record->native);
  const auto context = record->context;
  const auto status = soon([&] { return table_.cuEventQuery(event); });
  if (status != CUDA_ERROR_NOT_READY && mirrors_.is_quiet()) {
    printed();
    noticed(context, status);
    return respond({.status = as_wire(status)});
  }
  later(context, [this, event, held = record->held, context, answer = std::make_shared<Respond<cu::WaitEventReply>>(std::move(respond))] {
    const auto over = table_.cuEventSynchronize(event);
    printed();
    mirrors_.tell_changes();
    noticed_elsewhere(context, over);
    (*answer)({.status = as_wire(over)});
  });
}

void Session::on(const cu::QueryEvent& m, Respond<cu::QueryEventReply> respond) {
  Turn turn(*this, m.kOp, 0);
  const auto event = turn.get<CUevent>(m.event);
  if (turn.run(table_.cuEventQuery, event)) mirrors_.tell_changes();
  respond({.status = as_wire(turn.status())});
}

void Session::on(const cu::WatchEvent& m) {
  Turn turn(*this, m.kOp, 0);
  const auto* record = turn.record(m.event, Kind::event);
  turn.may_wait();
  if (!turn.is_good()) return turn.end();
  later(record->context, [this, native = static_cast<CUevent>(record->native), held = record->held, handle = m.event, number = m.number] {
    const auto status = table_.cuEventSynchronize(native);
    printed();
    mirrors_.tell_changes();
    tell(cu::EventReached{.event = handle, .number = number, .status = as_wire(status)});
  });
}

void Session::on(const cu::ElapsedTime& m, Respond<cu::ElapsedTimeReply> respond) {
  Turn turn(*this, m.kOp, 0);
  const auto start = turn.get<CUevent>(m.start), end = turn.get<CUevent>(m.end);
  float milliseconds = 0;
  turn.run(table_.cuEventElapsedTime_v2 ? table_.cuEventElapsedTime_v2 : table_.cuEventElapsedTime, &milliseconds, start, end);
  respond({.status = as_wire(turn.status()), .milliseconds = static_cast<double>(milliseconds)});
}

// ---- host functions and gates

namespace {

/// On its way through the driver.
struct Call {
  std::function<void(CUresult)> reached;
};

void reach(CUstream, CUresult status, void* data) {
  const std::unique_ptr<Call> call(static_cast<Call*>(data));
  call->reached(status);
}

}  // namespace

/// The stream tells us and waits at a gate, which the client's answer opens: a function that takes long holds up its own stream only. A callback, whichever of both
/// the client put: a driver calls it behind a kernel that failed too (cuStreamAddCallback), where it leaves a host function out, and nobody would hear of that.
void Session::on(const cu::HostFunction& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  if (turns_.size() >= kMostTurns) turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
  const auto gate = turn.is_good() ? HostSide::gate(host_of(m.context)) : Gate{};
  // In a context that is broken no memory is to be had.
  if (const auto status = gate || !turn.is_good() ? CUDA_SUCCESS : table_.cuStreamQuery(stream); is_sticky(status)) turn.fail(status);
  if (turn.is_good() && !gate) turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
  const auto number = next_turn_++;
  if (turn.is_good()) turns_[number] = {gate, m.function, m.context};
  auto call = std::make_unique<Call>();
  call->reached = [this, function = m.function, number](CUresult status) {
    mirrors_.tell_changes();
    tell(cu::RunHostFunction{.function = function, .turn = number, .status = as_wire(status)});
  };
  if (turn.run(table_.cuStreamAddCallback, stream, reach, static_cast<void*>(call.get()), 0u)) {
    static_cast<void>(call.release());
    turn.fail(gate.wait(stream));
  } else {
    // Nothing of it is on the stream: the client hears so in place of the driver's call, and waits for it no longer.
    if (gate) gate.open();
    if (turns_.size() < kMostTurns) turns_[number] = {gate, m.function, m.context};
    call->reached(turn.status());
  }
  turn.end();
}

void Session::on(const cu::RanHostFunction& m) {
  if ((m.turn & GraphHost::kTurn) != 0 && graph_host_.ran(m.turn)) return;
  const auto found = turns_.find(m.turn);
  if (found == turns_.end()) return refused(0, m.kOp, CUDA_ERROR_INVALID_VALUE, 0);
  if (found->second.gate) found->second.gate.open_and_recycle();
  turns_.erase(found);
}

void Session::on(const cu::WaitGate& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  const auto* record = handles_.find(m.gate);
  if (turn.is_good() && (record ? record->kind != Kind::gate : !handles_.insert(m.gate, {.kind = Kind::gate}))) turn.fail(CUDA_ERROR_INVALID_HANDLE);
  if (turn.is_good()) {
    auto& gate = client_gates_[m.gate][m.context];
    if (!gate) gate = HostSide::gate(host_of(m.context));
    turn.fail(gate ? gate.wait(stream) : CUDA_ERROR_OUT_OF_MEMORY);
  }
  turn.end();
}

void Session::on(const cu::OpenGate& m) {
  const auto* record = handles_.find(m.gate);
  if (!record || record->kind != Kind::gate) return refused(0, m.kOp, CUDA_ERROR_INVALID_HANDLE, m.gate);
  open_gate(m.gate);
  handles_.take(m.gate);
}

void Session::open_gate(std::uint64_t handle) {
  const auto found = client_gates_.find(handle);
  if (found == client_gates_.end()) return;
  for (auto& [context, gate] : found->second) {
    if (gate) gate.open_and_recycle();
  }
  client_gates_.erase(found);
}

}  // namespace flexrack::backend::cuda
