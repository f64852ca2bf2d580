// Copies and fills against the same done by hand.
#include <algorithm>
#include <random>

#include "driver_rig.h"

using namespace flexrack::test::driver;

namespace {

std::vector<unsigned char> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<unsigned char> bytes(count);
  for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

/// A box of bytes somewhere, and how an element of it is found.
struct Box {
  CUmemorytype type;
  std::size_t x, y, z, pitch, height, size;
};

}  // namespace

TEST_CASE("driver: copies of boxes between everything") {
  const Rig rig;
  std::mt19937 random(11);
  // Arrays of one-byte texels, so that any offset is allowed.
  constexpr std::size_t kWidth = 96, kHeight = 24, kDepth = 8, kPitch = 128, kRows = 30;
  CUDA_ARRAY3D_DESCRIPTOR as{kWidth, kHeight, kDepth, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
  CUarray arrays[2] = {};
  CUdeviceptr device[2] = {};
  for (int i = 0; i < 2; ++i) {
    CU(cuArray3DCreate_v2(&arrays[i], &as));
    CU(cuMemAlloc_v2(&device[i], kPitch * kRows * kDepth));
  }
  std::vector<unsigned char> host[2];
  const auto whole = [&](int side, CUmemorytype type, CUDA_MEMCPY3D& copy, bool is_source) {
    auto& memory = is_source ? copy.srcMemoryType : copy.dstMemoryType;
    memory = type;
    if (is_source) {
      copy.srcHost = host[side].data();
      copy.srcDevice = type == CU_MEMORYTYPE_UNIFIED ? reinterpret_cast<CUdeviceptr>(host[side].data()) : device[side];
      copy.srcArray = arrays[side];
      copy.srcPitch = kPitch;
      copy.srcHeight = kRows;
    } else {
      copy.dstHost = host[side].data();
      copy.dstDevice = type == CU_MEMORYTYPE_UNIFIED ? reinterpret_cast<CUdeviceptr>(host[side].data()) : device[side];
      copy.dstArray = arrays[side];
      copy.dstPitch = kPitch;
      copy.dstHeight = kRows;
    }
  };
  // What a side has, as bytes in the form of kPitch and kRows.
  const auto put = [&](int side, CUmemorytype type, const std::vector<unsigned char>& bytes) {
    host[side] = bytes;
    if (type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_UNIFIED) return;
    CUDA_MEMCPY3D copy{};
    const auto kept = bytes;
    whole(side, CU_MEMORYTYPE_HOST, copy, true);
    whole(side, type, copy, false);
    copy.WidthInBytes = kWidth;
    copy.Height = kHeight;
    copy.Depth = kDepth;
    CU(cuMemcpy3D_v2(&copy));
    std::fill(host[side].begin(), host[side].end(), 0);
  };
  const auto get = [&](int side, CUmemorytype type) {
    if (type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_UNIFIED) return host[side];
    CUDA_MEMCPY3D copy{};
    whole(side, type, copy, true);
    whole(side, CU_MEMORYTYPE_HOST, copy, false);
    copy.WidthInBytes = kWidth;
    copy.Height = kHeight;
    copy.Depth = kDepth;
    CU(cuMemcpy3D_v2(&copy));
    return host[side];
  };
  const CUmemorytype types[] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_UNIFIED};
  for (const auto from : types) {
    for (const auto to : types) {
      for (int round = 0; round < 6; ++round) {
        const auto source = random_bytes(kPitch * kRows * kDepth, random()),
                   target = random_bytes(kPitch * kRows * kDepth, random());
        put(0, from, source);
        put(1, to, target);
        CUDA_MEMCPY3D copy{};
        whole(0, from, copy, true);
        whole(1, to, copy, false);
        copy.WidthInBytes = 1 + random() % 40;
        copy.Height = 1 + random() % 12;
        copy.Depth = 1 + random() % 4;
        copy.srcXInBytes = random() % (kWidth - copy.WidthInBytes);
        copy.dstXInBytes = random() % (kWidth - copy.WidthInBytes);
        copy.srcY = random() % (kHeight - copy.Height);
        copy.dstY = random() % (kHeight - copy.Height);
        copy.srcZ = random() % (kDepth - copy.Depth);
        copy.dstZ = random() % (kDepth - copy.Depth);
        if (round % 2 == 0) {
          CU(cuMemcpy3D_v2(&copy));
        } else {
          CU(cuMemcpy3DAsync_v2(&copy, nullptr));
          CU(cuCtxSynchronize());
        }
        auto expected = target;
        for (std::size_t z = 0; z < copy.Depth; ++z) {
          for (std::size_t y = 0; y < copy.Height; ++y) {
            for (std::size_t x = 0; x < copy.WidthInBytes; ++x) {
              expected[((z + copy.dstZ) * kRows + y + copy.dstY) * kPitch + x + copy.dstXInBytes] =
                  source[((z + copy.srcZ) * kRows + y + copy.srcY) * kPitch + x + copy.srcXInBytes];
            }
          }
        }
        const auto found = get(1, to);
        bool is_same = true;
        for (std::size_t z = 0; z < kDepth; ++z) {
          for (std::size_t y = 0; y < kHeight; ++y) {
            const auto row = (z * kRows + y) * kPitch;
            is_same &=
                std::equal(found.begin() + static_cast<long>(row), found.begin() + static_cast<long>(row + kWidth),
                           expected.begin() + static_cast<long>(row));
          }
        }
        CAPTURE(from);
        CAPTURE(to);
        REQUIRE(is_same);
      }
    }
  }
}

