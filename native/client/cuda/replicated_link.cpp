#include "client/cuda/replica_state.h"

#include <sys/prctl.h>

#include <set>

#include "client/loss.h"
#include "client/servers.h"
#include "client/trace.h"
#include "wire/error.h"

namespace flexrack::client::cuda {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLook{100};
/// One whose connection has been lost for so long is given up, where the other one is there: its loss costs the
/// process what it takes to notice it, and this.
constexpr milliseconds kAwayWithin{600};
constexpr milliseconds kPause{50};

}  // namespace

ReplicatedLink::ReplicatedLink(const std::vector<std::string>& nodes, const ReplicaSettings& settings,
                               wire::Receiver& receiver)
    : settings_(settings), receiver_(receiver) {
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    sides_[i].all = this;
    sides_[i].number = i;
    sides_[i].node = nodes[i];
  }
}

ReplicatedLink::~ReplicatedLink() { close(); }

void ReplicatedLink::begin(const ReplicaConnect& connect) {
  std::array<std::string, 2> why;
  std::optional<wire::Error> refused;
  const auto end = Clock::now() + settings_.patience;
  std::array<bool, 2> is_final{};
  for (;;) {
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      if (sides_[i].link || is_final[i]) continue;
      try {
        sides_[i].link = connect(i, sides_[i]);
        sides_[i].is_alive = true;
      } catch (const wire::Error& error) {
        why[i] = error.what();
        is_final[i] = error.kind() != wire::Error::Kind::unreachable && error.kind() != wire::Error::Kind::gone;
        if (!refused || i == 0) refused.emplace(error);
      }
    }
    const bool is_one_there = sides_[0].link || sides_[1].link;
    if (sides_[0].link && sides_[1].link) break;
    if (!is_one_there) throw *refused;  // whoever opens servers tries again
    if (Clock::now() > end || is_final[0] || is_final[1]) break;
    std::this_thread::sleep_for(kPause);
  }
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (sides_[i].link) continue;
    first_ = 1 - i;
    (void)notices_.alone(1 - i, true);
    tell_replica_lost("the GPU server on " + sides_[i].node + " cannot be reached (" + why[i] +
                      "): the program begins with " + sides_[1 - i].node + " alone");
  }
  monitor_ = std::thread([this] { watch(); });
}

void ReplicatedLink::flush() {
  if (is_child() || ReplicaReading::is_here()) return;  // what is appended goes out soon by itself
  unflushed_ = 0;
  for (auto& side : sides_)
    if (side.is_alive) side.link->flush();
}

bool ReplicatedLink::wait(const std::function<bool()>& ready) {
  for (;;) {
    if (is_child()) return false;
    flush();
    const auto at = first_.load();
    sides_[at].link->wait([&] { return ready() || is_over_ || first_ != at; });
    if (ready()) return true;
    if (is_over_) return false;
    if (first_ != at) continue;
    // Its link is over, and that is about to be known here.
    std::unique_lock guard(lock_);
    changed_.wait_for(guard, milliseconds(1));
  }
}

void ReplicatedLink::wake() {
  for (auto& side : sides_)
    if (side.link) side.link->wake();
}

wire::View ReplicatedLink::session_id() const { return sides_[first_].link->session_id(); }

void ReplicatedLink::lose(std::size_t side, std::string_view why) {
  ReplicaFrames frames;
  bool is_end = false, is_quiet = false;
  {
    const std::lock_guard handing(handing_);
    {
      const std::lock_guard guard(lock_);
      if (!sides_[side].is_alive) return;
      sides_[side].is_alive = false;
      is_quiet = is_over_ || is_closing_;
      is_end = !sides_[1 - side].is_alive;
      if (!is_end && !is_quiet) {
        const bool was_first = first_ != side;
        first_ = 1 - side;
        frames = notices_.alone(first_, was_first);
        std::vector<std::uint64_t> open;
        for (const auto& [number, call] : calls_) open.push_back(number);
        for (const auto number : open) (void)settle(number, frames);
      }
    }
    if (!is_end && !is_quiet)
      tell_replica_lost("the GPU server on " + sides_[side].node + " is lost (" + std::string(why) +
                        "): the program goes on with " + sides_[1 - side].node + " alone");
    deliver(frames);
  }
  settle_reads_without(side);
  if (is_end) finish(why);
  changed_.notify_all();
  wake();
}

