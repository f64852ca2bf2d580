// Payloads to both servers, and from both as one.
#include <cstring>

#include "client/cuda/replica_state.h"
#include "client/servers.h"

namespace flexrack::client::cuda {
namespace {

std::string hex(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

/// It is over when both have it: until then its bytes are needed.
void ReplicatedLink::push(std::uint64_t ticket, wire::View data, wire::Done done, bool wait) {
  if (is_child()) return done(false);
  std::array<bool, 2> goes{};
  {
    const std::lock_guard guard(lock_);
    for (std::size_t i = 0; i < sides_.size(); ++i) goes[i] = sides_[i].is_alive && !is_over_;
    if (goes[0] || goes[1]) pushes_[ticket] = {std::move(done), goes[0] + goes[1], false};
  }
  if (!goes[0] && !goes[1]) return done(false);
  // The one on this thread, the other one's on its link's own meanwhile.
  const auto first = goes[first_] ? first_.load() : 1 - first_.load();
  for (const auto i : {1 - first, first}) {
    if (goes[i])
      sides_[i].link->push(
          ticket, data, [this, ticket](bool has_arrived) { handed_over(ticket, has_arrived); }, wait && i == first);
  }
}

void ReplicatedLink::handed_over(std::uint64_t ticket, bool has_arrived) {
  const ReplicaReading reading;
  wire::Done done;
  {
    const std::lock_guard guard(lock_);
    const auto found = pushes_.find(ticket);
    if (found == pushes_.end()) return;
    found->second.has_arrived |= has_arrived;
    has_arrived = found->second.has_arrived;
    if (--found->second.left > 0) return;
    done = std::move(found->second.done);
    pushes_.erase(found);
  }
  if (done) done(has_arrived);
  wake();
}

void ReplicatedLink::land(std::uint64_t ticket, std::span<std::uint8_t> into, wire::Done done) {
  if (is_child()) return done(false);
  std::array<std::span<std::uint8_t>, 2> places{};
  std::array<bool, 2> goes{};
  {
    const std::lock_guard guard(lock_);
    const bool are_both = sides_[0].is_alive && sides_[1].is_alive;
    if (!is_over_) {
      auto& read = reads_[ticket];
      read.into = into;
      read.done = std::move(done);
      read.direct = first_;
      read.number = ++last_read_;
      read.state[first_] = Read::State::coming;
      places[first_] = into;
      goes[first_] = true;
      if (are_both) {
        // Pages of it are taken when something lands there, and no earlier.
        read.copy = std::make_unique_for_overwrite<std::uint8_t[]>(into.size() + 1);
        read.state[1 - first_] = Read::State::coming;
        places[1 - first_] = {read.copy.get(), into.size()};
        goes[1 - first_] = true;
      }
    }
  }
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (!goes[i]) continue;
    sides_[i].link->land(ticket, places[i], [this, ticket, i](bool has_arrived) { arrived(ticket, i, has_arrived); });
  }
  if (!goes[0] && !goes[1]) done(false);
}

void ReplicatedLink::cancel(std::uint64_t ticket) {
  {
    const std::lock_guard guard(lock_);
    if (const auto found = reads_.find(ticket); found != reads_.end()) found->second.is_cancelled = true;
  }
  for (auto& side : sides_)
    if (side.link) side.link->cancel(ticket);
}

void ReplicatedLink::arrived(std::uint64_t ticket, std::size_t from, bool has_arrived) {
  const ReplicaReading reading;
  wire::View bytes;
  {
    const std::lock_guard guard(lock_);
    const auto found = reads_.find(ticket);
    if (found == reads_.end()) return;
    const auto& read = found->second;
    bytes = {read.direct == from ? read.into.data() : read.copy.get(), read.into.size()};
  }
  // Now: another copy may soon land in the same memory of the process, and the other server's of this one later.
  const auto hash = has_arrived ? hash_.of(bytes) : KeyedHash::Value{};
  {
    const std::lock_guard guard(lock_);
    const auto found = reads_.find(ticket);
    if (found == reads_.end()) return;
    auto& read = found->second;
    read.state[from] = has_arrived ? Read::State::here : Read::State::failed;
    read.hash[from] = hash;
  }
  settle_read(ticket);
}

/// Tells the process where it can be told, and compares. What is still landing keeps its memory.
void ReplicatedLink::settle_read(std::uint64_t ticket) {
  using State = Read::State;
  wire::Done done;
  std::optional<bool> outcome;
  std::string what;
  {
    const std::lock_guard guard(lock_);
    const auto found = reads_.find(ticket);
    if (found == reads_.end()) return;
    auto& read = found->second;
    const auto direct = read.direct, other = 1 - direct;
    const bool are_both = sides_[0].is_alive && sides_[1].is_alive && read.state[other] != State::none;
    const bool is_whole = read.state[direct] != State::coming && read.state[other] != State::coming;
    if (is_over_) {
      if (is_whole) outcome = false;
    } else if (!are_both) {
      outcome = outcome_of_one(read);
    } else if (is_whole && !is_ending(read, 0) && !is_ending(read, 1)) {
      outcome = read.state[direct] == State::here;
      const bool is_alike = read.state[0] == read.state[1] && read.hash[0] == read.hash[1];
      if (!is_alike && !read.is_cancelled) {
        what = text_of(read);
        if (settings_.stops_at_mismatch) outcome = false;
      }
    }
    if (outcome && !read.is_told) {
      done = std::move(read.done);
      read.is_told = true;
    }
    if (is_whole && read.is_told) {
      reads_.erase(found);
      changed_.notify_all();
    }
  }
  if (!what.empty()) differ(what);
  if (done) {
    done(*outcome);
    wake();
  }
}

/// Under the lock: one could not give its bytes because it is being lost. It is not different from the other.
bool ReplicatedLink::is_ending(const Read& read, std::size_t side) const {
  return read.state[side] == Read::State::failed && sides_[side].link->is_over();
}

/// Under the lock: what is read where only one server is left; nothing where that is not known yet.
std::optional<bool> ReplicatedLink::outcome_of_one(Read& read) {
  using State = Read::State;
  const auto direct = read.direct, other = 1 - direct;
  const bool is_direct = sides_[direct].is_alive || read.state[other] == State::none;
  const auto state = read.state[is_direct ? direct : other];
  // The lost one must have let go of the memory.
  if (state == State::coming || read.state[direct] == State::coming) return std::nullopt;
  if (state == State::here && !is_direct && !read.is_told)
    std::memcpy(read.into.data(), read.copy.get(), read.into.size());
  return state == State::here;
}

std::string ReplicatedLink::text_of(const Read& read) const {
  const auto of = [&](std::size_t side) {
    return (read.state[side] == Read::State::here ? "hash " + hex(read.hash[side][1]) : std::string("nothing")) +
           " from " + sides_[side].node;
  };
  return "copy " + std::to_string(read.number) + " to the program, " + std::to_string(read.into.size()) + " bytes" +
         (read.address != 0 ? " from 0x" + hex(read.address) : "") + " (" + of(0) + ", " + of(1) + ")";
}

void ReplicatedLink::settle_reads_without(std::size_t lost) {
  std::vector<std::uint64_t> reads, pushes;
  {
    const std::lock_guard guard(lock_);
    for (const auto& [ticket, read] : reads_) reads.push_back(ticket);
    for (const auto& [ticket, push] : pushes_) pushes.push_back(ticket);
  }
  // What still lands from it would land in memory that is the process's own again.
  for (const auto ticket : reads) sides_[lost].link->cancel(ticket);
  for (const auto ticket : pushes) sides_[lost].link->cancel(ticket);
  for (const auto ticket : reads) settle_read(ticket);
}

}  // namespace flexrack::client::cuda
