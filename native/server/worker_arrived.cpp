#include "server/worker_arrived.h"

#include <algorithm>

#include "wire/error.h"

namespace flexrack::server {

wire::Link* Arrived::begin(const wire::Preamble& like, wire::View session, wire::View key, const wire::Limits& limits,
                           backend::Backend& backend, wire::View state, wire::ServerLink& bringer) {
  const std::lock_guard guard(lock_);
  if (link_ || session.size() != session_.size()) return nullptr;
  auto preamble = like;
  std::copy(session.begin(), session.end(), preamble.session.begin());
  try {
    link_ = wire::resume_session(preamble, key, limits, backend, state);
  } catch (const wire::Error&) { return nullptr; }
  session_ = preamble.session;
  mover_ = std::make_unique<WorkerMove>(*link_, backend, limits, tell_);
  bringer_ = &bringer;
  reader_ = std::thread([link = link_.get()] { link->run(); });
  return link_.get();
}

bool Arrived::is_of(const wire::Preamble& preamble) {
  const std::lock_guard guard(lock_);
  return link_ && preamble.session == session_;
}

void Arrived::attach(int fd, const wire::Preamble& preamble, const wire::Begun& begun) {
  link_->attach(fd, preamble, begun);
  // It holds the key of this lease and the session: there is no way back for it any more.
  if (preamble.kind == wire::ConnectionKind::command && !is_there_.exchange(true)) bringer_->close();
}

WorkerMove* Arrived::mover() {
  const std::lock_guard guard(lock_);
  return mover_.get();
}

void Arrived::run_on() {
  {
    const std::lock_guard guard(lock_);
    if (!link_) return;
  }
  if (!is_there_ && bringer_->was_ended()) link_->close();
  reader_.join();
}

void Arrived::close() {
  const std::lock_guard guard(lock_);
  if (link_) link_->close();
}

}  // namespace flexrack::server
