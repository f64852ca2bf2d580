#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <iostream>

int main(int count, char** arguments) {
  doctest::Context context(count, arguments);
  // Standard output is the device's while a backend lives.
  context.setCout(&std::cerr);
  return context.run();
}
