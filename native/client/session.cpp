#include "client/session.h"

#include <chrono>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "client/loss.h"

namespace flexrack::client {
namespace {

/// A call whose reply is on its way.
struct Pending {
  bool is_answered = false;
  bool is_refused = false;
  bool is_asked = false;  ///< its call has its number
  wire::Bytes body;  ///< after the call's sequence number
};

/// Replies that came before their calls knew their numbers: only a server that makes them up gets here.
constexpr std::size_t kMostEarly = 4096, kMostEarlyBytes = 64 << 20;

class RemoteSession final : public Session, public wire::Receiver {
 public:
  RemoteSession(const wire::Dial& to, const Connect& connect, Notices& notices) : dialled_(to), notices_(notices) {
    link_ = connect(*this);
  }
  ~RemoteSession() override {
    if (link_) link_->close();  // on_over() comes while all of this is still there
    if (closer_.joinable()) closer_.join();
  }

  wire::Link& link() override { return *link_; }
  const wire::Dial& dialled() const override { return dialled_; }
  wire::View session_id() const override { return link_->session_id(); }
  bool is_alive() const override { return !is_lost_.load(std::memory_order_acquire); }
  void abandon() override {
    // A thread of its own: closing waits for the one that reads, which is the one that is here.
    if (!is_abandoned_.exchange(true)) closer_ = std::thread([this] { link_->close(); });
  }

  void on_frame(const wire::Header& header, wire::View body) override;
  void on_over(std::string_view why) override;

 private:
  bool call_raw(std::uint16_t op, const char* name, const std::function<void(wire::Bytes&)>& encode,
                const std::function<bool(wire::View)>& use) override;
  void on_reply(const wire::Header& header, wire::View body);

  const wire::Dial dialled_;
  Notices& notices_;
  std::unique_ptr<wire::Link> link_;
  std::atomic<bool> is_lost_{false}, is_abandoned_{false};
  std::thread closer_;

  std::mutex calls_lock_;
  std::unordered_map<std::uint64_t, Pending>
      calls_;  ///< by the call's sequence number; also replies that came before call_raw() knew its number
  std::size_t unnumbered_ = 0;                        ///< calls between send() and knowing their number
  std::size_t early_ = 0, early_bytes_ = 0;           ///< replies that no call has asked for yet
};

bool RemoteSession::call_raw(std::uint16_t op, const char* name, const std::function<void(wire::Bytes&)>& encode,
                             const std::function<bool(wire::View)>& use) {
  const auto start = std::chrono::steady_clock::now();
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
    if (sequence != 0) {
      pending = &calls_[sequence];  // a reply may be there already; addresses in the map stay
      pending->is_asked = true;
      if (pending->is_answered) --early_, early_bytes_ -= pending->body.size();
    }
    if (unnumbered_ == 0 && early_ > 0) {
      std::erase_if(calls_, [](const auto& one) { return !one.second.is_asked; });
      early_ = early_bytes_ = 0;
    }
    if (sequence == 0) return false;
  }
  const bool is_ready = link_->wait([&] {
    const std::lock_guard guard(calls_lock_);
    return pending->is_answered;
  });
  if (is_traced()) trace_waited("call", name, start);
  Pending answer;
  {
    const std::lock_guard guard(calls_lock_);
    answer = std::move(*pending);
    calls_.erase(sequence);
  }
  if (!is_ready && !answer.is_answered) return false;
  if (is_traced() && answer.is_refused) trace(std::string("the server refused call ") + name);
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
  const auto rest = body.subspan(sizeof sequence);
  const std::lock_guard guard(calls_lock_);
  const auto found = calls_.find(sequence);
  if (found == calls_.end()) {
    // Nobody asked, as far as it is known here: kept while calls do not know their number yet.
    if (unnumbered_ == 0) return;
    if (early_ >= kMostEarly || early_bytes_ + rest.size() > kMostEarlyBytes) return abandon();
    ++early_;
    early_bytes_ += rest.size();
  }
  auto& pending = found == calls_.end() ? calls_[sequence] : found->second;
  if (pending.is_answered) return;
  pending.body.assign(rest.begin(), rest.end());
  pending.is_refused = (header.flags & wire::kRefused) != 0;
  pending.is_answered = true;
}

void RemoteSession::on_over(std::string_view why) {
  if (is_lost_.exchange(true)) return;
  tell_lost("the session with " + dialled_.address + " is over: " + std::string(why));
  if (is_traced()) trace("session with " + dialled_.address + " over: " + std::string(why));
  notices_.on_lost(*this, why);
}

}  // namespace

bool Session::wait(const std::function<bool()>& ready) {
  if (!is_traced() || ready()) return link().wait(ready);
  const auto start = std::chrono::steady_clock::now();
  const bool is_ready = link().wait(ready);
  trace_waited("wait", "", start);
  return is_ready;
}

wire::Payload Session::payload(wire::View data) {
  if (data.size() < wire::kInlinePayload) return {0, data.size(), data};
  return {link().ticket(), data.size(), {}};
}

void Session::push_payload(const wire::Payload& payload, wire::View data, wire::Done done, bool wait) {
  if (!payload.is_inline()) return link().push(payload.ticket, data, std::move(done), wait);
  if (done) done(true);
}

std::unique_ptr<Session> open_session(const wire::Dial& to, const wire::Api& api, Notices& notices) {
  return open_session(to, [&](wire::Receiver& receiver) { return wire::dial(to, api, receiver); }, notices);
}

std::unique_ptr<Session> open_session(const wire::Dial& to, const Connect& connect, Notices& notices) {
  return std::make_unique<RemoteSession>(to, connect, notices);
}

}  // namespace flexrack::client
