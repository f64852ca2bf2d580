#include "server/device_list.h"

#include <poll.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <stdexcept>

#include <fcntl.h>

#include "server/spawn.h"

namespace flexrack::server {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);

std::string read_all(int fd) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  std::string text;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    pollfd wait{fd, POLLIN, 0};
    if (left <= 0 || poll(&wait, 1, static_cast<int>(left)) == 0)
      throw std::runtime_error("the driver does not say which devices there are");
    std::array<char, 4096> bytes{};
    const auto got = read(fd, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

wire::Json to_json(const std::vector<backend::DeviceReport>& devices) {
  wire::Json::List list;
  for (const auto& device : devices) {
    list.push_back(wire::Json::Members{{"id", device.native_id},
                                       {"name", device.name},
                                       {"vendor", device.vendor},
                                       {"driver", device.driver},
                                       {"api", device.api},
                                       {"memory", device.memory},
                                       {"compute_units", device.compute_units},
                                       {"capability", device.capability}});
    if (device.context_memory) list.back().set("context_memory", *device.context_memory);
  }
  return list;
}

std::vector<backend::DeviceReport> find_devices(const std::string& root, const BackendChoice& backend) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  SpawnSettings settings;
  settings.role = "devices";
  settings.arguments = options_of(backend);
  settings.output = theirs.get();
  settings.error_file = root + "/worker.log";
  settings.environment = {{"POCL_CACHE_DIR", root + "/kernel-cache"}};
  const auto process = spawn_self(settings);
  theirs.reset();
  std::string text;
  try {
    text = read_all(ours.get());
  } catch (...) {
    syscall(SYS_pidfd_send_signal, process.pidfd.get(), SIGKILL, nullptr, 0);
    reap(process.pid);
    throw;
  }
  reap(process.pid);
  // A driver may print before us: the answer is the last line.
  if (!text.empty() && text.back() == '\n') text.pop_back();
  const auto start = text.rfind('\n');
  const auto answer = wire::Json::parse(std::string_view(text).substr(start == std::string::npos ? 0 : start + 1));
  if (!answer) throw std::runtime_error("the driver crashed while it was asked for devices; see worker.log");
  if (answer->has("error")) throw std::runtime_error((*answer)["error"]["message"].text());
  std::vector<backend::DeviceReport> devices;
  for (const auto& item : (*answer)["ok"]["devices"].list()) {
    backend::DeviceReport device;
    device.native_id = item["id"].text();
    device.name = item["name"].text();
    device.vendor = item["vendor"].text();
    device.driver = item["driver"].text();
    device.api = item["api"].text();
    device.memory = static_cast<std::uint64_t>(item["memory"].integer());
    device.compute_units = static_cast<std::uint32_t>(item["compute_units"].integer());
    device.capability = item["capability"].text();
    if (item.has("context_memory"))
      device.context_memory = static_cast<std::uint64_t>(item["context_memory"].integer());
    devices.push_back(std::move(device));
  }
  if (devices.empty())
    throw std::runtime_error("there is no " + std::string(title_of(backend)) + " device on this machine");
  return devices;
}

}  // namespace flexrack::server
