// Streams, events, and what waits for them.
#include "backend/cuda/turn.h"

namespace flexrack::backend::cuda {

void Session::on(const cu::CreateStream& m) {
  Turn turn(*this, m.kOp, m.context);
  CUstream made = nullptr;
  turn.run(table_.cuStreamCreateWithPriority, &made, m.flags, m.priority);
  if (!turn.keep(m.stream, made) && made) table_.cuStreamDestroy_v2(made);
  turn.end();
}

void Session::on(const cu::WaitStream& m, Respond<cu::WaitStreamReply> respond) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  // Often it is there already: no other thread then.
  auto status = CUDA_SUCCESS;
  if (turn.is_good() && table_.cuStreamQuery) status = table_.cuStreamQuery(stream);
  if (!turn.is_good() || status != CUDA_ERROR_NOT_READY) {
    turn.fail(status);
    printed();
    return respond({.status = as_wire(turn.status())});
  }
  later(m.context, [this, stream, context = m.context, answer = std::make_shared<Respond<cu::WaitStreamReply>>(std::move(respond))] {
    const auto over = table_.cuStreamSynchronize(stream);
    printed();
    noticed_elsewhere(context, over);
    (*answer)({.status = as_wire(over)});
  });
}

void Session::on(const cu::QueryStream& m, Respond<cu::QueryStreamReply> respond) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  turn.run(table_.cuStreamQuery, stream);
  respond({.status = as_wire(turn.status())});
}

void Session::on(const cu::SetStreamAttribute& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  const auto value = turn.flat<CUstreamAttrValue>(m.attribute.value);
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
  CUevent made = nullptr;
  // Events of other processes are refused by the client; a flag for it would only cost.
  turn.run(table_.cuEventCreate, &made, m.flags & ~static_cast<unsigned>(CU_EVENT_INTERPROCESS));
  if (!turn.keep(m.event, made) && made) table_.cuEventDestroy_v2(made);
  turn.end();
}

void Session::on(const cu::WaitEvent& m, Respond<cu::WaitEventReply> respond) {
  Turn turn(*this, m.kOp, 0);
  const auto* record = turn.record(m.event, Kind::event);
  if (!record) return respond({.status = as_wire(turn.status())});
  const auto event = static_cast<CUevent>(record->native);
  const auto context = record->context;
  const auto status = table_.cuEventQuery(event);
  if (status != CUDA_ERROR_NOT_READY) {
    printed();
    noticed(context, status);
    return respond({.status = as_wire(status)});
  }
  later(context, [this, event, context, answer = std::make_shared<Respond<cu::WaitEventReply>>(std::move(respond))] {
    const auto over = table_.cuEventSynchronize(event);
    printed();
    noticed_elsewhere(context, over);
    (*answer)({.status = as_wire(over)});
  });
}

void Session::on(const cu::QueryEvent& m, Respond<cu::QueryEventReply> respond) {
  Turn turn(*this, m.kOp, 0);
  const auto event = turn.get<CUevent>(m.event);
  turn.run(table_.cuEventQuery, event);
  respond({.status = as_wire(turn.status())});
}

void Session::on(const cu::WatchEvent& m) {
  Turn turn(*this, m.kOp, 0);
  const auto* record = turn.record(m.event, Kind::event);
  if (!record) return turn.end();
  later(record->context, [this, native = static_cast<CUevent>(record->native), handle = m.event, number = m.number] {
    const auto status = table_.cuEventSynchronize(native);
    printed();
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
  std::function<void()> reached;
};

void reach(void* data) {
  const std::unique_ptr<Call> call(static_cast<Call*>(data));
  call->reached();
}

void reach_with_status(CUstream, CUresult, void* data) { reach(data); }

}  // namespace

/// The stream tells us and waits at a gate, which the client's answer opens: a function that takes long holds up its own stream only.
void Session::on(const cu::HostFunction& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  const auto gate = turn.is_good() ? gates_.make() : Gates::Gate{};
  if (turn.is_good() && !gate) turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (!turn.is_good()) return turn.end();
  const auto number = next_turn_++;
  turns_[number] = gate;
  auto call = std::make_unique<Call>();
  call->reached = [this, function = m.function, number] { tell(cu::RunHostFunction{.function = function, .turn = number, .status = 0}); };
  const bool is_put = m.wants_status != 0 ? turn.run(table_.cuStreamAddCallback, stream, reach_with_status, static_cast<void*>(call.get()), 0u)
                                          : turn.run(table_.cuLaunchHostFunc, stream, reach, static_cast<void*>(call.get()));
  if (is_put) {
    static_cast<void>(call.release());
    turn.fail(gates_.wait(stream, gate));
  } else {
    turns_.erase(number);
    gates_.recycle(gate);
  }
  turn.end();
}

void Session::on(const cu::RanHostFunction& m) {
  if ((m.turn & kGraphTurn) != 0 && ran_in_graph(m.turn)) return;
  const auto found = turns_.find(m.turn);
  if (found == turns_.end()) return refused(0, m.kOp, CUDA_ERROR_INVALID_VALUE, 0);
  // Not made again: the stream may look at it at any later moment.
  Gates::open(found->second);
  turns_.erase(found);
}

void Session::on(const cu::WaitGate& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto stream = turn.get<CUstream>(m.stream);
  auto* record = handles_.find(m.gate);
  if (turn.is_good() && !record) {
    const auto gate = gates_.make();
    if (!gate) turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
    else if (!handles_.insert(m.gate, {.kind = Kind::gate, .native = gate.word, .charged = 0})) turn.fail(CUDA_ERROR_INVALID_HANDLE);
    record = turn.is_good() ? handles_.find(m.gate) : nullptr;
    if (record) gate_addresses_[m.gate] = gate.address;
  }
  if (turn.is_good() && record->kind != Kind::gate) turn.fail(CUDA_ERROR_INVALID_HANDLE);
  if (turn.is_good()) turn.fail(gates_.wait(stream, {static_cast<std::uint32_t*>(record->native), gate_addresses_[m.gate]}));
  turn.end();
}

void Session::on(const cu::OpenGate& m) {
  auto* record = handles_.find(m.gate);
  if (!record || record->kind != Kind::gate) return refused(0, m.kOp, CUDA_ERROR_INVALID_HANDLE, m.gate);
  Gates::open({static_cast<std::uint32_t*>(record->native), 0});
  gate_addresses_.erase(m.gate);
  handles_.take(m.gate);
}

}  // namespace flexrack::backend::cuda
