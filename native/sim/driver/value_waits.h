// What streams wait for in memory: any number of waits on one thread, so that none of them is in the way of another
// that has to be over first.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "sim/driver/worker.h"

namespace flexrack::sim {

/// Looks at all of them again and again, seldom where nothing has changed for long. Thread-safe.
class ValueWaits : public Worker {
 public:
  ValueWaits() : Worker("sim-wait", 1) {}
  void post(Ref<Command> command) override;

 private:
  void look();

  std::mutex lock_;
  std::condition_variable came_;
  std::vector<Ref<Command>> posted_;
  bool is_started_ = false;
};

}  // namespace flexrack::sim
