// What OpenCL costs on a device, whoever carries it out.
#pragma once

#include <string>

namespace flexrack::bench {

struct OpenClBench {
  std::string driver;     ///< file of an OpenCL driver; empty: what the loader of this machine has first
  unsigned index = 0;     ///< of the device on its platform
  unsigned spin =
      0;  ///< how long each computing kernel takes, in rounds of its loop; 0: as many as take the device a millisecond
};

/// Prints, in this order: device, bulk_bytes; round_trip_us; enqueue_us, enqueue_finish_us; write_4KiB_us,
/// read_4KiB_us; write_64MiB_GBps, read_64MiB_GBps (of bulk_bytes, which are fewer where the device has less memory);
/// compute_ms, compute_share, many_small_ms. Times are medians in microseconds or milliseconds, bandwidths in 1e9 bytes
/// a second. Throws std::runtime_error where the device or its driver fails, and where it computes wrongly.
void measure_opencl(const OpenClBench& bench);

}  // namespace flexrack::bench
