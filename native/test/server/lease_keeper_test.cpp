// flexrack-lease-keeper as a process, against a daemon with made-up devices.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "daemon.h"
#include "server/liveness.h"

namespace {

using namespace flexrack;
using test::Daemon;
using test::eventually;
using wire::Json;

std::string keeper_program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "flexrack-lease-keeper")
      .string();
}

Json whole_lease_of(const Daemon& daemon) {
  return daemon.ask(
      Json::Members{{"op", "lease"}, {"fraction", 0.25}, {"owner", "somebody"}, {"purpose", "a test"}})["ok"];
}

/// A lease file for these leases, in the daemon's folder.
std::string lease_file(const Daemon& daemon, const std::vector<Json>& leases, const std::string& transport = "tls") {
  Json::List servers;
  for (const auto& lease : leases) {
    Json server = lease["server"];
    server.set("node", "node-1").set("transport", transport).set("lease", lease["lease"]).set("key", lease["key"]);
    Json::List devices;
    for (const auto& device : lease["devices"].list())
      devices.push_back(Json::Members{{"name", device["name"]}, {"memory", device["memory"]}});
    server.set("devices", std::move(devices));
    servers.push_back(std::move(server));
  }
  const auto path = daemon.root + "/file.json";
  std::filesystem::remove(path);
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const auto text = Json(Json::Members{{"version", 1}, {"grace_seconds", 5}, {"servers", std::move(servers)}}).write();
  CHECK(write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  close(fd);
  return path;
}

pid_t start(std::vector<std::string> words) {
  words.insert(words.begin(), keeper_program());
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    execv(arguments[0], arguments.data());
    _exit(99);
  }
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int hold(const Daemon& daemon, const std::vector<std::string>& command) {
  std::vector<std::string> words{lease_file(daemon, {whole_lease_of(daemon)}), "--"};
  words.insert(words.end(), command.begin(), command.end());
  return wait_for(start(words));
}

std::size_t leases(const Daemon& daemon) {
  return daemon.ask(Json::Members{{"op", "leases"}})["ok"]["leases"].list().size();
}

bool is_held(const Daemon& daemon) {
  const auto list = daemon.ask(Json::Members{{"op", "leases"}})["ok"]["leases"];
  return !list.list().empty() && list.list().front()["state"].text() == "held";
}

bool exists(const std::string& path) { return std::filesystem::exists(path); }

TEST_CASE("the exit status is the command's, and the lease is given back before it is seen") {
  Daemon daemon;
  CHECK(hold(daemon, {"true"}) == 0);
  CHECK(leases(daemon) == 0);
  CHECK(hold(daemon, {"sh", "-c", "exit 7"}) == 7);
  CHECK(hold(daemon, {"sh", "-c", "kill -KILL $$"}) == 128 + SIGKILL);
  CHECK(hold(daemon, {"/no/such/program"}) == 127);
  CHECK(hold(daemon, {"/etc/passwd"}) == 126);
  CHECK(leases(daemon) == 0);
}

TEST_CASE("several leases are held at once, and none without the others") {
  Daemon daemon, second;
  const auto one = whole_lease_of(daemon), two = whole_lease_of(second);
  CHECK(wait_for(start({lease_file(daemon, {one, two}), "--", "true"})) == 0);
  CHECK(leases(daemon) + leases(second) == 0);
  auto stolen = whole_lease_of(second);
  stolen.set("key", one["key"]);
  CHECK(wait_for(start({lease_file(daemon, {whole_lease_of(daemon), stolen}), "--", "sh", "-c",
                        "touch " + daemon.root + "/ran"})) == 125);
  CHECK_FALSE(exists(daemon.root + "/ran"));
  CHECK(eventually([&] { return leases(daemon) == 0; }));
}

TEST_CASE("a lease file that others can read, or that is none, holds nothing") {
  Daemon daemon;
  const auto path = lease_file(daemon, {whole_lease_of(daemon)});
  std::filesystem::permissions(path, std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  CHECK(wait_for(start({path, "--", "true"})) == 125);
  CHECK(wait_for(start({daemon.root + "/none", "--", "true"})) == 125);
  CHECK(wait_for(start({"one", "two"})) == 64);
}

TEST_CASE("signals reach the command, whose status then tells") {
  Daemon daemon;
  const auto mark = daemon.root + "/ready";
  const auto pid = start({lease_file(daemon, {whole_lease_of(daemon)}), "--", "sh", "-c",
                          "trap 'exit 33' TERM; touch " + mark + "; while :; do sleep 0.01; done"});
  REQUIRE(eventually([&] { return exists(mark); }));
  CHECK(is_held(daemon));
  kill(pid, SIGTERM);
  CHECK(wait_for(pid) == 33);
  CHECK(leases(daemon) == 0);
}

TEST_CASE("stopped with its command, as by Ctrl-Z, it still holds the lease") {
  Daemon daemon;
  const auto mark = daemon.root + "/ready";
  const auto pid =
      start({lease_file(daemon, {whole_lease_of(daemon)}), "--", "sh", "-c", "touch " + mark + "; sleep 30"});
  REQUIRE(eventually([&] { return exists(mark); }));
  kill(-pid, SIGSTOP);
  int status = 0;
  REQUIRE(waitpid(pid, &status, WUNTRACED) == pid);
  CHECK(WIFSTOPPED(status));
  sleep(4);  // longer than a holder may be silent: the time is what is tried here
  CHECK(is_held(daemon));
  kill(-pid, SIGCONT);
  kill(-pid, SIGINT);
  CHECK(wait_for(pid) == 128 + SIGINT);
}

TEST_CASE("killed, it takes its command along and the lease is over three seconds later") {
  Daemon daemon;
  const auto file = daemon.root + "/pid";
  const auto pid = start({lease_file(daemon, {whole_lease_of(daemon)}), "--", "sh", "-c",
                          "echo $$ > " + file + ".new; mv " + file + ".new " + file + "; exec sleep 300"});
  REQUIRE(eventually([&] { return exists(file); }));
  pid_t command = 0;
  std::ifstream(file) >> command;
  REQUIRE(server::mark_of(command).pid == command);
  kill(pid, SIGKILL);
  CHECK(wait_for(pid) == 1000 + SIGKILL);
  CHECK(eventually([&] { return server::mark_of(command).pid == 0; }));
  CHECK(eventually([&] { return leases(daemon) == 0; }));
}

TEST_CASE("a broker that begins again finds its leases held") {
  Daemon daemon;
  const auto mark = daemon.root + "/ready";
  const auto pid =
      start({lease_file(daemon, {whole_lease_of(daemon)}), "--", "sh", "-c", "touch " + mark + "; sleep 300"});
  REQUIRE(eventually([&] { return exists(mark); }));
  daemon.kill_broker(SIGKILL);
  daemon.start_broker();
  CHECK(eventually([&] { return is_held(daemon); }));
  kill(-pid, SIGTERM);
  CHECK(wait_for(pid) == 128 + SIGTERM);
}

TEST_CASE("a lease that is taken away ends the command where that was asked for") {
  Daemon daemon;
  const auto lease = whole_lease_of(daemon);
  const auto mark = daemon.root + "/ready";
  const auto pid =
      start({"--end-with-lease", lease_file(daemon, {lease}), "--", "sh", "-c", "touch " + mark + "; exec sleep 300"});
  REQUIRE(eventually([&] { return exists(mark); }));
  CHECK(daemon.ask(Json::Members{{"op", "release"}, {"lease", lease["lease"]}}).has("ok"));
  CHECK(wait_for(pid) == 128 + SIGTERM);
}

}  // namespace
