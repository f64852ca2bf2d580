#include "server/worker.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <thread>
#include <vector>

#include "server/control.h"
#include "server/lease_grant.h"
#include "server/spawn.h"
#include "server/token.h"
#include "server/worker_arrived.h"
#include "server/worker_move.h"
#include "server/worker_peers.h"
#include "server/worker_swap.h"
#include "wire/accept.h"
#include "wire/error.h"
#include "wire/handshake.h"

namespace flexrack::server {
namespace {

constexpr int kControl = 3;
constexpr auto kStopWithin = std::chrono::seconds(5);
constexpr auto kAwayWithin =
    std::chrono::milliseconds(2000);  // so that a killed client is noticed and its memory back within 3 s
constexpr int kMostHandshakes = 64;  // of clients that have proved the key to the broker

struct Attachment {
  Descriptor connection;
  wire::Preamble preamble;
  std::string address;
  wire::Begun begun;
};

/// The next message of that type; nothing when the broker is gone first.
std::optional<ControlMessage> await(int control, std::string_view type) {
  for (;;) {
    pollfd wait{control, POLLIN, 0};
    if (poll(&wait, 1, -1) < 0) continue;
    ControlMessage message;
    const auto read = receive_control(control, message);
    if (read == ControlRead::gone) return std::nullopt;
    if (read == ControlRead::nothing) continue;
    if (message.body["type"].text() == "end") return std::nullopt;
    if (message.body["type"].text() == type) return message;
  }
}

std::optional<Attachment> read_attachment(ControlMessage message) {
  const auto bytes = token_from_hex<std::array<std::uint8_t, wire::kPreambleSize>>(message.body["preamble"].text());
  if (!bytes || !message.connection.is_open()) return std::nullopt;
  return Attachment{std::move(message.connection),
                    wire::decode_preamble(*bytes),
                    message.body["address"].text(),
                    {true, wire::from_hex(message.body["read"].text())}};
}

std::vector<backend::GrantedDevice> read_devices(const wire::Json& setup) {
  std::vector<backend::GrantedDevice> devices;
  for (const auto& item : setup["devices"].list()) {
    devices.push_back({item["id"].text(), static_cast<std::uint64_t>(item["memory"].integer()),
                       static_cast<double>(item["compute"].integer()) / 1000.0, item["whole"].boolean()});
    if (item.has("context_memory"))
      devices.back().context_memory = static_cast<std::uint64_t>(item["context_memory"].integer());
  }
  return devices;
}

std::vector<std::unique_ptr<TimeSliceScheduler>> take_schedulers(const wire::Json& setup) {
  std::vector<std::unique_ptr<TimeSliceScheduler>> schedulers;
  const auto lease = token_from_hex<Id>(setup["lease"].text()).value_or(Id{});
  for (const auto& item : setup["devices"].list()) {
    if (item["whole"].boolean()) {
      schedulers.push_back(nullptr);
    } else {
      const auto weight = static_cast<std::uint32_t>(item["compute"].integer());
      schedulers.push_back(
          std::make_unique<TimeSliceScheduler>(item["scheduler"].text(), lease, weight, setup["cap"].boolean()));
    }
  }
  return schedulers;
}

std::unique_ptr<Residency> take_residency(const wire::Json& setup) {
  if (!setup.has("residency")) return nullptr;
  return std::make_unique<Residency>(setup["residency"].text(),
                                     token_from_hex<Id>(setup["lease"].text()).value_or(Id{}));
}

/// Talks to the broker that started this process and to those after it, on a thread of its own.
class BrokerLine {
 public:
  BrokerLine(wire::Json setup, Descriptor first)
      : setup_(std::move(setup)),
        broker_(std::move(first)),
        listener_(listen_control(setup_["control"].text())),
        started_(std::time(nullptr)) {}
  ~BrokerLine() { unlink(setup_["control"].text().c_str()); }

  void proven() {
    const std::lock_guard lock(mutex_);
    is_proven_ = true;
    send_state();
  }

