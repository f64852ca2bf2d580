// The whole daemon as processes: sessions, leases, restarts, unproven connections. Devices are made up.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "daemon.h"
#include "made_up_backend.h"
#include "server/liveness.h"
#include "wire/accept.h"
#include "wire/error.h"
#include "wire/keeper_stream.h"

namespace {

using namespace flexrack;
using test::Client;
using test::Daemon;
using test::eventually;
using wire::Json;

Json lease_of(const Daemon& daemon, Json::Members more = {{"fraction", 0.5}}) {
  Json request = Json::Members{{"op", "lease"}, {"owner", "somebody"}, {"purpose", "a test"}};
  for (auto& [name, value] : more) request.set(name, value);
  return daemon.ask(request);
}

Json only_lease(const Daemon& daemon) {
  const auto answer = daemon.ask(Json::Members{{"op", "leases"}});
  return answer["ok"]["leases"].list().empty() ? Json() : answer["ok"]["leases"].list().front();
}

std::int64_t used(const Daemon& daemon) {
  return daemon.ask(Json::Members{{"op", "devices"}})["ok"]["devices"].list().front()["used"].integer();
}
std::int64_t sessions(const Daemon& daemon) {
  return daemon.ask(Json::Members{{"op", "status"}})["ok"]["sessions"].integer();
}

wire::Error::Kind refusal(const wire::Dial& to) {
  try {
    Client client(to);
    client.ask(test::kEcho);
  } catch (const wire::Error& error) { return error.kind(); }
  return wire::Error::Kind::unreachable;
}

TEST_CASE("a client with a lease gets a worker, over each transport, and its memory is its share to the byte") {
  Daemon daemon;
  for (const std::string transport : {"tcp", "tls", "shm"}) {
    CAPTURE(transport);
    const auto lease = lease_of(daemon);
    REQUIRE(lease.has("ok"));
    {
      Client one(test::dial_of(lease, transport)), other(test::dial_of(lease, transport));
      CHECK(one.ask(test::kEcho) == 1);
      const auto half = test::kDeviceMemory / 2;
      CHECK(one.ask(test::kCharge, half - 1000) == 1);
      CHECK(other.ask(test::kCharge, 1001) == 0);
      CHECK(other.ask(test::kCharge, 1000) == 1);
      CHECK(used(daemon) == static_cast<std::int64_t>(half));
      CHECK(one.ask(test::kRefund, 1) == 1);
      CHECK(other.ask(test::kCharge, 1) == 1);
      CHECK(sessions(daemon) == 2);
    }
    CHECK(eventually([&] { return sessions(daemon) == 0 && used(daemon) == 0; }));
    CHECK(daemon.ask(Json::Members{{"op", "release"}, {"lease", lease["ok"]["lease"]}}).has("ok"));
  }
}

TEST_CASE("a worker that is killed takes its client alone, and its memory is free at once") {
  Daemon daemon;
  const auto lease = lease_of(daemon);
  auto to = test::dial_of(lease, "tcp");
  to.grace = std::chrono::seconds(1);
  Client victim(to), neighbour(test::dial_of(lease, "tcp"));
  REQUIRE(victim.ask(test::kCharge, 5000) == 1);
  REQUIRE(neighbour.ask(test::kCharge, 70) == 1);
  CHECK(victim.ask(test::kCrash) == -1);
  CHECK(eventually([&] { return used(daemon) == 70; }));
  CHECK(neighbour.ask(test::kEcho) == 1);
}

TEST_CASE("a released lease ends its workers, one that hangs in its driver too") {
  Daemon daemon;
  const auto lease = lease_of(daemon);
  auto to = test::dial_of(lease, "tcp");
  to.grace = std::chrono::seconds(1);
  Client client(to);
  REQUIRE(client.ask(test::kCharge, 5000) == 1);
  REQUIRE(client.ask(test::kHangAtEnd) == 1);
  const auto pid = static_cast<pid_t>(only_lease(daemon)["sessions"].list().front()["pid"].integer());
  CHECK(server::mark_of(pid).pid == pid);
  CHECK(daemon.ask(Json::Members{{"op", "release"}, {"lease", lease["ok"]["lease"]}})["ok"]["state"].text() == "ended");
  CHECK(server::mark_of(pid) == server::ProcessMark{});
  CHECK(used(daemon) == 0);
  CHECK(client.ask(test::kEcho) == -1);
  CHECK(refusal(test::dial_of(lease, "tcp")) == wire::Error::Kind::refused);
}

TEST_CASE("a broker that is killed does not disturb its clients, and the next one takes over leases and workers") {
  Daemon daemon;
  const auto lease = lease_of(daemon);
  Client client(test::dial_of(lease, "tcp"));
  REQUIRE(client.ask(test::kCharge, 4321) == 1);
  const auto before = only_lease(daemon);
  daemon.kill_broker(SIGKILL);
  CHECK(client.ask(test::kEcho) == 1);
  daemon.start_broker();
  CHECK(client.ask(test::kCharge, 9) == 1);
  const auto after = only_lease(daemon);
  CHECK(after["lease"].text() == before["lease"].text());
  REQUIRE(after["sessions"].list().size() == 1);
  CHECK(after["sessions"].list().front()["pid"].integer() == before["sessions"].list().front()["pid"].integer());
  CHECK(used(daemon) == 4330);
  Client second(test::dial_of(lease, "tcp"));  // the same port, the same key
  CHECK(second.ask(test::kEcho) == 1);
  CHECK(daemon.ask(Json::Members{{"op", "release"}, {"lease", lease["ok"]["lease"]}}).has("ok"));
  CHECK(client.ask(test::kEcho) == -1);
}

TEST_CASE("the end of the broker by SIGTERM leaves workers running; stop ends everything") {
  Daemon daemon;
  const auto lease = lease_of(daemon);
  Client client(test::dial_of(lease, "tcp"));
  daemon.kill_broker(SIGTERM);
  CHECK(client.ask(test::kEcho) == 1);
  daemon.start_broker();
  const auto pid = static_cast<pid_t>(only_lease(daemon)["sessions"].list().front()["pid"].integer());
  const auto stopped = daemon.ask(Json::Members{{"op", "stop"}});
  CHECK(stopped["ok"]["sessions_ended"].integer() == 1);
  CHECK(WEXITSTATUS(daemon.wait_broker()) == 0);
  CHECK(server::mark_of(pid) == server::ProcessMark{});
  CHECK_FALSE(std::filesystem::exists(daemon.root + "/address.json"));
}

TEST_CASE("sockets that lie outside of the root go with the broker that leaves nothing behind") {
  const auto tmp = std::filesystem::temp_directory_path();
  const auto far = tmp / ("flexrack-" + std::string(80, 'x') + std::to_string(getpid()));
  std::filesystem::create_directory(far);
  const std::unique_ptr<const std::filesystem::path, void (*)(const std::filesystem::path*)> later(
      &far, [](const auto* path) { std::filesystem::remove_all(*path); });
  setenv("TMPDIR", far.c_str(), 1);
  Daemon daemon;
  setenv("TMPDIR", tmp.c_str(), 1);
  const std::filesystem::path outside = daemon.address()["runtime"].text();
  REQUIRE_FALSE(outside.string().starts_with(daemon.root));
  const auto lease = lease_of(daemon);
  daemon.kill_broker(SIGTERM);
  CHECK(std::filesystem::exists(outside / "client.sock"));  // there is a lease, whose keeper looks for its successor
  daemon.start_broker();
  CHECK(daemon.ask(Json::Members{{"op", "release"}, {"lease", lease["ok"]["lease"]}}).has("ok"));
  std::ofstream(outside / "somebodys") << "file";
  daemon.kill_broker(SIGTERM);
  CHECK(std::filesystem::exists(outside / "somebodys"));
  CHECK_FALSE(std::filesystem::exists(outside / "client.sock"));
  std::filesystem::remove(outside / "somebodys");
  daemon.start_broker();
  CHECK(daemon.ask(Json::Members{{"op", "stop"}}).has("ok"));
  daemon.wait_broker();
  CHECK_FALSE(std::filesystem::exists(outside));
  daemon.start_broker();
  daemon.kill_broker(SIGTERM);
  CHECK_FALSE(std::filesystem::exists(outside));
}

TEST_CASE("a held lease lives while it is held, and ends with its goodbye") {
  Daemon daemon;
  const auto lease = lease_of(daemon);
  const auto holder = wire::dial_keeper(test::dial_of(lease, "tls"));
  CHECK(eventually([&] { return only_lease(daemon)["state"].text() == "held"; }));
  CHECK(wire::write_all(*holder, {&wire::kKeeperGoodbye, 1}));
  CHECK(eventually([&] { return only_lease(daemon).is_null(); }));
}

TEST_CASE("a lease whose holder is killed is lost at once and over in three seconds") {
  Daemon daemon;
  const auto lease = lease_of(daemon);
  {
    const auto holder = wire::dial_keeper(test::dial_of(lease, "tcp"));
    REQUIRE(eventually([&] { return only_lease(daemon)["state"].text() == "held"; }));
    holder->shut();
  }
  CHECK(eventually([&] { return only_lease(daemon)["state"].text() == "lost"; }));
  CHECK(only_lease(daemon)["ends_in_seconds"].integer() <= 3);
  CHECK(eventually([&] { return only_lease(daemon).is_null(); }));
}

TEST_CASE("no lease, another's key, a session that is there already, or none to go on with: refused and logged") {
  Daemon daemon;
  const auto lease = lease_of(daemon), other = lease_of(daemon);
  auto unknown = test::dial_of(lease, "tls");
  unknown.lease = std::string(32, 'a');
  CHECK(refusal(unknown) == wire::Error::Kind::refused);
  for (const std::string transport : {"tls", "tcp"}) {
    auto stolen = test::dial_of(lease, transport);
    stolen.key = test::dial_of(other, transport).key;
    CHECK(refusal(stolen) != wire::Error::Kind::unreachable);
  }
  auto first = test::dial_of(lease, "tcp");
  first.session.fill(7);
  Client client(first);
  CHECK(refusal(first) == wire::Error::Kind::refused);
  CHECK(client.ask(test::kEcho) == 1);
  CHECK(eventually([&] { return sessions(daemon) == 1; }));
  CHECK(daemon.file("log").find("there is no such lease") != std::string::npos);
  CHECK(daemon.file("log").find("the session is there already") != std::string::npos);
  CHECK(daemon.ask(Json::Members{{"op", "status"}})["ok"]["refused"].members().size() >= 3);
}

TEST_CASE("a thousand streams of random bytes do not disturb a daemon at work") {
  Daemon daemon;
  const auto lease = lease_of(daemon);
  Client client(test::dial_of(lease, "tcp"));
  std::mt19937 random(20261120);
  const auto address = daemon.address();
  auto preamble = wire::encode_preamble({});
  for (int i = 0; i < 1000; ++i) {
    const int fd = test::connect_raw(address);
    REQUIRE(fd >= 0);
    std::vector<std::uint8_t> bytes(random() % 600);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    // Every other begins as if it were one of us, some with the lease that is there.
    if (i % 2 == 0 && bytes.size() > preamble.size()) {
      auto begin = preamble;
      if (i % 8 == 0) {
        const auto id = wire::id_from_hex(lease["ok"]["lease"].text());
        std::copy(id.begin(), id.end(), begin.begin() + 24);
        std::copy_n(bytes.begin(), 16, begin.begin() + 40);
      }
      std::copy(begin.begin(), begin.end(), bytes.begin());
    }
    send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    close(fd);
    if (i % 100 == 0) CHECK(client.ask(test::kEcho) == 1);
  }
  CHECK(client.ask(test::kEcho) == 1);
  CHECK(eventually([&] { return sessions(daemon) == 1; }));
  Client another(test::dial_of(lease, "tls"));
  CHECK(another.ask(test::kEcho) == 1);
}

TEST_CASE("files are nobody else's, and no key is in them but in the state file") {
  Daemon daemon;
  const auto lease = lease_of(daemon);
  Client client(test::dial_of(lease, "tls"));
  const auto key = lease["ok"]["key"].text();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(daemon.root)) {
    struct stat about{};
    REQUIRE(lstat(entry.path().c_str(), &about) == 0);
    CAPTURE(entry.path().string());
    CHECK((about.st_mode & 077) == 0);
  }
  CHECK(daemon.file("log").find(key) == std::string::npos);
  CHECK(daemon.file("leases.json").find(key) != std::string::npos);
  CHECK(only_lease(daemon).write().find(key) == std::string::npos);
  const auto pid = only_lease(daemon)["sessions"].list().front()["pid"].integer();
  for (const auto* name : {"cmdline", "environ"}) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    CHECK(text.find(key) == std::string::npos);
  }
}

