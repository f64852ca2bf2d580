// Messages to both servers, and their answers and notices as one.
#include <cstring>

#include "client/cuda/replica_state.h"
#include "client/servers.h"
#include "gen/cuda/requests.h"

namespace flexrack::client::cuda {
namespace {

template <class Message>
wire::Bytes encoded(const Message& message) {
  wire::Bytes body;
  encode(body, message);
  return body;
}

}  // namespace

std::uint64_t ReplicatedLink::send(std::uint16_t op, std::uint16_t flags,
                                   const std::function<void(wire::Bytes&)>& encode) {
  if (is_child() || is_over_) return 0;
  if (!ReplicaReading::is_here()) {
    for (auto& side : sides_)
      if (side.is_alive) side.link->await_room();
  }
  wire::Bytes body;
  encode(body);
  const bool is_call = cu::is_call(op);
  std::uint64_t number = 0;
  std::array<std::uint64_t, 2> sequence{};
  {
    const std::lock_guard in_order(order_);
    {
      const std::lock_guard guard(lock_);
      number = ++last_;
      if (is_call) ++unnumbered_;
      if (cu::ReadMemory read; op == cu::ReadMemory::kOp && decode(body, read)) {
        if (const auto found = reads_.find(read.ticket); found != reads_.end()) found->second.address = read.address;
      }
    }
    sequence = send_to_both(op, flags, body);
  }
  if (is_call) enter(number, op, sequence);
  if (!ReplicaReading::is_here() &&
      unflushed_.fetch_add(body.size() + sizeof(wire::Header)) + body.size() >= wire::kFlushAt)
    flush();
  return sequence[0] != 0 || sequence[1] != 0 ? number : 0;
}

std::array<std::uint64_t, 2> ReplicatedLink::send_to_both(std::uint16_t op, std::uint16_t flags,
                                                          const wire::Bytes& body) {
  std::array<std::uint64_t, 2> sequence{}, runs{};
  cu::RanHostFunction ran;
  const bool is_run = op == cu::RanHostFunction::kOp && decode(body, ran);
  if (is_run) {
    const std::lock_guard guard(lock_);
    runs = notices_.runs_of(ran.run);
  }
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (!sides_[i].is_alive) continue;
    if (is_run && runs[i] == 0) {
      sequence[i] = 1;  // it does not wait for it
      continue;
    }
    const auto own = is_run ? encoded(cu::RanHostFunction{.run = runs[i]}) : wire::Bytes();
    const auto& bytes = is_run ? own : body;
    sequence[i] = sides_[i].link->send_at_once(
        op, flags, [&](wire::Bytes& out) { out.insert(out.end(), bytes.begin(), bytes.end()); });
  }
  return sequence;
}

/// A call is on its way under these numbers; answers may have come already.
void ReplicatedLink::enter(std::uint64_t number, std::uint16_t op, const std::array<std::uint64_t, 2>& sequence) {
  ReplicaFrames frames;
  std::string what;
  bool is_early = false;
  std::optional<std::size_t> silent;
  {
    const std::lock_guard guard(lock_);
    auto& call = calls_[number];
    call.op = op;
    call.sequence = sequence;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      if (sequence[i] == 0) continue;
      if (const auto found = early_[i].find(sequence[i]); found != early_[i].end()) {
        call.answer[i] = std::move(found->second);
        early_bytes_[i] -= call.answer[i]->body.size();
        early_[i].erase(found);
        is_early = true;
      } else {
        numbers_[i][sequence[i]] = number;
      }
    }
    if (--unnumbered_ == 0) {
      for (auto& one : early_) one.clear();
      early_bytes_ = {};
    }
    silent = silent_side();
    is_early |= !sides_[0].is_alive || !sides_[1].is_alive;
  }
  if (silent) lose(*silent, "it answers nothing");
  if (!is_early) return;
  {
    const std::lock_guard handing(handing_);
    {
      const std::lock_guard guard(lock_);
      what = settle(number, frames);
    }
    deliver(frames);
  }
  if (!what.empty()) differ(what, op == cu::Describe::kOp);
}

