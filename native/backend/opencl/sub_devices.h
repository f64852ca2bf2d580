// Sub-devices as the driver has them.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/opencl/native_library.h"

namespace flexrack::backend::opencl {

/// A property list of clCreateSubDevices with its zeros at the end.
using Partition = std::vector<cl_device_partition_property>;

/// The driver's sub-devices of one session. None is released before the process ends: drivers drop a sub-device
/// although what was enqueued on it is still under way (PoCL's contexts and queues do not hold it). One that the client
/// has let go of is given out again where the same device is divided in the same way, which makes the same part of it;
/// so a program that divides for ever takes no more than it uses at a time. Thread-safe.
class SubDevices {
 public:
  static constexpr std::size_t kMost = 4096;   ///< over all divisions of a session

  /// One of each of the `count` parts that `how` makes. CL_OUT_OF_RESOURCES beyond kMost, else the driver's own errors.
  cl_int divide(cl_device_id device, const Partition& how, std::size_t count, std::vector<cl_device_id>& parts);
  /// The part at `position` of such a division is not used any more.
  void give_back(cl_device_id device, const Partition& how, std::size_t position, cl_device_id part);

 private:
  std::mutex lock_;
  std::map<std::pair<cl_device_id, Partition>, std::vector<std::vector<cl_device_id>>> idle_;  ///< by position
  std::size_t made_ = 0;
};

}  // namespace flexrack::backend::opencl