  /// Before anybody is told of it who could dial it.
  void expects(std::uint64_t peer, wire::View key) {
    const std::lock_guard lock(mutex_);
    peers_.push_back(
        wire::Json::Members{{"type", "peer"}, {"peer", static_cast<std::int64_t>(peer)}, {"key", wire::to_hex(key)}});
    send(peers_.back());
  }

  void refused(std::string_view why, const std::string& address) {
    say(wire::Json::Members{{"type", "refused"}, {"why", why}, {"address", address}});
  }

  void say(const wire::Json& message) {
    const std::lock_guard lock(mutex_);
    send(message);
  }

  /// The session of another server's worker is here: its client's connections are for this process.
  void adopts(wire::View session) {
    const std::lock_guard lock(mutex_);
    setup_.set("session", wire::to_hex(session));
    send(wire::Json::Members{{"type", "adopted"}, {"session", setup_["session"]}});
  }

  /// Never returns; hands over what comes.
  void converse(const std::function<void(Attachment)>& attach, const std::function<void()>& end,
                const std::function<void(const wire::Json&)>& move) {
    for (;;) {
      std::array<pollfd, 2> waits{pollfd{listener_.get(), POLLIN, 0}, pollfd{broker_.get(), POLLIN, 0}};
      if (poll(waits.data(), waits.size(), -1) < 0) continue;
      if (waits[0].revents != 0) welcome();
      if (waits[1].revents == 0) continue;
      ControlMessage message;
      const auto read = receive_control(waits[1].fd, message);
      if (read == ControlRead::gone) lose(waits[1].fd);
      if (read != ControlRead::message) continue;
      const auto& type = message.body["type"].text();
      if (type == "end") end();
      if (type == "move" || type == "go" || type == "stay") move(message.body);
      if (type != "attach") continue;
      if (auto attachment = read_attachment(std::move(message))) attach(std::move(*attachment));
    }
  }

 private:
  void welcome() {
    auto next = accept_control(listener_.get());
    if (!next.is_open()) return;
    const std::lock_guard lock(mutex_);
    broker_ = std::move(next);  // the newest broker is the one there is
    send_state();
    for (const auto& peer : peers_) send(peer);
  }

  void lose(int fd) {
    const std::lock_guard lock(mutex_);
    if (broker_.get() == fd) broker_.reset();
  }

  void send_state() {
    send(wire::Json::Members{{"type", "state"},
                             {"session", setup_["session"]},
                             {"lease", setup_["lease"]},
                             {"address", setup_["address"]},
                             {"client_pid", setup_["client_pid"]},
                             {"started", started_},
                             {"proven", is_proven_}});
  }

  /// Under the lock. Where there is no broker nobody hears it.
  void send(const wire::Json& message) {
    if (broker_.is_open()) send_control(broker_.get(), message);
  }

