// The memory accounting under real processes, ended at any instruction.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <vector>

#include "server/memory_accounting.h"

namespace {

using flexrack::server::MemoryAccounting;
using flexrack::server::mark_of;

struct AccountingFile {
  std::string path;
  AccountingFile() {
    path = (std::filesystem::temp_directory_path() / "accounting-XXXXXX").string();
    close(mkstemp(path.data()));
  }
  ~AccountingFile() { std::filesystem::remove(path); }
};

template <class Work>
pid_t in_child(Work work) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  work();
  _exit(0);
}

void reap(pid_t pid) { waitpid(pid, nullptr, 0); }

TEST_CASE("a memory accounting is exact to the byte, and never below nothing") {
  const AccountingFile file;
  const std::uint64_t limits[] = {1000, MemoryAccounting::kUnlimited};
  auto accounting = MemoryAccounting::create(file.path, limits);
  CHECK_FALSE(accounting.charge(0, 1));  // not joined
  REQUIRE(accounting.join());
  CHECK(accounting.charge(0, 999));
  CHECK_FALSE(accounting.charge(0, 2));
  CHECK(accounting.charge(0, 1));
  CHECK_FALSE(accounting.charge(0, UINT64_MAX));
  accounting.refund(0, UINT64_MAX);
  CHECK(accounting.used(0) == 0);
  CHECK(accounting.charge(1, 1ULL << 62));
  CHECK_FALSE(accounting.charge(2, 1));
  CHECK(accounting.used(2) == 0);
  CHECK(accounting.used_by(flexrack::server::own_mark()) == 1ULL << 62);
  accounting.leave();
  CHECK(accounting.used(1) == 0);
}

TEST_CASE("a ledger of an earlier version goes on under the processes that have it: what they have charged counts") {
  for (const char version : {'2', '3'}) {
    CAPTURE(version);
    const AccountingFile file;
    const std::uint64_t limits[] = {1000};
    MemoryAccounting::create(file.path, limits);
    int go[2], said[2];
    REQUIRE((pipe(go) == 0 && pipe(said) == 0));
    const pid_t older = in_child([&] {
      auto ledger = MemoryAccounting::open(file.path);
      char word = ledger.join() && ledger.charge(0, 600) ? 'y' : 'n';
      if (write(said[1], &word, 1) != 1 || read(go[0], &word, 1) != 1) _exit(1);
      word = !ledger.charge(0, 1) && ledger.used(0) == 1000 ? 'y' : 'n';
      if (write(said[1], &word, 1) != 1 || read(go[0], &word, 1) != 1) _exit(1);
    });
    char word = 0;
    REQUIRE((read(said[0], &word, 1) == 1 && word == 'y'));
    // As a program of that version had made it.
    std::filesystem::resize_file(file.path, MemoryAccounting::size_of_version(version));
    std::fstream(file.path, std::ios::in | std::ios::out | std::ios::binary).seekp(7).put(version);
    CHECK_THROWS(MemoryAccounting::open(file.path));

    auto ledger = MemoryAccounting::take_over(file.path);
    CHECK(ledger.used(0) == 600);
    REQUIRE(ledger.join());
    CHECK_FALSE(ledger.charge(0, 401));
    CHECK(ledger.charge(0, 400));
    const flexrack::backend::SharedObject object{.sort = flexrack::backend::SharedObject::Sort::memory, .device = 0};
    CHECK(ledger.share(object).has_value() == (version == '3'));  // version 2 would not tidy up behind us
    REQUIRE(write(go[1], "g", 1) == 1);
    REQUIRE((read(said[0], &word, 1) == 1 && word == 'y'));
    CHECK_FALSE(ledger.longest_launch(0));
    ledger.show_launch(0, 5000);
    kill(older, SIGKILL);
    reap(older);
    auto next = MemoryAccounting::take_over(file.path);  // it is of this version now
    CHECK(next.clear_dead() == 1);
    CHECK(next.used(0) == 400);
    CHECK(next.longest_launch(0) == 5);
    ledger.leave();
    for (const int fd : {go[0], go[1], said[0], said[1]}) close(fd);
  }
}

TEST_CASE("a broker killed between making a ledger longer and saying so leaves it to the next") {
  const AccountingFile file;
  const std::uint64_t limits[] = {1000};
  auto ledger = MemoryAccounting::create(file.path, limits);
  REQUIRE(ledger.join());
  REQUIRE(ledger.charge(0, 10));
  std::fstream(file.path, std::ios::in | std::ios::out | std::ios::binary).seekp(7).put('3');
  CHECK(MemoryAccounting::take_over(file.path).used(0) == 10);
  CHECK(MemoryAccounting::open(file.path).used(0) == 10);
  ledger.leave();
}

