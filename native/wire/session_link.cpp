#include "wire/session_link.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "wire/block_channel.h"
#include "wire/error.h"
#include "wire/shared_memory.h"

namespace flexrack::wire {
namespace {

std::atomic<unsigned> forks{0};

/// Counts forks: none of our threads exists in the child, and the connections are the parent's.
unsigned watch_forks() {
  static const bool is_watching = pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); }) == 0;
  (void)is_watching;
  return forks.load();
}

}  // namespace

SessionLink::SessionLink(const Preamble& preamble, View key, const Limits& limits, Receiver& receiver, Redial redial,
                         Moved moved)
    : preamble_(preamble),
      key_(key.begin(), key.end()),
      limits_(limits),
      receiver_(receiver),
      redial_(std::move(redial)),
      moved_(std::move(moved)),
      process_(watch_forks()),
      outbox_(limits.unacknowledged),
      bulk_({[this](std::uint16_t op, View body, bool is_numbered, bool now) { tell(op, body, is_numbered, now); },
             [this] { wake(); }, [this](std::string_view why) { end(why); }},
            limits.early_credit),
      wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

SessionLink::~SessionLink() {
  if (is_foreign()) {
    // The threads live in the parent; their handles here can be neither joined nor destroyed.
    (void)threads_.release();
    return;
  }
  close();
  ::close(wake_fd_);
}

void SessionLink::begin(Greeted first) {
  install(std::move(first));
  begin_threads();
}

void SessionLink::begin_threads() {
  threads_->keeper = std::thread([this] { keep(); });
  threads_->bulk_reader = std::thread([this] { read_bulk(); });
  threads_->bulk_writer = std::thread([this] { bulk_.write(); });
  if (is_client()) threads_->pump = std::thread([this] { pump(); });
}

std::uint64_t SessionLink::send(std::uint16_t op, std::uint16_t flags, const std::function<void(Bytes&)>& encode) {
  if (is_foreign() || is_over()) return 0;
  const auto appended = outbox_.append(op, flags, encode, !is_reading_here());
  if (appended.sequence == 0) return 0;
  if (appended.pending >= kFlushAt) flush();
  else arm();
  return appended.sequence;
}

std::uint64_t SessionLink::send_at_once(std::uint16_t op, std::uint16_t flags,
                                        const std::function<void(Bytes&)>& encode) {
  if (is_foreign() || is_over()) return 0;
  const auto appended = outbox_.append(op, flags, encode, false);
  if (appended.sequence != 0) arm();
  return appended.sequence;
}

void SessionLink::await_room() {
  if (!is_foreign() && !is_reading_here()) outbox_.await_room();
}

void SessionLink::flush() {
  if (is_foreign() || !outbox_.has_pending()) return;
  // Where a client reads, it must not wait for a server that waits for it to read.
  if (is_client() && is_reading_here()) return arm();
  const std::lock_guard guard(write_lock_);
  write_pending();
}

std::uint64_t SessionLink::ticket() { return next_ticket_.fetch_add(1) * 2 + (is_client() ? 1 : 0); }

void SessionLink::push(std::uint64_t ticket, View data, Done done, bool wait) {
  if (is_foreign()) return done(false);
  bulk_.push(ticket, data, std::move(done), wait);
}

void SessionLink::land(std::uint64_t ticket, std::span<std::uint8_t> into, Done done) {
  if (is_foreign()) return done(false);
  bulk_.land(ticket, into, std::move(done));
}

void SessionLink::cancel(std::uint64_t ticket) {
  if (!is_foreign()) bulk_.cancel(ticket);
}

bool SessionLink::is_over() const { return is_over_.load(std::memory_order_acquire) || is_foreign(); }

std::chrono::milliseconds SessionLink::away() const {
  const std::lock_guard guard(lock_);
  if (connection_ || lost_at_ == Clock::time_point{}) return std::chrono::milliseconds(0);
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - lost_at_);
}

bool SessionLink::is_foreign() const { return forks.load(std::memory_order_relaxed) != process_; }

void SessionLink::close() {
  if (is_foreign()) return;
  if (!is_over_ && !is_closing_.exchange(true)) {
    outbox_.append_control(kGoodbye, {});
    flush();
  }
  end("closed");
  if (!threads_) return;
  {
    // A server's run(), a client's pump finish; where neither ever ran, this thread does.
    std::unique_lock guard(lock_);
    if (!threads_->pump.joinable() && turns_ == 0 && !is_finished_) {
      guard.unlock();
      finish();
      guard.lock();
    }
    changed_.wait(guard, [&] { return is_finished_; });
  }
  const auto threads = std::exchange(threads_, std::make_unique<Threads>());
  for (auto* thread : {&threads->keeper, &threads->pump, &threads->bulk_reader, &threads->bulk_writer}) {
    if (!thread->joinable()) continue;
    if (thread->get_id() == std::this_thread::get_id()) thread->detach();
    else thread->join();
  }
}

