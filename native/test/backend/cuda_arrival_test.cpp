// What is for another server's worker, said by a client: a session that comes here takes no more than it may, and one
// that is used is not made anew.
#include "test/backend/cuda_client.h"

using namespace flexrack;
using namespace flexrack::test;

namespace {

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;

}  // namespace

TEST_CASE("nothing is brought to a session that its own client uses") {
  CudaClient client;
  const auto context = client.context();
  const auto memory = client.memory(context, 4096);
  CHECK(client.call(cu::RestoreMemory{.context = context, .address = memory + (kGibibyte << 4), .size = 4096}).status !=
        0);
  CHECK(client.call(cu::RestoreVariables{.context = context, .module = 0, .addresses = {}}).status != 0);
  CHECK(client.call(cu::RestoreContext{.context = context, .stack = 4096}).status != 0);
  CHECK(client.call(cu::RestoreImage{.hash = {}, .image = {client.link.ticket(), kGibibyte, {}}}).status != 0);
  CHECK(client.call(cu::RestoreBytes{.context = context, .address = memory, .data = {client.link.ticket(), 4096, {}}})
            .status != 0);
  CHECK(client.call(cu::TakeOver{.session = {}, .state = {client.link.ticket(), 4096, {}}}).status != 0);
}

TEST_CASE("payloads of a session that comes take a bounded part of the machine's memory until they are there") {
  CudaClient client;
  client.send(cu::RestoreImage{.hash = {}, .image = {client.link.ticket(), kGibibyte, {}}});
  // The first is awaited; with it there is no room for another, which is answered at once.
  CHECK(client.call(cu::RestoreImage{.hash = {}, .image = {client.link.ticket(), kGibibyte, {}}}).status != 0);
  CHECK(client.call(cu::RestoreImage{.hash = {}, .image = {client.link.ticket(), ~std::uint64_t{0}, {}}}).status != 0);
  CHECK(client.call(cu::RestoreBytes{.context = 1, .address = 4096, .data = {client.link.ticket(), 4096, {}}}).status !=
        0);
}

TEST_CASE("a message that is said again is one that makes or sets something") {
  CudaClient client;
  for (const std::uint32_t op : {std::uint32_t{cu::Launch::kOp}, std::uint32_t{cu::WriteMemory::kOp},
                                 std::uint32_t{cu::TakeOver::kOp}, 0x10000 + std::uint32_t{cu::CreateContext::kOp}})
    CHECK(client.call(cu::RestoreMessage{.op = op, .number = 0, .body = {}, .expected = {}}).status ==
          CUDA_ERROR_NOT_PERMITTED);
}

TEST_CASE("memory is not had where no process has any") {
  CudaClient client;
  const auto context = client.mint();
  Bytes body;
  encode(body, cu::CreateContext{.context = context, .device = 0});
  const Bytes expected(8);
  REQUIRE(client.call(cu::RestoreMessage{.op = cu::CreateContext::kOp, .body = body, .expected = expected}).status ==
          0);
  for (const auto address : {~std::uint64_t{0} - 4095, ~std::uint64_t{0} - 255, std::uint64_t{1} << 47})
    CHECK(client.call(cu::RestoreMemory{.context = context, .address = address & ~std::uint64_t{255}, .size = 128})
              .status != 0);
}
