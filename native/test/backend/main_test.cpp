#include <doctest/doctest.h>

#include <unistd.h>

#include <fstream>
#include <string>

int main(int count, char** arguments) {
  doctest::Context context(count, arguments);
  // While a backend lives, standard output is the device's; the report goes where it was when this began.
  std::ofstream report("/proc/self/fd/" + std::to_string(dup(STDOUT_FILENO)), std::ios::app);
  context.setCout(&report);
  return context.run();
}
