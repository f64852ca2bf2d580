// What the driver is before cuInit, what it makes of its environment, of a fork.
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "driver_rig.h"

using namespace flexrack::test::driver;

namespace flexrack::test::driver {

int run_apart(const std::string& test_case, const std::vector<std::pair<std::string, std::string>>& environment) {
  int ends[2];
  REQUIRE_EQ(pipe(ends), 0);
  const auto child = fork();
  if (child == 0) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    setenv("FLEXRACK_TEST_APART", std::to_string(ends[1]).c_str(), 1);
    const auto filter = "--test-case=" + test_case;
    execl("/proc/self/exe", "test_sim", filter.c_str(), "--no-skip", "--minimal", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  char said = 0;
  CHECK_EQ(read(ends[0], &said, 1), 1);
  close(ends[0]);
  int status = 0;
  REQUIRE_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void apart() {
  const auto* end = std::getenv("FLEXRACK_TEST_APART");
  REQUIRE_NE(end, nullptr);
  REQUIRE_EQ(write(std::atoi(end), "r", 1), 1);
  close(std::atoi(end));
}

}  // namespace flexrack::test::driver

TEST_CASE("driver: before cuInit" * doctest::test_suite("apart") * doctest::skip()) {
  apart();
  int number = 0;
  CUcontext context = nullptr;
  CHECK_EQ(cuDeviceGetCount(&number), CUDA_ERROR_NOT_INITIALIZED);
  CHECK_EQ(cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
  CHECK_EQ(cuDriverGetVersion(&number), CUDA_SUCCESS);
  CHECK_EQ(number, 13000);
  CHECK_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  const char* name = nullptr;
  CHECK_EQ(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name), CUDA_SUCCESS);
  CHECK_EQ(std::string(name), "CUDA_ERROR_ILLEGAL_ADDRESS");
  CHECK_EQ(cuGetErrorString(static_cast<CUresult>(12345), &name), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(name, nullptr);
}

TEST_CASE("driver: cuInit refuses" * doctest::test_suite("apart") * doctest::skip()) {
  apart();
  CHECK_EQ(cuInit(0), CUDA_ERROR_INVALID_VALUE);
  char text[4096];
  size_t size = sizeof text;
  CHECK_EQ(cuLogsDumpToMemory(nullptr, text, &size, 0), CUDA_SUCCESS);
  CHECK_NE(std::string(text, size).find(std::getenv("EXPECTED")), std::string::npos);
}

TEST_CASE("driver: a child of a process that uses the driver" * doctest::test_suite("apart") * doctest::skip()) {
  apart();
  initialise();
  const auto child = fork();
  if (child == 0) {
    int count = 0;
    CUcontext context = nullptr;
    const bool is_dead = cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuCtxCreate_v2(&context, 0, 0) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED;
    _exit(is_dead ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
}

TEST_CASE("driver: initialisation") {
  CHECK_EQ(run_apart("driver: before cuInit", {}), 0);
  CHECK_EQ(run_apart("driver: a child of a process that uses the driver", {}), 0);
  // What it takes for an error.
  const std::pair<const char*, const char*> bad[] = {
      {"DEVICES", "0"},         {"DEVICES", "65"},
      {"DEVICES", "two"},       {"CAPABILITY", "7.6"},
      {"CAPABILITY", "75"},     {"MEMORY", "4GB"},
      {"MEMORY", "1KiB"},       {"MEMORY", "-1"},
      {"LATENCY_US", "-3"},     {"LATENCY_US", "fast"},
      {"LATENCY_US", "nan"},    {"BANDWIDTH_GBPS", "1e9"},
      {"FAULT", "launch"},      {"FAULT", "launch:0"},
      {"FAULT", "printer:1"},   {"FAULT", "launch:1,x"},
      {"VERBOSE", "yes"},       {"SEED", "x"},
      {"CONTEXT", "much"},      {"MACHINE_CODE", "yes"},
      {"STRICT", "yes"},        {"CACHE", "here"},
      {"DRIVER", "13.9"},       {"DRIVER", "13"},
      {"MULTIPROCESSORS", "0"}, {"MULTIPROCESSORS", "many"},
  };
  for (const auto& [name, value] : bad) {
    const auto variable = std::string("FLEXRACK_SIM_") + name;
    CAPTURE(variable);
    CAPTURE(value);
    CHECK_EQ(run_apart("driver: cuInit refuses",
                       {{variable, value},
                        {"EXPECTED", variable + "=" + value},
                        {"FLEXRACK_SIM_VERBOSE", variable == "FLEXRACK_SIM_VERBOSE" ? value : "0"}}),
             0);
  }
}

TEST_CASE("driver: as the environment says" * doctest::test_suite("apart") * doctest::skip()) {
  apart();
  CU(cuInit(0));
  int count = 0, major = 0, minor = 0;
  size_t bytes = 0;
  CU(cuDeviceGetCount(&count));
  CHECK_EQ(count, 5);
  CU(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 4));
  CU(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 4));
  CHECK_EQ(major, 8);
  CHECK_EQ(minor, 6);
  CU(cuDeviceTotalMem_v2(&bytes, 4));
  CHECK_EQ(bytes, std::size_t{100} << 20);
  CUcontext context = nullptr;
  size_t free = 0, total = 0;
  CU(cuCtxCreate_v2(&context, 0, 4));
  CU(cuMemGetInfo_v2(&free, &total));
  CHECK_EQ(free, std::size_t{97} << 20);
  CU(cuCtxDestroy_v2(context));
}

TEST_CASE("driver: settings") {
  CHECK_EQ(run_apart("driver: as the environment says", {{"FLEXRACK_SIM_DEVICES", "5"},
                                                         {"FLEXRACK_SIM_CAPABILITY", "8.6"},
                                                         {"FLEXRACK_SIM_MEMORY", "100MiB"},
                                                         {"FLEXRACK_SIM_CONTEXT", "3MiB"}}),
           0);
}

TEST_CASE("driver: devices") {
  initialise();
  int count = 0;
  CU(cuDeviceGetCount(&count));
  CHECK_EQ(count, kDevices);
  std::set<std::string> uuids, addresses;
  for (int i = 0; i < count; ++i) {
    CUdevice device = -1, found = -1;
    CU(cuDeviceGet(&device, i));
    CHECK_EQ(device, i);
    char name[64], short_name[5], address[32];
    CU(cuDeviceGetName(name, sizeof name, device));
    CHECK_EQ(std::string(name), "Flexrack Simulated GPU");
    CU(cuDeviceGetName(short_name, sizeof short_name, device));
    CHECK_EQ(std::string(short_name), "Flex");
    CUuuid uuid, again;
    CU(cuDeviceGetUuid_v2(&uuid, device));
    CU(cuDeviceGetUuid(&again, device));
    CHECK_EQ(std::memcmp(&uuid, &again, sizeof uuid), 0);
    uuids.emplace(uuid.bytes, sizeof uuid.bytes);
    CU(cuDeviceGetPCIBusId(address, sizeof address, device));
    addresses.emplace(address);
    CU(cuDeviceGetByPCIBusId(&found, address));
    CHECK_EQ(found, device);
    CU(cuDeviceGetByPCIBusId(&found, address + 5));
    CHECK_EQ(found, device);
    int value = 0;
    for (int which = 1; which < static_cast<int>(CU_DEVICE_ATTRIBUTE_MAX); ++which) {
      CAPTURE(which);
      CHECK_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(which), device), CUDA_SUCCESS);
    }
    CHECK_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX), device),
             CUDA_ERROR_INVALID_VALUE);
    CHECK_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(0), device), CUDA_ERROR_INVALID_VALUE);
  }
  CHECK_EQ(uuids.size(), static_cast<std::size_t>(count));
  CHECK_EQ(addresses.size(), static_cast<std::size_t>(count));
  CUdevice device = 0;
  CHECK_EQ(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
  CHECK_EQ(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  CHECK_EQ(cuDeviceGetByPCIBusId(&device, "0000:77:00.0"), CUDA_ERROR_INVALID_DEVICE);
  CHECK_EQ(cuDeviceGetByPCIBusId(&device, "somewhere"), CUDA_ERROR_INVALID_VALUE);
}
