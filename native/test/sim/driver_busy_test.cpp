// How long a device was at work, as the daemon asks the driver in software.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "cuda/own_tables.h"
#include "driver_rig.h"
#include "sim/driver/busy_clock.h"

using namespace flexrack::test::driver;

TEST_CASE("busy: kernels at the same time are counted once, and none not at all") {
  using flexrack::sim::BusyClock;
  BusyClock clock;
  const auto rest = std::chrono::milliseconds(20);
  std::this_thread::sleep_for(rest);
  CHECK_EQ(clock.total(), 0);
  {
    const BusyClock::Span one(clock), other(clock);
    std::this_thread::sleep_for(rest);
    CHECK_GE(clock.total(), 20'000'000);   // what runs now counts
  }
  const auto total = clock.total();
  CHECK_GE(total, 20'000'000);
  std::this_thread::sleep_for(rest);
  CHECK_EQ(clock.total(), total);
}

TEST_CASE("busy: a device's time grows with its kernels, and no other device's") {
  Rig rig;
  const auto* table = flexrack::cuda::find_table<flexrack::cuda::SimTable>(cuGetExportTable);
  REQUIRE_NE(table, nullptr);
  const auto busy = [table](int device) {
    std::uint64_t nanoseconds = 0;
    CU(table->busy(device, &nanoseconds));
    return nanoseconds;
  };
  const auto before = busy(0), other = busy(1);
  for (int i = 0; i < 10; ++i) CU(rig.launch("empty", {}));
  CU(cuCtxSynchronize());
  CHECK_GT(busy(0), before);
  CHECK_EQ(busy(1), other);
  std::uint64_t nanoseconds = 0;
  CHECK_EQ(table->busy(kDevices, &nanoseconds), CUDA_ERROR_INVALID_DEVICE);
  CHECK_EQ(table->busy(0, nullptr), CUDA_ERROR_INVALID_VALUE);
}
