// The scheduler's file between real processes: what wakes whom, and what is left when somebody is killed.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>

#include "daemon.h"
#include "server/time_slice_scheduler.h"

namespace {

using flexrack::server::TimeSliceScheduler;
using flexrack::server::SchedulerFile;
using flexrack::server::Id;
using flexrack::test::eventually;

struct File {
  std::string path = (std::filesystem::temp_directory_path() / ("scheduler-" + std::to_string(getpid()))).string();
  File() { SchedulerFile::open_or_create(path); }
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
    TimeSliceScheduler scheduler(path, lease(1), 500, false);
    scheduler.admit([&] { [[maybe_unused]] const auto wrote = write(ready[1], "x", 1); });
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
  TimeSliceScheduler scheduler(file.path, lease(1), 1, false);
  int gone = 0;
  for (int i = 0; i < 1000; ++i) {
    scheduler.admit([&] { ++gone; });
    scheduler.finished(1000);
  }
  CHECK(gone == 1000);
}

TEST_CASE("a launch waits for a device that another lease has, and goes when that one's process is killed") {
  const File file;
  const auto holder = holder_of(file.path);
  TimeSliceScheduler scheduler(file.path, lease(2), 500, false);
  std::atomic<bool> gone = false;
  scheduler.admit([&] { gone = true; });
  const bool went_at_once = gone;
  CHECK_FALSE(went_at_once);
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  CHECK(eventually([&] { return gone.load(); }));
  scheduler.finished(1000);
}

TEST_CASE("a process that is stopped with the device in hand is passed by") {
  const File file;
  const auto holder = holder_of(file.path);
  kill(holder, SIGSTOP);
  TimeSliceScheduler scheduler(file.path, lease(2), 500, false);
  std::atomic<int> gone = 0;
  for (int i = 0; i < 3; ++i) scheduler.admit([&] { ++gone; });
  for (int i = 1; i <= 3; ++i) {
    CHECK(eventually([&] { return gone >= i; }));
    scheduler.finished(1000);
  }
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
}

TEST_CASE("two processes hand the device to each other, and every launch goes once") {
  const File file;
  constexpr int kLaunches = 3000;
  const auto run = [&](std::uint8_t number) {
    TimeSliceScheduler scheduler(file.path, lease(number), 500, false);
    std::atomic<int> gone = 0;
    int ended = 0;
    for (int i = 0; i < kLaunches; ++i) scheduler.admit([&] { ++gone; });
    const bool all = eventually([&] {
      while (ended < gone) {
        scheduler.finished(20000);
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

TEST_CASE("a scheduler that goes while launches wait drops them") {
  const File file;
  const auto holder = holder_of(file.path);
  std::atomic<int> gone = 0;
  {
    TimeSliceScheduler scheduler(file.path, lease(2), 500, false);
    scheduler.admit([&] { ++gone; });
  }
  kill(holder, SIGKILL);
  waitpid(holder, nullptr, 0);
  CHECK(gone == 0);
  CHECK(SchedulerFile::open(file.path).clear_dead() == 1);
}

TEST_CASE("what is no scheduler, or another boot's, is made anew or refused") {
  const File file;
  CHECK_THROWS(SchedulerFile::open(file.path + ".none"));
  std::filesystem::resize_file(file.path, 100);
  CHECK_THROWS(SchedulerFile::open(file.path));
  SchedulerFile::open_or_create(file.path);
  CHECK_NOTHROW(SchedulerFile::open(file.path));
}

}  // namespace
