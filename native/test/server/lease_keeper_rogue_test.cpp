// flexrack-lease-keeper where somebody else has the daemon's port.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "test/wire/rogue.h"
#include "wire/json.h"

namespace {

using namespace flexrack;
using wire::Json;

/// Runs a command under a lease whose server is said to be at that port: the exit status, and what was said on stderr.
std::pair<int, std::string> hold_at(std::uint16_t port, const std::string& folder, const std::string& command) {
  const auto text = Json(Json::Members{{"version", 1},
                                       {"grace_seconds", 5},
                                       {"servers", Json::List{Json::Members{{"node", "node-1"},
                                                                            {"address", "127.0.0.1"},
                                                                            {"port", static_cast<int>(port)},
                                                                            {"transport", "tls"},
                                                                            {"lease", std::string(32, '5')},
                                                                            {"key", std::string(64, '7')},
                                                                            {"devices", Json::List{}}}}}})
                        .write();
  const auto file = folder + "/file.json", said = folder + "/said";
  const wire::Socket fd(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  CHECK(write(fd.fd(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  const auto program =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "flexrack-lease-keeper").string();
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(open(said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    execl(program.c_str(), program.c_str(), file.c_str(), "--", "sh", "-c", command.c_str(), nullptr);
    _exit(99);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  std::array<char, 4096> words{};
  const wire::Socket back(open(said.c_str(), O_RDONLY | O_CLOEXEC));
  const auto got = read(back.fd(), words.data(), words.size() - 1);
  return {WEXITSTATUS(status), std::string(words.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)))};
}

}  // namespace

TEST_CASE("a command does not run on a lease that somebody without its key says to hold") {
  char made[] = "/tmp/flexrack-rogue-XXXXXX";
  REQUIRE(mkdtemp(made) != nullptr);
  const std::string folder = made;
  for (const auto& disguise :
       {test::Disguise{.has_certificate = true}, test::Disguise{.has_certificate = true, .key = wire::Bytes(32, 9)}}) {
    test::Rogue rogue(disguise);
    const auto [status, said] = hold_at(rogue.port(), folder, "touch " + folder + "/ran");
    CHECK(status == 125);
    CHECK_FALSE(std::filesystem::exists(folder + "/ran"));
    CHECK_MESSAGE(said.find("node-1: the server has not proved the lease's key") != std::string::npos, said);
    CHECK(rogue.reported == 0);
  }
  std::filesystem::remove_all(folder);
}
