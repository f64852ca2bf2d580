// Where several streams are now: what waiting for a context comes to where no thread can be had to block in the driver.
#pragma once

#include <memory>
#include <vector>

#include "gen/cuda/cuda.h"

namespace flexrack::backend::cuda {

using SharedEvent = std::shared_ptr<CUevent_st>;

/// An event of the current context, behind what is on the stream. Null where the driver has none.
inline SharedEvent point_of(const cu::DriverTable& table, CUstream stream) {
  CUevent made = nullptr;
  if (table.cuEventCreate(&made, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC) != CUDA_SUCCESS) return nullptr;
  SharedEvent event(made, [destroy = table.cuEventDestroy_v2](CUevent one) { destroy(one); });
  return table.cuEventRecord(made, stream) == CUDA_SUCCESS ? event : nullptr;
}

/// One thread at a time, under the context.
class StreamPoints {
 public:
  explicit StreamPoints(const cu::DriverTable& table) : table_(table) {}

  void add(SharedEvent event) { ahead_.push_back(std::move(event)); }
  /// Without waiting: whether all are reached.
  bool is_over() {
    while (!ahead_.empty()) {
      const auto status = table_.cuEventQuery(ahead_.back().get());
      if (status == CUDA_ERROR_NOT_READY) return false;
      reached(status);
    }
    return true;
  }
  /// Waits for all. The first error of any.
  CUresult wait() {
    while (!ahead_.empty()) reached(table_.cuEventSynchronize(ahead_.back().get()));
    return status_;
  }

 private:
  void reached(CUresult status) {
    if (status_ == CUDA_SUCCESS) status_ = status;
    ahead_.pop_back();
  }

  const cu::DriverTable& table_;
  std::vector<SharedEvent> ahead_;
  CUresult status_ = CUDA_SUCCESS;
};

}  // namespace flexrack::backend::cuda
