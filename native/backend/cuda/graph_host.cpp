#include "backend/cuda/graph_host.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace flexrack::backend::cuda {
namespace {

constexpr std::size_t kMostWaiting = 1 << 22;

std::size_t most_held() {
  static const auto half =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 2;
  return half;
}

}  // namespace

void GraphHost::run(void* data) {
  auto& stop = *static_cast<GraphStop*>(data);
  switch (stop.sort) {
    case GraphStop::Sort::function: return stop.host->run_function(stop);
    case GraphStop::Sort::input: return stop.host->take_input(stop);
    case GraphStop::Sort::output: return stop.host->give_output(stop);
  }
}

void GraphHost::run_function(GraphStop& stop) {
  std::unique_lock guard(lock_);
  if (is_ending_) return;
  const auto number = next_run_++ | kRun;
  runs_.insert(number);
  guard.unlock();
  tell_(stop.function, number);
  guard.lock();
  changed_.wait(guard, [&] { return is_ending_ || !runs_.contains(number); });
}

bool GraphHost::ran(std::uint64_t run) {
  const std::lock_guard guard(lock_);
  if (runs_.erase(run) == 0) return false;
  changed_.notify_all();
  return true;
}

bool GraphHost::has_room(std::size_t more) {
  const std::lock_guard guard(lock_);
  return more <= kMostWaiting - std::min(kMostWaiting, waiting_);
}

std::shared_ptr<void> GraphHost::hold(std::size_t bytes) const {
  if (held_->fetch_add(bytes) + bytes <= most_held())
    return {held_.get(), [all = held_, bytes](void*) { *all -= bytes; }};
  *held_ -= bytes;
  return nullptr;
}

void GraphHost::restage(GraphStop& stop, StagingPool::Held piece) {
  const std::lock_guard guard(lock_);
  if (stop.staging) stop.earlier.push_back(std::move(stop.staging));
  stop.staging = std::move(piece);
}

void GraphHost::expect(GraphStop& input, std::shared_ptr<GraphArrival> arrival) {
  const std::lock_guard guard(lock_);
  input.arrivals.push_back(std::move(arrival));
  ++waiting_;
}

void GraphHost::arrived(GraphArrival& arrival, bool has_arrived) {
  const std::lock_guard guard(lock_);
  arrival.is_over = true;
  arrival.has_arrived = has_arrived;
  changed_.notify_all();
}

void GraphHost::want(GraphStop& output, std::uint64_t ticket) {
  const std::lock_guard guard(lock_);
  output.tickets.push_back(ticket);
  ++waiting_;
}

void GraphHost::take_back(GraphStop& stop) {
  const std::lock_guard guard(lock_);
  if (stop.sort == GraphStop::Sort::input && !stop.arrivals.empty()) stop.arrivals.pop_back(), --waiting_;
  if (stop.sort == GraphStop::Sort::output && !stop.tickets.empty()) stop.tickets.pop_back(), --waiting_;
}

void GraphHost::forget(const GraphStop& stop) {
  const std::lock_guard guard(lock_);
  waiting_ -= stop.arrivals.size() + stop.tickets.size();
}

/// One launch of a graph after the other: the piece is this launch's until its copy is over. A client that announced
/// nothing gets what was there.
void GraphHost::take_input(GraphStop& stop) {
  std::unique_lock guard(lock_);
  if (is_ending_ || stop.arrivals.empty()) return;
  const auto arrival = std::move(stop.arrivals.front());
  stop.arrivals.pop_front();
  --waiting_;
  if (!arrival) return;
  changed_.wait(guard, [&] { return is_ending_ || arrival->is_over; });
  if (!arrival->has_arrived || !stop.staging) return;
  const auto staging = stop.staging;
  guard.unlock();
  std::memcpy(staging->at, arrival->bytes.data(), std::min(staging->size, arrival->bytes.size()));
}

void GraphHost::give_output(GraphStop& stop) {
  std::unique_lock guard(lock_);
  if (is_ending_ || stop.tickets.empty()) return;
  const auto ticket = stop.tickets.front();
  stop.tickets.pop_front();
  --waiting_;
  if (ticket == 0 || !stop.staging) return;
  const auto staging = stop.staging;
  guard.unlock();
  const auto bytes = staging->span();
  auto held = hold(bytes.size());
  deliver_(ticket, held ? wire::Bytes(bytes.begin(), bytes.end()) : wire::Bytes(), held);
}

void GraphHost::end() {
  const std::lock_guard guard(lock_);
  is_ending_ = true;
  changed_.notify_all();
}

}  // namespace flexrack::backend::cuda
