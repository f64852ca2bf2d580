#include "server/spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

extern char** environ;

namespace flexrack::server {
namespace {

constexpr off_t kLargestErrorFile = 1 << 20;

Descriptor open_error_file(const std::string& path) {
  if (path.empty()) return Descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC));
  Descriptor fd(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct stat about{};
  if (fd.is_open() && fstat(fd.get(), &about) == 0 && about.st_size > kLargestErrorFile && ftruncate(fd.get(), 0) != 0)
    fd.reset();
  return fd.is_open() ? std::move(fd) : Descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC));
}

// dup2 onto itself would leave close-on-exec set.
void put(int from, int to) {
  if (from == to) {
    fcntl(to, F_SETFD, 0);
  } else {
    dup2(from, to);
  }
}

}  // namespace

Spawned spawn_self(const SpawnSettings& settings) {
  // Everything that allocates is done before the fork: there are other threads.
  std::vector<std::string> texts{"flexrack-gpud", settings.role};
  texts.insert(texts.end(), settings.arguments.begin(), settings.arguments.end());
  std::vector<char*> arguments;
  for (auto& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  std::vector<std::string> additions;
  for (const auto& [name, value] : settings.environment) {
    if (std::getenv(name.c_str()) == nullptr) additions.push_back(name + "=" + value);
  }
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  for (auto& text : additions) environment.push_back(text.data());
  environment.push_back(nullptr);

  // Above 3, so that putting one in its place does not overwrite another.
  const Descriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const auto error_file = open_error_file(settings.error_file);
  const Descriptor input(fcntl(null.get(), F_DUPFD_CLOEXEC, 10));
  const Descriptor output(fcntl(settings.output >= 0 ? settings.output : null.get(), F_DUPFD_CLOEXEC, 10));
  const Descriptor error(fcntl(error_file.get(), F_DUPFD_CLOEXEC, 10));
  const Descriptor inherited(settings.inherited >= 0 ? fcntl(settings.inherited, F_DUPFD_CLOEXEC, 10) : -1);

  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) {
    if (settings.own_session) setsid();
    for (int signal = 1; signal < 32; ++signal) {
      if (signal != SIGKILL && signal != SIGSTOP) ::signal(signal, SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    put(input.get(), 0);
    put(output.get(), 1);
    put(error.get(), 2);
    if (inherited.is_open()) put(inherited.get(), 3);
    execve("/proc/self/exe", arguments.data(), environment.data());
    _exit(127);
  }
  Spawned spawned;
  spawned.pid = pid;
  spawned.pidfd.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!spawned.pidfd.is_open()) {
    const int problem = errno;
    kill(pid, SIGKILL);
    reap(pid);
    throw std::system_error(problem, std::generic_category(), "pidfd_open");
  }
  return spawned;
}

void settle_in(const char* name) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_NAME, name, 0, 0, 0);
  umask(077);
  signal(SIGPIPE, SIG_IGN);
  syscall(SYS_close_range, 4, ~0U, 0);
}

std::string reap(pid_t pid) {
  int status = 0;
  pid_t got = 0;
  while ((got = waitpid(pid, &status, 0)) < 0 && errno == EINTR) {}
  if (got != pid) return "has ended";
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "has ended" : "has ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace flexrack::server
