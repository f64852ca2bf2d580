// Memory that goes to the host's and comes back, at a driver that fails where the test says.
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <vector>

#include "backend/cuda/swap_space.h"

using namespace flexrack;
using backend::cuda::SwapSpace;

namespace {

constexpr std::uint64_t kStep = 4096, kTaken = 3 * kStep;

/// A driver that has memory and addresses, and nothing to do. Each number counts down to the call that fails.
struct Driver {
  std::map<CUdeviceptr, std::vector<std::uint8_t>> there;   ///< what is mapped
  std::map<CUdeviceptr, std::uint64_t> reserved;
  int fails_create = 0, fails_unmap = 0, fails_write = 0, fails_wait = 0;
  CUdeviceptr next = 1 << 20;
};
Driver driver;

bool is_due(int& count) { return count > 0 && --count == 0; }

cu::DriverTable table_of_driver() {
  driver = {};
  cu::DriverTable table{};
  table.cuMemGetAllocationGranularity = [](size_t* step, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
    return *step = kStep, CUDA_SUCCESS;
  };
  table.cuMemAddressReserve = [](CUdeviceptr* at, size_t size, size_t, CUdeviceptr, unsigned long long) {
    *at = driver.next;
    driver.next += size + kStep;
    driver.reserved[*at] = size;
    return CUDA_SUCCESS;
  };
  table.cuMemAddressFree = [](CUdeviceptr at, size_t) {
    return driver.reserved.erase(at) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  table.cuMemCreate = [](CUmemGenericAllocationHandle*, size_t, const CUmemAllocationProp*, unsigned long long) {
    return is_due(driver.fails_create) ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
  };
  table.cuMemRelease = [](CUmemGenericAllocationHandle) { return CUDA_SUCCESS; };
  table.cuMemMap = [](CUdeviceptr at, size_t size, size_t, CUmemGenericAllocationHandle, unsigned long long) {
    return driver.there.try_emplace(at, size, 0xcc).second ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  table.cuMemUnmap = [](CUdeviceptr at, size_t) {
    if (is_due(driver.fails_unmap)) return CUDA_ERROR_INVALID_VALUE;
    return driver.there.erase(at) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  table.cuMemSetAccess = [](CUdeviceptr, size_t, const CUmemAccessDesc*, size_t) { return CUDA_SUCCESS; };
  table.cuMemHostRegister_v2 = [](void*, size_t, unsigned) { return CUDA_SUCCESS; };
  table.cuMemHostUnregister = [](void*) { return CUDA_SUCCESS; };
  table.cuCtxGetCurrent = [](CUcontext* context) { return *context = nullptr, CUDA_SUCCESS; };
  table.cuStreamSynchronize = [](CUstream) {
    if (!is_due(driver.fails_wait)) return CUDA_SUCCESS;
    for (auto& [at, bytes] : driver.there) bytes.assign(bytes.size(), 0xcc);  // nothing that was waited for came
    return CUDA_ERROR_ECC_UNCORRECTABLE;
  };
  table.cuMemcpyDtoHAsync_v2 = [](void* to, CUdeviceptr from, size_t size, CUstream) {
    return std::memcpy(to, driver.there.at(from).data(), size), CUDA_SUCCESS;
  };
  table.cuMemcpyHtoDAsync_v2 = [](CUdeviceptr to, const void* from, size_t size, CUstream) {
    if (is_due(driver.fails_write)) return CUDA_ERROR_ECC_UNCORRECTABLE;
    return std::memcpy(driver.there.at(to).data(), from, size), CUDA_SUCCESS;
  };
  return table;
}

class SwapGrant : public backend::Grant {
 public:
  std::uint64_t shared = 0, held = 0;

  const std::vector<backend::GrantedDevice>& devices() const override { return devices_; }
  bool charge(std::size_t, std::uint64_t bytes) override { return shared += bytes, true; }
  void refund(std::size_t, std::uint64_t bytes) override { shared -= bytes; }
  std::uint64_t used(std::size_t) const override { return shared; }
  bool hold(std::uint64_t bytes) override { return held += bytes, true; }
  void let_go(std::uint64_t bytes) override { held -= bytes; }
  bool is_time_sliced(std::size_t) const override { return false; }
  void admit(std::size_t, std::function<void()> admitted) override { admitted(); }
  void finished(std::size_t, std::uint64_t, std::uint32_t) override {}
  void use(std::size_t, std::uint64_t, bool) override {}
  std::vector<backend::User> users(std::size_t) const override { return {}; }
  std::optional<double> utilization(std::size_t) const override { return std::nullopt; }

 private:
  std::vector<backend::GrantedDevice> devices_{{"uuid", 1 << 20}};
};

/// Three pieces of memory, each with bytes of its own.
struct Taken {
  SwapGrant grant;
  std::shared_ptr<SwapSpace> space = std::make_shared<SwapSpace>(table_of_driver(), grant, 0);
  std::vector<std::shared_ptr<void>> held{3};

  Taken() {
    CUdeviceptr at = 0;
    for (std::size_t i = 0; i < held.size(); ++i) {
      REQUIRE(space->allocate(kTaken, at, held[i]) == CUDA_SUCCESS);
      driver.there.at(at).assign(kTaken, static_cast<std::uint8_t>(i + 1));
    }
  }
  bool is_whole() const {
    std::uint8_t byte = 0;
    bool holds = driver.there.size() == held.size();
    for (const auto& [at, bytes] : driver.there) holds &= bytes == std::vector<std::uint8_t>(kTaken, ++byte);
    return holds;
  }
  void give_back() {
    for (auto& one : held) one.reset();
    CHECK(grant.held == 0);
    CHECK(grant.shared == 0);
    CHECK(driver.there.empty());
    CHECK(driver.reserved.empty());
  }
};

}  // namespace

TEST_CASE("memory that goes to the host's comes back as it was") {
  Taken taken;
  CHECK(taken.space->out() == CUDA_SUCCESS);
  CHECK(driver.there.empty());
  CHECK(taken.space->in() == CUDA_SUCCESS);
  CHECK(taken.is_whole());
  taken.give_back();
}

TEST_CASE("where a part cannot leave, the rest comes back, however often that takes") {
  Taken taken;
  driver.fails_unmap = 3;
  CHECK(taken.space->out() == CUDA_ERROR_UNMAP_FAILED);
  CHECK(driver.there.size() == 1);
  driver.fails_create = 2;
  CHECK(taken.space->in() == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(taken.space->in() == CUDA_SUCCESS);
  CHECK(taken.is_whole());
  taken.give_back();
}

TEST_CASE("a block whose bytes did not arrive is not taken for one that is back") {
  for (const bool is_late : {false, true}) {
    Taken taken;
    REQUIRE(taken.space->out() == CUDA_SUCCESS);
    (is_late ? driver.fails_wait : driver.fails_write) = 1;
    CHECK(taken.space->in() == CUDA_ERROR_ECC_UNCORRECTABLE);
    CHECK_FALSE(taken.is_whole());
    CHECK(taken.space->in() == CUDA_SUCCESS);
    CHECK(taken.is_whole());
    taken.give_back();
  }
}

TEST_CASE("memory that is lost counts until it is given back") {
  Taken taken;
  REQUIRE(taken.space->out() == CUDA_SUCCESS);
  driver.fails_write = 2;
  CHECK(taken.space->in() == CUDA_ERROR_ECC_UNCORRECTABLE);
  taken.space->lose();
  CHECK(taken.space->in() == CUDA_SUCCESS);   // what was mapped has its bytes, the rest stays lost
  CHECK(driver.there.size() == 2);
  CHECK(taken.grant.held == 3 * kTaken);
  CHECK(taken.space->out() == CUDA_SUCCESS);
  CHECK(driver.there.empty());
  CHECK(taken.space->in() == CUDA_SUCCESS);
  taken.give_back();
}
