// One build at a time where a driver cannot do with more.
#pragma once

#include "gen/opencl/cl.h"

namespace flexrack::backend::opencl {

/// PoCL keeps what it compiles in a folder of the user's, and two processes that link the same parts at the same moment
/// disturb each other there: one of them fails. So workers of one user take turns, by a lock on that folder, which ends
/// with its process. Other drivers: nothing.
class BuildLock {
 public:
  explicit BuildLock(cl_platform_id platform);
  ~BuildLock();
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

 private:
  int folder_ = -1;
};

}  // namespace flexrack::backend::opencl
