#include "cuda/export_tables.h"

#include <doctest/doctest.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "cuda/context_storage.h"

using namespace flexrack::cuda;

namespace {

int object;
const auto primary = reinterpret_cast<CUcontext>(&object);

class MadeUp : public DriverFacts {
 public:
  CUresult primary_context(CUdevice device, CUcontext* context) noexcept override {
    if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
    *context = primary;
    return CUDA_SUCCESS;
  }
  CUcontext current_context() noexcept override { return current; }
  CUresult context_id(CUcontext context, unsigned long long* id) noexcept override {
    if (context != primary) return CUDA_ERROR_INVALID_CONTEXT;
    *id = 44;
    return CUDA_SUCCESS;
  }
  std::vector<DeviceIdentity> devices() noexcept override { return {identity}; }
  CUresult load_module(CUmodule* module, const void* image) noexcept override {
    if (image != &object) return CUDA_ERROR_INVALID_IMAGE;
    *module = reinterpret_cast<CUmodule>(&object);
    return CUDA_SUCCESS;
  }
  int version() noexcept override { return 13000; }

  CUcontext current = nullptr;
  DeviceIdentity identity{.uuid = {1, 2, 3}, .pci_domain = 0, .pci_bus = 7, .pci_device = 0};
} driver;

CUuuid id(std::array<std::uint8_t, 16> bytes) {
  CUuuid uuid;
  std::memcpy(uuid.bytes, bytes.data(), bytes.size());
  return uuid;
}

const CUuuid kInterface =
    id({0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9});
const CUuuid kHooks =
    id({0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66});
const CUuuid kThreads =
    id({0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc});
const CUuuid kContexts =
    id({0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8, 0xf2});
const CUuuid kStorage =
    id({0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93});
const CUuuid kChecks =
    id({0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa, 0x7e});
const CUuuid kIntegrity =
    id({0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2});

const void* const* table(const CUuuid& uuid) {
  const void* found = nullptr;
  REQUIRE(export_table(driver, &found, &uuid) == CUDA_SUCCESS);
  return static_cast<const void* const*>(found);
}

template <class Function>
Function* slot(const CUuuid& uuid, std::size_t number) {
  return reinterpret_cast<Function*>(const_cast<void*>(table(uuid)[number]));
}

}  // namespace

