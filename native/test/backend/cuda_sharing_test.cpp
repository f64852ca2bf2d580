// What a client may share and open, message by message; two of them are in test/native/test_cuda_sharing.py.
#include "test/backend/cuda_client.h"

using namespace flexrack;
using namespace flexrack::test;

TEST_CASE("a client shares what is its own and opens what is shared with it, and nothing else") {
  CudaClient client;
  const auto context = client.context();
  const auto memory = client.memory(context, 4096), pinned = client.memory(context, 4096, 1);
  const auto used = client.grant.used(0);
  const Bytes secret(32, 7), short_one(31, 7);
  for (const std::uint64_t wrong : {std::uint64_t{0}, memory + 64, pinned, ~std::uint64_t{0}})
    CHECK(client.call(cu::ShareObject{.address = wrong}).status == CUDA_ERROR_INVALID_VALUE);
  for (const std::uint64_t wrong : {context, client.mint()})
    CHECK(client.call(cu::ShareObject{.object = wrong}).status == CUDA_ERROR_INVALID_HANDLE);
  // This grant has no room for anything shared: the memory is as it was.
  CHECK(client.call(cu::ShareObject{.address = memory}).status == CUDA_ERROR_OUT_OF_MEMORY);
  const auto event = client.mint();
  client.send(cu::CreateEvent{.context = context, .event = event, .flags = CU_EVENT_DISABLE_TIMING});
  CHECK(client.call(cu::ShareObject{.object = event}).status == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.call(cu::OpenMemory{.context = context, .secret = secret}).status == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.call(cu::OpenMemory{.context = context, .secret = short_one}).status == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.call(cu::OpenMemory{.secret = secret}).status == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(client.call(cu::OpenEvent{.context = context, .event = client.mint(), .secret = secret}).status ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(client.call(cu::OpenPhysical{.memory = client.mint(), .secret = secret}).status == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.call(cu::CloseMemory{.context = context, .address = memory}).status == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.grant.used(0) == used);
  client.send(cu::Free{.context = context, .address = memory});
  CHECK(client.grant.is_used(used - 4096));
  client.stop();
  CHECK(client.grant.used(0) == 0);
  CHECK_FALSE(client.grant.is_overdrawn());
}