void ReplicatedLink::on_frame(std::size_t from, const wire::Header& header, wire::View body) {
  const ReplicaReading reading;
  ReplicaFrames frames;
  std::string what, excess;
  {
    const std::lock_guard handing(handing_);
    {
      const std::lock_guard guard(lock_);
      if (is_over_ || !sides_[from].is_alive) return;
      if (header.flags & wire::kReply) what = take_reply(from, header, body, frames);
      else frames = notices_.take(from, first_, header, body);
      excess = excess_of(from);
    }
    deliver(frames);
  }
  if (!what.empty()) differ(what, header.op == cu::Describe::kOp);
  else if (!excess.empty()) lose(from, excess);
  else if (from != first_ && !frames.empty()) wake();
}

/// Under the locks.
std::string ReplicatedLink::take_reply(std::size_t from, const wire::Header& header, wire::View body,
                                       ReplicaFrames& out) {
  wire::Reader reader(body);
  const auto sequence = reader.get<std::uint64_t>();
  if (!reader.ok()) return {};
  const auto rest = body.subspan(sizeof sequence);
  ReplicaAnswer answer{header.flags, wire::Bytes(rest.begin(), rest.end())};
  const auto known = numbers_[from].find(sequence);
  if (known == numbers_[from].end()) {
    const auto size = answer.body.size();
    if (unnumbered_ > 0 && early_[from].emplace(sequence, std::move(answer)).second) early_bytes_[from] += size;
    return {};
  }
  const auto number = known->second;
  numbers_[from].erase(known);
  calls_[number].answer[from] = std::move(answer);
  return settle(number, out);
}

/// Under the lock: why that one says more than it can have to say. Empty: it does not.
std::string ReplicatedLink::excess_of(std::size_t from) const {
  const auto& limits = settings_.limits;
  if (early_[from].size() > limits.notices || early_bytes_[from] > limits.early_bytes)
    return "it answers what it was never asked";
  return notices_.excess_of(from, first_, limits);
}

/// Under the lock: who does not answer calls of which the process has the other one's answer long since.
std::optional<std::size_t> ReplicatedLink::silent_side() const {
  if (calls_.size() <= settings_.limits.calls) return std::nullopt;
  const auto& oldest = calls_.begin()->second;
  for (std::size_t i = 0; i < sides_.size(); ++i)
    if (is_expected(oldest, i) && !oldest.answer[i] && oldest.is_answered) return i;
  return std::nullopt;
}

/// Under the locks: the process gets its answer if it can, and what both say is compared. What they differ in.
std::string ReplicatedLink::settle(std::uint64_t number, ReplicaFrames& out) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return {};
  auto& call = found->second;
  const auto first = first_.load(), other = 1 - first;
  const bool is_whole = (call.answer[0] || !is_expected(call, 0)) && (call.answer[1] || !is_expected(call, 1));
  std::string what;
  if (is_whole && call.answer[0] && call.answer[1] && sides_[0].is_alive && sides_[1].is_alive) {
    what = difference(call.op, *call.answer[first], *call.answer[other]);
    if (what.empty()) join_answers(call.op, *call.answer[first], *call.answer[other]);
  }
  const bool is_refusal = call.op == cu::Describe::kOp;
  if (!what.empty() && (settings_.stops_at_mismatch || is_refusal)) return what;
  if (!call.is_answered && (is_whole || !is_for_both(call.op))) {
    const auto from = call.answer[first] ? first : other;
    if (call.answer[from] && (from == first || !is_expected(call, first))) answer(number, call, from, out);
  }
  if (is_whole && call.is_answered) {
    for (std::size_t i = 0; i < sides_.size(); ++i) numbers_[i].erase(call.sequence[i]);
    calls_.erase(found);
  }
  return what;
}

void ReplicatedLink::answer(std::uint64_t number, Call& call, std::size_t from, ReplicaFrames& out) {
  call.is_answered = true;
  const auto& given = *call.answer[from];
  ReplicaFrame frame{{call.op, given.flags, 0, 0}, {}};
  frame.body.resize(sizeof number);
  std::memcpy(frame.body.data(), &number, sizeof number);
  frame.body.insert(frame.body.end(), given.body.begin(), given.body.end());
  frame.header.length = static_cast<std::uint32_t>(frame.body.size());
  out.push_back(std::move(frame));
}

/// Under handing_ alone.
void ReplicatedLink::deliver(ReplicaFrames& frames) {
  const ReplicaReading reading;
  for (const auto& frame : frames) receiver_.on_frame(frame.header, frame.body);
}

}  // namespace flexrack::client::cuda
