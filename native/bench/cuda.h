// What CUDA's driver costs on a device, whoever carries it out: no runtime library and no compiler between.
#pragma once

#include <string>

namespace flexrack::bench {

struct CudaBench {
  std::string driver;     ///< file of a CUDA driver; empty: libcuda.so.1 as the loader finds it
  unsigned index = 0;     ///< of the device
  bool is_short = false;  ///< end after the first launch
};

/// Prints device; init_ms (cuInit), first_launch_ms (from the start of cuInit to the end of the first launch); then, of
/// this thread's processor time, NAME_cpu_us, and of all threads of this process, NAME_process_cpu_us, for launch (no
/// parameters), launch_8 (eight parameters), copy_4KiB (asynchronous, from pageable memory), event_record, stream_wait;
/// attribute_ns and context_ns (cuDeviceGetAttribute and cuCtxGetDevice); by the clock on the wall launch_us (many, and
/// one wait), launch_wait_us (one, and the wait for it), write_4KiB_us, read_4KiB_us (blocking); write_64MiB_GBps,
/// read_64MiB_GBps (pageable memory) and the same with pinned_ before. Medians; bandwidths in 1e9 bytes a second.
/// Throws std::runtime_error where the device or its driver fails, and where what was copied is not what was read.
void measure_cuda(const CudaBench& bench);

}  // namespace flexrack::bench
