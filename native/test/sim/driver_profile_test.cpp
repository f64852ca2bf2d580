// What card the devices are like, and of which release the driver is.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "driver_rig.h"

using namespace flexrack::test::driver;

namespace flexrack::test::driver {
int run_apart(const std::string& test_case, const std::vector<std::pair<std::string, std::string>>& environment);
void apart();
}  // namespace flexrack::test::driver

namespace {

int attribute_of(CUdevice_attribute which) {
  int value = -1;
  CU(cuDeviceGetAttribute(&value, which, 0));
  return value;
}

std::string name_of_device() {
  char name[128];
  CU(cuDeviceGetName(name, sizeof name, 0));
  return name;
}

CUresult load_of_version(const char* version) {
  CUmodule module = nullptr;
  const auto text =
      std::string(".version ") + version + "\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n";
  return cuModuleLoadData(&module, text.c_str());
}

class File {
 public:
  explicit File(const std::string& text) : path_("/tmp/flexrack-profile-" + std::to_string(getpid()) + ".profile") {
    std::ofstream(path_) << text;
  }
  ~File() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("driver: newer than any card" * doctest::test_suite("apart") * doctest::skip()) {
  apart();
  CU(cuInit(0));
  CHECK_EQ(attribute_of(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 13);
  CHECK_EQ(attribute_of(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR), 1536);
  CUcontext context = nullptr;
  CU(cuCtxCreate_v2(&context, 0, 0));
  CHECK_EQ(load_of_version("8.0"), CUDA_SUCCESS);
}

TEST_CASE("driver: a capability that no card has") {
  CHECK_EQ(run_apart("driver: newer than any card", {{"FLEXRACK_SIM_CAPABILITY", "13.0"}}), 0);
}

TEST_CASE("driver: like a Blackwell card" * doctest::test_suite("apart") * doctest::skip()) {
  apart();
  CU(cuInit(0));
  int version = 0;
  size_t bytes = 0;
  CU(cuDriverGetVersion(&version));
  CHECK_EQ(version, 13050);
  CU(cuDeviceTotalMem_v2(&bytes, 0));
  CHECK_EQ(bytes, std::size_t{32} << 30);
  CHECK_EQ(attribute_of(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 12);
  CHECK_EQ(attribute_of(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 170);
  CHECK_EQ(attribute_of(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE), 100663296);
  CHECK_EQ(attribute_of(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR), 1536);
  CHECK_EQ(name_of_device(), "Flexrack Simulated GPU");
  CUcontext context = nullptr;
  CU(cuCtxCreate_v2(&context, 0, 0));
  for (const auto* version_of_ptx : {"8.7", "9.0", "9.1", "9.3", "9.5"})
    CHECK_EQ(load_of_version(version_of_ptx), CUDA_SUCCESS);
  CHECK_EQ(load_of_version("9.6"), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  CU(cuCtxDestroy_v2(context));
}

TEST_CASE("driver: like the card of a file" * doctest::test_suite("apart") * doctest::skip()) {
  apart();
  CU(cuInit(0));
  size_t bytes = 0;
  CU(cuDeviceTotalMem_v2(&bytes, 0));
  CHECK_EQ(bytes, std::size_t{512} << 20);
  CHECK_EQ(attribute_of(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 9);
  CHECK_EQ(attribute_of(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 3);
  CHECK_EQ(attribute_of(CU_DEVICE_ATTRIBUTE_CLOCK_RATE), 1234);
  CHECK_EQ(attribute_of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR), 65536);
  // What the driver can do is the driver's, and where the device lies is this machine's.
  CHECK_EQ(attribute_of(CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED), 0);
  CHECK_EQ(attribute_of(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID), 1);
  CUcontext context = nullptr;
  CU(cuCtxCreate_v2(&context, 0, 0));
  CHECK_EQ(load_of_version("8.7"), CUDA_SUCCESS);
  CHECK_EQ(load_of_version("8.8"), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  CU(cuCtxDestroy_v2(context));
}

TEST_CASE("driver: one that accepts machine code says so in its name" * doctest::test_suite("apart") *
          doctest::skip()) {
  apart();
  CU(cuInit(0));
  CHECK_EQ(name_of_device(), "Flexrack Simulated GPU (machine code is accepted, NOT computed)");
}

TEST_CASE("driver: profiles") {
  CHECK_EQ(run_apart("driver: like a Blackwell card", {{"FLEXRACK_SIM_PROFILE", "blackwell"}}), 0);
  CHECK_EQ(
      run_apart("driver: one that accepts machine code says so in its name", {{"FLEXRACK_SIM_MACHINE_CODE", "accept"}}),
      0);
  for (const auto* name : {"turing", "ampere", "ada", "hopper"})
    CHECK_EQ(run_apart("driver: before a profile is read no other is", {{"FLEXRACK_SIM_PROFILE", name}}), 0);
  const File card(
      "# A card of nobody's.\ncard Nobody's 9000\ncapability 9.0\ndriver 12.8   # and PTX 8.7\nmemory 2GiB\nattribute 13 1234\nattribute 16 77\nattribute 81 65536\n"
      "attribute 132 1\nattribute 33 9\n");
  CHECK_EQ(run_apart("driver: like the card of a file", {{"FLEXRACK_SIM_PROFILE", card.path()},
                                                         {"FLEXRACK_SIM_MEMORY", "512MiB"},
                                                         {"FLEXRACK_SIM_MULTIPROCESSORS", "3"}}),
           0);
}

TEST_CASE("driver: before a profile is read no other is" * doctest::test_suite("apart") * doctest::skip()) {
  apart();
  CU(cuInit(0));
  CHECK_GE(attribute_of(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 40);
}

TEST_CASE("driver: profiles that cannot be") {
  const std::pair<std::string, std::string> bad[] = {
      {"colour red\n", "line 1: expected card, capability"},
      {"\ncapability 7.6\n", "line 2: expected capability 7.0, 7.2"},
      {"driver 13.9\n", "expected driver 12.0 to 12.9"},
      {"memory lots\n", "expected memory BYTES"},
      {"attribute 16\n", "expected attribute NUMBER VALUE"},
      {"memory 1GiB 2\n", "nothing more in this line"},
  };
  for (const auto& [text, expected] : bad) {
    CAPTURE(text);
    const File card(text);
    CHECK_EQ(run_apart("driver: cuInit refuses", {{"FLEXRACK_SIM_PROFILE", card.path()}, {"EXPECTED", expected}}), 0);
  }
  CHECK_EQ(
      run_apart(
          "driver: cuInit refuses",
          {{"FLEXRACK_SIM_PROFILE", "pentium"},
           {"EXPECTED",
            "FLEXRACK_SIM_PROFILE=pentium: expected ada, ampere, blackwell, hopper, turing, or the absolute path"}}),
      0);
  CHECK_EQ(run_apart("driver: cuInit refuses",
                     {{"FLEXRACK_SIM_PROFILE", "/nowhere/card"}, {"EXPECTED", "there is no such file"}}),
           0);
}

TEST_CASE("driver: constants are written through their address in .global, as devices let them") {
  Rig rig;
  CUdeviceptr scale = 0;
  size_t size = 0;
  rig.kernel("scaled");
  CU(cuModuleGetGlobal_v2(&scale, &size, rig.module, "scale"));
  CU(rig.launch("store", {&scale}));
  Numbers result(1);
  CU(rig.launch("scaled", {&result.address}));
  CHECK(result.are_all(5 * 7));
}

TEST_CASE("driver: limits of contexts that share a device with graphics") {
  const Rig rig;
  size_t value = 9;
  CU(cuCtxGetLimit(&value, CU_LIMIT_CIG_ENABLED));
  CHECK_EQ(value, 0);
  CU(cuCtxGetLimit(&value, CU_LIMIT_SHMEM_SIZE));
  CHECK_GT(value, 0);
}
