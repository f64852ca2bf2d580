#include "client/lease_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

using flexrack::client::parse_lease_file;
using flexrack::client::read_lease_file;

namespace {

const std::string kLease(32, 'a');
const std::string kKey(64, '0');

std::string server(const std::string& more = "", const std::string& lease = kLease, const std::string& key = kKey) {
  return R"({"node":"node-1","address":"127.0.0.1","port":18999,"unix":"","boot_id":"x","transport":"tcp","lease":")" +
         lease + R"(","key":")" + key + R"(","devices":[{"name":"one","memory":1024},{"name":"two","memory":2048}])" +
         more + "}";
}
std::string file(const std::string& servers) {
  return R"({"version":1,"grace_seconds":7,"servers":[)" + servers + "]}";
}

struct Folder {
  char path[32] = "/tmp/flexrack-test-XXXXXX";
  std::string file;
  Folder() { file = std::string(::mkdtemp(path)) + "/leases.json"; }
  ~Folder() {
    std::remove(file.c_str());
    ::rmdir(path);
  }
  void write(const std::string& text, mode_t mode) const {
    std::FILE* out = std::fopen(file.c_str(), "w");
    std::fputs(text.c_str(), out);
    std::fclose(out);
    ::chmod(file.c_str(), mode);
  }
};

}  // namespace

TEST_CASE("a lease file says how to reach each server and who we are to it") {
  const auto servers = parse_lease_file(file(server() + "," + server(R"(,"more":[1,2])")));
  REQUIRE(servers.size() == 2);
  CHECK(servers[0].node == "node-1");
  CHECK(servers[0].dial.address == "127.0.0.1");
  CHECK(servers[0].dial.port == 18999);
  CHECK(servers[0].dial.transport == "tcp");
  CHECK(servers[0].dial.lease == kLease);
  CHECK(servers[0].dial.key.size() == 32);
  CHECK(servers[0].dial.grace == std::chrono::seconds(7));
  REQUIRE(servers[0].devices.size() == 2);
  CHECK(servers[0].devices[1].memory == 2048);
}

TEST_CASE("a driver takes the servers of its API and no others; where nothing is said, it is OpenCL") {
  const Folder folder;
  folder.write(file(server() + "," + server(R"(,"api":"cuda")") + "," + server(R"(,"api":"opencl")")), 0600);
  CHECK(read_lease_file(folder.file).size() == 3);
  CHECK(read_lease_file(folder.file, "opencl").size() == 2);
  const auto cuda = read_lease_file(folder.file, "cuda");
  REQUIRE(cuda.size() == 1);
  CHECK(cuda[0].api == "cuda");
  CHECK(read_lease_file(folder.file, "vulkan").empty());
}

TEST_CASE("auto is TLS where the daemon runs under another kernel, and the environment has the last word") {
  auto text = file(server());
  text.replace(text.find("\"tcp\""), 5, "\"auto\"");
  CHECK(parse_lease_file(text)[0].dial.transport == "tls");
  ::setenv("FLEXRACK_TRANSPORT", "tcp", 1);
  CHECK(parse_lease_file(text)[0].dial.transport == "tcp");
  ::unsetenv("FLEXRACK_TRANSPORT");
}

TEST_CASE("what is not a lease file is refused") {
  CHECK_THROWS_AS(parse_lease_file(""), std::runtime_error);
  CHECK_THROWS_AS(parse_lease_file("[]"), std::runtime_error);
  CHECK_THROWS_AS(parse_lease_file(file(server()) + "x"), std::runtime_error);
  CHECK_THROWS_AS(parse_lease_file(R"({"version":2,"servers":[]})"), std::runtime_error);
  CHECK_THROWS_AS(parse_lease_file(R"({"version":1,"grace_seconds":-1,"servers":[]})"), std::runtime_error);
  CHECK_THROWS_AS(parse_lease_file(file(server("", "short"))), std::runtime_error);
  CHECK_THROWS_AS(parse_lease_file(file(server("", kLease, std::string(64, 'g')))), std::runtime_error);
  CHECK_THROWS_AS(parse_lease_file(file(server("", kLease, std::string(62, '0')))), std::runtime_error);
  CHECK_THROWS_AS(parse_lease_file(file(R"({"port":70000})")), std::runtime_error);
}

TEST_CASE("a lease file that others may read is refused, since it holds keys") {
  const Folder folder;
  CHECK_THROWS_AS(read_lease_file(folder.file), std::runtime_error);
  folder.write(file(server()), 0600);
  CHECK(read_lease_file(folder.file).size() == 1);
  folder.write(file(server()), 0640);
  CHECK_THROWS_AS(read_lease_file(folder.file), std::runtime_error);
}
