// The threads of a link: flushing and keeping it alive, reading when nobody else does, and getting back what was lost.
#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <utility>

#include "wire/block_channel.h"
#include "wire/error.h"
#include "wire/session_link.h"
#include "wire/shared_memory.h"

namespace flexrack::wire {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr microseconds kShortest{20}, kLongest{1000};  ///< how long what is appended waits for others to flush it
constexpr milliseconds kQuiet{10};                     ///< without anything appended, after which the keeper sleeps
constexpr milliseconds kTick{100};                     ///< acknowledgements wait no longer than this
constexpr milliseconds kPingEvery{1000}, kSilence{3000};
constexpr milliseconds kStuck{10000};                  ///< without a chunk acknowledged, on the bulk path alone
constexpr milliseconds kHandOver{1};  ///< without a waiting thread's read, after which the pump reads

void futex_wait(std::atomic<int>& word, int expected, milliseconds most) {
  const timespec time{most.count() / 1000, (most.count() % 1000) * 1'000'000};
  syscall(SYS_futex, reinterpret_cast<int*>(&word), FUTEX_WAIT_PRIVATE, expected, &time, nullptr, 0);
}

void futex_wake(std::atomic<int>& word) {
  syscall(SYS_futex, reinterpret_cast<int*>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

/// Something is to be flushed. Costs a system call only when the keeper sleeps.
void SessionLink::arm() {
  has_appended_.store(true, std::memory_order_release);
  if (keeper_.load(std::memory_order_acquire) == 0 && keeper_.exchange(1) == 0) futex_wake(keeper_);
}

void SessionLink::keep() {
  prctl(PR_SET_TIMERSLACK, 1000);  // 20 µs would be 70 with the usual slack
  prctl(PR_SET_NAME, "flexrack-keep");
  auto pause = kShortest;
  auto last_append = Clock::now();
  while (!is_over_) {
    if (keeper_.load(std::memory_order_acquire) == 0) {
      futex_wait(keeper_, 0, kTick);
      keep_connection();
      pause = kShortest;
      if (keeper_.load(std::memory_order_acquire) == 0) continue;
      last_append = Clock::now();
    }
    std::this_thread::sleep_for(pause);
    const bool has_appended = has_appended_.exchange(false);
    if (outbox_.has_pending()) {
      flush();
      pause = kShortest;
    } else {
      pause = std::min(pause * 2, kLongest);  // others flush in time: stay out of their way
    }
    const auto now = Clock::now();
    if (has_appended) last_append = now;
    else if (now - last_append > kQuiet) {
      keeper_.store(0);
      // An append between the look and the store saw the keeper awake: look again.
      if (has_appended_.load() && keeper_.exchange(1) == 0) continue;
    }
    keep_connection();
  }
}

/// Acknowledges, pings, and notices silence; called at least each kTick.
void SessionLink::keep_connection() {
  const auto now = Clock::now();
  const auto received = received_.load();
  const auto acknowledged = acknowledged_.load();
  const bool is_tick = now - ticked_at_ >= kTick;
  if (is_tick) ticked_at_ = now;
  if (received != acknowledged && is_tick && !is_holding_back_) {
    acknowledged_ = received;
    unacknowledged_bytes_ = 0;
    outbox_.append_control(kAck, {reinterpret_cast<const std::uint8_t*>(&received), 8});
    flush();
  }
  if (is_tick) bulk_.acknowledge_if_due();
  if (is_tick) bulk_.drop_if_stuck(kStuck);
  if (now.time_since_epoch() - Clock::duration(said_.load()) > kPingEvery) {
    outbox_.append_control(kPing, {});
    flush();
  }
  if (outbox_.is_overfull()) end("the other side takes nothing");
  check_silence();
}

/// A connection on which nothing came for long is given up, unless there is something that only has not been read yet.
void SessionLink::check_silence() {
  const auto silent = Clock::now().time_since_epoch() - Clock::duration(heard_.load());
  if (silent < kSilence) return;
  const auto connection = connection_now();
  if (!connection) return;
  pollfd one{connection->channel->fd(), POLLIN, 0};
  if (poll(&one, 1, 0) > 0) return;
  lose(connection.get(), true);
}

std::shared_ptr<Connection> SessionLink::connection_now() {
  const std::lock_guard guard(lock_);
  return connection_;
}

/// Gives up a connection of the command path, and the bulk path with it: it is the same network.
void SessionLink::lose(const Connection* connection, bool by_silence) {
  {
    const std::lock_guard guard(lock_);
    if (connection_.get() != connection || connection == nullptr) return;
    connection_->channel->shut();
    connection_.reset();
    lost_at_ = Clock::now();
    lost_by_silence_ = by_silence;
    changed_.notify_all();
    if (is_polling_) eventfd_write(wake_fd_, 1);
  }
  bulk_.drop();
}

void SessionLink::end(std::string_view why) {
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard guard(lock_);
    if (is_over_) return;
    why_ = why;
    is_over_ = true;
    connection = std::exchange(connection_, nullptr);
    changed_.notify_all();
    eventfd_write(wake_fd_, 1);
  }
  if (connection) connection->channel->shut();
  outbox_.close();
  bulk_.drop();
  keeper_.store(1);
  futex_wake(keeper_);
}

void SessionLink::pump() {
  prctl(PR_SET_NAME, "flexrack-pump");
  std::unique_lock guard(lock_);
  auto seen = turns_;
  auto pause = kHandOver;
  while (!is_over_) {
    if (!connection_) {
      if (!dial_again(guard)) break;
      continue;
    }
    if (is_reading_ || turns_ != seen) {
      // The longer one thread reads, the longer it is left alone; on leaving it wakes a pump that sleeps deeply.
      pause = turns_ != seen ? kHandOver : std::min(pause * 2, milliseconds(256));
      seen = turns_;
      is_pump_deep_ = pause > 4 * kHandOver;
      changed_.wait_for(guard, pause);
      is_pump_deep_ = false;
      continue;
    }
    // Only looks, without taking the turn: a thread that begins to wait reads at once.
    const auto connection = connection_;
    guard.unlock();
    pollfd both[2] = {{connection->channel->fd(), POLLIN, 0}, {wake_fd_, POLLIN, 0}};
    const int ready = connection->channel->has_buffered() ? 1 : poll(both, 2, 500);
    if (ready == 0) check_silence();
    guard.lock();
    if (is_reading_ || turns_ != seen || connection_ != connection) continue;
    is_reading_ = true;
    guard.unlock();
    const bool is_alive = read_ready(connection, milliseconds(0));
    if (!is_alive) lose(connection.get(), false);
    guard.lock();
    is_reading_ = false;
    if (waiters_ > 0 || is_over_) changed_.notify_all();
  }
  guard.unlock();
  finish();
}

/// Client: tries until the grace time is over. False: it is.
bool SessionLink::dial_again(std::unique_lock<std::mutex>& guard) {
  const auto end_at = lost_at_ + limits_.grace;
  auto pause = milliseconds(50);
  while (!is_over_ && !connection_) {
    guard.unlock();
    try {
      const auto kind = preamble_.kind;
      install(redial_(kind, true, my_hello(kind)));
      guard.lock();
      return true;
    } catch (const Error& error) {
      const bool is_final = error.kind() == Error::Kind::refused || error.kind() == Error::Kind::untrusted ||
                            error.kind() == Error::Kind::malformed;
      if (is_final) end(error.what());
      else if (Clock::now() + pause > end_at) end(std::string("not back within the grace time: ") + error.what());
    }
    guard.lock();
    if (is_over_) return false;
    changed_.wait_for(guard, pause, [&] { return is_over_.load(); });
    pause = std::min(pause * 2, milliseconds(1000));
  }
  return !is_over_;
}

void SessionLink::read_bulk() {
  prctl(PR_SET_NAME, "flexrack-bulk");
  auto pause = milliseconds(20);
  Clock::time_point failing_since{};
  while (!is_over_) {
    if (is_client() && !bulk_.is_connected()) {
      {
        std::unique_lock guard(lock_);
        changed_.wait_for(guard, milliseconds(500), [&] { return is_over_ || connection_; });
        if (is_over_) return;
        if (!connection_) {
          failing_since = {};  // the whole network is away, which is for the command path to bear
          continue;
        }
      }
      if (!dial_bulk()) {
        if (failing_since == Clock::time_point{}) failing_since = Clock::now();
        if (Clock::now() - failing_since > limits_.grace) end("the server takes commands but no payloads");
        std::unique_lock guard(lock_);
        changed_.wait_for(guard, pause, [&] { return is_over_.load(); });
        pause = std::min(pause * 2, milliseconds(1000));
        continue;
      }
      pause = milliseconds(20);
      failing_since = {};
    }
    bulk_.read(milliseconds(500));
  }
}

bool SessionLink::dial_bulk() {
  try {
    auto mine = my_hello(ConnectionKind::bulk);
    mine.received_chunks = bulk_.disconnect();
    mine.features = kBlocks;
    auto greeted = redial_(ConnectionKind::bulk, true, mine);
    tune_for_bulk(greeted.channel->fd());
    if (greeted.transport == Transport::shm) greeted.channel = offer_shared_memory(std::move(greeted.channel));
    else if ((greeted.theirs.features & kBlocks) != 0) greeted.channel = make_block_channel(std::move(greeted.channel));
    greeted.channel->keep_waiting = [this] { return !is_over_; };
    if (bulk_.connect(std::move(greeted.channel), greeted.theirs.received_chunks, greeted.theirs.early_credit))
      return true;
    end("the server has payloads that were never sent");
  } catch (const Error& error) {
    if (error.kind() == Error::Kind::untrusted || error.kind() == Error::Kind::malformed) end(error.what());
  }
  return false;
}

}  // namespace flexrack::wire
