// Reading the command path: by whoever waits, or by the thread that a link has for when nobody does.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "wire/codec.h"
#include "wire/session_link.h"

namespace flexrack::wire {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kLook{500};  ///< how often a reader looks whether the other side has fallen silent
constexpr std::uint64_t kAckFrames = 64, kAckBytes = 64 * 1024;

/// The link that this thread reads for just now: it must not wait for acknowledgements that only it can read.
thread_local const SessionLink* reading_here = nullptr;

}  // namespace

bool SessionLink::is_reading_here() const { return reading_here == this; }

bool SessionLink::wait(const std::function<bool()>& ready) {
  if (is_foreign()) return false;
  flush();
  std::unique_lock guard(lock_);
  ++waiters_;
  bool is_ready = ready();
  while (!is_ready && !is_finished_) {
    if (!read_as_leader(guard)) changed_.wait(guard);
    is_ready = ready();
  }
  --waiters_;
  if ((waiters_ > 0 && !is_reading_) || is_pump_deep_) changed_.notify_all();
  return is_ready;
}

/// Reads one batch where nobody else does; false where somebody does or there is nothing to read from.
bool SessionLink::read_as_leader(std::unique_lock<std::mutex>& guard) {
  if (is_reading_ || !connection_ || is_over_) return false;
  is_reading_ = true;
  ++turns_;
  const auto connection = connection_;
  is_polling_ = true;
  guard.unlock();
  const bool is_alive = read_ready(connection, kLook);
  if (!is_alive) lose(connection.get(), false);
  guard.lock();
  is_polling_ = false;
  is_reading_ = false;
  if (waiters_ > 1 || is_over_) changed_.notify_all();
  return true;
}

void SessionLink::run() {
  std::unique_lock guard(lock_);
  ++turns_;
  while (!is_over_) {
    if (read_as_leader(guard)) {
      if (waiters_ > 0) changed_.notify_all();
      guard.unlock();
      flush();
      guard.lock();
    } else if (!connection_) {
      // attach() brings a new one, or the time is over.
      const auto end_at = lost_at_ + (lost_by_silence_ ? limits_.grace : limits_.fin_wait);
      if (changed_.wait_until(guard, end_at) == std::cv_status::timeout && !connection_ && !is_over_) {
        guard.unlock();
        end(lost_by_silence_ ? "the client fell silent and did not come back" : "the client's connection ended");
        guard.lock();
      }
    } else {
      changed_.wait_for(guard, kLook);
    }
  }
  guard.unlock();
  finish();
}

/// Waits for the connection or a wake-up, then hands out what has come. False: the connection ended.
bool SessionLink::read_ready(const std::shared_ptr<Connection>& connection, std::chrono::milliseconds patience) {
  auto& channel = *connection->channel;
  if (!channel.has_buffered()) {
    pollfd both[2] = {{channel.fd(), POLLIN, 0}, {wake_fd_, POLLIN, 0}};
    if (wait_for_either(both, patience) == 0) check_silence();
    if (both[1].revents != 0 && !is_over_) {  // at the end it stays readable for all
      eventfd_t value;
      eventfd_read(wake_fd_, &value);
    }
    if (both[0].revents == 0) return true;
  }
  return read_batch(*connection);
}

/// poll(), which looks for a moment before it sleeps where that is worth it.
int SessionLink::wait_for_either(pollfd (&both)[2], milliseconds patience) {
  if (patience == patience.zero()) return poll(both, 2, 0);
  const auto start = Clock::now();
  const bool spins = spin_.is_worth_it();
  int ready = 0;
  if (spins)
    while (ready == 0 && Clock::now() - start < BriefSpin::kLongest) ready = poll(both, 2, 0);
  if (ready == 0) ready = poll(both, 2, static_cast<int>(patience.count()));
  spin_.waited(spins, Clock::now() - start);
  return ready;
}

bool SessionLink::read_batch(Connection& connection) {
  const struct Mark {
    const SessionLink* before = std::exchange(reading_here, nullptr);
    explicit Mark(const SessionLink* now) { reading_here = now; }
    ~Mark() { reading_here = before; }
  } mark(this);
  while (!is_over_) {
    const auto room = connection.reader.room();
    const auto got = connection.channel->read_some(room);
    if (got == Channel::kEnded) return false;
    if (got == Channel::kNothing) return true;
    heard_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    connection.reader.added(static_cast<std::size_t>(got));
    Header header;
    View body;
    FrameReader::Next next;
    while ((next = connection.reader.next(header, body)) == FrameReader::Next::frame && !is_over_)
      if (!take_frame(header, body)) return true;
    if (next == FrameReader::Next::malformed) end("a frame that cannot be");
    if (static_cast<std::size_t>(got) < room.size() && !connection.channel->has_buffered()) return true;
  }
  return true;
}