/// Under write_lock_. What cannot be written now stays for the next connection.
void SessionLink::write_pending() {
  while (writing_ && outbox_.has_pending()) {
    const auto& pieces = outbox_.take();
    if (!pieces.empty() && !writing_->channel->write(pieces)) {
      lose(writing_.get(), false);
      writing_.reset();
      return;
    }
    outbox_.written();
    said_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  }
}

void SessionLink::tell(std::uint16_t op, View body, bool is_numbered, bool now) {
  if (is_numbered) {
    // These belong to reading as often as not, so they never wait for room; a side that makes many without taking any
    // is overfull.
    const bool may_wait = op == kSmall && !is_reading_here();
    outbox_.append(op, 0, [&](Bytes& out) { out.insert(out.end(), body.begin(), body.end()); }, may_wait);
  } else {
    outbox_.append_control(op, body);
  }
  if (now && (op == kSmall || !is_client())) flush();
  else arm();
}

Hello SessionLink::my_hello(ConnectionKind kind) {
  Hello hello;
  hello.kind = kind;
  hello.transport = preamble_.transport;
  hello.session = preamble_.session;
  hello.peer = preamble_.peer;
  hello.received_frames = received_.load();
  hello.early_credit = limits_.early_credit;
  return hello;
}

/// A connection of the command path that both have greeted on: goes on where the other side stopped hearing us.
void SessionLink::install(Greeted greeted) {
  auto connection = std::make_shared<Connection>(std::move(greeted.channel));
  connection->channel->keep_waiting = [this, is_this = connection.get()] {
    check_silence();
    if (is_over_ || is_closing_) return false;
    const std::lock_guard guard(lock_);
    return connection_.get() == is_this;
  };
  std::shared_ptr<Connection> before;
  {
    const std::lock_guard guard(lock_);
    before = std::exchange(connection_, nullptr);
  }
  if (before) before->channel->shut();  // a writer that is stuck in it comes back
  {
    const std::lock_guard guard(write_lock_);
    writing_.reset();
    if (!outbox_.rewind(greeted.theirs.received_frames))
      throw Error(Error::Kind::malformed, "the other side has frames that were never sent");
    const std::lock_guard also(lock_);
    if (is_over_) {
      connection->channel->shut();
      return;
    }
    const auto now = Clock::now().time_since_epoch().count();
    heard_ = now;
    said_ = now;
    acknowledged_ = received_.load();
    connection_ = connection;
    writing_ = std::move(connection);
    changed_.notify_all();
    wake_locked();
  }
  arm();
}

void SessionLink::attach(int fd, const Preamble& preamble, const Begun& begun) {
  Socket socket(fd);
  if (is_over()) {
    turn_away(std::move(socket), preamble, key_, limits_.handshake, begun, Turned::unknown_session,
              "this session is over");
    throw Error(Error::Kind::refused, "this session is over");
  }
  auto channel = secure_as_server(std::move(socket), preamble, key_, limits_.handshake, begun);
  const auto theirs = read_hello(*channel, preamble, limits_.handshake);
  auto mine = my_hello(preamble.kind);
  mine.transport = preamble.transport;
  if (preamble.kind != ConnectionKind::bulk) {
    bool is_expected = false;  // a client that comes while its session is on its way elsewhere has decided against that
    {
      const std::lock_guard handing(handing_);
      is_expected = is_frozen_ || std::exchange(is_adopted_, false);
    }
    thaw();
    mine.received_frames = received_.load();
    write_hello(*channel, mine);
    install({std::move(channel), theirs});
    if (is_expected) unpark();
    return;
  }
  {
    const std::lock_guard handing(handing_);
    if (is_frozen_) throw Error(Error::Kind::refused, "the session is on its way to another server");
  }
  tune_for_bulk(channel->fd());
  mine.received_chunks = bulk_.disconnect();
  if (preamble.transport != Transport::shm) mine.features = theirs.features & kBlocks;
  write_hello(*channel, mine);
  if (preamble.transport == Transport::shm) channel = take_shared_memory(std::move(channel), limits_.handshake);
  else if (mine.features != 0) channel = make_block_channel(std::move(channel));
  channel->keep_waiting = [this] { return !is_over_; };
  if (!bulk_.connect(std::move(channel), theirs.received_chunks, theirs.early_credit) && !is_over()) {
    end("the other side has payloads that were never sent");
    throw Error(Error::Kind::malformed, "the other side has payloads that were never sent");
  }
}

}  // namespace flexrack::wire
