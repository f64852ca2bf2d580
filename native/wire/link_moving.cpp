// A session that goes on in another process: the server's link stops taking frames, says all it knows, and another link
// goes on after it. The client resumes there as after a lost connection.
#include <algorithm>

#include "wire/bytes_of.h"
#include "wire/codec.h"
#include "wire/error.h"
#include "wire/secrets.h"
#include "wire/session_link.h"

namespace flexrack::wire {
namespace {
constexpr std::uint64_t kStateVersion = 1;
constexpr std::size_t kLeastDeferred = 24;  ///< bytes of a frame of nothing in the state
constexpr std::size_t kMostDeferred = 4;  ///< times the bytes that a client may have unacknowledged
}  // namespace

void SessionLink::park() {
  const std::lock_guard handing(handing_);
  is_parked_ = true;
}

void SessionLink::unpark() {
  const std::lock_guard handing(handing_);
  if (!is_parked_ || is_frozen_) return;
  is_parked_ = !hand_out_deferred();
}

/// Under handing_. A client waits once enough of what it said is not acknowledged. False: one that does not; the link
/// is over.
bool SessionLink::defer(const Header& header, View body) {
  deferred_.push_back({header, {body.begin(), body.end()}});
  deferred_bytes_ += sizeof(Deferred) + body.size();
  if (deferred_bytes_ > limits_.unacknowledged) is_holding_back_ = true;
  on_kept();
  if (deferred_bytes_ <= kMostDeferred * limits_.unacknowledged + kMaximumBody) return true;
  end("the client says more than it may while its session is on its way");
  return false;
}

bool SessionLink::is_settled() { return outbox_.is_settled() && bulk_.is_settled(); }

std::optional<Bytes> SessionLink::freeze() {
  {
    const std::lock_guard handing(handing_);
    if (!is_parked_ || is_over()) return std::nullopt;
    is_frozen_ = true;
  }
  bulk_.disconnect();
  Bytes state;
  Writer out(state);
  const std::lock_guard handing(handing_);
  out.put(kStateVersion);
  out.put(received_.load());
  out.put(outbox_.sequence());
  out.put(next_ticket_.load());
  if (!outbox_.is_settled() || !bulk_.export_state(out)) return std::nullopt;
  out.put<std::uint64_t>(deferred_.size());
  for (const auto& frame : deferred_) {
    out.put(frame.header);
    out.put_array(std::span<const std::uint8_t>(frame.body));
    out.align(8);
  }
  return state;
}

void SessionLink::thaw() {
  {
    const std::lock_guard handing(handing_);
    if (!is_frozen_) return;
  }
  // Frames that came meanwhile were not counted: they come again on another connection only.
  lose(connection_now().get(), true);
  {
    const std::lock_guard handing(handing_);
    is_frozen_ = false;
  }
  on_back();
}

void SessionLink::redirect(std::string_view where) {
  Bytes body;
  // It carries the other lease's key, and plain TCP hides nothing.
  const auto sealed = seal(key_, {bytes_of_text(kMovedPurpose), preamble_.session}, bytes_of_text(where));
  Writer(body).put_array(std::span<const std::uint8_t>(sealed));
  outbox_.append_control(kMoved, body);
  flush();
}

void SessionLink::begin(View state) {
  const auto refuse = [] { throw Error(Error::Kind::malformed, "a session that cannot be gone on with"); };
  Reader in(state);
  if (in.get<std::uint64_t>() != kStateVersion) refuse();
  received_ = in.get<std::uint64_t>();
  acknowledged_ = received_.load();
  outbox_.go_on_after(in.get<std::uint64_t>());
  next_ticket_ = in.get<std::uint64_t>();
  if (!in.ok() || !bulk_.import_state(in)) refuse();
  for (auto left = in.get_count(kLeastDeferred); left > 0 && in.ok(); --left) {
    const auto header = in.get<Header>();
    const auto body = in.get_array<std::uint8_t>();
    if (in.ok() && !defer(header, body)) refuse();
  }
  if (!in.ok()) refuse();
  is_parked_ = is_adopted_ = true;
  lost_at_ = Clock::now();
  lost_by_silence_ = true;
  begin_threads();
}

}  // namespace flexrack::wire