/// False: the link is over.
bool SessionLink::take_frame(const Header& header, View body) {
  std::unique_lock handing(handing_, std::defer_lock);
  if (!is_client()) handing.lock();
  if (is_frozen_) return true;  // not counted: its sender says it again where the session goes on
  if (header.sequence != 0) {
    const auto before = received_.load(std::memory_order_relaxed);
    if (header.sequence <= before) return true;  // sent again after a reconnect
    if (header.sequence != before + 1) return end("frames are missing"), false;
    received_.store(header.sequence, std::memory_order_release);
    const auto bytes = unacknowledged_bytes_.fetch_add(body.size() + sizeof header) + body.size() + sizeof header;
    if ((bytes >= kAckBytes || header.sequence - acknowledged_ >= kAckFrames) && !is_holding_back_) {
      unacknowledged_bytes_ = 0;
      acknowledged_ = header.sequence;
      outbox_.append_control(kAck, {reinterpret_cast<const std::uint8_t*>(&header.sequence), 8});
      arm();
    }
  }
  if (header.op < kFirstApiOp) return take_own_frame(header, body);
  if (header.sequence == 0) return end("a frame without its number"), false;
  if (!is_parked_ && !receiver_.takes(header, body)) is_parked_ = true;
  if (is_parked_) return defer(header, body);
  receiver_.on_frame(header, body);
  return !is_over_;
}

/// Under handing_. As if they were read now: what is sent for them must not wait for acknowledgements. False: the
/// receiver does not take the first that is left.
bool SessionLink::hand_out_deferred() {
  const auto* before = std::exchange(reading_here, this);
  while (!deferred_.empty() && !is_over_ && receiver_.takes(deferred_.front().header, deferred_.front().body)) {
    const auto frame = std::move(deferred_.front());
    deferred_.pop_front();
    deferred_bytes_ -= sizeof(Deferred) + frame.body.size();
    receiver_.on_frame(frame.header, frame.body);
  }
  is_holding_back_ = deferred_bytes_ > limits_.unacknowledged;
  reading_here = before;
  return deferred_.empty();
}

bool SessionLink::take_own_frame(const Header& header, View body) {
  Reader reader(body);
  switch (header.op) {
    case kAck:
      if (const auto sequence = reader.get<std::uint64_t>(); reader.ok() && outbox_.acknowledge(sequence)) return true;
      break;
    case kBulkAck:
      if (const auto chunks = reader.get<std::uint64_t>(); reader.ok()) return bulk_.on_ack(chunks), true;
      break;
    case kLanding:
      if (const auto ticket = reader.get<std::uint64_t>(); reader.ok() && header.sequence != 0)
        return bulk_.on_landing(ticket), true;
      break;
    case kSmall: {
      const auto ticket = reader.get<std::uint64_t>();
      const auto data = reader.get_array<std::uint8_t>();
      if (reader.ok() && header.sequence != 0 && bulk_.on_small(ticket, data)) return true;
      break;
    }
    case kCancel: {
      const auto ticket = reader.get<std::uint64_t>(), who = reader.get<std::uint64_t>(),
                 last = reader.get<std::uint64_t>();
      if (reader.ok() && header.sequence != 0 && who >= 1 && who <= 3) return bulk_.on_cancel(ticket, who, last), true;
      break;
    }
    case kMoved:
      // Not believed of a client. What makes no sense leaves the session where it is.
      if (is_client() && moved_ && moved_(reader.get_text())) lose(connection_now().get(), false);
      return true;
    case kGoodbye:
      was_ended_ = true;
      end(kEndedByOther);
      return false;
    default: return true;  // of a later version, which asks for no answer
  }
  end("a frame of the wire itself that cannot be");
  return false;
}

void SessionLink::wake() {
  const std::lock_guard guard(lock_);
  if (is_reading_here()) {  // this thread looks by itself, and hands on when it leaves
    if (waiters_ > 1) changed_.notify_all();
    return;
  }
  wake_locked();
}

void SessionLink::wake_locked() {
  if (waiters_ == 0) return;
  if (is_polling_) eventfd_write(wake_fd_, 1);
  if (waiters_ > 1 || !is_reading_) changed_.notify_all();
}

/// The end, on the thread that reads: all payloads are over, then the receiver hears of it, then waiting threads go.
void SessionLink::finish() {
  {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [&] { return !is_reading_; });
    if (is_finished_ || std::exchange(is_finishing_, true)) return;
  }
  bulk_.close();
  receiver_.on_over(why_);
  const std::lock_guard guard(lock_);
  is_finished_ = true;
  changed_.notify_all();
}

}  // namespace flexrack::wire
