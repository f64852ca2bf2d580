#include "server/command_line.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <utility>

#include "server/backends.h"
#include "server/daemon.h"
#include "server/device_list.h"
#include "server/file_schemas.h"
#include "server/folder.h"
#include "server/supported_apis.h"
#include "server/version.h"
#include "server/worker.h"

namespace flexrack::server {
namespace {

constexpr const char* kUsage =
    "usage: flexrack-gpud broker --root FOLDER [--bind ADDRESS]... [--port N] [--advertise HOST] [--transport auto|tls|tcp]\n"
    "                            [--trusted-fabric] [--grace SECONDS] [--no-spare] [--oversubscribe BYTES] [BACKEND]\n"
    "       (--oversubscribe: leases may take turns on a device; as much of the host's memory for all of them)\n"
    "       flexrack-gpud devices [BACKEND]\n"
    "       flexrack-gpud admin --root FOLDER      (JSON lines on standard input and output)\n"
    "       flexrack-gpud version\n"
    "BACKEND: --backend opencl|cuda|sim [--driver LIBRARY] (sim: a CUDA driver in software, libflexrack-sim.so beside this program)\n"
    "         [--sim-devices N] [--sim-memory SIZE] [--sim-context SIZE] [--sim-profile NAME|FILE] [--sim-capability M.N] [--sim-driver M.N]\n"
    "         [--sim-multiprocessors N] [--sim-latency MICROSECONDS] [--sim-bandwidth GB/S] [--sim-fault KIND:N,...] [--sim-seed N]\n"
    "         [--sim-machine-code accept] [--nvml LIBRARY] (sim: NCCL's, libflexrack-sim-nvml.so beside the driver)\n"
    "         [--nccl LIBRARY] (cuda and sim: collectives between the servers of a lease, by this libnccl; they are neither encrypted nor\n"
    "         authenticated, so it needs --trusted-fabric, or --bind on loopback only)\n";

int usage(const std::string& problem) {
  std::fprintf(stderr, "flexrack-gpud: %s\n%s", problem.c_str(), kUsage);
  return kExitUsage;
}

std::optional<int> number(const std::string& text, int least, int most) {
  int value = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || value < least || value > most) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> bytes_of(const std::string& text) {
  std::uint64_t value = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc{} && read.ptr == end && value >> 56 == 0 ? std::optional(value) : std::nullopt;
}

std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  char here[PATH_MAX];
  return getcwd(here, sizeof here) == nullptr ? path : std::string(here) + "/" + path;
}

/// A bare name is the loader's to find.
std::string library(const std::string& value) { return value.find('/') == value.npos ? value : absolute(value); }

int devices(const BackendChoice& backend) {
  try {
    std::printf(
        "%s\n",
        wire::Json(wire::Json::Members{{"ok", wire::Json::Members{{"devices", to_json(list_devices(backend))}}}})
            .write()
            .c_str());
    return 0;
  } catch (const std::exception& error) {
    const wire::Json::Members about{{"code", "no_devices"}, {"message", error.what()}};
    std::printf("%s\n", wire::Json(wire::Json::Members{{"error", about}}).write().c_str());
    return kExitNoDevices;
  }
}

bool exchange_line(int fd, const std::string& request, std::string& buffer, std::string& answer) {
  const std::string line = request + "\n";
  if (send(fd, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) return false;
  std::size_t end = 0;
  while ((end = buffer.find('\n')) == std::string::npos) {
    char bytes[16384];
    const auto got = recv(fd, bytes, sizeof bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    buffer.append(bytes, static_cast<std::size_t>(got));
  }
  answer = buffer.substr(0, end);
  buffer.erase(0, end + 1);
  return true;
}

int admin(const std::string& root) {
  const auto about = read_private_file(root + "/address.json");
  const auto where = about ? wire::Json::parse(*about) : std::nullopt;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (where && (*where)["schema"].integer(1) > kGpuAddressSchema) {
    std::fprintf(stderr, "flexrack-gpud: the daemon in %s is of a newer flexrack\n", root.c_str());
    return 1;
  }
  const auto path = where ? (*where)["admin"].text() : std::string();
  const Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    std::fprintf(stderr, "flexrack-gpud: no daemon has served in %s\n", root.c_str());
    return 1;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::fprintf(stderr, "flexrack-gpud: no daemon answers at %s: %s\n", path.c_str(), std::strerror(errno));
    return 1;
  }
  std::string request, buffer, answer;
  while (std::getline(std::cin, request)) {
    if (request.empty()) continue;
    if (!exchange_line(fd.get(), request, buffer, answer)) {
      std::fprintf(stderr, "flexrack-gpud: the daemon ended the conversation\n");
      return 1;
    }
    std::cout << answer << std::endl;
  }
  return 0;
}

/// Takes one option with its value; false where it is none, or the value is not one of it.
bool take(const std::string& name, const std::string& value, DaemonSettings& settings) {
  auto& broker = settings.broker;
  if (name == "--root") {
    broker.root = absolute(value);
  } else if (name == "--bind") {
    settings.binds.push_back(value);
  } else if (name == "--advertise") {
    settings.advertise = value;
  } else if (name == "--port" && number(value, 0, 65535)) {
    settings.port = static_cast<std::uint16_t>(*number(value, 0, 65535));
  } else if (name == "--grace" && number(value, 1, 3600)) {
    broker.grace = std::chrono::seconds(*number(value, 1, 3600));
  } else if (name == "--oversubscribe" && bytes_of(value)) {
    broker.most_swapped = *bytes_of(value);
  } else if (name == "--transport" && (value == "auto" || value == "tls" || value == "tcp")) {
    broker.transport = value;
  } else if (name == "--backend" && is_backend(value)) {
    broker.backend.name = value;
  } else if (name == "--nccl" && !value.empty()) {
    broker.backend.nccl = library(value);
  } else if (name == "--nvml" && !value.empty()) {
    broker.backend.nvml = library(value);
  } else if (name == "--driver" && !value.empty()) {
    broker.backend.driver = library(value);
  } else {
    return false;
  }
  return true;
}

/// Fills the settings; what is wrong, or nothing. What the driver in software reads from the environment is set there,
/// for all processes of this daemon.
std::optional<std::string> parse(const std::vector<std::string>& arguments, DaemonSettings& settings) {
  const auto& backend = settings.broker.backend;
  std::vector<std::pair<std::string, std::string>> simulated;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const auto& name = arguments[i];
    if (name == "--trusted-fabric") {
      settings.broker.is_fabric_trusted = true;
      continue;
    }
    if (name == "--no-spare") {
      settings.broker.spare = false;
      continue;
    }
    if (i + 1 == arguments.size()) return name + " needs a value, or is no option";
    const auto& value = arguments[++i];
    if (sim_variable(name) && !value.empty()) {
      simulated.emplace_back(name, value);
    } else if (!take(name, value, settings)) {
      return "not understood: " + name + " " + value;
    }
  }
  // As the rack file's gpu.env gives it to a daemon.
  if (const auto* nccl = std::getenv("FLEXRACK_NCCL");
      nccl && *nccl && backend.nccl.empty() && backend.name != "opencl")
    settings.broker.backend.nccl = nccl;
  if (!simulated.empty() && backend.name != "sim") return simulated.front().first + " is for --backend sim";
  if (settings.broker.most_swapped > 0 && backend.name == "opencl")
    return "--oversubscribe is for --backend cuda and sim";
  if (!backend.driver.empty() && backend.name == "opencl") return "--driver is for --backend cuda and sim";
  if (!backend.nvml.empty() && backend.name != "sim") return "--nvml is for --backend sim";
  if (!backend.nccl.empty() && backend.name == "opencl") return "--nccl is for --backend cuda and sim";
  for (const auto& [name, value] : simulated) setenv(sim_variable(name)->c_str(), value.c_str(), 1);
  if (backend.name == "sim" && !settings.broker.root.empty()) seed_sim(settings.broker.root);
  return std::nullopt;
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return usage("what is it to do?");
  const auto& role = arguments.front();
  DaemonSettings settings;
  if (const auto problem = parse(arguments, settings)) return usage(*problem);
  if (role == "version") {
    const wire::Json::Members about{{"version", kProgramVersion},
                                    {"protocol", static_cast<int>(wire::kVersion)},
                                    {"speaks", supported_revisions()}};
    std::printf("%s\n", wire::Json(about).write().c_str());
    return 0;
  }
  if (role == "devices") return devices(settings.broker.backend);
  if (role == "worker") return run_worker(settings.broker.backend);
  if (role != "broker" && role != "admin") return usage("no role " + role);
  if (settings.broker.root.empty()) return usage("--root is needed");
  return role == "admin" ? admin(settings.broker.root) : run_daemon(std::move(settings));
}

}  // namespace flexrack::server
