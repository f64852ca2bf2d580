// What the driver takes for contexts, code and limits is the share's: taken before it is used, given back once.
#include "backend/cuda/image_memory.h"
#include "test/backend/cuda_client.h"
#include "wire/bytes_of.h"

using namespace flexrack;
using namespace flexrack::test;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::string_view kLarge = R"(.version 7.0
.target sm_70
.address_size 64
.visible .global .align 8 .b8 table[1048576];
.global .attribute(.managed) .align 4 .u32 flags[2];
.const .v4 .f32 one = {1.0, 2.0, 3.0, 4.0};
.visible .entry nothing(.param .u64 .ptr .global .align 8 where) { ret; }
)";
constexpr std::string_view kMalloc = R"(.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b64 made) malloc (.param .b64 size);
.visible .entry nothing() { ret; }
)";

std::uint64_t cost_of(std::string_view ptx) { return backend::cuda::image_memory(wire::bytes_of_text(ptx)).bytes; }

std::uint64_t library(CudaClient& client, std::string_view image) {
  const auto handle = client.mint();
  REQUIRE(client
              .call(cu::Load{.module = handle,
                             .is_library = 1,
                             .hash = flexrack::cuda::content_hash(std::as_bytes(std::span(image))),
                             .image = {0, image.size(), wire::bytes_of_text(image)}})
              .status == 0);
  return handle;
}

}  // namespace

TEST_CASE("an image costs its variables, its constants and its code") {
  // Variables each in pieces of 512 bytes; a statement is 64, all of them together in pieces too.
  CHECK(cost_of(kLarge) == kMiB + 512 + 512 + 512);
  const auto of = [](std::string_view declarations) {
    return cost_of(".version 7.0\n.target sm_70\n.address_size 64\n" + std::string(declarations)) - 512;
  };
  CHECK(of(".global .u32 a, b[200], c;") == 512 + 1024 + 512);
  CHECK(of(".global .align 4 .b8 text[] = {1, 2, 3};") == 512);
  CHECK(of(".global .f64 grid[0x10][20];") == 16 * 20 * 8);
  CHECK(of(".global .texref image;") == 512);
  CHECK(of(".visible .entry k() { .reg .b32 %r<2>; ld.global.u32 %r1, [0]; ret; }") == 0);
  // Where parameters point to is no variable, however many there are.
  std::string many;
  for (int i = 0; i < 200; i++)
    many += (i == 0 ? "" : ",\n") + std::string(".param .u64 .ptr .global .align 16 p") + std::to_string(i);
  CHECK(of(".visible .entry k(" + many + ") { ret; }") == 0);
  CHECK(of(".global .u64 a[4611686018427387904][4611686018427387904];") >= std::uint64_t{1}
                                                                               << 61);   // and does not wrap
  for (const auto wrong : {"", ".global", ".global .u32 a[", ".const .attribute(", ".global .align"})
    CHECK(of(wrong + std::string(";")) <= 512);
  CHECK(backend::cuda::image_memory(wire::bytes_of_text("\x7f"
                                                        "ELF"))
            .bytes == 0);
  CHECK_FALSE(backend::cuda::image_memory(wire::bytes_of_text(kLarge)).uses_heap);
  CHECK(backend::cuda::image_memory(wire::bytes_of_text(kMalloc)).uses_heap);
}

