// The lease that takes the place of another one, when sessions go to another server (docs/adr/0079): held beside it
// until then.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "client/lease_file.h"

namespace flexrack::lease_keeper {

/// For one thread.
class Successor {
 public:
  Successor() = default;
  ~Successor() { give_up(); }
  Successor(const Successor&) = delete;

  /// Holds the one lease of that lease file, in place of another successor. False: it cannot be reached or read.
  bool hold(const std::string& file);
  bool is_held() const { return server_.has_value(); }
  const std::string& file() const { return file_; }
  /// Gives it back.
  void give_up() { end(true); }
  /// From now on the caller holds it, within seconds.
  client::LeasedServer take_place();

 private:
  void end(bool gives_back);

  std::optional<client::LeasedServer> server_;
  std::string file_;
  std::atomic<bool> is_over_{false}, gives_back_{false};
  std::thread holding_;
};

/// The server of that lease becomes the one of `successor`, a lease file of one server. Programs that start later find
/// it there. What cannot be written stays: those that run have been told.
void replace_in_lease_file(const std::string& path, const std::string& lease, const std::string& successor);

}  // namespace flexrack::lease_keeper
