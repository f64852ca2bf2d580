#include "wire/outbox.h"

#include <algorithm>
#include <cstring>

namespace flexrack::wire {
namespace {
constexpr std::size_t kSpareBlocks = 16;
constexpr std::size_t kLargestSpare = 64 * 1024;
constexpr std::size_t kOverfull = 8;  ///< times the limit
}  // namespace

Outbox::Appended Outbox::append(std::uint16_t op, std::uint16_t flags, const std::function<void(Bytes&)>& encode,
                                bool may_wait) {
  std::unique_lock guard(lock_);
  if (may_wait && unacked_bytes_ + pending_.size() > limit_)
    room_.wait(guard, [&] { return is_closed_ || unacked_bytes_ + pending_.size() <= limit_; });
  if (is_closed_) return {0, 0};
  const auto at = pending_.size();
  pending_.resize(at + sizeof(Header));
  encode(pending_);
  pending_.resize((pending_.size() + 7) & ~std::size_t{7});
  const auto length = pending_.size() - at - sizeof(Header);
  if (length > kMaximumBody) {
    pending_.resize(at);
    return {0, pending_.size()};
  }
  const Header header{op, flags, static_cast<std::uint32_t>(length), ++sequence_};
  std::memcpy(pending_.data() + at, &header, sizeof header);
  count_pending();
  return {sequence_, pending_.size()};
}

void Outbox::await_room() {
  std::unique_lock guard(lock_);
  room_.wait(guard, [&] { return is_closed_ || unacked_bytes_ + pending_.size() <= limit_; });
}

void Outbox::append_control(std::uint16_t op, View body) {
  const std::lock_guard guard(lock_);
  const auto at = control_.size();
  control_.resize((at + sizeof(Header) + body.size() + 7) & ~std::size_t{7});
  const Header header{op, 0, static_cast<std::uint32_t>(control_.size() - at - sizeof(Header)), 0};
  std::memcpy(control_.data() + at, &header, sizeof header);
  if (!body.empty()) std::memcpy(control_.data() + at + sizeof header, body.data(), body.size());
  count_pending();
}

void Outbox::close() {
  const std::lock_guard guard(lock_);
  is_closed_ = true;
  room_.notify_all();
}

bool Outbox::is_overfull() const {
  const std::lock_guard guard(lock_);
  return unacked_bytes_ + pending_.size() > limit_ * kOverfull;
}

bool Outbox::is_settled() const {
  const std::lock_guard guard(lock_);
  return pending_.empty() && acked_ == sequence_;
}

std::uint64_t Outbox::sequence() const {
  const std::lock_guard guard(lock_);
  return sequence_;
}

void Outbox::go_on_after(std::uint64_t sequence) {
  const std::lock_guard guard(lock_);
  sequence_ = acked_ = sequence;
}

const std::vector<iovec>& Outbox::take() {
  const std::lock_guard guard(lock_);
  pieces_.clear();
  control_taken_.clear();
  std::swap(control_, control_taken_);
  if (!control_taken_.empty()) pieces_.push_back({control_taken_.data(), control_taken_.size()});
  if (!pending_.empty()) {
    unacked_bytes_ += pending_.size();
    unacked_.push_back({std::move(pending_), sequence_});
    pending_ = Bytes();
    if (!spare_.empty()) {
      pending_ = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  for (auto i = unwritten_; i < unacked_.size(); ++i)
    pieces_.push_back({unacked_[i].bytes.data(), unacked_[i].bytes.size()});
  taken_ = unacked_.size();
  pending_size_.store(0, std::memory_order_release);
  return pieces_;
}

void Outbox::written() {
  const std::lock_guard guard(lock_);
  unwritten_ = taken_;
  trim();
}

bool Outbox::acknowledge(std::uint64_t sequence) {
  const std::lock_guard guard(lock_);
  // Frames that are only pending have not been seen by anybody.
  const auto given = unacked_.empty() ? acked_ : unacked_.back().last;
  if (sequence > std::max(given, acked_)) return false;
  acked_ = std::max(acked_, sequence);
  trim();
  return true;
}

bool Outbox::rewind(std::uint64_t received) {
  const std::lock_guard guard(lock_);
  const auto given = unacked_.empty() ? acked_ : unacked_.back().last;
  if (received < acked_ || received > std::max(given, acked_)) return false;
  acked_ = received;
  unwritten_ = unacked_.size();
  trim();
  skip_acknowledged();
  unwritten_ = 0;
  control_.clear();
  count_pending();
  return true;
}

/// Drops blocks that are acknowledged whole. A block still being written stays until written(): its memory is in use.
void Outbox::trim() {
  while (unwritten_ > 0 && !unacked_.empty() && unacked_.front().last <= acked_) {
    auto& bytes = unacked_.front().bytes;
    unacked_bytes_ -= bytes.size();
    if (spare_.size() < kSpareBlocks && bytes.capacity() <= kLargestSpare) {
      bytes.clear();
      spare_.push_back(std::move(bytes));
    }
    unacked_.pop_front();
    --unwritten_;
    if (taken_ > 0) --taken_;
  }
  room_.notify_all();
}

/// Cuts the frames that the other side has off the first block: one that is sent from its start after every cut might
/// never get through.
void Outbox::skip_acknowledged() {
  if (unacked_.empty()) return;
  auto& bytes = unacked_.front().bytes;
  std::size_t at = 0;
  while (at < bytes.size()) {
    Header header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    if (header.sequence > acked_) break;
    at += sizeof header + header.length;
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  unacked_bytes_ -= at;
}

void Outbox::count_pending() {
  std::size_t size = pending_.size() + control_.size();
  for (auto i = unwritten_; i < unacked_.size(); ++i) size += unacked_[i].bytes.size();
  pending_size_.store(size, std::memory_order_release);
}

}  // namespace flexrack::wire