TEST_CASE("tables begin with their size, and every slot is there") {
  const std::pair<CUuuid, std::size_t> sized[] = {{kInterface, 13}, {kHooks, 7},  {kThreads, 4},
                                                  {kContexts, 64},  {kChecks, 4}, {kIntegrity, 3}};
  for (const auto& [uuid, slots] : sized) {
    CHECK(reinterpret_cast<std::size_t>(table(uuid)[0]) == slots * sizeof(void*));
    for (std::size_t i = 1; i < slots; ++i) CHECK(table(uuid)[i] != nullptr);
  }
  for (std::size_t i = 0; i < 4; ++i) CHECK(table(kStorage)[i] != nullptr);
  CHECK(slot<CUresult()>(kInterface, 3)() == CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("an unknown table is not found") {
  const CUuuid seventh =
      id({0xf8, 0xcf, 0xf9, 0x51, 0x21, 0x46, 0x8b, 0x4e, 0xb9, 0xe2, 0xfb, 0x46, 0x9e, 0x7c, 0x0d, 0xd9});
  const void* found = nullptr;
  CHECK(export_table(driver, &found, &seventh) == CUDA_ERROR_NOT_FOUND);
  CHECK(export_table(driver, nullptr, &kChecks) == CUDA_ERROR_INVALID_VALUE);
  CHECK(export_table(driver, &found, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(found == nullptr);
}

TEST_CASE("the primary context is the driver's") {
  const auto get = slot<CUresult(CUcontext*, CUdevice)>(kInterface, 2);
  CUcontext context = nullptr;
  CHECK(get(&context, 0) == CUDA_SUCCESS);
  CHECK(context == primary);
  CHECK(get(&context, 1) == CUDA_ERROR_INVALID_DEVICE);
}

TEST_CASE("a thread's context and its number are told, as cuBLAS asks for them") {
  const auto current = slot<CUresult(CUcontext*)>(kThreads, 2);
  const auto number = slot<CUresult(CUcontext, unsigned long long*)>(kContexts, 4);
  driver.current = primary;
  CUcontext context = nullptr;
  CHECK(current(nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(current(&context) == CUDA_SUCCESS);
  CHECK(context == primary);
  unsigned long long reported = 0;
  CHECK(number(context, &reported) == CUDA_SUCCESS);
  CHECK(reported == 44);
  driver.current = nullptr;
  CHECK(current(&context) == CUDA_SUCCESS);
  CHECK(context == nullptr);
  CHECK(number(nullptr, &reported) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("modules are loaded as the runtime of CUDA 11 asks for it") {
  for (const std::size_t number : {1, 6}) {
    const auto load = slot<CUresult(CUmodule*, const void*, const void*, const void*, const void*)>(kInterface, number);
    CUmodule module = nullptr;
    CHECK(load(&module, &object, nullptr, nullptr, nullptr) == CUDA_SUCCESS);
    CHECK(module == reinterpret_cast<CUmodule>(&object));
    CHECK(load(&module, &driver, nullptr, nullptr, nullptr) == CUDA_ERROR_INVALID_IMAGE);
    CHECK(load(nullptr, &object, nullptr, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(load(&module, nullptr, nullptr, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
  }
}

TEST_CASE("what cuBLAS asks of a context is answered with zero, and nothing beyond is written") {
  struct {
    std::uint32_t number = 7, behind = 8;
  } first;
  struct {
    std::uint64_t value = 7, behind = 8;
  } second;
  CHECK(slot<CUresult(CUcontext, std::uint64_t, std::uint32_t*)>(kContexts, 51)(primary, 0, &first.number) ==
        CUDA_SUCCESS);
  CHECK(slot<CUresult(CUcontext, std::uint32_t, std::uint64_t*)>(kContexts, 39)(primary, first.number, &second.value) ==
        CUDA_SUCCESS);
  CHECK((first.number == 0 && first.behind == 8 && second.value == 0 && second.behind == 8));
  CHECK(slot<CUresult(CUcontext, std::uint64_t, std::uint32_t*)>(kContexts, 51)(primary, 0, nullptr) ==
        CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("values are kept with a context, and a null context is the current one") {
  const auto put = slot<CUresult(CUcontext, void*, void*, StorageDestructor)>(kStorage, 0);
  const auto remove = slot<CUresult(CUcontext, void*)>(kStorage, 1);
  const auto get = slot<CUresult(void**, CUcontext, void*)>(kStorage, 2);
  void* value = nullptr;
  driver.current = nullptr;
  CHECK(get(&value, nullptr, &driver) == CUDA_ERROR_INVALID_CONTEXT);
  driver.current = primary;
  CHECK(get(&value, nullptr, &driver) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(put(nullptr, &driver, &value, nullptr) == CUDA_SUCCESS);
  CHECK(get(&value, primary, &driver) == CUDA_SUCCESS);
  CHECK(value == &value);
  CHECK(remove(nullptr, &driver) == CUDA_SUCCESS);
  CHECK(get(&value, primary, &driver) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("hooks lend two buffers, and checks find nothing") {
  void* buffer = nullptr;
  std::size_t size = 0;
  slot<void(void**, std::size_t*)>(kHooks, 2)(&buffer, &size);
  CHECK((buffer != nullptr && size == 1024));
  slot<void(void**, std::size_t*)>(kHooks, 6)(&buffer, &size);
  CHECK((buffer != nullptr && size == 14));
  std::uint32_t finding = 7;
  const void* what = nullptr;
  CHECK(slot<CUresult(CUcontext, std::uint32_t*, const void**)>(kChecks, 2)(primary, &finding, &what) == CUDA_SUCCESS);
  CHECK(finding == 0);
}

TEST_CASE("the integrity answer depends on everything that both sides know") {
  const auto check = slot<CUresult(std::uint32_t, std::uint64_t, std::uint64_t*)>(kIntegrity, 1);
  const auto ask = [&](std::uint32_t version, std::uint64_t seconds) {
    std::array<std::uint64_t, 2> answer{};
    REQUIRE(check(version, seconds, answer.data()) == CUDA_SUCCESS);
    return answer;
  };
  CHECK(ask(13000, 5) == std::array<std::uint64_t, 2>{0x3341181c03cb675c, 0x8ed383aa1f4cd1e8});
  CHECK(ask(13001, 5) == std::array<std::uint64_t, 2>{0x1841181c03cb675c, 0x8ed383aa1f4cd1e8});
  const auto answer = ask(13002, 5);
  const std::array devices{driver.identity};
  IntegrityQuestion question{.version = 13002,
                             .seconds = 5,
                             .driver_version = 13000,
                             .process = static_cast<std::uint32_t>(getpid()),
                             .thread = static_cast<std::uint32_t>(pthread_self()),
                             .cudart_table = table(kInterface),
                             .integrity_table = table(kIntegrity),
                             .integrity_function = table(kIntegrity)[1],
                             .devices = devices};
  CHECK(integrity_answer(question) == answer);
  CHECK(ask(13002, 6) != answer);
  driver.identity.pci_bus = 8;
  CHECK(ask(13002, 5) != answer);
  driver.identity.pci_bus = 7;
  question.process += 1;
  CHECK(integrity_answer(question) != answer);
}
