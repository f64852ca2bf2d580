#include "test/backend/cuda_client.h"
#include "wire/bytes_of.h"

using namespace flexrack;
using namespace flexrack::test;

namespace {

constexpr auto kTopmost = ~std::uint64_t{0};

constexpr std::string_view kCode = R"(.version 7.0
.target sm_70
.address_size 64
.visible .global .align 8 .u64 word;
.visible .entry put(.param .u64 to, .param .u32 what) {
  .reg .u64 %a; .reg .u32 %v;
  ld.param.u64 %a, [to];
  ld.param.u32 %v, [what];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry none() { ret; }
)";

/// Memory of the worker's: no client may read it or change it.
struct Victim {
  std::uint8_t bytes[64];
  Victim() { std::memset(bytes, 0x5a, sizeof bytes); }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(bytes); }
  bool is_untouched() const {
    for (const auto byte : bytes)
      if (byte != 0x5a) return false;
    return true;
  }
};

using wire::bytes_of;

struct Parameters {
  std::uint64_t to;
  std::uint32_t what;
} __attribute__((packed));

/// A kernel launch that must do its work, so that what was refused before is seen to have ended nothing.
void still_works(CudaClient& client, std::uint64_t context) {
  const auto memory = client.memory(context, 4096), module = client.mint();
  REQUIRE(client.load(context, module, kCode).status == 0);
  const Parameters parameters{memory, 77};
  client.send(cu::Launch{.context = context,
                         .kernel = client.kernel(context, module, "put"),
                         .grid = {1, 1, 1},
                         .block = {1, 1, 1},
                         .parameters = bytes_of(parameters)});
  CHECK(client.wait(context) == CUDA_SUCCESS);
  CHECK(client.read(context, memory, 4) == Bytes{77, 0, 0, 0});
  client.send(cu::Free{.context = context, .address = memory});
}

}  // namespace

TEST_CASE("a client names memory of its session only: no copy, fill or wait goes anywhere else") {
  CudaClient client;
  const Victim victim;
  const auto context = client.context(), memory = client.memory(context, 4096),
             pinned = client.memory(context, 4096, 1), gone = client.memory(context, 4096);
  client.send(cu::Free{.context = context, .address = gone});
  const Bytes four(4, 1);
  const auto is_refused = [&](auto message) {
    message.context = context;
    return client.refusal(message) == CUDA_ERROR_INVALID_VALUE;
  };
  const auto ticket = [&] { return client.link.ticket(); };
  const std::uint64_t wrongs[] = {victim.address(), gone,        memory + 4093, pinned + 4093, memory - 1, 0, 8,
                                  kTopmost - 1,     kTopmost - 3};
  for (const auto wrong : wrongs) {
    CAPTURE(wrong);
    const cu::Range ranges[] = {{pinned, 4}, {wrong, 4}};
    const Bytes eight(8, 1);
    CHECK(is_refused(cu::WriteMemory{.address = wrong, .data = {0, 4, four}}));
    CHECK(is_refused(cu::WriteMemory{.address = wrong, .data = {ticket(), 100000, {}}}));
    CHECK(is_refused(cu::ReadMemory{.address = wrong, .size = 4, .ticket = ticket()}));
    CHECK(is_refused(cu::CopyMemory{.source = wrong, .target = memory, .size = 4}));
    CHECK(is_refused(cu::CopyMemory{.source = memory, .target = wrong, .size = 4}));
    CHECK(
        is_refused(cu::WriteRows{.target = {.object = wrong, .pitch = 4}, .extent = {4, 1, 1}, .data = {0, 4, four}}));
    CHECK(is_refused(cu::ReadRows{.source = {.object = wrong, .pitch = 4}, .extent = {4, 1, 1}, .ticket = ticket()}));
    CHECK(is_refused(cu::CopyRows{
        .source = {.object = wrong, .pitch = 4}, .target = {.object = memory, .pitch = 4}, .extent = {4, 1, 1}}));
    CHECK(is_refused(cu::CopyRows{
        .source = {.object = memory, .pitch = 4}, .target = {.object = wrong, .pitch = 4}, .extent = {4, 1, 1}}));
    for (const std::uint32_t element : {1u, 2u, 4u})
      CHECK(is_refused(cu::Fill{.address = wrong, .width = 4 / element, .height = 1, .element = element}));
    CHECK(client.refusal(cu::WriteRanges{.ranges = {ranges[0], ranges[1]}, .data = eight}) == CUDA_ERROR_INVALID_VALUE);
    CHECK(is_refused(cu::StreamWaitValue32{.addr = wrong, .value = 1}));
    CHECK(is_refused(cu::StreamWriteValue32{.addr = wrong, .value = 1}));
    CHECK(is_refused(cu::StreamWriteValue64{.addr = wrong, .value = 1}));
    CUstreamBatchMemOpParams operation{};
    operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operation.writeValue.address = wrong;
    CHECK(is_refused(cu::StreamBatchMemOp{.param_array = bytes_of(operation)}));
    CHECK(client
              .call(cu::CreateTexture{.context = context,
                                      .resource = {.kind = CU_RESOURCE_TYPE_LINEAR,
                                                   .object = wrong,
                                                   .format = CU_AD_FORMAT_UNSIGNED_INT8,
                                                   .channels = 1,
                                                   .width = 4},
                                      .texture = bytes_of(CUDA_TEXTURE_DESC{})})
              .status == CUDA_ERROR_INVALID_VALUE);
  }
  CHECK(victim.is_untouched());
  still_works(client, context);
}

