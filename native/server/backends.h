// What stands behind the workers of a daemon: the machine's OpenCL, its CUDA driver, or a CUDA driver in software.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace flexrack::server {

/// One of opencl, cuda, sim; `driver` is the library of the latter two where it is not the usual one.
struct BackendChoice {
  std::string name = "opencl", driver;
  std::string nccl{};  ///< the library that carries out collectives; empty: none does
  std::string nvml{};  ///< of sim, which NCCL asks what devices there are; empty: the one beside the driver
};

bool is_backend(std::string_view name);
/// For people: "OpenCL", "CUDA", "simulated CUDA".
std::string_view title_of(const BackendChoice& backend);
/// What dlopen takes: libcuda.so.1 of this machine; for sim libflexrack-sim.so beside this program. Empty for opencl.
std::string driver_of(const BackendChoice& backend);
/// The options with which a process of ours gets the same.
std::vector<std::string> options_of(const BackendChoice& backend);

/// Throws std::runtime_error with the reason where the driver is not there, or does not start.
std::vector<backend::DeviceReport> list_devices(const BackendChoice& backend);
/// Loads what takes long to load and does not depend on the lease, and what is wanted later, when its file may have
/// made way for a newer one. Throws as list_devices.
void warm_up(const BackendChoice& backend);
/// Throws std::runtime_error with the reason.
std::unique_ptr<backend::Backend> make_backend(const BackendChoice& backend, backend::Grant& grant);

/// The variable that the driver in software reads for one of gpud's options, such as --sim-memory; nothing for another
/// option.
std::optional<std::string> sim_variable(std::string_view option);
/// Daemons of one machine have different devices, and each has the same after every start: their uuids are made of its
/// folder, unless a seed is set.
void seed_sim(const std::string& root);

}  // namespace flexrack::server
