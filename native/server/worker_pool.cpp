#include "server/worker_pool.h"

#include <dirent.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <utility>

namespace flexrack::server {
namespace {

constexpr auto kAdoptWithin = std::chrono::milliseconds(1000);

int signal_process(int pidfd, int signal) {
  return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

wire::Json setup_for(const Lease& lease, const std::vector<backend::DeviceReport>& devices,
                     const PendingConnection& pending, const WorkerPoolSettings& settings) {
  wire::Json::List shares;
  for (const auto& share : lease.shares) {
    shares.push_back(
        wire::Json::Members{{"id", devices[share.device].native_id},
                            {"memory", share.memory},
                            {"compute", share.compute},
                            {"whole", share.whole},
                            {"scheduler", scheduler_path(settings.runtime, devices[share.device].native_id)}});
    if (const auto bytes = devices[share.device].context_memory) shares.back().set("context_memory", *bytes);
  }
  wire::Json setup =
      wire::Json::Members{{"type", "setup"},
                          {"lease", wire::to_hex(lease.id)},
                          {"key", wire::to_hex(lease.key)},
                          {"session", wire::to_hex(pending.preamble.session)},
                          {"address", pending.address},
                          {"client_pid", pending.client_pid},
                          {"grace_ms", static_cast<std::int64_t>(settings.grace.count())},
                          {"cap", lease.cap},
                          {"trusted", settings.is_fabric_trusted},
                          {"accounting", accounting_path(settings.runtime, lease.id)},
                          {"control", settings.runtime + "/w" + wire::to_hex(pending.preamble.session).substr(0, 16)},
                          {"devices", std::move(shares)}};
  if (lease.is_oversubscribed)
    setup.set("residency", residency_path(settings.runtime, devices[lease.shares.front().device].native_id));
  return setup;
}

wire::Json attach_for(const PendingConnection& pending) {
  return wire::Json::Members{{"type", "attach"},
                             {"preamble", wire::to_hex(wire::encode_preamble(pending.preamble))},
                             {"address", pending.address},
                             {"read", wire::to_hex(pending.begun.read)}};
}

}  // namespace

WorkerPool::WorkerPool(Loop& loop, Log& log, WorkerPoolSettings settings)
    : loop_(loop), log_(log), settings_(std::move(settings)) {}

Worker* WorkerPool::find(const Id& session) { return const_cast<Worker*>(std::as_const(*this).find(session)); }

const Worker* WorkerPool::find(const Id& session) const {
  const auto adopted = adopted_.find(session);
  const auto found = workers_.find(adopted == adopted_.end() ? session : adopted->second);
  return found == workers_.end() ? nullptr : found->second.get();
}

void WorkerPool::hear_all(const Id& lease) {
  for (const auto& [session, worker] : workers_)
    if (worker->lease == lease) hear(*worker);
}

std::size_t WorkerPool::count(const Id& lease) const {
  return static_cast<std::size_t>(
      std::count_if(workers_.begin(), workers_.end(), [&](const auto& entry) { return entry.second->lease == lease; }));
}

std::size_t WorkerPool::count_unproven() const {
  return static_cast<std::size_t>(
      std::count_if(workers_.begin(), workers_.end(), [](const auto& entry) { return !entry.second->proven; }));
}

void WorkerPool::start(const Lease& lease, const std::vector<backend::DeviceReport>& devices,
                       PendingConnection pending) {
  auto process = spare_ ? std::move(*spare_) : start_process();
  if (spare_) loop_.forget(spare_->process.pidfd.get());
  spare_.reset();
  auto worker = std::make_unique<Worker>();
  worker->session = pending.preamble.session;
  worker->lease = lease.id;
  worker->mark = mark_of(process.process.pid);
  worker->pidfd = std::move(process.process.pidfd);
  worker->control = std::move(process.control);
  worker->address = pending.address;
  worker->client_pid = pending.client_pid;
  worker->started = std::time(nullptr);
  send_control(worker->control.get(), setup_for(lease, devices, pending, settings_));
  send_control(worker->control.get(), attach_for(pending), pending.connection.get());
  auto& kept = *worker;
  workers_[worker->session] = std::move(worker);
  watch(kept);
  keep_spare();
}

bool WorkerPool::pass(Worker& worker, PendingConnection pending) {
  return send_control(worker.control.get(), attach_for(pending), pending.connection.get());
}

void WorkerPool::end(const Id& lease, std::string_view why, std::function<void()> gone) {
  if (count(lease) == 0) return gone();
  for (const auto& [session, worker] : workers_) {
    if (worker->lease != lease) continue;
    send_control(worker->control.get(), wire::Json::Members{{"type", "end"}, {"why", why}});
    loop_.after(kEndWithin, [this, id = session, mark = worker->mark] {
      auto* late = find(id);
      if (late == nullptr || late->mark != mark) return;
      log_.line("worker " + std::to_string(mark.pid) + " did not end by itself: killed");
      signal_process(late->pidfd.get(), SIGKILL);
    });
  }
  waiting_.emplace_back(lease, std::move(gone));
}

void WorkerPool::adopt(const std::function<bool(const Id&)>& is_known) {
  std::vector<std::string> paths;
  if (DIR* folder = opendir(settings_.runtime.c_str()); folder != nullptr) {
    while (const auto* entry = readdir(folder)) {
      const std::string_view name = entry->d_name;
      if (name.size() == 17 && name.front() == 'w') paths.push_back(settings_.runtime + "/" + std::string(name));
    }
    closedir(folder);
  }
  for (const auto& path : paths) adopt_one(path, is_known);
}

void WorkerPool::leave() {
  if (!spare_) return;
  loop_.forget(spare_->process.pidfd.get());
  signal_process(spare_->process.pidfd.get(), SIGKILL);
  reap(spare_->process.pid);
  spare_.reset();
}

void WorkerPool::keep_spare() {
  if (!settings_.spare || spare_) return;
  try {
    spare_ = std::make_unique<Spare>(start_process());
  } catch (const std::system_error& error) { return log_.line(std::string("no spare worker: ") + error.what()); }
  const auto pid = spare_->process.pid;
  loop_.watch(spare_->process.pidfd.get(), EPOLLIN, [this, pid](std::uint32_t) {
    loop_.forget(spare_->process.pidfd.get());
    reap(pid);
    spare_.reset();
    log_.line("the spare worker ended by itself; see worker.log");
    settings_.spare = false;  // the next session starts a process of its own, and shows what is wrong
  });
}

WorkerPool::Spare WorkerPool::start_process() {
  auto [ours, theirs] = make_control_pair();
  SpawnSettings settings;
  settings.role = "worker";
  settings.arguments = options_of(settings_.backend);
  settings.inherited = theirs.get();
  settings.error_file = settings_.root + "/worker.log";
  settings.environment = {{"POCL_CACHE_DIR", settings_.root + "/kernel-cache"},
                          {"FLEXRACK_SIM_CACHE", settings_.root + "/kernel-facts"}};
  Spare spare;
  spare.process = spawn_self(settings);
  spare.control = std::move(ours);
  return spare;
}

void WorkerPool::watch(Worker& worker) {
  const auto session = worker.session;
  loop_.watch(worker.pidfd.get(), EPOLLIN, [this, session](std::uint32_t) { gone(session); });
  loop_.watch(worker.control.get(), EPOLLIN, [this, session](std::uint32_t) { hear(*workers_.at(session)); });
}

void WorkerPool::hear(Worker& worker) {
  while (hear_one(worker)) continue;
}

/// False: it has said nothing more.
bool WorkerPool::hear_one(Worker& worker) {
  ControlMessage message;
  const auto read = receive_control(worker.control.get(), message);
  if (read == ControlRead::nothing) return false;
  if (read == ControlRead::gone) {
    loop_.forget(worker.control.get());  // the process itself is watched too: its end comes from there
    return false;
  }
  const auto& type = message.body["type"].text();
  if (type == "state" && message.body["proven"].boolean()) worker.proven = true;
  if (type == "refused")
    log_.refused(message.body["why"].text(), message.body["address"].text() + " lease " + wire::to_hex(worker.lease));
  if (type == "says")
    log_.line("worker " + std::to_string(worker.mark.pid) + " of lease " + wire::to_hex(worker.lease) + ": " +
              message.body["text"].text());
  if (type == "peer")
    worker.peers[static_cast<std::uint64_t>(message.body["peer"].integer())] =
        wire::from_hex(message.body["key"].text());
  if (type == "ready" || type == "stayed" || type == "moved") on_move_word(worker, message.body);
  if (type == "adopted") {
    const auto session = token_from_hex<Id>(message.body["session"].text());
    if (session && !find(*session)) adopted_[*session] = worker.session;
  }
  return true;
}

void WorkerPool::gone(const Id& session) {
  const auto found = workers_.find(session);
  if (found == workers_.end()) return;
  hear(*found->second);  // its last words: it may have ended because its session went elsewhere
  const auto worker = std::move(found->second);
  workers_.erase(found);
  std::erase_if(adopted_, [&](const auto& one) { return one.second == session; });
  loop_.forget(worker->pidfd.get());
  loop_.forget(worker->control.get());
  const auto how = worker->is_child ? reap(worker->mark.pid) : "has ended";
  log_.line("worker " + std::to_string(worker->mark.pid) + " of lease " + wire::to_hex(worker->lease) + " " + how);
  unlink((settings_.runtime + "/w" + wire::to_hex(session).substr(0, 16)).c_str());
  on_gone(*worker);
  if (count(worker->lease) > 0) return;
  const auto done = std::stable_partition(waiting_.begin(), waiting_.end(),
                                          [&](const auto& entry) { return entry.first != worker->lease; });
  std::vector<std::pair<Id, std::function<void()>>> over(std::make_move_iterator(done),
                                                         std::make_move_iterator(waiting_.end()));
  waiting_.erase(done, waiting_.end());
  for (const auto& [lease, action] : over) action();
}

void WorkerPool::adopt_one(const std::string& path, const std::function<bool(const Id&)>& is_known) {
  auto control = connect_control(path);
  if (!control.is_open()) {
    unlink(path.c_str());
    return;
  }
  pollfd wait{control.get(), POLLIN, 0};
  ControlMessage message;
  ucred who{};
  socklen_t size = sizeof who;
  const bool answers = poll(&wait, 1, static_cast<int>(kAdoptWithin.count())) == 1 &&
                       receive_control(control.get(), message) == ControlRead::message;
  const bool is_ours = getsockopt(control.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid();
  if (!is_ours) return;
  auto worker = std::make_unique<Worker>();
  // Whoever listens there is the process that made the socket, so its pid is right as long as the connection stands.
  worker->mark = mark_of(who.pid);
  worker->pidfd.reset(static_cast<int>(syscall(SYS_pidfd_open, who.pid, 0)));
  if (!worker->pidfd.is_open()) return;
  const auto session = token_from_hex<Id>(message.body["session"].text());
  const auto lease = token_from_hex<Id>(message.body["lease"].text());
  if (!answers || !session || !lease) {
    log_.line("worker " + std::to_string(who.pid) + " does not say whose it is: killed");
    signal_process(worker->pidfd.get(), SIGKILL);
    return;
  }
  worker->session = *session;
  worker->lease = *lease;
  worker->control = std::move(control);
  worker->address = message.body["address"].text();
  worker->client_pid = static_cast<std::int32_t>(message.body["client_pid"].integer());
  worker->started = message.body["started"].integer();
  worker->proven = message.body["proven"].boolean();
  worker->is_child = false;
  log_.line("worker " + std::to_string(who.pid) + " of lease " + wire::to_hex(*lease) + " runs on");
  auto& kept = *worker;
  workers_[*session] = std::move(worker);
  watch(kept);
  if (!is_known(*lease)) end(*lease, "the lease is over", [] {});
}

std::string accounting_path(const std::string& runtime, const Id& lease) {
  return runtime + "/l" + wire::to_hex(lease);
}

namespace {
std::string name_of_device(const std::string& native_id) {
  return wire::to_hex(
      {reinterpret_cast<const std::uint8_t*>(native_id.data()), std::min<std::size_t>(native_id.size(), 40)});
}
}  // namespace

std::string scheduler_path(const std::string& runtime, const std::string& native_id) {
  return runtime + "/g" + name_of_device(native_id);
}

std::string residency_path(const std::string& runtime, const std::string& native_id) {
  return runtime + "/r" + name_of_device(native_id);
}

}  // namespace flexrack::server
