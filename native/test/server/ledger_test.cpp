// The ledger under real processes, ended at any instruction.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "server/ledger.h"

namespace {

using flexrack::server::Ledger;
using flexrack::server::mark_of;

struct LedgerFile {
  std::string path;
  LedgerFile() {
    path = (std::filesystem::temp_directory_path() / "ledger-XXXXXX").string();
    close(mkstemp(path.data()));
  }
  ~LedgerFile() { std::filesystem::remove(path); }
};

template <class Work>
pid_t in_child(Work work) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  work();
  _exit(0);
}

void reap(pid_t pid) { waitpid(pid, nullptr, 0); }

TEST_CASE("a ledger is exact to the byte, and never below nothing") {
  const LedgerFile file;
  const std::uint64_t limits[] = {1000, Ledger::kUnlimited};
  auto ledger = Ledger::create(file.path, limits);
  CHECK_FALSE(ledger.charge(0, 1));  // not joined
  REQUIRE(ledger.join());
  CHECK(ledger.charge(0, 999));
  CHECK_FALSE(ledger.charge(0, 2));
  CHECK(ledger.charge(0, 1));
  CHECK_FALSE(ledger.charge(0, UINT64_MAX));
  ledger.refund(0, UINT64_MAX);
  CHECK(ledger.used(0) == 0);
  CHECK(ledger.charge(1, 1ULL << 62));
  CHECK_FALSE(ledger.charge(2, 1));
  CHECK(ledger.used(2) == 0);
  CHECK(ledger.used_by(flexrack::server::own_mark()) == 1ULL << 62);
  ledger.leave();
  CHECK(ledger.used(1) == 0);
}

TEST_CASE("processes that charge at once never have more than the limit together, and all of it is used") {
  const LedgerFile file;
  const std::uint64_t limits[] = {100000};
  auto ledger = Ledger::create(file.path, limits);
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    children.push_back(in_child([&] {
      auto own = Ledger::open(file.path);
      if (!own.join()) _exit(1);
      std::uint64_t have = 0;
      while (own.charge(0, 7)) have += 7;
      if (own.used(0) > 100000) _exit(2);
      for (; have > 7 * 10; have -= 7) own.refund(0, 7);
      pause();
    }));
  }
  // The limit is not a multiple of 7: each stops when fewer than 7 are left, and gives back all but ten charges.
  for (int tries = 0; tries < 4000 && ledger.used(0) != 6 * 70; ++tries) usleep(5000);
  CHECK(ledger.used(0) == 6 * 70);
  for (const auto child : children) kill(child, SIGKILL);
  for (const auto child : children) reap(child);
  CHECK(ledger.clear_dead() == 6);
  CHECK(ledger.used(0) == 0);
}

TEST_CASE("whoever is killed in the middle leaves a ledger that is right and not locked") {
  const LedgerFile file;
  const std::uint64_t limits[] = {1 << 20, 1 << 20};
  auto ledger = Ledger::create(file.path, limits);
  REQUIRE(ledger.join());
  REQUIRE(ledger.charge(0, 12345));
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const auto child = in_child([&] {
      auto own = Ledger::open(file.path);
      if (!own.join()) _exit(1);
      for (;;) {
        own.charge(0, 3);
        own.charge(1, 5);
        own.refund(0, 2);
        own.refund(1, 5);
      }
    });
    usleep(random() % 6000);
    kill(child, SIGKILL);
    reap(child);
    ledger.clear_dead();
    REQUIRE(ledger.used(0) == 12345);
    REQUIRE(ledger.used(1) == 0);
  }
}

TEST_CASE("a full share is free again as soon as the process that had it is gone, without anybody cleaning up") {
  const LedgerFile file;
  const std::uint64_t limits[] = {1000};
  auto ledger = Ledger::create(file.path, limits);
  REQUIRE(ledger.join());
  const auto child = in_child([&] {
    auto own = Ledger::open(file.path);
    if (own.join()) own.charge(0, 1000);
    pause();
  });
  for (int tries = 0; tries < 4000 && ledger.used(0) != 1000; ++tries) usleep(5000);
  CHECK_FALSE(ledger.charge(0, 1));
  kill(child, SIGKILL);
  reap(child);
  CHECK(ledger.charge(0, 1000));
}

TEST_CASE("who has contexts or memory on a device is known to all of the lease, until its worker is gone") {
  const LedgerFile file;
  const std::uint64_t limits[] = {1000, 1000};
  auto ledger = Ledger::create(file.path, limits);
  REQUIRE(ledger.join());
  CHECK(ledger.users(0).empty());
  ledger.use(1, 77, false);   // a watcher: it has said who it is, and has nothing
  CHECK(ledger.users(1).empty());
  const auto child = in_child([&] {
    auto own = Ledger::open(file.path);
    if (!own.join()) _exit(1);
    own.charge(1, 300);
    own.use(0, 88, true);
    pause();
  });
  for (int tries = 0; tries < 4000 && ledger.users(0).empty(); ++tries) usleep(5000);
  REQUIRE(ledger.users(0).size() == 1);
  CHECK(ledger.users(0)[0].process == 88);
  CHECK(ledger.users(0)[0].bytes == 0);
  REQUIRE(ledger.users(1).size() == 1);
  CHECK(ledger.users(1)[0].bytes == 300);
  ledger.use(1, 77, true);
  CHECK(ledger.users(1).size() == 2);
  ledger.use(1, 77, false);
  CHECK(ledger.users(1).size() == 1);
  CHECK(ledger.users(7).empty());
  kill(child, SIGKILL);
  reap(child);
  CHECK(ledger.users(0).empty());
  CHECK(ledger.users(1).empty());
}

TEST_CASE("utilization is what was shown last, and unknown before") {
  const LedgerFile file;
  const std::uint64_t limits[] = {1000, 1000};
  auto ledger = Ledger::create(file.path, limits);
  CHECK_FALSE(ledger.utilization(0).has_value());
  ledger.show_utilization(0, 0.25);
  ledger.show_utilization(1, 0);
  CHECK(Ledger::open(file.path).utilization(0) == 0.25);
  CHECK(ledger.utilization(1) == 0.0);
  ledger.show_utilization(0, 1.7);
  CHECK(ledger.utilization(0) == 1.0);
  CHECK_FALSE(ledger.utilization(2).has_value());
}

TEST_CASE("what is no ledger is not taken for one") {
  const LedgerFile file;
  CHECK_THROWS(Ledger::open(file.path));
  CHECK_THROWS(Ledger::open(file.path + ".none"));
  CHECK_THROWS(Ledger::create(file.path, {}));
  const std::uint64_t limits[] = {1000};
  Ledger::create(file.path, limits);
  CHECK_NOTHROW(Ledger::open(file.path));
  std::filesystem::permissions(file.path, std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  CHECK_THROWS(Ledger::open(file.path));
}

TEST_CASE("a process is known by its start too: a pid that somebody else has now is not it") {
  auto mark = flexrack::server::own_mark();
  CHECK(is_alive(mark));
  ++mark.started;
  CHECK_FALSE(is_alive(mark));
  const auto child = in_child([] {});
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  CHECK(mark_of(child) == flexrack::server::ProcessMark{});  // ended and not reaped: its memory is gone
  reap(child);
}

}  // namespace
