// The library as a program finds it where nothing is leased.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "client/nvml/watch.h"
#include "gen/nvml/nvml.h"

namespace {

/// Initialised without devices, for as long as it lives.
struct Library {
  Library() {
    unsetenv("FLEXRACK_LEASES");
    REQUIRE(nvmlInitWithFlags(NVML_INIT_FLAG_NO_GPUS) == NVML_SUCCESS);
  }
  ~Library() { nvmlShutdown(); }
};

nvmlDevice_t no_device() {
  static int somewhere = 0;
  return reinterpret_cast<nvmlDevice_t>(&somewhere);
}

}  // namespace

TEST_CASE("before nvmlInit everything says so, what is refused too") {
  unsigned count = 0;
  char text[80];
  CHECK(nvmlDeviceGetCount_v2(&count) == NVML_ERROR_UNINITIALIZED);
  CHECK(nvmlSystemGetDriverVersion(text, sizeof text) == NVML_ERROR_UNINITIALIZED);
  CHECK(nvmlDeviceGetName(no_device(), text, sizeof text) == NVML_ERROR_UNINITIALIZED);
  CHECK(nvmlDeviceGetSerial(no_device(), text, sizeof text) == NVML_ERROR_UNINITIALIZED);
  CHECK(nvmlShutdown() == NVML_ERROR_UNINITIALIZED);
}

