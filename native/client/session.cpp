#include "client/session.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "client/trace.h"

namespace flexrack::client {
namespace {

/// A call whose reply is on its way.
struct Pending {
  bool is_answered = false;
  bool is_refused = false;
  wire::Bytes body;  ///< after the call's sequence number
};

/// How long something may wait for a reader before the one in the background begins: a thread that is about to wait itself comes first.
constexpr std::chrono::microseconds kReaderDelay{500};
constexpr std::chrono::milliseconds kReaderPatience{20};
constexpr std::size_t kMostCalls = 4096;  ///< in flight at once; only a server that makes replies up gets here

class RemoteSession final : public Session, public wire::Receiver {
 public:
  RemoteSession(const wire::Dial& to, std::uint16_t api, Notices& notices) : dialled_(to), notices_(notices) {
    link_ = wire::dial(to, api, *this);
  }
  ~RemoteSession() override;

  wire::Link& link() override { return *link_; }
  const wire::Dial& dialled() const override { return dialled_; }
  wire::View session_id() const override { return link_->session_id(); }
  bool is_alive() const override { return !is_lost_.load(std::memory_order_acquire); }
  bool wait(const std::function<bool()>& ready) override;
  void want_reader(int change) override;

  void on_frame(const wire::Header& header, wire::View body) override;
  void on_over(std::string_view why) override;

 private:
  bool call_raw(std::uint16_t op, const std::function<void(wire::Bytes&)>& encode, const std::function<bool(wire::View)>& use) override;
  void on_reply(const wire::Header& header, wire::View body);
  void read_in_background();

  const wire::Dial dialled_;
  Notices& notices_;
  std::unique_ptr<wire::Link> link_;
  std::atomic<bool> is_lost_{false};

  std::mutex calls_lock_;
  std::unordered_map<std::uint64_t, Pending> calls_;  ///< by the call's sequence number; also replies that came before call_raw() knew its number
  std::size_t unnumbered_ = 0;                        ///< calls between send() and knowing their number

  std::atomic<int> waiters_{0};
  std::atomic<int> wanted_{0};
  std::mutex reader_lock_;
  std::condition_variable reader_wakes_;
  std::thread reader_;
  bool is_ending_ = false;
};

RemoteSession::~RemoteSession() {
  {
    const std::lock_guard guard(reader_lock_);
    is_ending_ = true;
  }
  reader_wakes_.notify_all();
  if (link_) link_->close();
  if (reader_.joinable()) reader_.join();
}

bool RemoteSession::wait(const std::function<bool()>& ready) {
  waiters_.fetch_add(1);
  const bool is_ready = link_->wait(ready);
  if (waiters_.fetch_sub(1) == 1 && wanted_.load() > 0) reader_wakes_.notify_one();
  return is_ready;
}

void RemoteSession::want_reader(int change) {
  if (wanted_.fetch_add(change) + change != 1 || change < 0) return;
  const std::lock_guard guard(reader_lock_);
  if (!reader_.joinable() && !is_ending_) reader_ = std::thread([this] { read_in_background(); });
  reader_wakes_.notify_one();
}

void RemoteSession::read_in_background() {
  std::unique_lock guard(reader_lock_);
  while (!is_ending_ && is_alive()) {
    if (wanted_.load() <= 0) {
      reader_wakes_.wait(guard, [&] { return is_ending_ || !is_alive() || wanted_.load() > 0; });
    } else if (waiters_.load() > 0) {  // wait() tells, but not under the lock: hence the limit
      reader_wakes_.wait_for(guard, kReaderPatience, [&] { return is_ending_ || waiters_.load() == 0; });
    } else {
      reader_wakes_.wait_for(guard, kReaderDelay, [&] { return is_ending_; });
    }
    if (is_ending_ || wanted_.load() <= 0 || waiters_.load() > 0) continue;
    guard.unlock();
    link_->wait([&] { return waiters_.load() > 0 || wanted_.load() <= 0; });
    guard.lock();
  }
}

bool RemoteSession::call_raw(std::uint16_t op, const std::function<void(wire::Bytes&)>& encode, const std::function<bool(wire::View)>& use) {
  {
    const std::lock_guard guard(calls_lock_);
    ++unnumbered_;
  }
  // Not under calls_lock_: send() may wait for room, and the thread that makes room may be handing out a reply.
  const auto sequence = link_->send(op, 0, encode);
  Pending* pending = nullptr;
  {
    const std::lock_guard guard(calls_lock_);
    --unnumbered_;
    if (sequence == 0) return false;
    pending = &calls_[sequence];  // a reply may be there already; addresses in the map stay
  }
  const bool is_ready = wait([&] {
    const std::lock_guard guard(calls_lock_);
    return pending->is_answered;
  });
  Pending answer;
  {
    const std::lock_guard guard(calls_lock_);
    answer = std::move(*pending);
    calls_.erase(sequence);
  }
  if (!is_ready && !answer.is_answered) return false;
  if (is_traced() && answer.is_refused) trace("the server refused call " + std::to_string(op));
  return !answer.is_refused && use(answer.body);
}

void RemoteSession::on_frame(const wire::Header& header, wire::View body) {
  if (header.flags & wire::kReply) return on_reply(header, body);
  notices_.on_notice(*this, header, body);
}

void RemoteSession::on_reply(const wire::Header& header, wire::View body) {
  wire::Reader reader(body);
  const auto sequence = reader.get<std::uint64_t>();
  if (!reader.ok()) return;
  const std::lock_guard guard(calls_lock_);
  const auto found = calls_.find(sequence);
  // Nobody asked, as far as it is known here: kept only while that many calls do not know their number yet.
  if (found == calls_.end() && (unnumbered_ == 0 || calls_.size() > kMostCalls)) return;
  auto& pending = found == calls_.end() ? calls_[sequence] : found->second;
  if (pending.is_answered) return;
  const auto rest = body.subspan(sizeof sequence);
  pending.body.assign(rest.begin(), rest.end());
  pending.is_refused = (header.flags & wire::kRefused) != 0;
  pending.is_answered = true;
}

void RemoteSession::on_over(std::string_view why) {
  if (is_lost_.exchange(true)) return;
  if (is_traced()) trace("session with " + dialled_.address + " over: " + std::string(why));
  notices_.on_lost(*this, why);
  reader_wakes_.notify_all();
}

}  // namespace

wire::Payload Session::payload(wire::View data) {
  if (data.size() < wire::kInlinePayload) return {0, data.size(), data};
  return {link().ticket(), data.size(), {}};
}

void Session::push_payload(const wire::Payload& payload, wire::View data, wire::Done done, bool wait) {
  if (!payload.is_inline()) return link().push(payload.ticket, data, std::move(done), wait);
  if (done) done(true);
}

std::unique_ptr<Session> open_session(const wire::Dial& to, std::uint16_t api, Notices& notices) {
  return std::make_unique<RemoteSession>(to, api, notices);
}

}  // namespace flexrack::client
