// The thread of a session that takes turns on its device: brings its memory out and in, while its messages wait.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "backend/backend.h"
#include "server/residency.h"
#include "wire/accept.h"

namespace flexrack::server {

class WorkerSwap {
 public:
  using Say = std::function<void(const std::string& text)>;
  /// All of it outlives this. `say`: for the daemon's log.
  WorkerSwap(wire::ServerLink& link, backend::Backend& backend, Residency& residency, Say say);
  ~WorkerSwap() { close(); }
  /// Before the backend stops; what is in the host's memory stays there.
  void close();

 private:
  void run();
  void go();
  bool park_at_rest();
  void come();
  bool bring_in();
  void say(const std::string& text);

  wire::ServerLink& link_;
  backend::Backend& backend_;
  Residency& residency_;
  const Say say_;
  std::string said_;  ///< what was said last
  std::thread thread_;
};

}  // namespace flexrack::server
