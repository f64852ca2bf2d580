#include "server/daemon.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "server/admin.h"
#include "server/command_line.h"
#include "server/device_list.h"
#include "server/file_schemas.h"
#include "server/folder.h"
#include "server/network_interface.h"
#include "wire/boot.h"

namespace flexrack::server {
namespace {

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

/// Locked for as long as this process lives: one broker a root.
Descriptor lock_root(const std::string& root) {
  Descriptor fd(open((root + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.is_open() && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

void write_address(const BrokerSettings& settings) {
  const wire::Json about = wire::Json::Members{{"schema", kGpuAddressSchema},
                                               {"pid", static_cast<std::int64_t>(getpid())},
                                               {"started", static_cast<std::int64_t>(time(nullptr))},
                                               {"boot_id", wire::boot_id()},
                                               {"address", settings.address},
                                               {"port", static_cast<int>(settings.port)},
                                               {"admin", settings.admin},
                                               {"unix", settings.unix_path},
                                               {"runtime", settings.runtime},
                                               {"backend", settings.backend.name},
                                               {"protocol", static_cast<int>(wire::kVersion)}};
  replace_file(settings.root + "/address.json", about.write() + "\n");
}

/// The port that the broker before this one had: its clients and keepers look for it there. 0 where there was none.
std::uint16_t port_before(const std::string& root) {
  const auto text = read_private_file(root + "/port");
  const auto port = text ? wire::Json::parse(*text) : std::nullopt;
  return port && port->integer() > 0 && port->integer() < 65536 ? static_cast<std::uint16_t>(port->integer()) : 0;
}

std::uint16_t listen_first(Listener& listener, const std::string& address, std::uint16_t port, std::uint16_t before) {
  if (port == 0 && before != 0) {
    try {
      return listener.listen_tcp(address, before);
    } catch (const std::runtime_error&) {
      // Somebody else has it now.
    }
  }
  return listener.listen_tcp(address, port);
}

/// Each connection, worker and holder takes a few descriptors.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 16384);
  setrlimit(RLIMIT_NOFILE, &limit);
}

Descriptor block_signals() {
  signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return Descriptor(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

int serve(DaemonSettings& settings) {
  auto& about = settings.broker;
  Log log(about.root + "/log");
  const auto signals = block_signals();
  raise_descriptor_limit();

  std::vector<backend::DeviceReport> devices;
  try {
    devices = find_devices(about.root, about.backend);
  } catch (const std::exception& error) {
    log.line(error.what());
    std::fprintf(stderr, "flexrack-gpud: %s\n", error.what());
    return kExitNoDevices;
  }

  about.runtime = make_runtime_folder(about.root);
  Loop loop;
  about.admin = about.runtime + "/admin.sock";
  about.unix_path = about.runtime + "/client.sock";
  if (settings.binds.empty()) settings.binds.push_back("127.0.0.1");
  // For its workers, unless somebody has said otherwise; the name alone would stand for all that begin with it.
  if (const auto card = interface_of(settings.binds.front()); !about.backend.nccl.empty() && !card.empty())
    setenv("NCCL_SOCKET_IFNAME", ("=" + card).c_str(), 0);
  // Each lease has a worker, and what one allocates in software is in no other's reach: they meet over the network.
  if (about.backend.name == "sim")
    for (const auto* way : {"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"}) setenv(way, "1", 0);
  about.address = settings.advertise.empty() ? settings.binds.front() : settings.advertise;
  Broker* serving = nullptr;
  Listener listener(
      loop, log, [&serving](const PendingConnection& pending) { return serving->judge(pending); },
      [&serving](PendingConnection pending) { serving->enter(std::move(pending)); });
  about.port = settings.port;
  for (const auto& bind : settings.binds) {
    if (about.transport == "tcp" && !is_loopback(bind) && !about.is_fabric_trusted) {
      throw std::runtime_error("plain TCP on " + bind +
                               " needs --trusted-fabric: anybody between could read and change what passes");
    }
    if (!about.backend.nccl.empty() && !is_loopback(bind) && !about.is_fabric_trusted) {
      throw std::runtime_error("collectives on " + bind +
                               " need --trusted-fabric: NCCL neither encrypts nor authenticates what passes");
    }
    about.port = listen_first(listener, bind, about.port, port_before(about.root));
  }
  replace_file(about.root + "/port", std::to_string(about.port) + "\n");
  listener.listen_unix(about.unix_path);

  Broker broker(loop, log, about, std::move(devices));
  serving = &broker;
  broker.take_over();
  AdminOperations operations(loop, broker);
  AdminSocket admin(loop, log, operations);
  admin.listen(about.admin);
  loop.watch(signals.get(), EPOLLIN, [&](std::uint32_t) {
    signalfd_siginfo info{};
    if (read(signals.get(), &info, sizeof info) != sizeof info) return;
    log.line("signal " + std::to_string(info.ssi_signo) + ": the broker ends, leases and workers stay");
    loop.stop();
  });
  write_address(about);
  log.line("serving " + about.address + " port " + std::to_string(about.port));
  loop.run();
  listener.close();
  admin.close();
  broker.leave();
  if (broker.has_nothing()) remove_runtime_folder(about.runtime);
  unlink((about.root + "/address.json").c_str());
  log.line("the broker has ended");
  return 0;
}

}  // namespace

int run_daemon(DaemonSettings settings) {
  umask(077);
  try {
    make_private_folder(settings.broker.root);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flexrack-gpud: %s\n", error.what());
    return kExitFolder;
  }
  const auto lock = lock_root(settings.broker.root);
  if (!lock.is_open()) {
    std::fprintf(stderr, "flexrack-gpud: another broker serves in %s, or its folder cannot be written\n",
                 settings.broker.root.c_str());
    return kExitRunning;
  }
  return serve(settings);
}

}  // namespace flexrack::server
