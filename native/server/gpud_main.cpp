// flexrack-gpud: the broker, its workers, and small ways to talk to them, by the first argument.
#include <cstdio>
#include <exception>

#include "server/command_line.h"

int main(int count, char** arguments) {
  using namespace flexrack::server;
  try {
    return run_command_line({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "flexrack-gpud: %s\n", error.what());
    return 1;
  }
}
