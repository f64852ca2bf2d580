// The devices of this process.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "gen/cuda/cuda.h"
#include "sim/driver/busy_clock.h"
#include "sim/driver/device_heap.h"
#include "sim/driver/object.h"
#include "sim/driver/pace.h"
#include "sim/driver/value_waits.h"
#include "sim/driver/worker.h"

namespace flexrack::sim {

class Context;
class Pool;
struct Settings;

/// What differs between compute capabilities ("CUDA C++ Programming Guide", technical specifications for each compute
/// capability).
struct Model {
  int major, minor;
  int threads, blocks;                      ///< resident on a multiprocessor
  int shared_bytes, shared_bytes_block;     ///< of a multiprocessor; of a block that asks for more than 48 KiB
  int shared_bytes_reserved;                ///< of each block
  int double_ratio;                         ///< single to double precision performance
};
const Model& model();

struct Device {
  explicit Device(int number);

  const int ordinal;
  const int multiprocessors;
  std::array<std::uint8_t, 16> uuid{};
  int pci_domain = 0, pci_bus, pci_device = 0;

  DeviceHeap heap;
  // Kernels of all devices share the processor's cores: Machine's business. A launch has a thread only to be told when
  // it is over.
  Worker compute{"sim-compute", 128};
  Worker copies_in{"sim-copy-in", 1}, copies_out{"sim-copy-out", 1}, copies_within{"sim-copy", 1};
  CopyEngine engine_in, engine_out, engine_within;
  Worker host{"sim-host", 4};
  ValueWaits waits;
  Worker frees{"sim-free", 1};

  BusyClock busy;                           ///< runs while a kernel does
  Ref<Context> primary;  ///< made at cuInit, so that its handle never changes; active while retained
  Ref<Pool> default_pool, pool;  ///< what cuMemAllocAsync takes from
  std::atomic<std::uint64_t> graph_bytes{0}, graph_bytes_high{0};  ///< of memory nodes

  std::string pci_text() const;  ///< "0000:01:00.0"
};

/// Begins with the same words whatever the device is like, and says where kernels may be launched without being
/// computed.
const char* device_name(const Settings& of);
/// The same whenever it is asked on this machine with this seed; another one elsewhere.
std::array<std::uint8_t, 16> make_uuid(std::uint64_t seed, int ordinal);
inline int pci_bus_of(int ordinal) { return ordinal + 1; }

/// Makes the devices, once; cuInit.
void make_devices();
int device_count();
/// Throws Failure with CUDA_ERROR_INVALID_DEVICE.
Device& device(CUdevice ordinal);

/// False for a number that is no attribute.
bool attribute(const Device& device, int which, int& value);

}  // namespace flexrack::sim
