// What of the bulk path another process needs to go on with it.
#include <algorithm>

#include "wire/bulk.h"

namespace flexrack::wire {
namespace {

constexpr std::size_t kMostTickets = 1 << 17;

void put_all(Writer& out, const auto& tickets) {
  const std::vector<std::uint64_t> all(tickets.begin(), tickets.end());
  out.put_array(std::span<const std::uint64_t>(all));
}

}  // namespace

bool Bulk::is_settled() {
  const Guard guard(lock_);
  return outgoing_.empty() && unacked_.empty() && std::none_of(incoming_.begin(), incoming_.end(), [](const auto& one) {
           return one.second.is_landing || one.second.is_busy;
         });
}

bool Bulk::export_state(Writer& out) {
  if (!is_settled()) return false;
  const Guard guard(lock_);
  if (channel_ || is_closed_) return false;
  out.put(sent_chunks_);
  out.put(received_chunks_);
  out.put(early_used_);
  out.put(their_credit_);
  put_all(out, announced_);
  put_all(out, unwanted_.all());
  put_all(out, withdrawn_.all());
  out.put<std::uint64_t>(early_left_.size());
  for (const auto& [ticket, bytes] : early_left_) {
    out.put(ticket);
    out.put(bytes);
  }
  out.put<std::uint64_t>(incoming_.size());
  for (const auto& [ticket, payload] : incoming_) {
    out.put(ticket);
    out.put(payload.total);
    out.put(payload.received);
    out.put(payload.drop_until);
    out.put<std::uint64_t>(payload.is_dropped ? 1 : 0);
    out.put_array(std::span<const std::uint8_t>(payload.stored));
    out.align(8);
  }
  return true;
}

bool Bulk::import_state(Reader& in) {
  const Guard guard(lock_);
  sent_chunks_ = acked_chunks_ = in.get<std::uint64_t>();
  received_chunks_ = reported_chunks_ = in.get<std::uint64_t>();
  early_used_ = in.get<std::uint64_t>();
  their_credit_ = in.get<std::uint64_t>();
  const auto announced = in.get_array<std::uint64_t>(), unwanted = in.get_array<std::uint64_t>(),
             withdrawn = in.get_array<std::uint64_t>();
  announced_.insert(announced.begin(), announced.end());
  for (const auto ticket : unwanted) unwanted_.insert(ticket);
  for (const auto ticket : withdrawn) withdrawn_.insert(ticket);
  for (auto left = in.get_count(16); left > 0; --left) {
    const auto ticket = in.get<std::uint64_t>();
    early_left_[ticket] = in.get<std::uint64_t>();
  }
  for (auto left = in.get_count(48); left > 0 && in.ok(); --left) {
    auto& payload = incoming_[in.get<std::uint64_t>()];
    payload.total = in.get<std::uint64_t>();
    payload.received = in.get<std::uint64_t>();
    payload.drop_until = in.get<std::uint64_t>();
    payload.is_dropped = in.get<std::uint64_t>() != 0;
    const auto stored = in.get_array<std::uint8_t>();
    payload.stored.assign(stored.begin(), stored.end());
    stored_bytes_ += stored.size();
    if (payload.is_dropped) ++dropped_;
    if (payload.received > payload.total || (!payload.is_dropped && payload.stored.size() != payload.received))
      in.fail();
  }
  return in.ok() && incoming_.size() <= kMostTickets;
}

}  // namespace flexrack::wire
