// A segment that grows and shrinks, as PyTorch's allocator makes it: addresses for more than the device has, memory
// mapped behind what is there, and given back piece by piece. What the device has left is exact to the byte.
#include <unistd.h>

#include "driver.h"

__global__ void add(int* values, std::size_t count, int value) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += std::size_t{gridDim.x} * blockDim.x)
    values[i] += value;
}

constexpr std::size_t kPiece = std::size_t{20} << 20;

struct Segment {
  CUdevice device;
  CUdeviceptr base = 0;
  std::size_t room = 0;
  std::vector<CUmemGenericAllocationHandle> pieces;
  CUmemAllocationProp properties{};

  explicit Segment(CUdevice on) : device(on) {
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    // PyTorch before 2.9 asks for it whether or not it will ever export one.
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    std::size_t total = 0;
    DRIVER(cuDeviceTotalMem(&total, device));
    room = (total + total / 8) / kPiece * kPiece;
    DRIVER(cuMemAddressReserve(&base, room, 0, 0, 0));
  }
  CUresult grow() {
    CUmemGenericAllocationHandle made;
    if (const auto status = cuMemCreate(&made, kPiece, &properties, 0); status != CUDA_SUCCESS) return status;
    const auto at = base + pieces.size() * kPiece;
    DRIVER(cuMemMap(at, kPiece, 0, made, 0));
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER(cuMemSetAccess(at, kPiece, &access, 1));
    pieces.push_back(made);
    return CUDA_SUCCESS;
  }
  void shrink() {
    DRIVER(cuStreamSynchronize(nullptr));
    DRIVER(cuMemUnmap(base + (pieces.size() - 1) * kPiece, kPiece));
    DRIVER(cuMemRelease(pieces.back()));
    pieces.pop_back();
  }
};

std::size_t left() {
  std::size_t free = 0, total = 0;
  DRIVER(cuMemGetInfo(&free, &total));
  return free;
}

int main() {
  DRIVER(cuInit(0));
  CUdevice device;
  CUcontext context;
  DRIVER(cuDeviceGet(&device, 0));
  DRIVER(cuDevicePrimaryCtxRetain(&context, device));
  DRIVER(cuCtxSetCurrent(context));
  add<<<1, 1>>>(nullptr, 0, 0);
  CHECK(cudaDeviceSynchronize());
  const auto before = left();
  Segment segment(device);
  program::expect(left() == before, "addresses cost nothing");
  for (int i = 0; i < 4; ++i) DRIVER(segment.grow());
  program::expect(left() == before - 4 * kPiece, "memory costs what it is");
  auto* const values = reinterpret_cast<int*>(segment.base);
  const std::size_t count = 4 * kPiece / sizeof(int);
  DRIVER(cuMemsetD32(segment.base, 7, count));
  add<<<64, 256>>>(values, count, 3);
  CHECK(cudaGetLastError());
  std::vector<int> found(count);
  DRIVER(cuMemcpyDtoH(found.data(), segment.base, 4 * kPiece));
  bool is_right = true;
  for (const auto one : found) is_right &= one == 10;
  program::expect(is_right, "four pieces are one stretch of memory");
  segment.shrink();
  segment.shrink();
  program::expect(left() == before - 2 * kPiece, "what is given back is there again");
  DRIVER(segment.grow());
  // New memory; what was before it keeps what it holds.
  DRIVER(cuMemsetD32(segment.base + 2 * kPiece, 1, kPiece / sizeof(int)));
  add<<<64, 256>>>(values, count * 3 / 4, 1);
  DRIVER(cuMemcpyDtoH(found.data(), segment.base, 3 * kPiece));
  program::expect(
      found[0] == 11 && found[count / 2 - 1] == 11 && found[count / 2] == 2 && found[count * 3 / 4 - 1] == 2,
      "and what it holds is its own");

  // The last reference counts, whether it is the handle or the mapping.
  CUmemGenericAllocationHandle again;
  DRIVER(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(segment.base)));
  program::expect(again == segment.pieces[0], "an address knows its memory");
  DRIVER(cuMemRelease(again));
  DRIVER(cuMemRelease(segment.pieces[0]));
  program::expect(left() == before - 3 * kPiece, "a mapping holds memory that has no handle");
  DRIVER(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(segment.base)));
  DRIVER(cuMemUnmap(segment.base, kPiece));
  program::expect(left() == before - 3 * kPiece, "a handle holds memory that is mapped nowhere");
  DRIVER(cuMemRelease(again));
  program::expect(left() == before - 2 * kPiece, "the last of both gives it back");

  // Until there is no more.
  std::size_t more = 0;
  CUresult status = CUDA_SUCCESS;
  while (segment.pieces.size() * kPiece + kPiece <= segment.room && (status = segment.grow()) == CUDA_SUCCESS) ++more;
  program::expect(status == CUDA_ERROR_OUT_OF_MEMORY && more == (before - 2 * kPiece) / kPiece,
                  "it grows until there is no more, and says so");
  while (segment.pieces.size() > 3) segment.shrink();
  program::expect(left() == before - 2 * kPiece, "and all of it comes back");
  int descriptor = -1;
  DRIVER(cuMemExportToShareableHandle(&descriptor, segment.pieces[1], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  program::expect(descriptor >= 0, "a piece is exported as it was made for");
  close(descriptor);
  DRIVER(cuMemUnmap(segment.base + kPiece, 2 * kPiece));
  DRIVER(cuMemRelease(segment.pieces[1]));
  DRIVER(cuMemRelease(segment.pieces[2]));
  program::expect(left() == before, "everything was given back");
  DRIVER(cuMemAddressFree(segment.base, segment.room));
  program::expect_error(cuMemAddressFree(segment.base, segment.room), CUDA_ERROR_INVALID_VALUE,
                        "addresses are freed once");
  DRIVER(cuDevicePrimaryCtxRelease(device));
  return program::verdict();
}
