// The sending half of the bulk path.
#include <algorithm>
#include <cstring>

#include "wire/bulk.h"

namespace flexrack::wire {
namespace {
constexpr std::size_t kMostAnnounced = 1 << 16;
}

void Bulk::push(std::uint64_t ticket, View data, Done done, bool wait) {
  Guard guard(lock_);
  const bool is_over = is_closed_;
  if (is_over || outgoing_.contains(ticket) || unwanted_.erase(ticket)) {
    guard.unlock();
    done(false);
    return;
  }
  if (data.empty()) {
    announced_.erase(ticket);
    guard.unlock();
    done(true);
    return;
  }
  if (data.size() < kInlinePayload && announced_.erase(ticket) > 0) {
    // The thread that waits for it reads the command path anyway: one wake-up instead of two.
    guard.unlock();
    Bytes body(2 * sizeof(std::uint64_t) + data.size());
    const std::uint64_t head[2] = {ticket, data.size()};
    std::memcpy(body.data(), head, sizeof head);
    std::memcpy(body.data() + sizeof head, data.data(), data.size());
    hooks_.tell(kSmall, body, true, wait);
    done(true);  // copied, and repeated by the command path like any frame
    return;
  }
  auto& payload = outgoing_[ticket];
  payload.data = data;
  payload.done = std::move(done);
  payload.is_landing = announced_.erase(ticket) > 0;
  (data.size() <= kChunk ? small_ : large_).push_back(ticket);
  if (!wait) {
    changed_.notify_all();
    return;
  }
  const auto is_handed_over = [&] {
    const auto found = outgoing_.find(ticket);
    return is_closed_ || found == outgoing_.end() || found->second.is_cancelled ||
           found->second.sent == found->second.data.size();
  };
  while (!is_handed_over()) {
    if (!is_sending_ && channel_ && has_work()) {
      send_next(guard);
    } else {
      ++awaiting_;
      changed_.wait(guard);
      --awaiting_;
    }
  }
  if (has_work()) changed_.notify_all();
}

void Bulk::write() {
  Guard guard(lock_);
  while (!is_closed_) {
    if (!is_sending_ && channel_ && has_work()) {
      send_next(guard);
    } else {
      changed_.wait(guard);
    }
  }
}

bool Bulk::has_work() {
  std::uint64_t ticket = 0;
  return resend_ < unacked_.size() || next_eligible(ticket) != nullptr;
}

/// Small payloads go first, so that none waits behind a large one; else in the order of push. Skips those without
/// credit.
Bulk::Outgoing* Bulk::next_eligible(std::uint64_t& ticket) {
  for (auto* queue : {&small_, &large_}) {
    for (auto at = queue->begin(); at != queue->end();) {
      const auto found = outgoing_.find(*at);
      if (found == outgoing_.end() || found->second.is_cancelled || found->second.sent == found->second.data.size()) {
        at = queue->erase(at);
        continue;
      }
      if (found->second.is_landing || early_used_ < their_credit_) {
        ticket = *at;
        return &found->second;
      }
      ++at;
    }
  }
  return nullptr;
}

/// Sends one chunk: first what the last connection may have lost, then the next one. The lock is not held while it is
/// written.
bool Bulk::send_next(Guard& guard) {
  ChunkHeader header{};
  View data;
  if (resend_ < unacked_.size()) {
    auto& chunk = unacked_[resend_];
    const auto found = outgoing_.find(chunk.ticket);
    if (found == outgoing_.end() || found->second.is_cancelled) chunk.is_void = true;
    header = {acked_chunks_ + 1 + resend_, chunk.ticket, chunk.offset, 0, chunk.length, 0};
    if (chunk.is_void) {
      header.length = 0;
      header.flags = kVoid;
    } else {
      header.total = found->second.data.size();
      data = found->second.data.subspan(chunk.offset, chunk.length);
    }
    ++resend_;
  } else {
    std::uint64_t ticket = 0;
    auto* payload = next_eligible(ticket);
    if (payload == nullptr) return false;
    auto length = std::min<std::uint64_t>(kChunk, payload->data.size() - payload->sent);
    if (!payload->is_landing) {
      length = std::min(length, their_credit_ - early_used_);
      early_used_ += length;
    }
    header = {++sent_chunks_, ticket, payload->sent, payload->data.size(), static_cast<std::uint32_t>(length), 0};
    data = payload->data.subspan(payload->sent, length);
    unacked_.push_back({ticket, payload->sent, header.length, false});
    resend_ = unacked_.size();
    payload->sent += length;
    if (unacked_.size() == 1) moved_at_ = Clock::now();
  }
  const auto in_flight = outgoing_.find(header.ticket);
  const bool is_by_reference = !data.empty() && in_flight != outgoing_.end();
  if (is_by_reference) ++in_flight->second.in_flight;
  is_sending_ = true;
  const auto channel = channel_;
  guard.unlock();
  const iovec pieces[2] = {{&header, sizeof header}, {const_cast<std::uint8_t*>(data.data()), data.size()}};
  const bool is_written = channel->write({pieces, data.empty() ? 1u : 2u});
  if (!is_written) channel->shut();
  guard.lock();
  is_sending_ = false;
  if (!is_written && channel_ == channel) channel_.reset();
  if (is_by_reference) {
    const auto found = outgoing_.find(header.ticket);
    if (found != outgoing_.end() && --found->second.in_flight == 0) {
      if (found->second.is_cancelled) give_up(guard, header.ticket);
      else if (found->second.acked == found->second.data.size()) {  // acknowledged before this thread came back
        auto done = std::move(found->second.done);
        outgoing_.erase(found);
        guard.unlock();
        done(true);
        hooks_.settled();
        guard.lock();
      }
    }
  }
  // The thread that sends goes on by itself; only others need to know.
  if (awaiting_ > 0 || !is_written) changed_.notify_all();
  return is_written;
}

void Bulk::on_ack(std::uint64_t chunks) {
  std::vector<Done> finished;
  Guard guard(lock_);
  const bool is_possible = take_acked(guard, chunks, finished);
  guard.unlock();
  for (auto& done : finished) done(true);
  if (!finished.empty()) hooks_.settled();
  if (!is_possible) hooks_.malformed("an acknowledgement of chunks that were never sent");
}

bool Bulk::take_acked(Guard&, std::uint64_t chunks, std::vector<Done>& finished) {
  if (chunks > sent_chunks_) return false;
  if (chunks > acked_chunks_) moved_at_ = Clock::now();
  while (acked_chunks_ < chunks) {
    const auto chunk = unacked_.front();
    unacked_.pop_front();
    ++acked_chunks_;
    if (resend_ > 0) --resend_;
    const auto found = outgoing_.find(chunk.ticket);
    if (found == outgoing_.end() || chunk.is_void) continue;
    auto& payload = found->second;
    payload.acked += chunk.length;
    if (payload.acked < payload.data.size() || payload.in_flight > 0 || payload.is_cancelled) continue;
    if (!payload.is_landing) early_left_[chunk.ticket] = payload.sent;
    finished.push_back(std::move(payload.done));
    outgoing_.erase(found);
  }
  return true;
}

void Bulk::on_landing(std::uint64_t ticket) {
  Guard guard(lock_);
  if (const auto left = early_left_.find(ticket); left != early_left_.end()) {
    early_used_ -= std::min(early_used_, left->second);
    early_left_.erase(left);
    changed_.notify_all();
    return;
  }
  const auto found = outgoing_.find(ticket);
  if (found == outgoing_.end()) {
    announced_.insert(ticket);
    const bool is_too_many = announced_.size() > kMostAnnounced;
    guard.unlock();
    if (is_too_many) hooks_.malformed("too many payloads announced");
    return;
  }
  if (found->second.is_landing) return;
  found->second.is_landing = true;
  early_used_ -= std::min(early_used_, found->second.sent);
  changed_.notify_all();
}

/// The payload is not wanted: what is not sent stays, what is being written is waited for by send_next().
void Bulk::give_up(Guard& guard, std::uint64_t ticket) {
  const auto found = outgoing_.find(ticket);
  auto& payload = found->second;
  payload.is_cancelled = true;
  if (payload.in_flight > 0) return;
  if (!payload.is_landing && payload.sent > 0) early_left_[ticket] = payload.sent;
  auto done = std::move(payload.done);
  outgoing_.erase(found);
  for (auto& chunk : unacked_)
    if (chunk.ticket == ticket) chunk.is_void = true;
  changed_.notify_all();
  guard.unlock();
  tell_cancel(ticket, kWithdrawn);
  if (done) done(false);
  hooks_.settled();
  guard.lock();
}

void Bulk::tell_cancel(std::uint64_t ticket, std::uint64_t who) {
  std::uint64_t body[3] = {ticket, who, 0};
  {
    const Guard guard(lock_);
    body[2] = sent_chunks_;
  }
  hooks_.tell(kCancel, {reinterpret_cast<const std::uint8_t*>(body), sizeof body}, true, true);
}

}  // namespace flexrack::wire