  wire::Json setup_;
  std::mutex mutex_;
  Descriptor broker_, listener_;
  std::int64_t started_;
  bool is_proven_ = false;
  std::vector<wire::Json> peers_;  ///< as they are told
};

void obey(WorkerMove& move, const wire::Json& order) {
  if (order["type"].text() == "move") move.begin(order);
  else move.decide(order["type"].text() == "go");
}

/// Ends the process when giving back takes too long: a driver that hangs must not keep the memory.
void bound_the_end() {
  std::thread([] {
    std::this_thread::sleep_for(kStopWithin);
    _exit(3);
  }).detach();
}

int serve(const BackendChoice& choice, const wire::Json& setup, Descriptor control) {
  const auto key = token_from_hex<Key>(setup["key"].text());
  if (!key) return 2;
  auto accounting = MemoryAccounting::open(setup["accounting"].text());
  if (!accounting.join()) return 2;
  std::unique_ptr<Residency> residency;
  std::string refusal;   // for the client, which is not here yet
  try {
    residency = take_residency(setup);
  } catch (const std::runtime_error& error) { refusal = error.what(); }
  LeaseGrant grant(read_devices(setup), std::move(accounting), take_schedulers(setup), std::move(residency));

  auto message = await(control.get(), "attach");
  auto first = message ? read_attachment(std::move(*message)) : std::nullopt;
  if (!first) return 0;
  wire::Limits limits;
  limits.grace = std::chrono::milliseconds(setup["grace_ms"].integer(30000));
  limits.fin_wait = kAwayWithin;
  limits.allow_plain = setup["trusted"].boolean();
  const bool is_plain = first->preamble.transport == wire::Transport::tcp;

  BrokerLine broker(setup, std::move(control));
  std::unique_ptr<backend::Backend> backend;
  try {
    if (!refusal.empty()) throw std::runtime_error(refusal);
    backend = make_backend(choice, grant);
  } catch (const std::exception& error) {
    broker.refused(error.what(), first->address);
    wire::turn_away(wire::Socket(first->connection.release()), first->preamble, *key, limits.handshake, first->begun,
                    wire::Turned::internal, error.what());
    return 1;
  }
  std::unique_ptr<wire::ServerLink> link;
  try {
    link = wire::accept_session(first->connection.release(), first->preamble, *key, limits, backend->api(), *backend,
                                first->begun);
  } catch (const wire::Error& error) {
    broker.refused(error.what(), first->address);
    return 0;
  }
  broker.proven();
  WorkerPeers peers(is_plain ? "tcp" : "tls", limits,
                    [&](std::uint64_t peer, wire::View peer_key) { broker.expects(peer, peer_key); });
  const WorkerMove::Tell say = [&](const wire::Json& word) { broker.say(word); };
  Arrived arrived(say);
  peers.on_take_over = [&](wire::View session, wire::View state) {
    auto* const next = arrived.begin(first->preamble, session, *key, limits, *backend, state, *link);
    if (next) broker.adopts(session);
    return next;
  };
  backend->start(*link, peers);
  WorkerMove move(*link, *backend, limits, say);
  std::unique_ptr<WorkerSwap> swap;
  if (grant.residency())
    swap = std::make_unique<WorkerSwap>(*link, *backend, *grant.residency(), [&](const std::string& text) {
      broker.say(wire::Json::Members{{"type", "says"}, {"text", text}});
    });

  std::atomic<int> handshakes = 0;
  const auto attach = [&](Attachment attachment) {
    if (handshakes >= kMostHandshakes) return broker.refused("too many connections at once", attachment.address);
    ++handshakes;
    std::thread([&, attachment = std::make_shared<Attachment>(std::move(attachment))] {
      try {
        const int fd = attachment->connection.release();
        if (attachment->preamble.peer != 0) {
          peers.attach(fd, attachment->preamble, attachment->begun);
        } else if (arrived.is_of(attachment->preamble)) {
          arrived.attach(fd, attachment->preamble, attachment->begun);
        } else {
          link->attach(fd, attachment->preamble, attachment->begun);
        }
      } catch (const std::exception& error) { broker.refused(error.what(), attachment->address); }
      --handshakes;
    }).detach();
  };
  const auto end = [&] {
    arrived.close();
    link->close();
  };
  std::thread([&] {
    broker.converse(attach, end, [&](const wire::Json& order) {
      auto* const mover = arrived.mover();
      obey(mover ? *mover : move, order);
    });
  }).detach();

  link->run();
  arrived.run_on();
  bound_the_end();
  if (swap) swap->close();
  backend->stop();
  peers.close();
  grant.leave();
  unlink(setup["control"].text().c_str());
  // Threads of the line, of handshakes and of the driver still run: nothing that they use may go before the process
  // does.
  _exit(0);
}

}  // namespace

int run_worker(const BackendChoice& backend) {
  settle_in("flexrack-worker");
  // Other workers take descriptors of what this one shares (docs/adr/0082), also where Yama forbids that to others.
  prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
  Descriptor control(kControl);
  // Loading the driver takes the most of a start: a spare worker has it behind it when a client comes.
  try {
    warm_up(backend);
  } catch (const std::exception& error) { std::fprintf(stderr, "%s\n", error.what()); }
  const auto setup = await(control.get(), "setup");
  if (!setup) return 0;
  try {
    return serve(backend, setup->body, std::move(control));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "worker %d: %s\n", static_cast<int>(getpid()), error.what());
    return 1;
  }
}

}  // namespace flexrack::server
