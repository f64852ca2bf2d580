// Which driver a daemon serves, and what it is told: the command line as processes, over a CUDA driver that is made up.
#include "server/backends.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "daemon.h"
#include "wire/error.h"
#include "wire/json.h"

namespace {

using namespace flexrack;
using test::Daemon;
using wire::Json;

std::filesystem::path own_program() { return std::filesystem::read_symlink("/proc/self/exe"); }
std::string made_up_driver() { return (own_program().parent_path() / "libmade_up_cuda.so").string(); }

struct Ended {
  int status;
  std::string output;  ///< of both streams
};

/// flexrack-gpud with these words.
Ended gpud(const std::string& words) {
  FILE* pipe = popen(("exec '" + own_program().string() + "' " + words + " 2>&1").c_str(), "r");
  Ended ended{-1, {}};
  std::array<char, 4096> bytes{};
  while (const auto got = std::fread(bytes.data(), 1, bytes.size(), pipe)) ended.output.append(bytes.data(), got);
  const int status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return ended;
}

Json devices(const std::string& words) {
  const auto ended = gpud("devices --backend sim --driver '" + made_up_driver() + "' " + words);
  CAPTURE(ended.output);
  const auto answer = Json::parse(ended.output);
  REQUIRE(answer.has_value());
  return (*answer)["ok"]["devices"];
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream from(file);
  return {std::istreambuf_iterator<char>(from), {}};
}

bool is_mapped_somewhere(const std::string& file) {
  for (const auto& process : std::filesystem::directory_iterator("/proc"))
    if (text_of(process.path() / "maps").find(file) != std::string::npos) return true;
  return false;
}

TEST_CASE("devices of a CUDA driver: ids that CUDA_VISIBLE_DEVICES takes, and what gpu list shows") {
  const auto list = devices("--sim-devices 2 --sim-memory 4096 --sim-seed 258");
  REQUIRE(list.list().size() == 2);
  const auto& first = list.list()[0];
  CHECK(first["id"].text() == "GPU-02010000-0000-0000-0000-0000000000a0");
  CHECK(list.list()[1]["id"].text() == "MIG-02010000-0000-0000-0000-0000000001a1");
  CHECK(first["name"].text() == "made up");
  CHECK(first["api"].text() == "cuda");
  CHECK(first["driver"].text() == "13.1");
  CHECK(first["capability"].text() == "9.0");
  CHECK(first["memory"].integer() == 4096);
  CHECK(first["compute_units"].integer() == 132);
}

TEST_CASE("a driver that is not there, is none, or does not start is said with its reason") {
  const auto missing = gpud("devices --backend cuda --driver /nowhere/libcuda.so.1");
  CHECK(missing.status == 69);
  CHECK(missing.output.find("no CUDA driver: /nowhere/libcuda.so.1: cannot open") != std::string::npos);
  const auto other = gpud("devices --backend cuda --driver libz.so.1");
  CHECK(other.status == 69);
  const auto refusing = gpud("devices --backend sim --sim-fault init --driver '" + made_up_driver() + "'");
  CHECK(refusing.status == 69);
  CHECK(refusing.output.find(
            "the CUDA driver does not start: CUDA_ERROR_NO_DEVICE (as the test wants it): no such thing") !=
        std::string::npos);
}

TEST_CASE("options that do not belong together are a mistake in the command line") {
  for (const auto* words :
       {"devices --backend vulkan", "devices --sim-devices 4", "devices --backend cuda --sim-memory 1GiB",
        "devices --driver libcuda.so.1", "devices --backend sim --sim-colour red",
        "devices --backend sim --sim-devices", "devices --backend sim --sim-devices ''",
        "devices --backend cuda --nvml libnvidia-ml.so.1"}) {
    CAPTURE(words);
    const auto ended = gpud(words);
    CHECK(ended.status == 64);
    CHECK(ended.output.find("usage: flexrack-gpud") != std::string::npos);
  }
}

TEST_CASE("a daemon serves the devices of its driver, the same ones after every start, others than the next daemon") {
  const std::vector<std::string> options{"--backend", "sim", "--driver", made_up_driver(), "--sim-devices", "3"};
  Daemon daemon(options), other(options);
  const auto ids = [](const Daemon& one) {
    std::vector<std::string> found;
    const auto answer = one.ask(Json::Members{{"op", "devices"}});
    for (const auto& device : answer["ok"]["devices"].list()) found.push_back(device["id"].text());
    return found;
  };
  const auto before = ids(daemon);
  CHECK(before.size() == 3);
  CHECK(before != ids(other));
  CHECK(daemon.address()["backend"].text() == "sim");
  const auto lease = daemon.ask(
      Json::Members{{"op", "lease"}, {"devices", Json::List{before[2]}}, {"owner", "somebody"}, {"purpose", "a test"}});
  CHECK(lease["ok"]["server"]["api"].text() == "cuda");
  CHECK(lease["ok"]["devices"].list().front()["id"].text() == before[2]);
  daemon.kill_broker(SIGKILL);
  daemon.start_broker();
  CHECK(ids(daemon) == before);
  CHECK(daemon.ask(Json::Members{{"op", "leases"}})["ok"]["leases"].list().size() == 1);
}

TEST_CASE("a worker has the NVML it was told of open before a client comes: a newer daemon's files take its place") {
  const Daemon without({"--backend", "sim", "--driver", made_up_driver(), "--nvml", "/nowhere/nvml.so"});
  CHECK(test::eventually([&] {
    return without.file("worker.log").find("no NVML for the driver in software: /nowhere/nvml.so") != std::string::npos;
  }));
  const auto nvml = without.root + "/nvml-1.so";
  std::filesystem::copy_file(FLEXRACK_MADE_UP_NVML, nvml);
  const Daemon daemon({"--backend", "sim", "--driver", made_up_driver(), "--nvml", nvml});
  CHECK(test::eventually([&] { return is_mapped_somewhere(nvml); }));
}

TEST_CASE(
    "the machine's own driver is shown what was granted before it starts, and where it does not start, the client is told why") {
  Daemon daemon({"--backend", "cuda", "--driver", made_up_driver()});
  const auto lease = daemon.ask(Json::Members{{"op", "lease"}, {"owner", "somebody"}, {"purpose", "a test"}});
  const auto id = lease["ok"]["devices"].list().front()["id"].text();
  std::string said;
  try {
    test::Client client(test::dial_of(lease, "tls"));
  } catch (const wire::Error& error) {
    CHECK(error.kind() == wire::Error::Kind::refused);
    said = error.what();
  }
  CAPTURE(said);
  CHECK(said.find("CUDA_ERROR_NO_DEVICE") != std::string::npos);
  CHECK(said.ends_with(": " + id));
}

}  // namespace
