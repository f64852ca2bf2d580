// What kernels print: drivers write it to standard output, which in a worker is a pipe that is read here.
#pragma once

#include <functional>
#include <mutex>
#include <thread>

#include "wire/frame.h"

namespace flexrack::backend {

/// While it lives, file descriptor 1 of this process is its pipe.
class Printing {
 public:
  /// `print` gets what was written, in order; it must not wait for the device.
  explicit Printing(std::function<void(wire::View)> print);
  ~Printing();
  Printing(const Printing&) = delete;
  Printing& operator=(const Printing&) = delete;

  /// Hands over what has been written so far. Costs a system call when there is nothing.
  void drain();

 private:
  void run();

  std::function<void(wire::View)> print_;
  std::mutex lock_;
  int read_ = -1, stop_read_ = -1, stop_write_ = -1, saved_ = -1;
  wire::Bytes buffer_;
  std::thread reader_;
};

}  // namespace flexrack::backend
