// The receiving half of the bulk path, cancelling, and connections coming and going.
#include <algorithm>
#include <cstring>

#include "wire/bulk.h"

namespace flexrack::wire {
namespace {
constexpr std::uint64_t kAckEvery = 4 * kChunk;
constexpr std::size_t kMostIncoming = 1 << 16;
}  // namespace

void Bulk::land(std::uint64_t ticket, std::span<std::uint8_t> into, Done done) {
  Guard guard(lock_);
  if (is_closed_ || withdrawn_.erase(ticket)) {
    guard.unlock();
    done(false);
    return;
  }
  if (into.empty()) {
    guard.unlock();
    done(true);
    return;
  }
  auto& payload = incoming_[ticket];
  if (payload.is_landing || payload.is_dropped || (payload.total != 0 && payload.total != into.size())) {
    // Twice the same ticket, one that was cancelled, or another size than what is coming.
    const bool is_ours = !payload.is_landing;
    guard.unlock();
    if (is_ours) cancel(ticket);
    done(false);
    return;
  }
  payload.into = into;
  payload.done = std::move(done);
  payload.is_landing = true;
  payload.total = into.size();
  tell_ticket(kLanding, ticket);
  if (payload.is_busy || payload.stored.empty()) return;  // whoever is busy with it looks for `into` when done
  payload.is_busy = true;
  guard.unlock();
  std::memcpy(into.data(), payload.stored.data(), payload.stored.size());
  guard.lock();
  payload.is_busy = false;
  stored_bytes_ -= payload.stored.size();
  Bytes().swap(payload.stored);
  changed_.notify_all();
  if (payload.is_dropped || payload.received == payload.total) finish_incoming(guard, ticket);
}

bool Bulk::on_small(std::uint64_t ticket, View data) {
  Guard guard(lock_);
  const auto found = incoming_.find(ticket);
  if (found == incoming_.end() || found->second.is_dropped) return true;  // cancelled meanwhile
  auto& payload = found->second;
  if (!payload.is_landing || payload.is_busy || payload.received != 0 || payload.total != data.size()) return false;
  std::memcpy(payload.into.data(), data.data(), data.size());
  payload.received = payload.total;
  finish_incoming(guard, ticket);
  return true;
}

void Bulk::cancel(std::uint64_t ticket) {
  Guard guard(lock_);
  if (is_closed_) return;
  if (outgoing_.contains(ticket)) {
    if (!outgoing_[ticket].is_cancelled) give_up(guard, ticket);
    return;
  }
  const auto found = incoming_.find(ticket);
  if (found == incoming_.end()) {
    // Announced: the other side waits for it. Else nobody here can tell which way it would have gone.
    const std::uint64_t who = announced_.erase(ticket) > 0 ? kWithdrawn : kWithdrawn | kUnwanted;
    if (who != kWithdrawn) withdrawn_.insert(ticket);
    guard.unlock();
    tell_cancel(ticket, who);
    return;
  }
  if (found->second.is_dropped) return;
  found->second.is_dropped = true;
  found->second.drop_until = ~std::uint64_t{0};  // until the sender says where it stopped
  ++dropped_;
  if (!found->second.is_busy) finish_incoming(guard, ticket);
  guard.unlock();
  tell_cancel(ticket, kUnwanted);
}

void Bulk::on_cancel(std::uint64_t ticket, std::uint64_t who, std::uint64_t last_chunk) {
  Guard guard(lock_);
  if ((who & kUnwanted) != 0) {
    const auto found = outgoing_.find(ticket);
    if (found != outgoing_.end()) {
      if (!found->second.is_cancelled) give_up(guard, ticket);
      return;
    }
    if (who == kUnwanted) {
      if (early_left_.erase(ticket) == 0) unwanted_.insert(ticket);
      guard.unlock();
      tell_cancel(ticket, kWithdrawn);  // nothing more of it comes from here
      return;
    }
    unwanted_.insert(ticket);
  }
  if ((who & kWithdrawn) == 0) return;
  auto found = incoming_.find(ticket);
  if (found == incoming_.end()) {
    withdrawn_.insert(ticket);
    if (last_chunk <= received_chunks_) return;
    found = incoming_.emplace(ticket, Incoming{}).first;
  } else if (!found->second.is_landing && !found->second.is_dropped) {
    withdrawn_.insert(ticket);
    tell_ticket(kLanding, ticket);  // gives its credit back
  }
  auto& payload = found->second;
  if (!payload.is_dropped) ++dropped_;
  payload.is_dropped = true;
  payload.drop_until = last_chunk;
  if (!payload.is_busy) finish_incoming(guard, ticket);
}

void Bulk::acknowledge_if_due() {
  std::uint64_t chunks = 0;
  {
    const Guard guard(lock_);
    if (reported_chunks_ == received_chunks_) return;
    chunks = reported_chunks_ = received_chunks_;
    unreported_bytes_ = 0;
  }
  hooks_.tell(kBulkAck, {reinterpret_cast<const std::uint8_t*>(&chunks), sizeof chunks}, false, true);
}

std::uint64_t Bulk::disconnect() {
  Guard guard(lock_);
  if (channel_) channel_->shut();
  channel_.reset();
  changed_.notify_all();
  ++awaiting_;
  changed_.wait(guard, [&] { return is_closed_ || (!is_reading_ && !is_sending_); });
  --awaiting_;
  reported_chunks_ = received_chunks_;
  return received_chunks_;
}

bool Bulk::connect(std::shared_ptr<Channel> channel, std::uint64_t received, std::uint64_t early_credit) {
  std::vector<Done> finished;
  Guard guard(lock_);
  if (is_closed_ || received < acked_chunks_ || !take_acked(guard, received, finished)) return false;
  resend_ = 0;
  their_credit_ = early_credit;
  channel_ = std::move(channel);
  moved_at_ = Clock::now();
  changed_.notify_all();
  guard.unlock();
  for (auto& done : finished) done(true);
  if (!finished.empty()) hooks_.settled();
  return true;
}

void Bulk::drop() {
  const Guard guard(lock_);
  if (channel_) channel_->shut();
  channel_.reset();
  changed_.notify_all();
}

void Bulk::drop_if_stuck(std::chrono::milliseconds patience) {
  const Guard guard(lock_);
  if (!channel_ || unacked_.empty() || Clock::now() - moved_at_ < patience) return;
  channel_->shut();
  channel_.reset();
  changed_.notify_all();
}

bool Bulk::is_connected() {
  const Guard guard(lock_);
  return channel_ != nullptr;
}

bool Bulk::read(std::chrono::milliseconds patience) {
  Guard guard(lock_);
  changed_.wait_for(guard, patience, [&] { return is_closed_ || channel_; });
  if (is_closed_ || !channel_) return false;
  is_reading_ = true;
  const auto channel = channel_;
  guard.unlock();
  while (read_chunk(*channel)) continue;
  channel->shut();
  guard.lock();
  is_reading_ = false;
  if (channel_ == channel) channel_.reset();
  changed_.notify_all();
  return false;
}

bool Bulk::read_chunk(Channel& channel) {
  ChunkHeader header;
  if (!channel.read_all({reinterpret_cast<std::uint8_t*>(&header), sizeof header})) return false;
  Guard guard(lock_);
  if (is_closed_) return false;
  const bool is_void = (header.flags & kVoid) != 0;
  if (header.sequence != received_chunks_ + 1 || (is_void ? header.length != 0 : header.length == 0) ||
      header.length > kLargestChunk) {
    guard.unlock();
    hooks_.malformed("a chunk that cannot be");
    return false;
  }
  if (!is_void && !take_chunk(guard, channel, header)) return false;
  ++received_chunks_;
  unreported_bytes_ += header.length;
  bool is_whole = is_void;
  if (const auto found = incoming_.find(header.ticket); !is_void && found != incoming_.end()) {
    is_whole = found->second.received == found->second.total;
    if (found->second.is_landing && is_whole && !found->second.is_busy) finish_incoming(guard, header.ticket);
  }
  if (dropped_ > 0) forget_dropped();
  const bool is_due = is_whole || unreported_bytes_ >= kAckEvery;
  guard.unlock();
  if (is_due) acknowledge_if_due();
  return true;
}

/// Reads the data of a chunk to where it belongs. Returns with the lock held; false: the connection or the other side
/// is no good.
bool Bulk::take_chunk(Guard& guard, Channel& channel, const ChunkHeader& header) {
  const auto refuse = [&](std::string_view why) {
    guard.unlock();
    hooks_.malformed(why);
    guard.lock();
    return false;
  };
  if (incoming_.size() >= kMostIncoming && !incoming_.contains(header.ticket))
    return refuse("too many payloads at once");
  auto& payload = incoming_[header.ticket];
  changed_.wait(guard, [&] { return !payload.is_busy; });
  if (payload.is_dropped) {
    guard.unlock();
    const bool is_drained = drain(channel, header.length);
    guard.lock();
    return is_drained;
  }
  if (payload.total == 0) payload.total = header.total;
  if (payload.total != header.total || header.offset != payload.received ||
      header.length > payload.total - payload.received)
    return refuse("a chunk that does not fit its payload");
  payload.is_busy = true;
  std::uint8_t* target = payload.into.data() + header.offset;
  const bool is_stored = !payload.is_landing;
  if (is_stored) {
    // Twice the credit: what is given back may be used again before it is gone from here.
    if (stored_bytes_ + header.length > 2 * my_credit_) return refuse("more than its credit");
    stored_bytes_ += header.length;
    const auto at = payload.stored.size();
    payload.stored.resize(at + header.length);
    target = payload.stored.data() + at;
  }
  guard.unlock();
  const bool is_read = channel.read_all({target, header.length});
  guard.lock();
  payload.is_busy = false;
  changed_.notify_all();
  if (!is_read) {
    if (is_stored) {
      payload.stored.resize(payload.stored.size() - header.length);
      stored_bytes_ -= header.length;
    }
  } else {
    payload.received += header.length;
  }
  if (is_stored && payload.is_landing && !payload.stored.empty() && !payload.is_dropped) {  // land() came meanwhile
    std::memcpy(payload.into.data(), payload.stored.data(), payload.stored.size());
    stored_bytes_ -= payload.stored.size();
    Bytes().swap(payload.stored);
  }
  if (payload.is_dropped) finish_incoming(guard, header.ticket);
  return is_read;
}

bool Bulk::drain(Channel& channel, std::uint64_t length) {
  Bytes scratch(std::min<std::uint64_t>(length, 64 * 1024));
  while (length > 0) {
    const auto now = std::min<std::uint64_t>(length, scratch.size());
    if (!channel.read_all({scratch.data(), now})) return false;
    length -= now;
  }
  return true;
}

/// The payload is whole, or dropped: tells whoever waits. Nobody is busy with it.
void Bulk::finish_incoming(Guard& guard, std::uint64_t ticket) {
  const auto found = incoming_.find(ticket);
  auto& payload = found->second;
  const bool is_whole = !payload.is_dropped;
  stored_bytes_ -= payload.stored.size();
  Bytes().swap(payload.stored);
  auto done = std::move(payload.done);
  payload.done = nullptr;
  if (is_whole) incoming_.erase(found);
  else forget_dropped();
  if (!done) return;
  guard.unlock();
  done(is_whole);
  hooks_.settled();
  guard.lock();
}

/// Entries of dropped payloads of which nothing more can come.
void Bulk::forget_dropped() {
  std::erase_if(incoming_, [&](const auto& entry) {
    const auto& payload = entry.second;
    const bool is_past =
        payload.is_dropped && !payload.is_busy && !payload.done && payload.drop_until <= received_chunks_;
    if (is_past) --dropped_;
    return is_past;
  });
}

void Bulk::tell_ticket(std::uint16_t op, std::uint64_t ticket) {
  hooks_.tell(op, {reinterpret_cast<const std::uint8_t*>(&ticket), sizeof ticket}, true, false);
}

void Bulk::close() {
  Guard guard(lock_);
  is_closed_ = true;
  if (channel_) channel_->shut();
  channel_.reset();
  changed_.notify_all();
  ++awaiting_;
  changed_.wait(guard, [&] {
    return !is_reading_ && !is_sending_ &&
           std::none_of(incoming_.begin(), incoming_.end(), [](const auto& entry) { return entry.second.is_busy; });
  });
  std::vector<Done> failed;
  for (auto& [ticket, payload] : outgoing_)
    if (payload.done) failed.push_back(std::move(payload.done));
  for (auto& [ticket, payload] : incoming_)
    if (payload.done) failed.push_back(std::move(payload.done));
  outgoing_.clear();
  incoming_.clear();
  guard.unlock();
  for (auto& done : failed) done(false);
}

}  // namespace flexrack::wire
