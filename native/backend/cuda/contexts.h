// What there is: devices, contexts, and what watchers are told of them.
#pragma once

#include <chrono>
#include <map>

#include "backend/cuda/core.h"
#include "backend/cuda/meter.h"
#include "backend/cuda/stream_points.h"

namespace flexrack::backend::cuda {

class Streams;

class Contexts : public virtual cu::Requests {
 public:
  Contexts(Core& core, Streams& streams) : core_(core), streams_(streams) {}
  /// Nobody is told of the use of a device any more.
  void end_metering() { meter_.close(); }

 protected:
  /// The stream, of the current context, is about to end, and its work perhaps not.
  void keep_end(std::uint64_t context, CUstream stream);

 private:
  void on(const cu::Describe& m, Respond<cu::DescribeReply> respond) override;
  void on(const cu::Replicate& m, Respond<cu::ReplicateReply> respond) override;
  void on(const cu::Usage& m, Respond<cu::UsageReply> respond) override;
  void on(const cu::CreateContext& m, Respond<cu::CreateContextReply> respond) override;
  void on(const cu::ReleaseContext& m) override;
  void on(const cu::WaitContext& m, Respond<cu::WaitContextReply> respond) override;
  void on(const cu::SetLimit& m, Respond<cu::SetLimitReply> respond) override;
  void on(const cu::MemoryInfo& m, Respond<cu::MemoryInfoReply> respond) override;

  void create(const cu::CreateContext& m, Respond<cu::CreateContextReply>& respond);
  // ---- what watchers see (usage.cpp)
  void entered(std::uint32_t device);
  void left(std::uint32_t device);
  void look(std::uint32_t device, std::chrono::nanoseconds past);

  std::shared_ptr<StreamPoints> points_of(std::uint64_t context);

  static constexpr std::size_t kMostEnds = 1 << 16;
  Core& core_;
  Streams& streams_;
  std::map<std::uint64_t, std::vector<SharedEvent>> ends_;  ///< by context: of streams that ended with work on them
  std::uint64_t process_ = 0;   ///< as the client says it is called
  Meter meter_{[this](std::uint32_t device, std::chrono::nanoseconds past) { look(device, past); }};
};

}  // namespace flexrack::backend::cuda
