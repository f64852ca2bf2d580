#include "server/worker_move.h"

#include <thread>

#include "wire/server_entry.h"

namespace flexrack::server {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLinkSettlesWithin{
    3000};  ///< for what is on its way to and from the client, once all is at rest
constexpr milliseconds kDecideWithin{60000};  ///< a broker that says nothing is gone
constexpr milliseconds kLook{20};

wire::Dial dial_of(const wire::Json& to, const wire::Limits& limits) {
  wire::Dial dial;
  if (!wire::read_server_entry(to, dial)) throw std::runtime_error("that is no server");
  dial.transport = to["transport"].text() == "tcp" ? "tcp" : "tls";
  dial.grace = limits.grace;
  return dial;
}

}  // namespace

WorkerMove::WorkerMove(wire::ServerLink& link, backend::Backend& backend, wire::Limits limits, Tell tell)
    : link_(link), backend_(backend), limits_(limits), tell_(std::move(tell)) {
  link_.on_back = [this] {
    const std::lock_guard guard(lock_);
    is_back_ = true;
    decided_.notify_all();
  };
}

void WorkerMove::begin(const wire::Json& order) {
  {
    const std::lock_guard guard(lock_);
    if (is_moving_) return;
    is_moving_ = true;
    is_back_ = false;
    decision_.reset();
  }
  std::thread([this, order] { run(order); }).detach();
}

void WorkerMove::decide(bool go) {
  const std::lock_guard guard(lock_);
  decision_ = go;
  decided_.notify_all();
}

void WorkerMove::run(const wire::Json& order) {
  try {
    make_ready(order);
    tell_(wire::Json::Members{{"type", "ready"}});
    if (!await_decision()) return stay("another session of the lease, or its holder, stays");
    depart(order);
  } catch (const std::exception& error) { stay(error.what()); }
}

void WorkerMove::stay(const std::string& why) {
  departure_.reset();
  link_.thaw();
  link_.unpark();
  {
    const std::lock_guard guard(lock_);
    is_moving_ = false;
  }
  tell_(wire::Json::Members{{"type", "stayed"}, {"why", why}});
}

/// Everything but the client's part. Throws where the session cannot go.
void WorkerMove::make_ready(const wire::Json& order) {
  const auto patience = milliseconds(order["rest_ms"].integer(10000));
  const auto check = [this] {
    if (const auto why = backend_.what_stays(); !why.empty()) throw std::runtime_error(why);
  };
  check();
  departure_ = backend_.depart(dial_of(order["to"], limits_));
  departure_->prepare();
  link_.park();
  parked_at_ = Clock::now();
  if (!backend_.is_at_rest(patience))
    throw std::runtime_error("its GPU did not come to rest within " + std::to_string(patience.count() / 1000) +
                             " s: a kernel runs for long, or a stream waits for the program itself");
  check();
  for (const auto until = Clock::now() + kLinkSettlesWithin; !link_.is_settled();
       std::this_thread::sleep_for(milliseconds(1)))
    if (Clock::now() > until) throw std::runtime_error("its program does not take what was sent to it");
  departure_->send();
  const auto state = link_.freeze();
  if (!state) throw std::runtime_error("its program's connection did not come to rest");
  departure_->hand_over(link_.session_id(), *state);
}

bool WorkerMove::await_decision() {
  std::unique_lock guard(lock_);
  decided_.wait_for(guard, kDecideWithin, [this] { return decision_.has_value() || is_back_; });
  return decision_.value_or(false) && !is_back_;
}

void WorkerMove::depart(const wire::Json& order) {
  link_.redirect(order["to"].write());
  // Only the client decides: it is here again or there. Where the other worker is lost, it comes back here.
  const auto until = Clock::now() + limits_.grace;
  bool is_there = false;
  for (bool is_back = false; !is_there; is_there = departure_->await_client(kLook)) {
    {
      const std::lock_guard guard(lock_);
      is_back = is_back_;
    }
    if (is_back) throw std::runtime_error("its program does not reach that server");
    if (Clock::now() > until) throw std::runtime_error("its program did not say where it goes on");
    std::this_thread::sleep_for(milliseconds(1));  // the other worker may be gone, and not wait at all
  }
  const auto pause = std::chrono::duration_cast<milliseconds>(Clock::now() - parked_at_).count();
  tell_(wire::Json::Members{{"type", "moved"}, {"pause_ms", static_cast<std::int64_t>(pause)}});
  departure_.reset();
  link_.close();  // the worker ends, and gives back what the session had here
}

}  // namespace flexrack::server