TEST_CASE("a second broker of the same folder leaves the first alone") {
  Daemon daemon;
  const pid_t pid = fork();
  if (pid == 0) {
    execl("/proc/self/exe", "flexrack-gpud", "broker", "--root", daemon.root.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK(WEXITSTATUS(status) == 75);
  CHECK(daemon.ask(Json::Members{{"op", "status"}}).has("ok"));
}

TEST_CASE("bad requests at the admin socket are answered with what is wrong") {
  Daemon daemon;
  const auto code = [&](const std::string& line) { return daemon.ask_text(line)["error"]["code"].text(); };
  CHECK(code("") == "malformed");
  CHECK(code("[]") == "malformed");
  CHECK(code("{\"op\":\"lease\"") == "malformed");
  CHECK(code("{\"op\":\"dance\"}") == "unknown_op");
  CHECK(code("{\"op\":7}") == "unknown_op");
  CHECK(code("{\"op\":\"release\"}") == "unknown_lease");
  CHECK(code("{\"op\":\"release\",\"lease\":\"zz\"}") == "unknown_lease");
  CHECK(code("{\"op\":\"renew\",\"lease\":\"00112233445566778899aabbccddeeff\"}") == "unknown_lease");
  for (const auto* wish :
       {"\"devices\":0", "\"devices\":-1", "\"devices\":1.5", "\"devices\":[]", "\"devices\":[1]",
        "\"devices\":\"0:0\"", "\"memory\":0", "\"memory\":-5", "\"memory\":\"1\"", "\"compute\":0", "\"compute\":1.01",
        "\"fraction\":\"x\"", "\"whole\":1", "\"cap\":\"yes\"", "\"owner\":5", "\"whole\":true,\"memory\":1",
        "\"fraction\":0.5,\"compute\":0.5", "\"devices\":[\"0:0\",\"0:0\"]"}) {
    CAPTURE(wish);
    CHECK(code(std::string("{\"op\":\"lease\",") + wish + "}") == "invalid");
  }
  CHECK(code("{\"op\":\"lease\",\"devices\":[\"9:9\"]}") == "unknown_device");
  const auto denied = daemon.ask_text("{\"op\":\"lease\",\"devices\":3}");
  CHECK(denied["error"]["code"].text() == "unavailable");
  CHECK(denied["error"]["devices"].list().size() == 2);
  CHECK(daemon.ask_text(std::string(70000, 'x'))["error"]["code"].text() == "malformed");
  CHECK(daemon.ask(Json::Members{{"op", "status"}})["ok"]["leases"].integer() == 0);
}

}  // namespace
