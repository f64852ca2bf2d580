#include "lease_keeper/command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "client/loss.h"
#include "lease_keeper/keeper.h"

namespace flexrack::lease_keeper {
namespace {

constexpr int kPatience =
    5000;  // milliseconds between asking COMMAND to end and ending it, once nobody waits for it any more
constexpr int kHeardWithin = 500;  // milliseconds

sigset_t passed_on() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD})
    sigaddset(&signals, number);
  return signals;
}

int status_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

[[noreturn]] void become(const CommandSettings& settings, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kCannotExecute);
  unblock_signals();
  std::vector<char*> arguments;
  for (const auto& word : settings.words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int problem = errno;
  std::fprintf(stderr, "flexrack-lease-keeper: %s: %s\n", arguments[0], std::strerror(problem));
  _exit(problem == ENOENT || problem == ENOTDIR ? kNotFound : kCannotExecute);
}

class Watch {
 public:
  Watch(const CommandSettings& settings, pid_t command, pid_t parent, int keeper)
      : settings_(settings), command_(command), parent_(parent), keeper_(keeper) {}

  int wait() {
    const auto signals = passed_on();
    const int fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    for (;;) {
      int status = 0;
      if (waitpid(command_, &status, WNOHANG) == command_) {
        if (status != 0 && client::is_loss_asked()) hear_last();
        return status_of(status);
      }
      // No event is asked for on the output: an error comes without, when its last reader has gone.
      std::array<pollfd, 3> waits{pollfd{fd, POLLIN, 0}, pollfd{keeper_, POLLIN, 0},
                                  pollfd{settings_.is_remote && !is_ending_ ? STDOUT_FILENO : -1, 0, 0}};
      const int ready = poll(waits.data(), waits.size(), is_ending_ ? kPatience : -1);
      if (ready == 0) kill(settings_.is_remote ? 0 : command_, SIGKILL);
      if (ready <= 0) continue;
      if (waits[0].revents != 0) pass_on(fd);
      if (waits[1].revents != 0 && hear() && settings_.ends_with_lease) {
        kill(command_, SIGTERM);
        is_ending_ = true;
      }
      if (waits[2].revents != 0) {
        kill(0, SIGTERM);
        is_ending_ = true;
      }
    }
  }

 private:
  void pass_on(int fd) {
    signalfd_siginfo info{};
    while (read(fd, &info, sizeof info) == sizeof info) {
      const auto number = static_cast<int>(info.ssi_signo);
      // Ctrl-C and Ctrl-\ go to the whole group: COMMAND has them already.
      const bool from_terminal =
          info.ssi_code == SI_KERNEL && (number == SIGINT || number == SIGQUIT || number == SIGHUP);
      if (number != SIGCHLD && !from_terminal && !settings_.is_remote) kill(command_, number);
      if (number == SIGTERM && getppid() != parent_) is_ending_ = true;
    }
  }

  /// COMMAND may fail of a lease that was given back before its keeper has heard of it.
  void hear_last() {
    pollfd wait{keeper_, POLLIN, 0};
    if (poll(&wait, 1, kHeardWithin) > 0) hear();
  }

  /// Whether a lease is over.
  bool hear() {
    std::array<char, 1024> text{};
    const auto got = recv(keeper_, text.data(), text.size() - 1, MSG_DONTWAIT);
    if (got < 0) return false;
    std::string why = text.data() + 1;
    if (got == 0) {
      keeper_ = -1;  // poll leaves it out from now on
      why = "the process that holds the leases is gone: they end";
    } else if (text[0] != kOver && text[0] != kEnded) {
      return false;
    }
    std::fprintf(stderr, "flexrack-lease-keeper: %s\n", why.c_str());
    (got > 0 && text[0] == kEnded ? client::tell_ended : client::tell_lost)(why);
    return true;
  }

  const CommandSettings& settings_;
  const pid_t command_, parent_;
  int keeper_;
  bool is_ending_ = false;
};

}  // namespace

void block_signals() {
  const auto signals = passed_on();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
}

void unblock_signals() {
  const auto signals = passed_on();
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

int run_command(const CommandSettings& settings, int keeper) {
  const pid_t self = getpid(), parent = getppid();
  if (settings.ends_with_parent) prctl(PR_SET_PDEATHSIG, SIGTERM);
  const pid_t command = fork();
  if (command < 0) {
    std::fprintf(stderr, "flexrack-lease-keeper: %s\n", std::strerror(errno));
    return kCannotHold;
  }
  if (command == 0) become(settings, self);
  return Watch(settings, command, parent, keeper).wait();
}

}  // namespace flexrack::lease_keeper
