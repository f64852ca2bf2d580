#include "client/cuda/replica_notices.h"

#include <algorithm>

namespace flexrack::client::cuda {
namespace {

template <class Notice>
ReplicaFrame frame_of(const Notice& notice) {
  ReplicaFrame made{{Notice::kOp, 0, 0, 0}, {}};
  encode(made.body, notice);
  made.header.length = static_cast<std::uint32_t>(made.body.size());
  return made;
}

ReplicaFrame copy_of(const wire::Header& header, wire::View body) {
  return {header, wire::Bytes(body.begin(), body.end())};
}

}  // namespace

ReplicaFrames ReplicaNotices::take(std::size_t from, std::size_t first, const wire::Header& header, wire::View body) {
  ReplicaFrames out;
  const bool is_first = from == first;
  switch (header.op) {
    case cu::Failed::kOp: take_failure(is_first, header, body, out); break;
    case cu::EventReached::kOp: take_reached(from, header, body, out); break;
    case cu::Printed::kOp: take_printed(from, is_first, body, out); break;
    case cu::RunHostFunction::kOp: take_run(from, body, out); break;
    default:
      if (is_first) out.push_back(copy_of(header, body));
  }
  return out;
}

/// Of each failure one notice, the first server's where it still says it.
void ReplicaNotices::take_failure(bool is_first, const wire::Header& header, wire::View body, ReplicaFrames& out) {
  cu::Failed failed;
  if (!decode(body, failed)) return out.push_back(copy_of(header, body));  // the process says what it thinks of it
  const Failure which{failed.context, failed.op, failed.status};
  const auto told = failed_.find(which);
  if (is_alone_ ? told != failed_.end() : !is_first && told != failed_.end()) {
    if (--told->second == 0) failed_.erase(told);
    return;
  }
  if (is_alone_) return out.push_back(copy_of(header, body));
  if (!is_first) return void(failures_.emplace_back(which, copy_of(header, body)));
  const auto early =
      std::find_if(failures_.begin(), failures_.end(), [&](const auto& one) { return one.first == which; });
  if (early != failures_.end()) failures_.erase(early);
  else ++failed_[which];
  out.push_back(copy_of(header, body));
}

/// An event is reached when both have got there: the program may go on with what was before it.
void ReplicaNotices::take_reached(std::size_t from, const wire::Header& header, wire::View body, ReplicaFrames& out) {
  cu::EventReached reached;
  if (is_alone_ || !decode(body, reached)) return out.push_back(copy_of(header, body));
  auto& mine = reached_[from][reached.event];
  if (reached.number < mine.number) return;
  mine = {reached.number, reached.status};
  const auto other = reached_[1 - from].find(reached.event);
  if (other == reached_[1 - from].end()) return;
  const auto& behind = other->second.number < mine.number ? other->second : mine;
  auto& told = told_reached_[reached.event];
  if (behind.number > told) {
    told = behind.number;
    const auto status = mine.status != 0 ? mine.status : other->second.status;
    out.push_back(frame_of(cu::EventReached{.event = reached.event, .number = behind.number, .status = status}));
  }
  if (other->second.number != mine.number) return;
  reached_[1 - from].erase(other);
  reached_[from].erase(reached.event);
  told_reached_.erase(reached.event);
}

/// By position: what kernels print comes in one stream, of which the other server's is told from where the first
/// one's ended.
void ReplicaNotices::take_printed(std::size_t from, bool is_first, wire::View body, ReplicaFrames& out) {
  cu::Printed printed;
  if (!decode(body, printed)) return;
  const std::string_view text(reinterpret_cast<const char*>(printed.text.data()), printed.text.size());
  const auto begin = printed_[from];
  printed_[from] += text.size();
  if (is_alone_ || is_first) {
    const auto known = std::min<std::uint64_t>(text.size(), told_ > begin ? told_ - begin : 0);
    const auto fresh = printed.text.subspan(known);
    if (fresh.empty()) return;
    told_ += fresh.size();
    if (!is_alone_) ahead_.erase(0, fresh.size());
    return out.push_back(frame_of(cu::Printed{.text = fresh}));
  }
  ahead_ += text.substr(std::min<std::uint64_t>(text.size(), told_ > begin ? told_ - begin : 0));
}

/// A host function runs once, when both have got there.
void ReplicaNotices::take_run(std::size_t from, wire::View body, ReplicaFrames& out) {
  cu::RunHostFunction asked;
  if (!decode(body, asked)) return;
  std::array<std::uint64_t, 2> numbers{};
  numbers[from] = asked.run;
  if (is_alone_) return begin_run(asked.function, numbers, asked.status, out);
  auto& others = runs_[1 - from];
  const auto found = others.find(asked.function);
  if (found == others.end()) {
    ++waiting_[from];
    return runs_[from][asked.function].push_back({asked.run, asked.status});
  }
  --waiting_[1 - from];
  const auto other = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) others.erase(found);
  numbers[1 - from] = other.number;
  begin_run(asked.function, numbers, asked.status != 0 ? asked.status : other.status, out);
}

void ReplicaNotices::begin_run(std::uint64_t function, std::array<std::uint64_t, 2> numbers, std::int32_t status,
                               ReplicaFrames& out) {
  running_[++last_run_] = numbers;
  out.push_back(frame_of(cu::RunHostFunction{.function = function, .run = last_run_, .status = status}));
}

std::array<std::uint64_t, 2> ReplicaNotices::runs_of(std::uint64_t run) {
  const auto found = running_.find(run);
  if (found == running_.end()) return {};
  const auto numbers = found->second;
  running_.erase(found);
  return numbers;
}

ReplicaFrames ReplicaNotices::alone(std::size_t left, bool was_first) {
  ReplicaFrames out;
  is_alone_ = true;
  if (was_first) {  // what only the other one has said, this one says itself when it gets there
    failed_.clear();
    failures_.clear();
    ahead_.clear();
  }
  for (auto& [which, frame] : failures_) out.push_back(std::move(frame));
  failures_.clear();
  for (const auto& [event, one] : reached_[left]) {
    if (const auto told = told_reached_.find(event); told == told_reached_.end() || told->second < one.number)
      out.push_back(frame_of(cu::EventReached{.event = event, .number = one.number, .status = one.status}));
  }
  reached_ = {};
  told_reached_.clear();
  if (!ahead_.empty()) {
    told_ += ahead_.size();
    out.push_back(frame_of(cu::Printed{.text = {reinterpret_cast<const std::uint8_t*>(ahead_.data()), ahead_.size()}}));
    ahead_.clear();
  }
  for (const auto& [function, runs] : runs_[left]) {
    for (const auto& run : runs) {
      std::array<std::uint64_t, 2> numbers{};
      numbers[left] = run.number;
      begin_run(function, numbers, run.status, out);
    }
  }
  runs_ = {};
  waiting_ = {};
  return out;
}

std::string ReplicaNotices::excess_of(std::size_t from, std::size_t first, const ReplicaLimits& limits) const {
  const auto failures = from == first ? failed_.size() : failures_.size();
  const auto notices = reached_[from].size() + waiting_[from] + failures + (is_alone_ ? running_.size() : 0);
  if (notices > limits.notices) return "it tells of more than can have happened";
  if (from != first && ahead_.size() > limits.printed) return "what it prints is too far ahead of the other one";
  return {};
}

}  // namespace flexrack::client::cuda