TEST_CASE("a ledger of no version that there was is refused") {
  const AccountingFile file;
  const std::uint64_t limits[] = {1000};
  MemoryAccounting::create(file.path, limits);
  std::fstream(file.path, std::ios::in | std::ios::out | std::ios::binary).seekp(7).put('5');
  CHECK_THROWS(MemoryAccounting::take_over(file.path));
  std::filesystem::resize_file(file.path, 4096);
  CHECK_THROWS(MemoryAccounting::take_over(file.path));
}

TEST_CASE("the longest launch of a lease is the longest of all its processes") {
  const AccountingFile file;
  const std::uint64_t limits[] = {1000, 1000};
  auto ledger = MemoryAccounting::create(file.path, limits);
  CHECK_FALSE(ledger.longest_launch(0));
  reap(in_child([&] { MemoryAccounting::open(file.path).show_launch(0, 200'000'000); }));
  ledger.show_launch(0, 1'000'000);
  CHECK(ledger.longest_launch(0) == 200'000);
  CHECK_FALSE(ledger.longest_launch(1));
  ledger.show_launch(1, 1);
  CHECK(ledger.longest_launch(1) == 1);
  ledger.show_launch(2, 1);
  CHECK_FALSE(ledger.longest_launch(2));
}

TEST_CASE("processes that charge at once never have more than the limit together, and all of it is used") {
  const AccountingFile file;
  const std::uint64_t limits[] = {100000};
  auto accounting = MemoryAccounting::create(file.path, limits);
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    children.push_back(in_child([&] {
      auto own = MemoryAccounting::open(file.path);
      if (!own.join()) _exit(1);
      std::uint64_t have = 0;
      while (own.charge(0, 7)) have += 7;
      if (own.used(0) > 100000) _exit(2);
      for (; have > 7 * 10; have -= 7) own.refund(0, 7);
      pause();
    }));
  }
  // The limit is not a multiple of 7: each stops when fewer than 7 are left, and gives back all but ten charges.
  for (int tries = 0; tries < 4000 && accounting.used(0) != 6 * 70; ++tries) usleep(5000);
  CHECK(accounting.used(0) == 6 * 70);
  for (const auto child : children) kill(child, SIGKILL);
  for (const auto child : children) reap(child);
  CHECK(accounting.clear_dead() == 6);
  CHECK(accounting.used(0) == 0);
}

