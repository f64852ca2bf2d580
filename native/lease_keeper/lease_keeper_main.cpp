// flexrack-lease-keeper: keeps the leases of a lease file alive while COMMAND runs, and gives them back when it ends.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include "lease_keeper/command.h"
#include "lease_keeper/keeper.h"

namespace {

using namespace flexrack;

constexpr int kUsage = 64;
constexpr int kGiveBackWithin = 3000;  // milliseconds; the leases end by themselves 3 s after the keeper is gone

int usage() {
  std::fprintf(
      stderr,
      "usage: flexrack-lease-keeper [--end-with-lease] [--stay] [--remote] LEASEFILE -- COMMAND [ARGUMENT]...\n"
      "  --end-with-lease  a lease that is over ends COMMAND (SIGTERM, then SIGKILL after 5 s); else its programs get API errors\n"
      "  --stay            run on when the process that started this one is gone\n"
      "  --remote          started over SSH: end when nobody reads the output any more, and leave signals to the group\n");
  return kUsage;
}

/// The keeper's process: nothing of the terminal, nothing of the caller's.
[[noreturn]] void become_keeper(const std::vector<client::LeasedServer>& servers, int control, pid_t parent,
                                const std::string& file) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  setsid();
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_NAME, "flexrack-keeper", 0, 0, 0);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
  lease_keeper::keep(servers, control, file);
}

constexpr int kLookEvery = 50;  // milliseconds between looks at whether a signal ends the waiting

/// A signal that asks this program to end, if one has come: they are blocked until COMMAND runs. Else 0.
int ending_signal() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  const timespec at_once{};
  return std::max(0, sigtimedwait(&signals, nullptr, &at_once));
}

/// Waits until every lease is held: 0, or the exit status when one cannot be, which was said, or a signal came first.
int await_held(int keeper) {
  pollfd wait{keeper, POLLIN, 0};
  while (poll(&wait, 1, kLookEvery) <= 0) {
    if (const int number = ending_signal()) return 128 + number;
  }
  std::array<char, 1024> text{};
  const auto got = recv(keeper, text.data(), text.size() - 1, 0);
  if (got > 0 && text[0] == lease_keeper::kAllHeld) return 0;
  std::fprintf(stderr, "flexrack-lease-keeper: %s\n",
               got > 0 ? text.data() + 1 : "the process that holds the leases is gone");
  return lease_keeper::kCannotHold;
}

void give_back(int keeper, pid_t pid) {
  send(keeper, &lease_keeper::kGiveBack, 1, MSG_NOSIGNAL);
  pollfd wait{keeper, POLLIN, 0};
  std::array<char, 1024> text{};
  // Its end of the socket closes when all has been given back.
  while (poll(&wait, 1, kGiveBackWithin) > 0 && recv(keeper, text.data(), text.size(), 0) > 0) {}
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

}  // namespace

int main(int count, char** arguments) {
  lease_keeper::CommandSettings settings;
  int at = 1;
  for (; at < count && std::strncmp(arguments[at], "--", 2) == 0 && arguments[at][2] != '\0'; ++at) {
    if (std::strcmp(arguments[at], "--end-with-lease") == 0) {
      settings.ends_with_lease = true;
    } else if (std::strcmp(arguments[at], "--stay") == 0) {
      settings.ends_with_parent = false;
    } else if (std::strcmp(arguments[at], "--remote") == 0) {
      settings.is_remote = true;
    } else {
      return usage();
    }
  }
  if (count - at < 3 || std::strcmp(arguments[at + 1], "--") != 0) return usage();
  const std::string file = arguments[at];
  settings.words.assign(arguments + at + 2, arguments + count);

  std::vector<client::LeasedServer> servers;
  try {
    servers = client::read_lease_file(file);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flexrack-lease-keeper: %s\n", error.what());
    return lease_keeper::kCannotHold;
  }
  lease_keeper::block_signals();
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return lease_keeper::kCannotHold;
  const pid_t self = getpid();
  const pid_t keeper = fork();
  if (keeper < 0) return lease_keeper::kCannotHold;
  if (keeper == 0) {
    close(ends[0]);
    become_keeper(servers, ends[1], self, file);
  }
  close(ends[1]);
  int status = servers.empty() ? 0 : await_held(ends[0]);
  if (status == 0) status = lease_keeper::run_command(settings, ends[0]);
  give_back(ends[0], keeper);
  return status;
}
