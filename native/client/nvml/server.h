// A leased server as a watcher sees it: a session that makes no context, and so holds nothing of the device.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "client/lease_file.h"
#include "client/session.h"

namespace flexrack::client::nvml {

/// What a server says of a device once.
struct DeviceFacts {
  std::uint32_t at = 0;                      ///< which one, at its server
  std::string name, uuid, pci;               ///< pci: as cuDeviceGetPCIBusId says
  std::array<std::uint8_t, 16> uuid_bytes{};
  std::map<int, int> attributes;             ///< by CUdevice_attribute
  std::map<std::uint32_t, bool> peers;       ///< by number at the server: whether it reaches that one's memory

  int attribute(int which, int otherwise = 0) const {
    const auto found = attributes.find(which);
    return found == attributes.end() ? otherwise : found->second;
  }
};

/// What it says of the device's use, every time anew. The words for what is not known are those of `usage` in cuda.api.
struct Usage {
  std::uint64_t total = 0, used = 0;         ///< bytes of the share
  unsigned busy = ~0u, memory_busy = ~0u, power = ~0u, clock = ~0u, memory_clock = ~0u;
  int temperature = -1;
  std::string driver;
  struct Process {
    std::uint64_t id = 0, memory = 0;
  };
  std::vector<Process> processes;
};

/// Thread-safe but for reach().
class Server final : public Notices {
 public:
  explicit Server(LeasedServer reported);

  /// Dials it where it is not reached. One thread at a time; takes seconds where nobody answers.
  void reach();
  bool is_alive() const;
  /// False: it is lost, or says what cannot be.
  bool ask(std::uint32_t device, Usage& into) const;
  /// Says goodbye.
  void close() const;

  /// What it said when it was reached first; empty before.
  const std::vector<DeviceFacts>& devices() const { return devices_; }
  int driver_version() const { return driver_version_; }

  // A watcher asks for nothing that could fail later, and is_alive() says whether it is lost.
  void on_notice(Session&, const wire::Header&, wire::View) override {}
  void on_lost(Session&, std::string_view) override {}

 private:
  using Clock = std::chrono::steady_clock;
  bool describe(Session& session);
  std::shared_ptr<Session> session() const;

  LeasedServer lease_;
  mutable std::mutex lock_;
  std::shared_ptr<Session> session_;
  std::vector<DeviceFacts> devices_;
  int driver_version_ = 0;
  bool is_out_ = false;                      ///< for good: it refused, or is another one now
  Clock::time_point next_try_{};
};

}  // namespace flexrack::client::nvml