TEST_CASE("driver: copies that are refused") {
  const Rig rig;
  Numbers numbers(100);
  std::vector<unsigned> host(200);
  CHECK_EQ(cuMemcpyHtoD_v2(numbers.address, host.data(), 401), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(cuMemcpyHtoD_v2(numbers.address + 1, host.data(), 400), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(cuMemcpyDtoH_v2(host.data(), numbers.address - 4, 8), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(cuMemcpyDtoH_v2(host.data(), reinterpret_cast<CUdeviceptr>(host.data() + 100), 8), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(cuMemcpyHtoD_v2(numbers.address, nullptr, 8), CUDA_ERROR_INVALID_VALUE);
  CU(cuMemcpyHtoD_v2(numbers.address, nullptr, 0));
  CHECK_EQ(cuMemsetD8_v2(numbers.address, 1, 401), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(cuMemsetD32_v2(numbers.address + 2, 1, 4), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(cuMemsetD2D32_v2(numbers.address, 2, 1, 4, 4), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host.data();
  copy.srcPitch = 40;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = numbers.address;
  copy.dstPitch = 40;
  copy.WidthInBytes = 40;
  copy.Height = 10;
  CU(cuMemcpy2D_v2(&copy));
  copy.dstY = 1;
  CHECK_EQ(cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);
  copy.dstY = 0;
  copy.dstPitch = 39;
  CHECK_EQ(cuMemcpy2DUnaligned_v2(&copy), CUDA_ERROR_INVALID_VALUE);
  copy.dstPitch = ~std::size_t{0} / 2;
  CHECK_EQ(cuMemcpy2DUnaligned_v2(&copy), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("driver: fills of every width") {
  const Rig rig;
  Numbers numbers(64);
  const auto stream = make_stream();
  CU(cuMemsetD8_v2(numbers.address, 0xab, 256));
  CHECK(numbers.are_all(0xabababab));
  CU(cuMemsetD16Async(numbers.address, 0x1234, 128, stream));
  CU(cuStreamSynchronize(stream));
  CHECK(numbers.are_all(0x12341234));
  CU(cuMemsetD32_v2(numbers.address, 7, 64));
  CU(cuMemsetD2D32Async(numbers.address + 8, 32, 9, 3, 5, stream));
  CU(cuStreamSynchronize(stream));
  const auto found = numbers.read();
  for (unsigned i = 0; i < 64; ++i) {
    const auto row = i / 8, column = i % 8;
    CHECK_EQ(found[i], row < 5 && column >= 2 && column < 5 ? 9 : 7);
  }
  CU(cuMemsetD2D16_v2(numbers.address, 16, 3, 8, 16));
  CHECK(numbers.are_all(0x30003));
  CU(cuMemsetD2D8_v2(numbers.address, 16, 1, 16, 16));
  CHECK(numbers.are_all(0x1010101));
}

TEST_CASE("driver: memory that is not pinned may be used again after an asynchronous copy returns") {
  Rig rig;
  Numbers numbers(1000);
  unsigned* flag = nullptr;
  CU(cuMemHostAlloc(reinterpret_cast<void**>(&flag), 4, 0));
  *flag = 0;
  const auto stream = make_stream();
  auto flag_address = reinterpret_cast<CUdeviceptr>(flag);
  CU(rig.launch("wait", {&flag_address}, 1, stream));
  std::vector<unsigned> host(1000, 5);
  CU(cuMemcpyHtoDAsync_v2(numbers.address, host.data(), 4000, stream));
  std::fill(host.begin(), host.end(), 6);
  __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
  CU(cuStreamSynchronize(stream));
  CHECK(numbers.are_all(5));
  CU(cuMemFreeHost(flag));
}

TEST_CASE("driver: a batch of copies") {
  const Rig rig;
  Numbers first(100), second(100);
  const auto stream = make_stream();
  std::vector<unsigned> host(100, 4), back(100);
  CUdeviceptr to[] = {first.address, second.address},
              from[] = {reinterpret_cast<CUdeviceptr>(host.data()), reinterpret_cast<CUdeviceptr>(host.data())};
  size_t sizes[] = {400, 200}, indices[] = {0};
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  CU(cuMemcpyBatchAsync_v2(to, from, sizes, 2, &attributes, indices, 1, stream));
  CU(cuStreamSynchronize(stream));
  CHECK(first.are_all(4));
  CHECK_EQ(second.read()[49], 4);
  CHECK_EQ(second.read()[50], 0);
  CHECK_EQ(cuMemcpyBatchAsync_v2(to, from, sizes, 2, &attributes, indices, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  sizes[1] = 404;
  size_t wrong = 0;
  CHECK_EQ(cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, indices, 1, &wrong, stream), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(wrong, 1);
  CUDA_MEMCPY3D_BATCH_OP op{};
  op.src.type = op.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  op.src.op.ptr = {first.address, 40, 5, {}};
  op.dst.op.ptr = {second.address, 40, 5, {}};
  op.extent = {40, 5, 2};
  op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
  CU(cuMemcpy3DBatchAsync_v2(1, &op, 0, stream));
  CU(cuStreamSynchronize(stream));
  CHECK(second.are_all(4));
}

TEST_CASE("driver: arrays are described as they were made") {
  const Rig rig;
  CUarray array = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR as{10, 20, 6, CU_AD_FORMAT_HALF, 4, CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST},
      found{};
  CU(cuArray3DCreate_v2(&array, &as));
  CU(cuArray3DGetDescriptor_v2(&found, array));
  CHECK_EQ(std::memcmp(&as, &found, sizeof as), 0);
  CUDA_ARRAY_MEMORY_REQUIREMENTS requirements{};
  CU(cuArrayGetMemoryRequirements(&requirements, array, 0));
  CHECK_GE(requirements.size, 10u * 20 * 6 * 8);
  CU(cuArrayDestroy(array));
  CHECK_EQ(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
  as.NumChannels = 3;
  CHECK_EQ(cuArray3DCreate_v2(&array, &as), CUDA_ERROR_INVALID_VALUE);
  as.NumChannels = 1;
  as.Flags = CUDA_ARRAY3D_SPARSE;
  CHECK_EQ(cuArray3DCreate_v2(&array, &as), CUDA_ERROR_NOT_SUPPORTED);
  as.Flags = CUDA_ARRAY3D_CUBEMAP;
  CHECK_EQ(cuArray3DCreate_v2(&array, &as), CUDA_ERROR_INVALID_VALUE);
  CUmipmappedArray mipmap = nullptr;
  as = {64, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CU(cuMipmappedArrayCreate(&mipmap, &as, 100));
  CU(cuMipmappedArrayGetLevel(&array, mipmap, 6));
  CU(cuArray3DGetDescriptor_v2(&found, array));
  CHECK_EQ(found.Width, 1);
  CHECK_EQ(found.Height, 1);
  CHECK_EQ(cuMipmappedArrayGetLevel(&array, mipmap, 7), CUDA_ERROR_INVALID_VALUE);
  CU(cuMipmappedArrayGetLevel(&array, mipmap, 1));
  CHECK_EQ(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
  CU(cuMipmappedArrayDestroy(mipmap));
  CHECK_EQ(cuArray3DGetDescriptor_v2(&found, array), CUDA_ERROR_INVALID_HANDLE);
}
