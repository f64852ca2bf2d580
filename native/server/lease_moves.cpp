#include "server/lease_moves.h"

#include <algorithm>

namespace flexrack::server {

void LeaseMoves::begin(const Id& lease, const wire::Json& to, std::chrono::milliseconds rest, Done done) {
  auto& move = moves_[lease];
  move.to = to;
  move.rest_ms = rest.count();
  move.done = std::move(done);
  const wire::Json file =
      wire::Json::Members{{"version", 1}, {"grace_seconds", to["grace_seconds"]}, {"servers", wire::Json::List{to}}};
  keepers_.move(lease, file.write(), [this, lease](std::string_view why) {
    const auto found = moves_.find(lease);
    if (found == moves_.end()) return;
    found->second.why = why;
    if (why.empty()) ask_sessions(lease);
    else end(lease);
  });
}

void LeaseMoves::call_off(const Id& lease, std::string_view why) {
  const auto found = moves_.find(lease);
  if (found == moves_.end()) return;
  found->second.why = "it has ended meanwhile: " + std::string(why);
  found->second.is_going = true;  // nobody is told to go any more
  keepers_.call_off(lease);
  // Its sessions end with it: the last of them that is gone is the end of the move.
  if (found->second.asked.empty() && found->second.ready.empty()) end(lease);
}

void LeaseMoves::ask_sessions(const Id& lease) {
  auto& move = moves_.at(lease);
  for (const auto& [session, worker] : workers_.workers())
    if (worker->lease == lease) move.asked.insert(session);
  const auto asked = move.asked;
  tell(lease, asked, wire::Json::Members{{"type", "move"}, {"to", move.to}, {"rest_ms", move.rest_ms}});
  if (moves_.contains(lease)) decide(lease);
}

void LeaseMoves::tell(const Id& lease, const std::set<Id>& sessions, const wire::Json& message) {
  for (const auto& session : sessions) {
    const auto* worker = workers_.find(session);
    if (worker && worker->lease == lease) send_control(worker->control.get(), message);
  }
}

void LeaseMoves::hear(const Worker& worker, const wire::Json& word) {
  const auto found = moves_.find(worker.lease);
  if (found == moves_.end()) return;
  auto& move = found->second;
  const auto& type = word["type"].text();
  if (type == "ready" && move.asked.erase(worker.session) > 0) move.ready.insert(worker.session);
  if (type == "stayed" && (move.asked.erase(worker.session) > 0 || move.ready.erase(worker.session) > 0)) {
    ++move.stayed;
    if (move.why.empty()) move.why = word["why"].text();
  }
  if (type == "moved" && move.ready.erase(worker.session) > 0) {
    ++move.moved;
    move.pause_ms = std::max(move.pause_ms, word["pause_ms"].integer());
  }
  decide(worker.lease);
}

/// One that ends by itself while it is asked has nothing left to be moved.
void LeaseMoves::gone(const Worker& worker) {
  const auto found = moves_.find(worker.lease);
  if (found == moves_.end()) return;
  found->second.asked.erase(worker.session);
  found->second.ready.erase(worker.session);
  decide(worker.lease);
}

void LeaseMoves::decide(const Id& lease) {
  auto& move = moves_.at(lease);
  if (!move.asked.empty()) return;
  if (!move.is_going && !move.ready.empty()) {
    const auto ready = move.ready;
    if (move.stayed > 0) return tell(lease, ready, wire::Json::Members{{"type", "stay"}});  // each answers
    move.is_going = true;
    return tell(lease, ready, wire::Json::Members{{"type", "go"}});
  }
  if (move.ready.empty()) end(lease);
}

void LeaseMoves::end(const Id& lease) {
  const auto move = std::move(moves_.at(lease));
  moves_.erase(lease);
  Outcome outcome{move.why, move.moved, move.pause_ms, move.moved > 0 && move.stayed > 0};
  if (!move.why.empty() && !outcome.is_in_two) keepers_.stay(lease);
  move.done(outcome);
}

}  // namespace flexrack::server
