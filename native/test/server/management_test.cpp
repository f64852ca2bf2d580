// What the daemon learns from a machine's own NVML.
#include "backend/cuda/management.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

using namespace flexrack::backend::cuda;

TEST_CASE("readings are the machine's own, and what its NVML does not know is not known") {
  // A library of that soname that is there already is the one that is found by it.
  REQUIRE_MESSAGE(dlopen(FLEXRACK_MADE_UP_NVML, RTLD_NOW | RTLD_GLOBAL), dlerror());
  const auto read = read_management("GPU-made-up");
  CHECK(read.busy == 42u);
  CHECK(read.memory_busy == 17u);
  CHECK(read.temperature == 55);
  CHECK(read.clock == 1980u);
  CHECK(read.memory_clock == 2619u);
  CHECK_FALSE(read.power.has_value());
  CHECK(read_busy("GPU-made-up") == 42u);
  CHECK(management_driver() == "580.65.06");
  const auto other = read_management("GPU-elsewhere");
  CHECK_FALSE(other.busy.has_value());
  CHECK_FALSE(other.temperature.has_value());
  CHECK_FALSE(read_busy("GPU-elsewhere").has_value());
}
