#include "server/backends.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "backend/cuda/driver_library.h"

namespace flexrack::server {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTitles{
    {{"opencl", "OpenCL"}, {"cuda", "CUDA"}, {"sim", "simulated CUDA"}}};

constexpr std::array<std::pair<std::string_view, const char*>, 12> kSimOptions{
    {{"--sim-devices", "FLEXRACK_SIM_DEVICES"},
     {"--sim-memory", "FLEXRACK_SIM_MEMORY"},
     {"--sim-context", "FLEXRACK_SIM_CONTEXT"},
     {"--sim-profile", "FLEXRACK_SIM_PROFILE"},
     {"--sim-capability", "FLEXRACK_SIM_CAPABILITY"},
     {"--sim-driver", "FLEXRACK_SIM_DRIVER"},
     {"--sim-multiprocessors", "FLEXRACK_SIM_MULTIPROCESSORS"},
     {"--sim-machine-code", "FLEXRACK_SIM_MACHINE_CODE"},
     {"--sim-latency", "FLEXRACK_SIM_LATENCY_US"},
     {"--sim-bandwidth", "FLEXRACK_SIM_BANDWIDTH_GBPS"},
     {"--sim-fault", "FLEXRACK_SIM_FAULT"},
     {"--sim-seed", "FLEXRACK_SIM_SEED"}}};

std::string own_folder() {
  char path[PATH_MAX];
  const auto length = readlink("/proc/self/exe", path, sizeof path);
  const std::string_view program(path, length > 0 ? static_cast<std::size_t>(length) : 0);
  return std::string(program.substr(0, program.rfind('/') == program.npos ? 0 : program.rfind('/')));
}

/// The machine's driver shows the worker what it was granted and nothing else, from the first call on.
void show_granted(const backend::Grant& grant) {
  std::string granted;
  for (const auto& device : grant.devices()) granted += (granted.empty() ? "" : ",") + device.native_id;
  setenv("CUDA_VISIBLE_DEVICES", granted.c_str(), 1);
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
}

}  // namespace

bool is_backend(std::string_view name) {
  return std::any_of(kTitles.begin(), kTitles.end(), [&](const auto& entry) { return entry.first == name; });
}

std::string_view title_of(const BackendChoice& backend) {
  for (const auto& [name, title] : kTitles) {
    if (name == backend.name) return title;
  }
  return backend.name;
}

std::string driver_of(const BackendChoice& backend) {
  if (!backend.driver.empty()) return backend.driver;
  if (backend.name == "cuda") return "libcuda.so.1";
  return backend.name == "sim" ? own_folder() + "/libflexrack-sim.so" : std::string();
}

std::vector<std::string> options_of(const BackendChoice& backend) {
  std::vector<std::string> options{"--backend", backend.name};
  if (!backend.driver.empty()) options.insert(options.end(), {"--driver", backend.driver});
  if (!backend.nccl.empty()) options.insert(options.end(), {"--nccl", backend.nccl});
  if (!backend.nvml.empty()) options.insert(options.end(), {"--nvml", backend.nvml});
  return options;
}

std::vector<backend::DeviceReport> list_devices(const BackendChoice& backend) {
  return backend.name == "opencl" ? backend::list_opencl_devices() : backend::list_cuda_devices(driver_of(backend));
}

void warm_up(const BackendChoice& backend) {
  if (backend.name == "opencl") {
    backend::list_opencl_devices();
  } else {
    // Not more: which devices it shows is settled when it starts, and that is for the lease to say.
    backend::cuda::DriverLibrary library(driver_of(backend));
    if (!backend.nvml.empty() && !dlopen(backend.nvml.c_str(), RTLD_NOW | RTLD_LOCAL))
      throw std::runtime_error("no NVML for the driver in software: " + std::string(dlerror()));
  }
}

std::unique_ptr<backend::Backend> make_backend(const BackendChoice& backend, backend::Grant& grant) {
  if (backend.name == "opencl") return backend::make_opencl_backend(grant);
  if (backend.name == "cuda") show_granted(grant);
  return backend::make_cuda_backend(grant, driver_of(backend), backend.nccl);
}

std::optional<std::string> sim_variable(std::string_view option) {
  for (const auto& [name, variable] : kSimOptions) {
    if (name == option) return variable;
  }
  return std::nullopt;
}

void seed_sim(const std::string& root) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, 64 bits
  for (const char byte : root) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  setenv("FLEXRACK_SIM_SEED", std::to_string(hash).c_str(), 0);
}

}  // namespace flexrack::server
