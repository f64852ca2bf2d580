// Textures and surfaces as kernels see them.
#include "driver_rig.h"

using namespace flexrack::test::driver;

namespace {

constexpr const char* kFetches = R"(
.version 8.0
.target sm_70
.address_size 64
.global .texref named;
.visible .entry fetch(.param .u64 texture, .param .u64 to, .param .f32 x, .param .f32 y) {
  .reg .f32 %f<7>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [texture]; ld.param.f32 %f1, [x]; ld.param.f32 %f2, [y];
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2}];
  ld.param.u64 %d2, [to]; st.global.f32 [%d2], %f3; ret;
}
.visible .entry fetch_named(.param .u64 to, .param .f32 x, .param .f32 y) {
  .reg .f32 %f<7>; .reg .b64 %d<3>;
  ld.param.f32 %f1, [x]; ld.param.f32 %f2, [y];
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [named, {%f1, %f2}];
  ld.param.u64 %d2, [to]; st.global.f32 [%d2], %f3; ret;
}
.visible .entry put(.param .u64 surface, .param .s32 x, .param .s32 y, .param .u32 value) {
  .reg .b32 %r<4>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [surface]; ld.param.s32 %r1, [x]; ld.param.s32 %r2, [y]; ld.param.u32 %r3, [value];
  sust.b.2d.b32.trap [%d1, {%r1, %r2}], {%r3}; ret;
}
)";

struct Textures {
  Textures() {
    CU(cuModuleLoadData(&module, kFetches));
    CU(cuModuleGetFunction(&function, module, "fetch"));
    CU(cuModuleGetFunction(&named, module, "fetch_named"));
    CU(cuModuleGetFunction(&put, module, "put"));
  }
  float fetch(CUtexObject texture, float x, float y) {
    void* parameters[] = {&texture, &result.address, &x, &y};
    CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
    return number();
  }
  float fetch_named(float x, float y) {
    void* parameters[] = {&result.address, &x, &y};
    CU(cuLaunchKernel(named, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
    return number();
  }
  float number() const {
    float value = 0;
    CU(cuMemcpyDtoH_v2(&value, result.address, 4));
    return value;
  }
  CUmodule module = nullptr;
  CUfunction function = nullptr, named = nullptr, put = nullptr;
  Numbers result{1};
};

CUarray make_array(std::size_t width, std::size_t height, CUarray_format format, unsigned flags = 0) {
  CUarray array = nullptr;
  const CUDA_ARRAY3D_DESCRIPTOR as{width, height, 0, format, 1, flags};
  CU(cuArray3DCreate_v2(&array, &as));
  return array;
}

void fill(CUarray array, const void* bytes, std::size_t width, std::size_t height) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = bytes;
  copy.srcPitch = width;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = width;
  copy.Height = height;
  CU(cuMemcpy2D_v2(&copy));
}

}  // namespace

