// Runs kernels on the cores of this computer.
//
// There are as many places to work as cores, for all kernels of the process together. Whoever calls run() works itself
// when a place is free, so a small kernel costs no change of thread; helpers join where a grid has more blocks than
// that. Blocks are handed out one by one, and after each slice of time the place goes to the kernel that has waited
// longest.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "sim/exec/fault.h"
#include "sim/exec/image.h"
#include "sim/exec/launch.h"
#include "sim/exec/memory_map.h"
#include "sim/exec/printer.h"

namespace flexrack::sim::exec {

class Machine {
 public:
  /// Places to work at; 0: one a core. Threads start when they are first needed.
  explicit Machine(unsigned places = 0);
  /// No run() may be under way.
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// Returns when all blocks are over, or the first fault has stopped the kernel, or soon after `stop` was asked for
  /// (Fault::Kind::stopped). Any number of threads at once.
  std::optional<Fault> run(const Launch& launch, Image& image, MemoryMap& memory, Printer& printer,
                           std::stop_token stop = {});

  /// The process's own: never destroyed, so that threads may still be in it while the process ends.
  static Machine& shared();

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace flexrack::sim::exec