void ReplicatedLink::differ(const std::string& what, bool is_refusal) {
  if (is_over_ || is_closing_ || !sides_[0].is_alive || !sides_[1].is_alive) return;
  const auto both = sides_[0].node + " and " + sides_[1].node;
  if (is_refusal) {
    tell_mismatch("programs are not mirrored on " + both + ", which have " + what);
    return finish("the GPUs of " + both + " are not alike: " + what);
  }
  if (settings_.stops_at_mismatch) {
    tell_mismatch("the GPU servers on " + both + " differ in " + what + ": the program gets no more of either");
    tell_ended("the GPU servers on " + both + " differ in " + what);
    return finish("the servers differ in " + what);
  }
  const auto second = 1 - first_.load();
  tell_mismatch("the GPU servers on " + both + " differ in " + what);
  lose(second, "it differed from the first one");
}

/// Neither says any more.
void ReplicatedLink::finish(std::string_view why) {
  {
    const std::lock_guard handing(handing_);
    const std::lock_guard guard(lock_);
    if (is_over_.exchange(true)) return;
    why_ = why;
  }
  receiver_.on_over(why);
  changed_.notify_all();
  wake();
}

/// Gives up who is away for long, and closes what is lost: neither can be done where it is found.
void ReplicatedLink::watch() {
  prctl(PR_SET_NAME, "flexrack-pair");
  std::unique_lock guard(lock_);
  while (!is_closing_) {
    guard.unlock();
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      auto& side = sides_[i];
      const auto& other = sides_[1 - i];
      if (side.is_alive && other.is_alive && side.link->away() > kAwayWithin && other.link->away() == milliseconds(0))
        lose(i, "its connection is lost");
      if (side.link && !side.is_closed && (!side.is_alive || is_over_)) {
        side.is_closed = true;
        side.link->close();
      }
    }
    guard.lock();
    if (!is_closing_) changed_.wait_for(guard, kLook);
  }
}

void ReplicatedLink::close() {
  if (is_child()) return;
  {
    const std::lock_guard guard(lock_);
    if (is_closing_) return;
    is_closing_ = true;
  }
  changed_.notify_all();
  if (monitor_.joinable()) monitor_.join();
  for (auto& side : sides_)
    if (side.link) side.link->close();
  finish("closed");
}

CUresult refuse_mirrored(std::string_view what) {
  static std::mutex lock;
  static auto& said = *new std::set<std::string, std::less<>>;
  const std::lock_guard guard(lock);
  if (said.emplace(what).second) tell_refused("what is mirrored on two servers has no " + std::string(what));
  return CUDA_ERROR_NOT_SUPPORTED;
}

std::unique_ptr<wire::Link> replicate(const std::vector<std::string>& nodes, const ReplicaSettings& settings,
                                      const ReplicaConnect& connect, wire::Receiver& receiver) {
  auto made = std::make_unique<ReplicatedLink>(nodes, settings, receiver);
  made->begin(connect);
  return made;
}

std::unique_ptr<wire::Link> replicate(const std::vector<ReplicaPlace>& places, const ReplicaSettings& settings,
                                      const wire::Api& api, wire::Receiver& receiver) {
  std::vector<std::string> nodes;
  for (const auto& place : places) nodes.push_back(place.node);
  return replicate(
      nodes, settings,
      [&](std::size_t place, wire::Receiver& side) { return wire::dial(places[place].dial, api, side); }, receiver);
}

}  // namespace flexrack::client::cuda
