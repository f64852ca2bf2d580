// What a client has made in its session, as the messages that made it: another worker carries them out again when the
// session goes there (docs/adr/0079). Memory is not in it: the address map knows that.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/cuda/handles.h"
#include "wire/link.h"

namespace flexrack::backend::cuda {

/// Under the session's lock, all but what Link has.
class Journal {
 public:
  struct Entry {
    std::uint16_t op = 0;
    std::uint64_t object = 0;  ///< goes with it
    wire::Bytes body{}, reply{};
    bool is_answered = false;   ///< or no call
  };

  explicit Journal(const HandleTable& handles) : handles_(handles) {}

  /// Whether a message is one that is kept: it makes or sets something.
  static bool keeps(std::uint16_t op, wire::View body);
  /// A message that is about to be carried out.
  void note(const wire::Header& header, wire::View body);
  /// The reply to it, its sequence number taken off: one that failed has made nothing.
  void answered(std::uint64_t sequence, wire::View reply);

  /// What still counts, the oldest first. An entry whose call is not answered yet is not among them.
  std::list<Entry> entries();
  /// How the client's devices were described to it, and its process as it called it.
  const wire::Bytes& described() const { return described_; }
  std::uint64_t process() const { return process_; }
  /// Something was used that a session cannot take along, and nothing is kept of it any more; empty: nothing.
  const std::string& obstacle() const { return obstacle_; }

 private:
  static constexpr std::size_t kFirstLook = 1 << 12;  ///< entries, before those of objects that are gone are dropped
  static constexpr std::size_t kMost = 1 << 20;       ///< entries; a session that has made more cannot move
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;  ///< the same for what they say
  void add(const wire::Header& header, std::uint64_t object, wire::View body);
  void stays(const char* why);
  void take_place(std::list<Entry>::iterator made);
  void drop_gone();

  const HandleTable& handles_;
  std::list<Entry> entries_;
  std::unordered_map<std::uint64_t, std::list<Entry>::iterator> waiting_;  ///< calls by their sequence number
  std::map<std::pair<std::uint64_t, std::string>, std::list<Entry>::iterator> settings_;  ///< by object and message
  std::size_t look_at_ = kFirstLook;
  std::size_t bytes_ = 0;  ///< of bodies and replies, with those that went since the last drop_gone()
  std::string obstacle_;
  wire::Bytes described_;
  std::uint64_t describing_ = 0, process_ = 0;  ///< the call's sequence number
};

/// The handles of the kernels that a reply to `load` or `find_kernel` names; nothing: it is of neither, or makes no
/// sense.
std::optional<std::vector<std::uint64_t>> kernels_in(std::uint32_t op, wire::View reply);

/// The link that a session's parts speak over: shows the journal the replies that go out, and is another one underneath
/// when the session has arrived from elsewhere.
class JournalLink final : public wire::Link {
 public:
  using Answered = std::function<void(std::uint64_t sequence, wire::View reply)>;
  explicit JournalLink(Answered answered) : answered_(std::move(answered)) {}
  void lead_to(wire::Link& link) { link_.store(&link, std::memory_order_release); }

  std::uint64_t send(std::uint16_t op, std::uint16_t flags, const std::function<void(wire::Bytes&)>& encode) override;
  void flush() override { to().flush(); }
  std::uint64_t ticket() override { return to().ticket(); }
  void push(std::uint64_t ticket, wire::View data, wire::Done done, bool wait) override {
    to().push(ticket, data, std::move(done), wait);
  }
  void land(std::uint64_t ticket, std::span<std::uint8_t> into, wire::Done done) override {
    to().land(ticket, into, std::move(done));
  }
  void cancel(std::uint64_t ticket) override { to().cancel(ticket); }
  bool wait(const std::function<bool()>& ready) override { return to().wait(ready); }
  void run() override { to().run(); }
  void wake() override { to().wake(); }
  bool is_over() const override { return to().is_over(); }
  wire::View session_id() const override { return to().session_id(); }
  void close() override { to().close(); }

 private:
  wire::Link& to() const { return *link_.load(std::memory_order_acquire); }

  const Answered answered_;
  std::atomic<wire::Link*> link_{nullptr};
};

}  // namespace flexrack::backend::cuda