TEST_CASE("without a lease there is no driver; a lease file that is not ours to read is none") {
  unsetenv("FLEXRACK_LEASES");
  CHECK(nvmlInit_v2() == NVML_ERROR_DRIVER_NOT_LOADED);
  CHECK(nvmlInit() == NVML_ERROR_DRIVER_NOT_LOADED);
  const auto file = (std::filesystem::temp_directory_path() / ("leases-" + std::to_string(getpid()))).string();
  std::ofstream(file) << "{}";
  std::filesystem::permissions(file, std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  setenv("FLEXRACK_LEASES", file.c_str(), 1);
  CHECK(nvmlInit_v2() == NVML_ERROR_DRIVER_NOT_LOADED);
  std::filesystem::remove(file);
  unsetenv("FLEXRACK_LEASES");
  unsigned count = 0;
  CHECK(nvmlDeviceGetCount_v2(&count) == NVML_ERROR_UNINITIALIZED);
}

TEST_CASE("initialising is counted, and may be asked not to need devices") {
  const Library once;
  { const Library twice; }
  unsigned count = 7;
  CHECK(nvmlDeviceGetCount_v2(&count) == NVML_SUCCESS);
  CHECK(count == 0);
  nvmlDevice_t device = nullptr;
  CHECK(nvmlDeviceGetHandleByIndex_v2(0, &device) == NVML_ERROR_INVALID_ARGUMENT);
  CHECK(nvmlDeviceGetHandleByUUID("GPU-1", &device) == NVML_ERROR_NOT_FOUND);
  CHECK(nvmlDeviceGetHandleByPciBusId_v2("0000:01:00.0", &device) == NVML_ERROR_NOT_FOUND);
  CHECK(nvmlDeviceGetHandleByPciBusId_v2("nowhere", &device) == NVML_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("what is no handle is noticed, and what is refused is said") {
  const Library library;
  nvmlMemory_t memory{};
  for (const auto handle : {no_device(), nvmlDevice_t{}})
    CHECK(nvmlDeviceGetMemoryInfo(handle, &memory) == NVML_ERROR_INVALID_ARGUMENT);
  CHECK(nvmlDeviceSetComputeMode(no_device(), NVML_COMPUTEMODE_PROHIBITED) == NVML_ERROR_NOT_SUPPORTED);
  nvmlGpuInstance_t part = nullptr;
  CHECK(nvmlDeviceCreateGpuInstance(no_device(), 0, &part) == NVML_ERROR_NOT_SUPPORTED);
}

TEST_CASE("every error has a text") {
  CHECK(std::string(nvmlErrorString(NVML_SUCCESS)) == "Success");
  CHECK(std::string(nvmlErrorString(NVML_ERROR_GPU_IS_LOST)) == "GPU is lost");
  CHECK(std::string(nvmlErrorString(static_cast<nvmlReturn_t>(4711))) == "Unknown Error");
#define RESULT(name, text) CHECK(std::strlen(nvmlErrorString(name)) > 0);
#include "gen/nvml/errors.inc"
#undef RESULT
}

TEST_CASE("a process of this machine is called as it was started") {
  const Library library;
  char name[512] = {}, little[4] = {};
  CHECK(nvmlSystemGetProcessName(static_cast<unsigned>(getpid()), name, sizeof name) == NVML_SUCCESS);
  CHECK(std::string(name).find("test_nvml") != std::string::npos);
  CHECK(nvmlSystemGetProcessName(static_cast<unsigned>(getpid()), little, sizeof little) == NVML_SUCCESS);
  CHECK(std::string(little) == std::string(name).substr(0, 3));
  CHECK(nvmlSystemGetProcessName(0x7fffffff, name, sizeof name) == NVML_ERROR_NOT_FOUND);
}

TEST_CASE("nvidia-smi gets its table, and nothing in it is supported") {
  constexpr unsigned char kId[16] = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                     0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};
  constexpr unsigned char kOther[16] = {};
  const void* table = nullptr;
  CHECK(nvmlInternalGetExportTable(&table, kId) == NVML_SUCCESS);
  const auto* const words = static_cast<const std::uintptr_t*>(table);
  for (std::size_t at = 1; at < words[0] / sizeof(std::uintptr_t); ++at) {
    unsigned count = 7;
    CHECK(reinterpret_cast<nvmlReturn_t (*)(nvmlDevice_t, unsigned*)>(words[at])(nullptr, &count) ==
          NVML_ERROR_NOT_SUPPORTED);
    CHECK(count == 7);
  }
  CHECK(nvmlInternalGetExportTable(&table, kOther) == NVML_ERROR_INVALID_ARGUMENT);
  CHECK(table == nullptr);
}

TEST_CASE("a set of events is the library's until it is freed, and nothing is in it") {
  nvmlEventSet_t set = nullptr;
  CHECK(nvmlEventSetCreate(&set) == NVML_ERROR_UNINITIALIZED);
  const Library library;
  CHECK(nvmlEventSetCreate(nullptr) == NVML_ERROR_INVALID_ARGUMENT);
  REQUIRE(nvmlEventSetCreate(&set) == NVML_SUCCESS);
  nvmlEventData_t event;
  CHECK(nvmlEventSetWait_v2(set, &event, 0) == NVML_ERROR_TIMEOUT);
  CHECK(nvmlEventSetWait(set, &event, 1) == NVML_ERROR_TIMEOUT);
  CHECK(nvmlEventSetWait_v2(set, nullptr, 0) == NVML_ERROR_INVALID_ARGUMENT);
  CHECK(nvmlDeviceRegisterEvents(no_device(), nvmlEventTypeXidCriticalError, set) == NVML_ERROR_INVALID_ARGUMENT);
  CHECK(nvmlEventSetFree(set) == NVML_SUCCESS);
  CHECK(nvmlEventSetFree(set) == NVML_ERROR_INVALID_ARGUMENT);
  CHECK(nvmlEventSetWait_v2(set, &event, 0) == NVML_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("text that does not fit is not cut") {
  char into[5] = "abcd";
  using flexrack::client::nvml::give_text;
  CHECK(give_text("12345", into, sizeof into) == NVML_ERROR_INSUFFICIENT_SIZE);
  CHECK(std::string(into) == "abcd");
  CHECK(give_text("1234", into, sizeof into) == NVML_SUCCESS);
  CHECK(std::string(into) == "1234");
  CHECK(give_text("", nullptr, 0) == NVML_ERROR_INVALID_ARGUMENT);
}
