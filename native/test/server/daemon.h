// A daemon in a folder of its own, and clients of it, for tests.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "wire/json.h"
#include "wire/link.h"

namespace flexrack::test {

/// Until it is true, at most that long; false: it never was. For what other processes do in their own time.
bool eventually(const std::function<bool()>& is_true, int seconds = 20);

class Daemon {
 public:
  explicit Daemon(std::vector<std::string> options = {});
  ~Daemon();

  /// The broker alone: its workers run on.
  void kill_broker(int signal);
  void start_broker();
  int wait_broker();  ///< its wait status
  bool is_running() const { return pid_ > 0; }

  /// One request and its answer.
  wire::Json ask(const wire::Json& request) const;
  wire::Json ask_text(const std::string& line) const;
  wire::Json address() const;
  std::string file(const std::string& name) const;

  const std::string root;

 private:
  std::vector<std::string> options_;
  pid_t pid_ = -1;
};

/// What a lease answer says, as a client dials it.
wire::Dial dial_of(const wire::Json& lease, const std::string& transport);

/// A client with one session.
class Client : public wire::Receiver {
 public:
  /// Throws wire::Error.
  explicit Client(const wire::Dial& to);
  ~Client() override;
  /// Sends a message of the made-up backend and waits; -1: the link is over.
  int ask(std::uint16_t op, std::uint64_t bytes = 0);
  wire::Link& link() { return *link_; }

  void on_frame(const wire::Header& header, wire::View body) override;
  void on_over(std::string_view why) override;

 private:
  std::uint64_t answered_ = 0;
  int answer_ = -1;
  std::unique_ptr<wire::Link> link_;
};

/// Connects and does nothing more; -1 where nobody listens.
int connect_raw(const wire::Json& address);
int connect_admin(const wire::Json& address);

}  // namespace flexrack::test