TEST_CASE("contexts, modules and libraries are charged what they take, and give it back once") {
  CudaClient client;
  const auto each = client.grant.devices()[0].context_memory.value();
  CHECK(each == kMiB);   // FLEXRACK_SIM_CONTEXT
  const auto context = client.context(), other = client.context(false);
  CHECK(client.grant.used(0) == 2 * each);
  const auto reported = client.call(cu::MemoryInfo{.context = context});
  CHECK(reported.total - reported.free == 2 * each);

  const auto module = client.mint();
  REQUIRE(client.load(context, module, kLarge).status == 0);
  CHECK(client.grant.used(0) == 2 * each + cost_of(kLarge));
  client.send(cu::Release{.object = module});
  CHECK(client.refusal(cu::Release{.object = module}) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(client.grant.used(0) == 2 * each);

  // A library costs nothing until it is used in a context, and then once in each.
  const auto shared = library(client, kLarge);
  CHECK(client.grant.used(0) == 2 * each);
  const auto kernel = client.kernel(context, shared, "nothing");
  const Bytes address(8, 0);
  for (const auto where : {context, context, other})
    client.send(
        cu::Launch{.context = where, .kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = address});
  CHECK(client.wait(context) == CUDA_SUCCESS);
  CHECK(client.wait(other) == CUDA_SUCCESS);
  REQUIRE(client.call(cu::FindVariable{.context = other, .module = shared, .name = "table"}).status == 0);
  CHECK(client.grant.used(0) == 2 * (each + cost_of(kLarge)));
  // What stands for that is nobody's to release, should its handle be guessed.
  for (std::uint64_t own = 0; own < 4; ++own)
    CHECK(client.refusal(cu::Release{.object = (std::uint64_t{3} << 62) + own}) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(client.call(cu::MemoryInfo{.context = context}).status == 0);
  CHECK(client.grant.used(0) == 2 * (each + cost_of(kLarge)));
  client.send(cu::ReleaseContext{.context = other});
  CHECK(client.grant.is_used(each + cost_of(kLarge)));
  client.send(cu::Release{.object = shared});
  CHECK(client.grant.is_used(each));

  // The heap of malloc, once a context.
  const auto heap =
      client.call(cu::SetLimit{.context = context, .which = CU_LIMIT_MALLOC_HEAP_SIZE, .value = 4 * kMiB}).value;
  for (int i = 0; i < 2; ++i) REQUIRE(client.load(context, client.mint(), kMalloc).status == 0);
  CHECK(client.grant.used(0) == each + heap + 2 * cost_of(kMalloc));
  client.send(cu::ReleaseContext{.context = context});
  CHECK(client.grant.is_used(0));
  CHECK_FALSE(client.grant.is_overdrawn());
}

TEST_CASE("a raised limit is charged, and one beyond the share refused") {
  CudaClient client;
  const auto context = client.context();
  const auto own = client.grant.used(0);
  REQUIRE(client.call(cu::SetLimit{.context = context, .which = CU_LIMIT_PRINTF_FIFO_SIZE, .value = 3 * kMiB}).status ==
          0);
  CHECK(client.grant.used(0) == own + 2 * kMiB);
  REQUIRE(client.call(cu::SetLimit{.context = context, .which = CU_LIMIT_PRINTF_FIFO_SIZE, .value = kMiB}).status == 0);
  CHECK(client.grant.used(0) == own + 2 * kMiB);
  for (const auto which : {CU_LIMIT_PRINTF_FIFO_SIZE, CU_LIMIT_STACK_SIZE}) {
    CHECK(client
              .call(cu::SetLimit{
                  .context = context, .which = static_cast<std::uint32_t>(which), .value = CudaGrant::kShare + 1})
              .status == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(client
              .call(cu::SetLimit{
                  .context = context, .which = static_cast<std::uint32_t>(which), .value = ~std::uint64_t{0}})
              .status == CUDA_ERROR_OUT_OF_MEMORY);
  }
  CHECK(client.grant.used(0) == own + 2 * kMiB);
  client.stop();
  CHECK(client.grant.used(0) == 0);
  CHECK_FALSE(client.grant.is_overdrawn());
}

TEST_CASE("a share that is too small for a context, a module or a library's code gets none") {
  CudaClient client;
  const auto each = client.grant.devices()[0].context_memory.value();
  REQUIRE(client.grant.charge(0, CudaGrant::kShare - each + 1));
  for (const auto is_primary : {0u, 1u}) {
    CHECK(client.call(cu::CreateContext{.context = client.mint(), .device = 0, .is_primary = is_primary}).status ==
          CUDA_ERROR_OUT_OF_MEMORY);
  }
  client.grant.refund(0, 1);
  const auto context = client.context();
  CHECK(client.grant.used(0) == CudaGrant::kShare);
  CHECK(client.load(context, client.mint(), kLarge).status == CUDA_ERROR_OUT_OF_MEMORY);
  const auto shared = library(client, kLarge);
  const auto kernel = client.kernel(context, shared, "nothing");
  const Bytes address(8, 0);
  const cu::Launch launch{
      .context = context, .kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = address};
  CHECK(client.refusal(launch) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(client.grant.used(0) == CudaGrant::kShare);
  client.grant.refund(0, cost_of(kLarge));
  client.send(launch);
  CHECK(client.wait(context) == CUDA_SUCCESS);
  CHECK(client.grant.used(0) == CudaGrant::kShare);
  client.stop();
  CHECK(client.grant.used(0) == CudaGrant::kShare - each - cost_of(kLarge));
  CHECK_FALSE(client.grant.is_overdrawn());
}
