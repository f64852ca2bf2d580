#include "client/cuda/inbox.h"

#include <algorithm>
#include <string>

#include "client/cuda/communicator.h"
#include "client/cuda/driver.h"
#include "client/cuda/host_function.h"
#include "client/cuda/mirror.h"
#include "client/cuda/peer.h"
#include "client/notice.h"
#include "client/standard_output.h"
#include "client/trace.h"

namespace flexrack::client::cuda {

void note_trouble(CUcontext context, CUresult status, bool is_for_good) {
  const std::lock_guard guard(context->lock);
  auto& kept = is_for_good ? context->sticky : context->pending;
  if (kept == CUDA_SUCCESS) kept = status;
  context->is_troubled.store(true, std::memory_order_release);
}

CUresult take_trouble(CUcontext context) {
  if (!context->server->session->is_alive()) return kLost;
  if (context->server->inbox.is_troubled.load(std::memory_order_relaxed)) {
    if (const auto status = context->server->inbox.take_trouble(); status != CUDA_SUCCESS) return status;
  }
  if (!context->is_troubled.load(std::memory_order_acquire)) return CUDA_SUCCESS;
  const std::lock_guard guard(context->lock);
  if (context->sticky != CUDA_SUCCESS) return context->sticky;
  const auto status = context->pending;
  context->pending = CUDA_SUCCESS;
  context->is_troubled.store(false, std::memory_order_release);
  return status;
}

void Inbox::on_notice(Session& session, const wire::Header& header, wire::View body) {
  take_notice(session, [&] { return cu::dispatch(static_cast<cu::Notices&>(*this), header, body); });
}

void Inbox::on_lost(Session&, std::string_view) {
  std::vector<Watch> watches;
  std::vector<std::weak_ptr<HostWork>> works;
  {
    const std::lock_guard guard(lock_);
    is_lost_ = true;
    watches.swap(watches_);
    works.swap(works_);
  }
  // Other servers' streams wait for them: they go on, and the error is found where this server is asked.
  for (const auto& watch : watches) watch.action();
  for (const auto& one : works)
    if (const auto work = one.lock()) work->finish(false);
  lose_peers(server_);
}

void Inbox::fail_when_lost(const std::shared_ptr<HostWork>& work) {
  {
    const std::lock_guard guard(lock_);
    if (!is_lost_) {
      std::erase_if(works_, [](const auto& one) {
        const auto known = one.lock();
        return !known || known->is_over();
      });
      return works_.push_back(work);
    }
  }
  work->finish(false);
}

void Inbox::enter(CUcontext context) {
  const std::lock_guard guard(lock_);
  contexts_[context->handle] = context;
}

void Inbox::leave(std::uint64_t handle) {
  const std::lock_guard guard(lock_);
  contexts_.erase(handle);
}

void Inbox::expect(CUevent event) {
  const std::lock_guard guard(lock_);
  events_[event->handle] = event;
}

void Inbox::forget(CUevent event) {
  const std::lock_guard guard(lock_);
  events_.erase(event->handle);
}

void Inbox::when_reached(std::uint64_t event, std::uint64_t number, std::function<void()> action) {
  {
    const std::lock_guard guard(lock_);
    if (!is_lost_) return watches_.push_back({event, number, std::move(action)});
  }
  action();
}

CUresult Inbox::take_trouble() {
  const std::lock_guard guard(lock_);
  const auto status = pending_;
  pending_ = CUDA_SUCCESS;
  is_troubled.store(false, std::memory_order_relaxed);
  return status;
}

void Inbox::on(const cu::Failed& message) {
  const auto status = static_cast<CUresult>(message.status);
  if (is_traced()) {
    trace("the server refused op " + std::to_string(message.op) + " with " + std::to_string(message.status) + " " +
          std::string(message.text));
  }
  if (status == CUDA_SUCCESS) return;
  if (message.op == cu::ExportMemory::kOp || message.op == cu::ImportMemory::kOp || message.op == cu::SignalPeer::kOp ||
      message.op == cu::AwaitPeer::kOp)
    fail_peer_copy(server_, message.object, status);
  fail(message.context, status);
}

void Inbox::fail(std::uint64_t context, CUresult status) {
  const std::lock_guard guard(lock_);
  const auto found = contexts_.find(context);
  if (found != contexts_.end()) return note_trouble(found->second, status, is_sticky(status));
  if (pending_ == CUDA_SUCCESS) pending_ = status;
  is_troubled.store(true, std::memory_order_relaxed);
}

void Inbox::on(const cu::RunHostFunction& message) {
  run_host_function(server_, message.function, message.run, static_cast<CUresult>(message.status));
}

void Inbox::on(const cu::EventReached& message) {
  std::vector<Watch> reached;
  sync_epoch.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard guard(lock_);
    if (const auto found = events_.find(message.event); found != events_.end()) {
      const std::lock_guard event_guard(found->second->lock);
      if (message.number >= found->second->reached) {
        found->second->reached = message.number;
        found->second->status = static_cast<CUresult>(message.status);
      }
    }
    const auto first = std::stable_partition(watches_.begin(), watches_.end(), [&](const Watch& watch) {
      return watch.event != message.event || watch.number > message.number;
    });
    reached.assign(std::make_move_iterator(first), std::make_move_iterator(watches_.end()));
    watches_.erase(first, watches_.end());
  }
  for (const auto& watch : reached) watch.action();
}

void Inbox::on(const cu::Changed& message) { take_changes_of(server_, message.ranges, message.data); }

void Inbox::on(const cu::CollectivesFailed& message) {
  fail_communicator(message.communicator, static_cast<ncclResult_t>(message.status), message.text);
}

void Inbox::on(const cu::Printed& message) { write_standard_output(message.text); }

}  // namespace flexrack::client::cuda