TEST_CASE("driver: textures from arrays") {
  const Rig rig;
  Textures textures;
  const auto array = make_array(4, 2, CU_AD_FORMAT_FLOAT);
  const float texels[] = {0, 1, 2, 3, 10, 11, 12, 13};
  fill(array, texels, 16, 2);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC description{};
  for (auto& mode : description.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject texture = 0;
  CU(cuTexObjectCreate(&texture, &resource, &description, nullptr));
  CHECK_EQ(textures.fetch(texture, 2.5f, 1.5f), 12);
  CHECK_EQ(textures.fetch(texture, 99, 0), 3);
  description.filterMode = CU_TR_FILTER_MODE_LINEAR;
  CUtexObject linear = 0;
  CU(cuTexObjectCreate(&linear, &resource, &description, nullptr));
  CHECK_NE(linear, texture);
  CHECK_EQ(textures.fetch(linear, 2, 1), doctest::Approx(6.5).epsilon(0.01));
  description.flags = CU_TRSF_NORMALIZED_COORDINATES;
  description.filterMode = CU_TR_FILTER_MODE_POINT;
  for (auto& mode : description.addressMode) mode = CU_TR_ADDRESS_MODE_WRAP;
  CUtexObject wrapped = 0;
  CU(cuTexObjectCreate(&wrapped, &resource, &description, nullptr));
  CHECK_EQ(textures.fetch(wrapped, 1.3f, 0.75f), 11);
  CUDA_TEXTURE_DESC reported{};
  CU(cuTexObjectGetTextureDesc(&reported, wrapped));
  CHECK_EQ(reported.flags, CU_TRSF_NORMALIZED_COORDINATES);
  CUDA_RESOURCE_VIEW_DESC view{};
  CHECK_EQ(cuTexObjectGetResourceViewDesc(&view, wrapped), CUDA_ERROR_INVALID_VALUE);
  // The array may go first: what was made of it keeps its memory.
  CU(cuArrayDestroy(array));
  CHECK_EQ(textures.fetch(texture, 2.5f, 1.5f), 12);
  CHECK_EQ(cuTexObjectCreate(&texture, &resource, &description, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CU(cuTexObjectDestroy(wrapped));
  CHECK_EQ(cuTexObjectDestroy(wrapped), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("driver: textures from memory, and integers read as floats") {
  const Rig rig;
  Textures textures;
  CUdeviceptr memory = 0;
  size_t pitch = 0;
  CU(cuMemAllocPitch_v2(&memory, &pitch, 16, 4, 4));
  CU(cuMemsetD2D8_v2(memory, pitch, 51, 16, 4));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D = {memory, CU_AD_FORMAT_UNSIGNED_INT8, 1, 16, 4, pitch};
  CUDA_TEXTURE_DESC description{};
  for (auto& mode : description.addressMode) mode = CU_TR_ADDRESS_MODE_BORDER;
  description.borderColor[0] = 0.5f;
  CUtexObject texture = 0;
  CU(cuTexObjectCreate(&texture, &resource, &description, nullptr));
  CHECK_EQ(textures.fetch(texture, 3, 3), doctest::Approx(0.2));
  CHECK_EQ(textures.fetch(texture, -1, 3), 0.5f);
  resource.res.pitch2D.devPtr += 256;
  CHECK_EQ(cuTexObjectCreate(&texture, &resource, &description, nullptr), CUDA_ERROR_INVALID_VALUE);
  resource.res.pitch2D = {memory, CU_AD_FORMAT_UNSIGNED_INT8, 1, 16, 9, pitch};
  CHECK_EQ(cuTexObjectCreate(&texture, &resource, &description, nullptr), CUDA_ERROR_INVALID_VALUE);
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear = {memory, CU_AD_FORMAT_BC1_UNORM, 1, 64};
  CHECK_EQ(cuTexObjectCreate(&texture, &resource, &description, nullptr), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("driver: a texture reference of a module") {
  const Rig rig;
  Textures textures;
  CUtexref reference = nullptr, again = nullptr;
  CU(cuModuleGetTexRef(&reference, textures.module, "named"));
  CU(cuModuleGetTexRef(&again, textures.module, "named"));
  CHECK_EQ(reference, again);
  CHECK_EQ(cuModuleGetTexRef(&again, textures.module, "nameless"), CUDA_ERROR_NOT_FOUND);
  const auto array = make_array(2, 1, CU_AD_FORMAT_FLOAT);
  const float texels[] = {4, 5};
  fill(array, texels, 8, 1);
  CU(cuTexRefSetArray(reference, array, CU_TRSA_OVERRIDE_FORMAT));
  CHECK_EQ(textures.fetch_named(1.5f, 0), 5);
  CU(cuTexRefSetFilterMode(reference, CU_TR_FILTER_MODE_LINEAR));
  CHECK_EQ(textures.fetch_named(1, 0.5f), doctest::Approx(4.5).epsilon(0.01));
  CUarray found = nullptr;
  CU(cuTexRefGetArray(&found, reference));
  CHECK_EQ(found, array);
}

TEST_CASE("driver: surfaces") {
  Rig rig;
  Textures textures;
  const auto plain = make_array(4, 4, CU_AD_FORMAT_UNSIGNED_INT32),
             array = make_array(4, 4, CU_AD_FORMAT_UNSIGNED_INT32, CUDA_ARRAY3D_SURFACE_LDST);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = plain;
  CUsurfObject surface = 0;
  CHECK_EQ(cuSurfObjectCreate(&surface, &resource), CUDA_ERROR_INVALID_VALUE);
  resource.res.array.hArray = array;
  CU(cuSurfObjectCreate(&surface, &resource));
  int x = 8, y = 2;   // x counts bytes
  unsigned value = 1234, back[4] = {};
  void* parameters[] = {&surface, &x, &y, &value};
  CU(cuLaunchKernel(textures.put, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  copy.srcY = 2;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = back;
  copy.WidthInBytes = 16;
  copy.Height = 1;
  CU(cuMemcpy2D_v2(&copy));
  CHECK_EQ(back[2], 1234);
  CU(cuSurfObjectDestroy(surface));
  // A handle that is none any more is a fault, not a crash.
  CU(cuLaunchKernel(textures.put, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  CHECK_NE(cuCtxSynchronize(), CUDA_SUCCESS);
}
