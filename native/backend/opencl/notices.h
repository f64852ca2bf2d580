// What the client is told without having asked: events that are over, commands that failed, what kernels printed.
#pragma once

#include <mutex>
#include <vector>

#include "gen/opencl/messages.h"
#include "wire/link.h"

namespace flexrack::backend::opencl {

/// Thread-safe.
class NoticeSender {
 public:
  explicit NoticeSender(wire::Link& link) : link_(link) {}

  /// Sent at once; what completes while another thread is sending goes along in its next notice.
  void completed(const cl::Completion& completion);
  /// Not flushed: the caller knows whether more is coming.
  template <class Notice>
  void send(const Notice& notice) {
    link_.send(Notice::kOp, 0, [&](wire::Bytes& out) { encode(out, notice); });
  }
  void flush() { link_.flush(); }

 private:
  wire::Link& link_;
  std::mutex lock_;
  std::vector<cl::Completion> waiting_;
  bool is_sending_ = false;
};

}  // namespace flexrack::backend::opencl