TEST_CASE("nothing is made in no context, which would be whichever is current") {
  CudaClient client;
  const auto context = client.context();
  CHECK(client.refusal(cu::CreateEvent{.event = client.mint()}) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(client.refusal(cu::CreateStream{.stream = client.mint()}) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(client.call(cu::Allocate{.size = 4096}).status == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(client
            .call(cu::CreateArray{.array = client.mint(),
                                  .shape = {.width = 16, .format = CU_AD_FORMAT_UNSIGNED_INT8, .channels = 1}})
            .status == CUDA_ERROR_INVALID_CONTEXT);
  still_works(client, context);
}

TEST_CASE("rows are inside of their memory with all of their pitches, slices and offsets") {
  CudaClient client;
  const auto context = client.context(), memory = client.memory(context, 4096), other = client.memory(context, 65536);
  const auto copy = [&](cu::Place source, cu::Extent extent) {
    client.send(cu::CopyRows{.context = context,
                             .source = source,
                             .target = {.object = other, .pitch = 64, .height = 16},
                             .extent = extent});
    const auto status = client.wait(context);
    CHECK(status == CUDA_SUCCESS);
    return !client.link.has_refusals() || client.link.refusal(cu::CopyRows::kOp) != CUDA_ERROR_INVALID_VALUE;
  };
  CHECK(copy({.object = memory, .pitch = 512}, {16, 8, 1}));
  CHECK(copy({.object = memory, .x = 496, .pitch = 512}, {16, 8, 1}));
  CHECK_FALSE(copy({.object = memory, .x = 497, .pitch = 512}, {16, 8, 1}));
  CHECK_FALSE(copy({.object = memory, .y = 1, .pitch = 512}, {16, 8, 1}));
  CHECK(copy({.object = memory, .pitch = 128, .height = 4}, {16, 4, 8}));
  CHECK_FALSE(copy({.object = memory, .z = 1, .pitch = 128, .height = 4}, {16, 4, 8}));
  CHECK_FALSE(copy({.object = memory, .pitch = 128, .height = 5}, {16, 4, 8}));
  CHECK_FALSE(copy({.object = memory, .pitch = kTopmost / 2}, {16, 4, 1}));
  CHECK_FALSE(copy({.object = memory, .z = kTopmost, .pitch = 128, .height = kTopmost}, {16, 4, 1}));
  CHECK_FALSE(copy({.object = memory, .x = kTopmost, .y = 1, .pitch = 128}, {16, 4, 1}));
  CHECK_FALSE(copy({.kind = 7, .object = memory, .pitch = 128}, {16, 4, 1}));
  CHECK(client.refusal(
            cu::Fill{.context = context, .address = memory, .pitch = 512, .width = 129, .height = 8, .element = 4}) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(
            cu::Fill{.context = context, .address = memory, .pitch = 8, .width = 4, .height = 2, .element = 4}) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::Fill{
            .context = context, .address = memory, .pitch = 4, .width = kTopmost, .height = kTopmost, .element = 4}) ==
        CUDA_ERROR_INVALID_VALUE);
  client.send(cu::Fill{.context = context, .address = memory, .pitch = 512, .width = 128, .height = 8, .element = 4});
  CHECK(client.wait(context) == CUDA_SUCCESS);
  still_works(client, context);
}

TEST_CASE(
    "memory that is mapped is the client's as long as it is mapped, side by side as one, and costs its share as long as anything holds it") {
  constexpr std::uint64_t kPiece = 2 << 20;
  CudaClient client;
  const auto context = client.context(), first = client.mint(), second = client.mint();
  const auto at = std::uint64_t{0x7e0000000000};
  const auto own = client.grant.used(0);   // the context's
  REQUIRE(client.call(cu::ReserveAddresses{.at = at, .size = 4 * kPiece}).status == 0);
  for (const auto handle : {first, second})
    REQUIRE(client.call(cu::CreateMemory{.memory = handle, .device = 0, .size = kPiece}).status == 0);
  client.send(cu::MapMemory{.memory = first, .at = at, .size = kPiece});
  client.send(cu::MapMemory{.memory = second, .at = at + kPiece, .size = kPiece});
  client.send(cu::SetAccess{
      .at = at,
      .size = 2 * kPiece,
      .accesses = {{.kind = CU_MEM_LOCATION_TYPE_DEVICE, .device = 0, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE}}});
  client.send(
      cu::Fill{.context = context, .address = at + kPiece - 64, .width = 128, .height = 1, .value = 9, .element = 1});
  CHECK(client.read(context, at + kPiece - 64, 128) == Bytes(128, 9));
  // Where something is, where nothing is reserved, and not all of it.
  const auto third = client.mint();
  REQUIRE(client.call(cu::CreateMemory{.memory = third, .device = 0, .size = kPiece}).status == 0);
  CHECK(client.refusal(cu::MapMemory{.memory = third, .at = at, .size = kPiece}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::MapMemory{.memory = third, .at = at + 4 * kPiece, .size = kPiece}) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::MapMemory{.memory = third, .at = kTopmost - kPiece + 1, .size = kPiece}) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::Free{.context = context, .address = at}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::FreeAddresses{.at = at, .size = 4 * kPiece}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.call(cu::UnmapMemory{.at = at, .size = kPiece / 2}).status == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.call(cu::UnmapMemory{.at = at + 1, .size = kPiece}).status == CUDA_ERROR_INVALID_VALUE);
  client.send(cu::Release{.object = third});
  client.send(cu::Release{.object = first});
  CHECK(client.grant.used(0) == own + 2 * kPiece);
  CHECK(client.call(cu::UnmapMemory{.at = at, .size = kPiece}).status == 0);
  CHECK(client.grant.is_used(own + kPiece));
  CHECK(client.refusal(cu::ReadMemory{.context = context, .address = at, .size = 4, .ticket = client.link.ticket()}) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(client.call(cu::UnmapMemory{.at = at + kPiece, .size = kPiece}).status == 0);
  client.send(cu::Release{.object = second});
  CHECK(client.grant.is_used(own));
  client.send(cu::FreeAddresses{.at = at, .size = 4 * kPiece});
  CHECK_FALSE(client.link.has_refusals());
}

TEST_CASE("variables of a module are the client's until it is unloaded") {
  CudaClient client;
  const auto context = client.context(), module = client.mint();
  REQUIRE(client.load(context, module, kCode).status == 0);
  const auto variable = client.call(cu::FindVariable{.context = context, .module = module, .name = "word"});
  REQUIRE(variable.status == 0);
  const Bytes eight(8, 3);
  client.send(cu::WriteMemory{.context = context, .address = variable.address, .data = {0, 8, eight}});
  CHECK(client.read(context, variable.address, 8) == eight);
  CHECK(client.refusal(cu::ReadMemory{
            .context = context, .address = variable.address + 1, .size = 8, .ticket = client.link.ticket()}) ==
        CUDA_ERROR_INVALID_VALUE);
  client.send(cu::Release{.object = module});
  CHECK(client.refusal(cu::ReadMemory{
            .context = context, .address = variable.address, .size = 8, .ticket = client.link.ticket()}) ==
        CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("nothing of the worker's is in what the client hands a driver: images, options, attributes, descriptions") {
  CudaClient client;
  const Victim victim;
  const auto context = client.context(), memory = client.memory(context, 4096), module = client.mint();
  // A fatbin's wrapper: magic, version, a pointer to a fatbin, another.
  const struct {
    std::uint32_t magic, version;
    std::uint64_t data, others;
  } wrapper{0x466243b1, 1, victim.address(), 0};
  CHECK(client.load(context, module, bytes_of(wrapper)).status == CUDA_ERROR_INVALID_IMAGE);
  // A fatbin and an ELF file that say they are longer than they are.
  const struct {
    std::uint32_t magic;
    std::uint16_t version, header_size;
    std::uint64_t size;
  } fatbin{0xba55ed50, 1, 16, 4096};
  CHECK(client.load(context, module, bytes_of(fatbin)).status == CUDA_ERROR_INVALID_IMAGE);
  Bytes elf(64);
  std::memcpy(elf.data(),
              "\x7f"
              "ELF\2\1\1",
              7);
  elf[18] = 190;                       // e_machine
  elf[40] = 0xff, elf[41] = 0xff;      // e_shoff
  elf[58] = 64, elf[60] = 9;           // e_shentsize, e_shnum
  CHECK(client.load(context, module, elf).status == CUDA_ERROR_INVALID_IMAGE);
  CHECK(client.load(context, module, "MZ, whatever").status == CUDA_ERROR_INVALID_IMAGE);
  cu::Link link{.context = context};
  link.inputs.push_back({.kind = CU_JIT_INPUT_FATBINARY, .name = "w", .data = {0, sizeof wrapper, bytes_of(wrapper)}});
  CHECK(client.call(link).status == CUDA_ERROR_INVALID_IMAGE);
  // Options that are pointers: names of symbols, a library's table of host functions.
  const View code(reinterpret_cast<const std::uint8_t*>(kCode.data()), kCode.size());
  for (const std::uint32_t which : {17u, 18u, 25u, 27u, 99u, 0x80000000u, 0x80000001u}) {
    CAPTURE(which);
    CHECK(client.load(context, module, code, {{.which = which, .value = victim.address()}}).status ==
          CUDA_ERROR_INVALID_VALUE);
  }
  REQUIRE(client.load(context, module, kCode).status == 0);
  const auto kernel = client.kernel(context, module, "put");
  const Parameters parameters{memory, 1};
  const auto launch = [&](std::uint32_t which, const CUlaunchAttributeValue& value, std::uint64_t event = 0) {
    cu::Launch m{.context = context,
                 .kernel = kernel,
                 .grid = {1, 1, 1},
                 .block = {1, 1, 1},
                 .parameters = bytes_of(parameters)};
    m.attributes.push_back({.which = which, .event = event, .value = bytes_of(value)});
    return client.refusal(m);
  };
  CUlaunchAttributeValue value{};
  value.programmaticEvent.event = reinterpret_cast<CUevent>(victim.address());
  CHECK(launch(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, value) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(launch(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, value) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(launch(CU_LAUNCH_ATTRIBUTE_PRIORITY, {}, 12345) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(15, value) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launch(77, value) == CUDA_ERROR_INVALID_VALUE);
  value = {};
  value.accessPolicyWindow.base_ptr = const_cast<std::uint8_t*>(victim.bytes);
  value.accessPolicyWindow.num_bytes = sizeof victim.bytes;
  CHECK(launch(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, value) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::SetStreamAttribute{.context = context,
                                              .attribute = {.which = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                                            .value = bytes_of(value)}}) == CUDA_ERROR_INVALID_VALUE);
  CUstreamBatchMemOpParams operation{};
  operation.operation = static_cast<CUstreamBatchMemOpType>(8);
  CHECK(client.refusal(cu::StreamBatchMemOp{.context = context, .param_array = bytes_of(operation)}) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::TexObjectDestroy{.context = context, .tex_object = victim.address()}) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::SurfObjectDestroy{.context = context, .surf_object = victim.address()}) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(victim.is_untouched());
  still_works(client, context);
}

TEST_CASE("a launch hands over as many bytes of parameters as its kernel reads") {
  CudaClient client;
  const auto context = client.context(), module = client.mint();
  REQUIRE(client.load(context, module, kCode).status == 0);
  const auto kernel = client.kernel(context, module, "put");
  const Bytes all(64, 0);
  for (const std::size_t size : {0, 4, 8, 11, 13, 64}) {
    CAPTURE(size);
    CHECK(client.refusal(cu::Launch{.context = context,
                                    .kernel = kernel,
                                    .grid = {1, 1, 1},
                                    .block = {1, 1, 1},
                                    .parameters = View(all).first(size)}) == CUDA_ERROR_INVALID_VALUE);
  }
  client.send(cu::Launch{
      .context = context, .kernel = client.kernel(context, module, "none"), .grid = {1, 1, 1}, .block = {1, 1, 1}});
  CHECK(client.wait(context) == CUDA_SUCCESS);
  still_works(client, context);
}

TEST_CASE("a share comes back for what was really freed, and once") {
  constexpr std::uint64_t kSize = 1 << 20;
  CudaClient client;
  const auto context = client.context(), other = client.context(false);
  const auto own = client.grant.used(0);   // the contexts'
  const auto memory = client.memory(context, kSize), pinned = client.memory(context, kSize, 1);
  CHECK(client.grant.used(0) == own + kSize);
  CHECK(client.refusal(cu::Free{.context = other, .address = memory}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::Free{.context = 999, .address = memory}) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(client.refusal(cu::Free{.context = context, .address = memory + 64}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::FreeToPool{.context = context, .address = pinned}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.grant.used(0) == own + kSize);
  client.send(cu::Free{.context = context, .address = memory});
  CHECK(client.refusal(cu::Free{.context = context, .address = memory}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.grant.is_used(own));
  const auto from_pool = client.call(cu::AllocateFromPool{.context = other, .size = kSize});
  REQUIRE(from_pool.status == 0);
  client.memory(other, kSize);
  CHECK(client.grant.used(0) == own + 2 * kSize);
  client.send(cu::ReleaseContext{.context = other});
  CHECK(client.grant.is_used(own / 2));
  CHECK(client.refusal(cu::ReadMemory{
            .context = context, .address = from_pool.address, .size = 4, .ticket = client.link.ticket()}) ==
        CUDA_ERROR_INVALID_VALUE);
  still_works(client, context);
  client.stop();
  CHECK(client.grant.used(0) == 0);
  CHECK_FALSE(client.grant.is_overdrawn());
}

TEST_CASE("a primary context that is retained behind its reset is a new one, and there is one of a device") {
  CudaClient client;
  for (int round = 0; round < 20; ++round) {
    const auto context = client.context();
    const auto twice = client.mint();
    CHECK(client.call(cu::CreateContext{.context = twice, .device = 0, .is_primary = 1}).status ==
          CUDA_ERROR_INVALID_VALUE);
    client.memory(context, 4096);
    client.send(cu::ReleaseContext{.context = context, .is_reset = 1});
    const auto again = client.context();
    still_works(client, again);
    client.send(cu::ReleaseContext{.context = again});
  }
  CHECK(client.grant.is_used(0));
}

TEST_CASE("a host function behind a kernel that fails is told of the failure") {
  CudaClient client;
  const auto context = client.context(), module = client.mint();
  REQUIRE(client.load(context, module, kCode).status == 0);
  const Parameters parameters{16, 1};
  client.send(cu::Launch{.context = context,
                         .kernel = client.kernel(context, module, "put"),
                         .grid = {1, 1, 1},
                         .block = {1, 1, 1},
                         .parameters = bytes_of(parameters)});
  client.send(cu::HostFunction{.context = context, .function = 5});
  const auto run = client.link.run_of(5);
  CHECK(run.status == CUDA_ERROR_ILLEGAL_ADDRESS);
  client.send(cu::RanHostFunction{.run = run.run});
  CHECK(client.refusal(cu::RanHostFunction{.run = run.run}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.wait(context) == CUDA_ERROR_ILLEGAL_ADDRESS);
  client.send(cu::ReleaseContext{.context = context, .is_reset = 1});
  still_works(client, client.context());
}

TEST_CASE("what belongs to something that is gone is gone with it") {
  CudaClient client;
  const auto context = client.context(), other = client.context(false);
  // Levels of an array of several.
  const auto mipmap = client.mint(), level = client.mint();
  REQUIRE(client
              .call(cu::CreateArray{
                  .context = context,
                  .array = mipmap,
                  .shape = {.width = 64, .height = 64, .format = CU_AD_FORMAT_FLOAT, .channels = 1, .levels = 3}})
              .status == 0);
  REQUIRE(client
              .call(cu::MipmappedArrayGetLevel{
                  .context = context, .level_array = level, .mipmapped_array = mipmap, .level = 1})
              .status == 0);
  client.send(cu::Release{.object = mipmap});
  const auto ticket = [&] { return client.link.ticket(); };
  CHECK(client.refusal(cu::ReadRows{
            .context = context, .source = {.kind = 1, .object = level}, .extent = {4, 1, 1}, .ticket = ticket()}) ==
        CUDA_ERROR_INVALID_HANDLE);
  // Kernels of a module.
  const auto module = client.mint();
  REQUIRE(client.load(context, module, kCode).status == 0);
  const auto kernel = client.kernel(context, module, "none");
  client.send(cu::Release{.object = module});
  CHECK(client.refusal(cu::Launch{.context = context, .kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}}) ==
        CUDA_ERROR_INVALID_HANDLE);
  // All that is in a context; a library's kernel has no function in it any more.
  const auto stream = client.stream(other), event = client.mint(), in_other = client.mint(), library = client.mint();
  client.send(cu::CreateEvent{.context = other, .event = event});
  REQUIRE(client.load(other, in_other, kCode).status == 0);
  const auto function = client.kernel(other, in_other, "none");
  const auto hash = flexrack::cuda::content_hash(std::as_bytes(std::span(kCode)));
  REQUIRE(client.call(cu::Load{.module = library, .is_library = 1, .hash = hash}).status == 0);
  const auto shared = client.kernel(other, library, "none");
  client.send(cu::Launch{.context = other, .kernel = shared, .stream = stream, .grid = {1, 1, 1}, .block = {1, 1, 1}});
  CHECK(client.wait(other, stream) == CUDA_SUCCESS);
  client.send(cu::ReleaseContext{.context = other});
  CHECK(client.wait(context, stream) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(client.call(cu::WaitEvent{.event = event}).status == CUDA_ERROR_INVALID_HANDLE);
  CHECK(client.refusal(cu::Launch{.context = context, .kernel = function, .grid = {1, 1, 1}, .block = {1, 1, 1}}) ==
        CUDA_ERROR_INVALID_HANDLE);
  CHECK(client.refusal(cu::Launch{.context = other, .kernel = shared, .grid = {1, 1, 1}, .block = {1, 1, 1}}) ==
        CUDA_ERROR_INVALID_CONTEXT);
  client.send(cu::Launch{.context = context, .kernel = shared, .grid = {1, 1, 1}, .block = {1, 1, 1}});
  CHECK(client.wait(context) == CUDA_SUCCESS);
  still_works(client, context);
}

TEST_CASE("who waits for an event or a stream that ends meanwhile is answered") {
  CudaClient client;
  const auto context = client.context(), word = client.memory(context, 8), stream = client.stream(context),
             event = client.mint();
  client.send(cu::Fill{.context = context, .address = word, .width = 2, .height = 1, .element = 4});
  client.send(cu::CreateEvent{.context = context, .event = event});
  client.send(cu::StreamWaitValue32{.context = context, .stream = stream, .addr = word, .value = 1});
  client.send(cu::EventRecord{.context = context, .event = event, .stream = stream});
  std::vector<std::uint64_t> calls;
  for (int i = 0; i < 50; ++i) {
    calls.push_back(client.send(cu::WaitEvent{.event = event}));
    calls.push_back(client.send(cu::WaitStream{.context = context, .stream = stream}));
  }
  client.send(cu::Release{.object = event});
  client.send(cu::Release{.object = stream});
  const auto opener = client.stream(context);
  client.send(cu::StreamWriteValue32{.context = context, .stream = opener, .addr = word, .value = 1});
  for (const auto call : calls) CHECK(client.link.reply(call).first == wire::kReply);
  still_works(client, context);
}

TEST_CASE("what a session may have is bounded, with an error that says so") {
  CudaClient client;
  CHECK(client.call(cu::ReserveAddresses{.at = kTopmost - 4095, .size = 8192}).status == CUDA_ERROR_INVALID_VALUE);
  std::vector<std::uint64_t> contexts;
  auto status = 0;
  for (int i = 0; i < 200 && status == 0; ++i) {
    const auto handle = client.mint();
    status = client.call(cu::CreateContext{.context = handle, .device = 0}).status;
    if (status == 0) contexts.push_back(handle);
  }
  CHECK(status == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(contexts.size() == 128);
  const auto context = contexts.back();
  // A payload that no machine has room for.
  CHECK(client.refusal(cu::ReadMemory{.context = context,
                                      .address = client.memory(context, 64),
                                      .size = kTopmost,
                                      .ticket = client.link.ticket()}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client
            .call(cu::Load{
                .context = context, .module = client.mint(), .hash = {}, .image = {client.link.ticket(), kTopmost, {}}})
            .status == CUDA_ERROR_OUT_OF_MEMORY);
  // More waits than are kept: each is answered, and those that found no room say so.
  const auto word = client.memory(context, 8), stream = client.stream(context), event = client.mint();
  client.send(cu::Fill{.context = context, .address = word, .width = 2, .height = 1, .element = 4});
  CHECK(client.wait(context) == CUDA_SUCCESS);
  client.send(cu::CreateEvent{.context = context, .event = event});
  client.send(cu::StreamWaitValue32{.context = context, .stream = stream, .addr = word, .value = 1});
  client.send(cu::EventRecord{.context = context, .event = event, .stream = stream});
  for (int i = 0; i < (1 << 16); ++i) client.send(cu::WatchEvent{.event = event, .number = 1});
  CHECK(client.refusal(cu::WatchEvent{.event = event, .number = 2}) == CUDA_ERROR_OUT_OF_MEMORY);
  client.send(cu::StreamWriteValue32{.context = context, .stream = client.stream(context), .addr = word, .value = 1});
  while (client.call(cu::WaitEvent{.event = event}).status == CUDA_ERROR_OUT_OF_MEMORY) std::this_thread::yield();
  still_works(client, context);
}
