#include "server/lease_keepers.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <utility>

#include "wire/keeper_stream.h"
#include "wire/accept.h"
#include "wire/error.h"

namespace flexrack::server {
namespace {

constexpr std::uint8_t kClosed = 0, kSilent = 1, kFailed = 2;  // how a line ended, beside wire::kHoldGoodbye
constexpr auto kSettleWithin = std::chrono::milliseconds(2500);
constexpr auto kMoveWithin = std::chrono::seconds(15);
constexpr int kLookEvery = 200;  // milliseconds between looks at whether the line is to end

bool answer_ask(wire::Channel& channel, const wire::KeeperApi& speaks) {
  std::array<std::uint8_t, 1 + sizeof speaks> answer{wire::kKeeperAsk};
  std::memcpy(answer.data() + 1, &speaks, sizeof speaks);
  return wire::write_all(channel, answer);
}

}  // namespace

struct LeaseKeepers::Line {
  Id lease{};
  wire::KeeperApi speaks;
  KeeperAbout about;
  std::thread thread;
  std::atomic<bool> dismissed = false;  ///< set by the broker: say that the lease is over, and go
  std::atomic<bool> settled = false;  ///< set by the broker: the lease is gone and its devices are free
  std::atomic<bool> replaced = false;  ///< set by the broker: a newer connection holds it
  std::uint64_t number = 0;  ///< in the order in which they came
  std::mutex lock;
  std::string order;         ///< bytes to be sent; under the lock
  bool is_proven = false;
};

LeaseKeepers::LeaseKeepers(Loop& loop, Log& log, Events events) : loop_(loop), log_(log), events_(std::move(events)) {}

LeaseKeepers::~LeaseKeepers() {
  for (const auto& line : lines_) line->replaced = true;
  for (const auto& line : lines_) line->thread.join();
}

void LeaseKeepers::admit(const Lease& lease, const wire::Api& speaks, PendingConnection pending) {
  const auto unproven = std::count_if(lines_.begin(), lines_.end(), [](const auto& line) { return !line->is_proven; });
  // Proofs of TLS may be recordings from before this broker began. An honest one tries again.
  if (static_cast<std::size_t>(unproven) >= kMostUnproven)
    return log_.refused("too many keepers that prove nothing", pending.address + " lease " + wire::to_hex(lease.id));
  auto line = std::make_shared<Line>();
  line->lease = lease.id;
  line->number = ++last_number_;
  line->speaks = wire::KeeperApi(speaks);
  line->about = {pending.address, std::time(nullptr)};
  lines_.push_back(line);
  line->thread = std::thread([this, line, pending = std::make_shared<PendingConnection>(std::move(pending)),
                              key = lease.key]() mutable { converse(line, std::move(*pending), key); });
}

void LeaseKeepers::dismiss(const Id& lease) {
  for (const auto& line : lines_) {
    if (line->lease == lease) line->dismissed = true;
  }
  current_.erase(lease);
}

const KeeperAbout* LeaseKeepers::find(const Id& lease) const {
  const auto found = current_.find(lease);
  return found == current_.end() ? nullptr : &found->second->about;
}

void LeaseKeepers::converse(const std::shared_ptr<Line>& line, PendingConnection pending, Key key) {
  std::uint8_t how = kFailed;
  try {
    wire::Limits limits;
    limits.handshake = wire::kKeeperHandshake;
    limits.allow_plain = true;  // the broker has judged the transport already
    const auto channel =
        wire::accept_keeper(pending.connection.release(), pending.preamble, key, limits, pending.begun);
    loop_.post([this, line] { proven(line); });

    auto heard = Clock::now();
    how = kClosed;
    while (!line->replaced && !line->dismissed) {
      if (!send_order(*line, *channel)) break;
      std::array<std::uint8_t, 64> bytes{};
      pollfd wait{channel->fd(), POLLIN, 0};
      if (!channel->has_buffered()) poll(&wait, 1, kLookEvery);
      const auto got = channel->read_some(bytes);
      if (got == wire::Channel::kEnded) break;
      if (got > 0) {
        heard = Clock::now();
        const auto said = std::span(bytes).first(static_cast<std::size_t>(got));
        if (wire::is_said(said, wire::kKeeperGoodbye)) {
          how = wire::kKeeperGoodbye;
          await_settled(line);
          break;
        }
        if (wire::is_said(said, wire::kKeeperMove)) loop_.post([this, line] { answer_move(line->lease, ""); });
        if (wire::is_said(said, wire::kKeeperCannot))
          loop_.post([this, line] { answer_move(line->lease, "the program's machine does not reach that server"); });
        const bool asks = wire::is_said(said, wire::kKeeperAsk);
        if (asks ? !answer_ask(*channel, line->speaks) : !wire::write_all(*channel, {&wire::kKeeperPing, 1})) break;
      } else if (Clock::now() - heard > wire::kKeeperSilence) {
        how = kSilent;
        break;
      }
    }
    // What was ordered before the end comes before it: the lease beside this one may be over as well.
    if ((line->dismissed || line->settled) && send_order(*line, *channel))
      wire::write_all(*channel, {&wire::kKeeperEnded, 1});
  } catch (const wire::Error& error) {
    log_.refused(error.what(), line->about.address + " holder of lease " + wire::to_hex(line->lease));
  } catch (const std::exception& error) { log_.line(std::string("a keeper's connection failed: ") + error.what()); }
  loop_.post([this, line, how] { over(line, how); });
}

bool LeaseKeepers::send_order(Line& line, wire::Channel& channel) {
  std::string order;
  {
    const std::lock_guard guard(line.lock);
    order.swap(line.order);
  }
  return order.empty() || wire::write_all(channel, {reinterpret_cast<const std::uint8_t*>(order.data()), order.size()});
}

void LeaseKeepers::move(const Id& lease, std::string file, std::function<void(std::string_view why)> held) {
  if (asked_.contains(lease) || file.size() > wire::kLongestKeeperMove)
    return held("its holder is being asked already");
  const auto size = static_cast<std::uint32_t>(file.size());
  std::string order(1, static_cast<char>(wire::kKeeperMove));
  order.append(reinterpret_cast<const char*>(&size), sizeof size).append(file);
  const auto number = ++last_number_;
  asked_[lease] = {std::move(order), std::move(held), number};
  if (const auto found = current_.find(lease); found != current_.end()) send_move(*found->second);
  loop_.after(kMoveWithin, [this, lease, number] {
    const auto found = asked_.find(lease);
    if (found != asked_.end() && found->second.number == number)
      answer_move(lease, "the holder of the lease does not answer");
  });
}

void LeaseKeepers::send_move(Line& line) {
  const auto found = asked_.find(line.lease);
  if (found == asked_.end()) return;
  const std::lock_guard guard(line.lock);
  line.order += found->second.order;
}

void LeaseKeepers::stay(const Id& lease) {
  const auto found = current_.find(lease);
  if (found == current_.end()) return;
  const std::lock_guard guard(found->second->lock);
  found->second->order += static_cast<char>(wire::kKeeperStay);
}

void LeaseKeepers::call_off(const Id& lease) {
  asked_.erase(lease);
  if (const auto found = current_.find(lease); found != current_.end()) {
    const std::lock_guard guard(found->second->lock);
    found->second->order = static_cast<char>(wire::kKeeperStay);
  }
}

void LeaseKeepers::answer_move(const Id& lease, std::string_view why) {
  const auto found = asked_.find(lease);
  if (found == asked_.end()) return;
  const auto held = std::move(found->second.held);
  asked_.erase(found);
  held(why);
}

void LeaseKeepers::settle(const Id& lease) {
  for (const auto& line : lines_) {
    if (line->lease == lease) line->settled = true;
  }
}

void LeaseKeepers::await_settled(const std::shared_ptr<Line>& line) {
  loop_.post([this, line] {
    if (!line->dismissed) events_.goodbye(line->lease);
  });
  // Whoever gave a lease back may count on its devices being free.
  const auto until = Clock::now() + kSettleWithin;
  while (!line->settled && !line->replaced && Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

void LeaseKeepers::proven(const std::shared_ptr<Line>& line) {
  line->is_proven = true;
  if (line->dismissed) return;
  const auto found = current_.find(line->lease);
  if (found != current_.end()) {
    // The newest holds it, whichever of their threads was the first: an older one may be closed already.
    if (found->second->number > line->number) return void(line->replaced = true);
    found->second->replaced = true;
  }
  current_[line->lease] = line;
  send_move(*line);
  events_.held(line->lease);
}

void LeaseKeepers::over(const std::shared_ptr<Line>& line, std::uint8_t how) {
  line->thread.join();
  lines_.erase(std::find(lines_.begin(), lines_.end(), line));
  const auto found = current_.find(line->lease);
  if (found == current_.end() || found->second != line) return;
  current_.erase(found);
  events_.lost(line->lease, how == kClosed);
}

}  // namespace flexrack::server
