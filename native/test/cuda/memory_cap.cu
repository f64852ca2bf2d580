// Takes memory until there is none, by every way of taking it, and says what it had. Nothing may go beyond what the
// device says is free, and all of it is free again afterwards. `memory_cap managed` takes managed memory too: only
// where it is limited, for a whole GPU gives more than it has.
#include <string>

#include "driver.h"

namespace {

struct Way {
  const char* name;
  bool (*take)(std::size_t bytes, void** memory);   ///< false: out of memory
  void (*give_back)(void* memory);
};

bool is_taken(cudaError_t error, const char* call, int line) {
  if (error == cudaErrorMemoryAllocation) return (void)cudaGetLastError(), false;
  program::check(error, call, line);
  return true;
}
#define TAKEN(call) is_taken((call), #call, __LINE__)

struct Mapped {
  CUmemGenericAllocationHandle handle;
  CUdeviceptr address;
  std::size_t bytes;
};

bool take_mapped(std::size_t bytes, void** memory) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  Mapped mapped{0, 0, bytes};
  const auto error = cuMemCreate(&mapped.handle, bytes, &properties, 0);
  if (error == CUDA_ERROR_OUT_OF_MEMORY) return false;
  DRIVER(error);
  DRIVER(cuMemAddressReserve(&mapped.address, bytes, 0, 0, 0));
  DRIVER(cuMemMap(mapped.address, bytes, 0, mapped.handle, 0));
  *memory = new Mapped(mapped);
  return true;
}

void give_back_mapped(void* memory) {
  const auto* mapped = static_cast<Mapped*>(memory);
  DRIVER(cuMemUnmap(mapped->address, mapped->bytes));
  DRIVER(cuMemAddressFree(mapped->address, mapped->bytes));
  DRIVER(cuMemRelease(mapped->handle));
  delete mapped;
}

bool take_array(std::size_t bytes, void** memory) {
  const auto format = cudaCreateChannelDesc<float4>();
  return TAKEN(cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(memory), &format,
                                 make_cudaExtent(256, 256, bytes / (256 * 256 * 16)), 0));
}

bool take_pitched(std::size_t bytes, void** memory) {
  std::size_t pitch = 0;
  return TAKEN(cudaMallocPitch(memory, &pitch, 4096, bytes / 4096));
}

const Way kWays[] = {
    {"cudaMalloc", [](std::size_t bytes, void** memory) { return TAKEN(cudaMalloc(memory, bytes)); },
     [](void* memory) { CHECK(cudaFree(memory)); }},
    {"cudaMallocPitch", take_pitched, [](void* memory) { CHECK(cudaFree(memory)); }},
    {"cudaMallocAsync", [](std::size_t bytes, void** memory) { return TAKEN(cudaMallocAsync(memory, bytes, nullptr)); },
     [](void* memory) { CHECK(cudaFreeAsync(memory, nullptr)); }},
    {"cudaMalloc3DArray", take_array, [](void* memory) { CHECK(cudaFreeArray(static_cast<cudaArray_t>(memory))); }},
    {"cuMemCreate", take_mapped, give_back_mapped},
    {"cudaMallocManaged", [](std::size_t bytes, void** memory) { return TAKEN(cudaMallocManaged(memory, bytes)); },
     [](void* memory) { CHECK(cudaFree(memory)); }},
};

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

/// Until not even 2 MiB are left, larger pieces first.
std::vector<void*> take_all(const Way& way, std::size_t* had) {
  constexpr std::size_t kLeast = 2 << 20;
  std::size_t piece = kLeast;
  while (piece * 8 < free_bytes()) piece *= 2;
  std::vector<void*> all;
  for (; piece >= kLeast; piece /= 2)
    for (void* memory = nullptr; way.take(piece, &memory); *had += piece) all.push_back(memory);
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  const bool with_managed = count > 1 && std::string(arguments[1]) == "managed";
  DRIVER(cuInit(0));
  CHECK(cudaFree(nullptr));
  cudaDeviceProp properties{};
  std::size_t free = 0, total = 0;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  CHECK(cudaMemGetInfo(&free, &total));
  program::expect(properties.totalGlobalMem == total && free <= total,
                  "the device's memory is what is said everywhere");
  std::printf("total %zu, free %zu\n", total, free);
  for (const auto& way : kWays) {
    if (std::string(way.name) == "cudaMallocManaged" && !with_managed) continue;
    const auto before = free_bytes();
    std::size_t had = 0;
    const auto all = take_all(way, &had);
    const auto left = free_bytes();
    for (auto* memory : all) way.give_back(memory);
    cudaMemPool_t pool;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolTrimTo(pool, 0));
    const auto after = free_bytes();
    std::printf("%s: had %zu of %zu, then %zu left, in the end %zu\n", way.name, had, before, left, after);
    program::expect(had <= before, "no more than was free");
    program::expect(had + (64 << 20) > before, "and nearly all of it");
    program::expect(after == before, "and all of it is free again");
  }
  return program::verdict();
}
