// The gate's file between real processes: what wakes whom, and what is left when somebody is killed.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include "daemon.h"
#include "server/gate.h"

namespace {

using flexrack::server::Gate;
using flexrack::server::GateFile;
using flexrack::server::Id;
using flexrack::test::eventually;

struct File {
  std::string path = (std::filesystem::temp_directory_path() / ("gate-" + std::to_string(getpid()))).string();
  File() { GateFile::open_or_create(path); }
  ~File() { std::filesystem::remove(path); }
};

Id lease(std::uint8_t number) {
  Id id{};
  id[0] = number;
  return id;
}

/// A process that takes the device and keeps it until it is killed.
pid_t holder_of(const std::string& path) {
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    Gate gate(path, lease(1), 500, false);
    gate.admit([&] { [[maybe_unused]] const auto wrote = write(ready[1], "x", 1); });
    for (;;) pause();
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  close(ready[0]);
  close(ready[1]);
  return pid;
}

TEST_CASE("alone, a launch is let go on the spot") {
  const File file;
  Gate gate(file.path, lease(1), 1, false);
  int gone = 0;
  for (int i = 0; i < 1000; ++i) {
    gate.admit([&] { ++gone; });
    gate.finished(1000);
  }
  CHECK(gone == 1000);
}

TEST_CASE("a launch waits for a device that another lease has, and goes when that one's process is killed") {
  const File file;
  const auto holder = holder_of(file.path);
  Gate gate(file.path, lease(2), 500, false);
  std::atomic<bool> gone = false;
  gate.admit([&] { gone = true; });
  const bool went_at_once = gone;
  CHECK_FALSE(went_at_once);
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  CHECK(eventually([&] { return gone.load(); }));
  gate.finished(1000);
}

TEST_CASE("a process that is stopped with the device in hand is passed by") {
  const File file;
  const auto holder = holder_of(file.path);
  kill(holder, SIGSTOP);
  Gate gate(file.path, lease(2), 500, false);
  std::atomic<int> gone = 0;
  for (int i = 0; i < 3; ++i) gate.admit([&] { ++gone; });
  for (int i = 1; i <= 3; ++i) {
    CHECK(eventually([&] { return gone >= i; }));
    gate.finished(1000);
  }
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
}

TEST_CASE("two processes hand the device to each other, and every launch goes once") {
  const File file;
  constexpr int kLaunches = 3000;
  const auto run = [&](std::uint8_t number) {
    Gate gate(file.path, lease(number), 500, false);
    std::atomic<int> gone = 0;
    int ended = 0;
    for (int i = 0; i < kLaunches; ++i) gate.admit([&] { ++gone; });
    const bool all = eventually([&] {
      while (ended < gone) {
        gate.finished(20000);
        ++ended;
      }
      return ended == kLaunches;
    });
    return all && gone == kLaunches;
  };
  const pid_t other = fork();
  if (other == 0) _exit(run(1) ? 0 : 1);
  CHECK(run(2));
  int status = 0;
  waitpid(other, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a gate that goes while launches wait drops them") {
  const File file;
  const auto holder = holder_of(file.path);
  std::atomic<int> gone = 0;
  {
    Gate gate(file.path, lease(2), 500, false);
    gate.admit([&] { ++gone; });
  }
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  CHECK(gone == 0);
  CHECK(GateFile::open(file.path).clear_dead() == 1);
}

TEST_CASE("what is no gate, or another boot's, is made anew or refused") {
  const File file;
  CHECK_THROWS(GateFile::open(file.path + ".none"));
  std::filesystem::resize_file(file.path, 100);
  CHECK_THROWS(GateFile::open(file.path));
  GateFile::open_or_create(file.path);
  CHECK_NOTHROW(GateFile::open(file.path));
}

}  // namespace