TEST_CASE("whoever is killed in the middle leaves a memory accounting that is right and not locked") {
  const AccountingFile file;
  const std::uint64_t limits[] = {1 << 20, 1 << 20};
  auto accounting = MemoryAccounting::create(file.path, limits);
  REQUIRE(accounting.join());
  REQUIRE(accounting.charge(0, 12345));
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const auto child = in_child([&] {
      auto own = MemoryAccounting::open(file.path);
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
    accounting.clear_dead();
    REQUIRE(accounting.used(0) == 12345);
    REQUIRE(accounting.used(1) == 0);
  }
}

TEST_CASE("a full share is free again as soon as the process that had it is gone, without anybody cleaning up") {
  const AccountingFile file;
  const std::uint64_t limits[] = {1000};
  auto accounting = MemoryAccounting::create(file.path, limits);
  REQUIRE(accounting.join());
  const auto child = in_child([&] {
    auto own = MemoryAccounting::open(file.path);
    if (own.join()) own.charge(0, 1000);
    pause();
  });
  for (int tries = 0; tries < 4000 && accounting.used(0) != 1000; ++tries) usleep(5000);
  CHECK_FALSE(accounting.charge(0, 1));
  kill(child, SIGKILL);
  reap(child);
  CHECK(accounting.charge(0, 1000));
}

TEST_CASE("what several share is charged once, to one that has it, whoever goes or is killed first") {
  using flexrack::backend::SharedObject;
  const AccountingFile file;
  const std::uint64_t limits[] = {1000};
  auto accounting = MemoryAccounting::create(file.path, limits);
  REQUIRE(accounting.join());
  // A child shares 600 bytes and tells the secret; it ends when it is told.
  struct Child {
    int says[2], hears[2];
    pid_t pid = 0;
    flexrack::backend::ShareSecret secret{};
    explicit Child(const std::string& path) {
      REQUIRE((pipe(says) == 0 && pipe(hears) == 0));
      pid = in_child([&] {
        auto own = MemoryAccounting::open(path);
        if (!own.join() || !own.charge(0, 600)) _exit(1);
        const auto shared = own.share({.sort = SharedObject::Sort::memory, .size = 600, .charged = 600});
        if (!shared || own.open_shared(*shared)->is_own != true) _exit(2);
        char byte = 0;
        if (write(says[1], shared->data(), shared->size()) < 0 || read(hears[0], &byte, 1) != 1) _exit(3);
        own.unshare(*shared);
        if (write(says[1], &byte, 1) < 0 || read(hears[0], &byte, 1) != 1) _exit(4);
      });
      REQUIRE(read(says[0], secret.data(), secret.size()) == static_cast<ssize_t>(secret.size()));
    }
    ~Child() {
      kill(pid, SIGKILL);
      reap(pid);
      for (const int end : {says[0], says[1], hears[0], hears[1]}) close(end);
    }
    void lets_go() {
      char byte = 0;
      REQUIRE((write(hears[1], &byte, 1) == 1 && read(says[0], &byte, 1) == 1));
    }
  };
  for (const bool is_killed : {false, true}) {
    auto child = std::make_unique<Child>(file.path);
    auto wrong = child->secret;
    wrong[31] ^= 1;
    CHECK_FALSE(accounting.open_shared(wrong));
    const auto opened = accounting.open_shared(child->secret);
    REQUIRE(opened);
    CHECK((!opened->is_own && opened->object.process == child->pid && opened->object.size == 600));
    CHECK_FALSE(accounting.open_shared(child->secret));   // once a process
    CHECK(accounting.used(0) == 600);
    const auto secret = child->secret;
    if (is_killed) child.reset();
    else child->lets_go();
    CHECK_FALSE(accounting.charge(0, 500));   // finds out who is dead
    CHECK(accounting.used(0) == 600);
    CHECK(accounting.used_by(flexrack::server::own_mark()) == 600);
    CHECK(accounting.charge(0, 400));
    accounting.close_shared(secret);
    CHECK(accounting.used(0) == 400);
    accounting.close_shared(secret);
    accounting.unshare(secret);
    CHECK_FALSE(accounting.open_shared(secret));
    accounting.refund(0, 400);
  }
  for (std::size_t i = 0; i < flexrack::server::kSharedObjects; ++i)
    REQUIRE(accounting.share({.sort = SharedObject::Sort::event}));
  CHECK_FALSE(accounting.share({.sort = SharedObject::Sort::event}));
  accounting.leave();
  REQUIRE(accounting.join());
  CHECK(accounting.share({.sort = SharedObject::Sort::event}));
}

TEST_CASE("who has contexts or memory on a device is known to all of the lease, until its worker is gone") {
  const AccountingFile file;
  const std::uint64_t limits[] = {1000, 1000};
  auto accounting = MemoryAccounting::create(file.path, limits);
  REQUIRE(accounting.join());
  CHECK(accounting.users(0).empty());
  accounting.use(1, 77, false);   // a watcher: it has said who it is, and has nothing
  CHECK(accounting.users(1).empty());
  const auto child = in_child([&] {
    auto own = MemoryAccounting::open(file.path);
    if (!own.join()) _exit(1);
    own.charge(1, 300);
    own.use(0, 88, true);
    pause();
  });
  for (int tries = 0; tries < 4000 && accounting.users(0).empty(); ++tries) usleep(5000);
  REQUIRE(accounting.users(0).size() == 1);
  CHECK(accounting.users(0)[0].process == 88);
  CHECK(accounting.users(0)[0].bytes == 0);
  REQUIRE(accounting.users(1).size() == 1);
  CHECK(accounting.users(1)[0].bytes == 300);
  accounting.use(1, 77, true);
  CHECK(accounting.users(1).size() == 2);
  accounting.use(1, 77, false);
  CHECK(accounting.users(1).size() == 1);
  CHECK(accounting.users(7).empty());
  kill(child, SIGKILL);
  reap(child);
  CHECK(accounting.users(0).empty());
  CHECK(accounting.users(1).empty());
}

TEST_CASE("utilization is what was shown last, and unknown before") {
  const AccountingFile file;
  const std::uint64_t limits[] = {1000, 1000};
  auto accounting = MemoryAccounting::create(file.path, limits);
  CHECK_FALSE(accounting.utilization(0).has_value());
  accounting.show_utilization(0, 0.25);
  accounting.show_utilization(1, 0);
  CHECK(MemoryAccounting::open(file.path).utilization(0) == 0.25);
  CHECK(accounting.utilization(1) == 0.0);
  accounting.show_utilization(0, 1.7);
  CHECK(accounting.utilization(0) == 1.0);
  CHECK_FALSE(accounting.utilization(2).has_value());
}

TEST_CASE("what is no memory accounting is not taken for one") {
  const AccountingFile file;
  CHECK_THROWS(MemoryAccounting::open(file.path));
  CHECK_THROWS(MemoryAccounting::open(file.path + ".none"));
  CHECK_THROWS(MemoryAccounting::create(file.path, {}));
  const std::uint64_t limits[] = {1000};
  MemoryAccounting::create(file.path, limits);
  CHECK_NOTHROW(MemoryAccounting::open(file.path));
  std::filesystem::permissions(file.path, std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  CHECK_THROWS(MemoryAccounting::open(file.path));
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
