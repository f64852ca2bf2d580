// The tests' main, and a whole daemon: started again with a role, this program is flexrack-gpud with devices that are
// made up, so that brokers, workers and leases are tried as the processes they are, without a driver.
#include <doctest/doctest.h>

#include <string_view>

#include "server/command_line.h"

int main(int count, char** arguments) {
  using namespace flexrack::server;
  const std::string_view role = count > 1 ? arguments[1] : "";
  if (role == "worker" || role == "broker" || role == "devices" || role == "admin" || role == "version")
    return run_command_line({arguments + 1, arguments + count});
  return doctest::Context(count, arguments).run();
}
