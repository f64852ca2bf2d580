// What the environment chooses about the simulated devices.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "sim/driver/profile.h"

namespace flexrack::sim {

/// FLEXRACK_SIM_*:
///   DEVICES         how many there are: 1 to 64                                   default 1
///   CAPABILITY      compute capability, "7.5"                                      7.5
///   PROFILE         a card to be like, by name or by the path of a file (profiles/README.md); what is said besides
///   counts more DRIVER          release of CUDA, "13.4", and with it the newest PTX that is read   13.0
///   MULTIPROCESSORS how many a device says it has                                  the processor's cores
///   MEMORY          of each device: bytes, or a number with KiB, MiB, GiB          4GiB
///   CONTEXT         what each context takes of its device for itself, as MEMORY        1MiB
///   LATENCY_US      time before a kernel or a copy starts, in microseconds         0
///   BANDWIDTH_GBPS  of each copy engine, in 10^9 bytes a second                    unlimited
///   FAULT           "launch:100,alloc:5": the hundredth launch faults, the fifth allocation fails;
///   "flip:3": the third copy from a device has one wrong bit; "unmap:2": the second cuMemUnmap leaves what it was
///   asked for
///   VERBOSE         "1": the error log also goes to stderr
///   MACHINE_CODE    "accept": kernels that come as machine code only can be loaded and launched, and do nothing: for
///   counting what a program
///                   asks for. Else such images are refused, CUDA_ERROR_NO_BINARY_FOR_GPU     refused
///   STRICT          "1": a context in which an image without PTX is loaded fails, so that a program which does not
///   look at what a launch answers learns of it CACHE           folder of what is known of kernels of large texts
///   (kernel_cache.h): an absolute path, or "off"      ~/.cache/flexrack-sim SEED            number from which uuids
///   are made: daemons with different ones have different devices   0
struct Settings {
  unsigned devices = 1;
  Capability capability;
  Release driver;
  unsigned multiprocessors = 0;      ///< 0: as many as the processor has cores for this process
  std::map<int, int> attributes;     ///< of the profile
  std::uint64_t memory = std::uint64_t{4} << 30;
  std::uint64_t context_memory = std::uint64_t{1} << 20;
  std::chrono::nanoseconds latency{0};
  double bytes_per_nanosecond = 0;   ///< 0: unlimited
  std::map<std::string, std::uint64_t> faults;
  bool is_verbose = false;
  bool accepts_machine_code = false;
  bool is_strict = false;
  std::optional<std::string> cache_folder;   ///< nothing: none
  std::uint64_t seed = 0;
};

/// Throws Failure with CUDA_ERROR_INVALID_VALUE and a text that names the variable.
Settings settings_from_environment();

/// The driver's, as the environment says; may be asked before cuInit. Throws as settings_from_environment.
const Release& driver_release();

/// Those of this process; read by cuInit.
const Settings& settings();
void set_settings(Settings settings);

/// Counts one more of a kind (launch, alloc, copy, memset, load, flip, unmap); true where it is the one that
/// FLEXRACK_SIM_FAULT names.
bool is_fault_due(const char* kind);

}  // namespace flexrack::sim
