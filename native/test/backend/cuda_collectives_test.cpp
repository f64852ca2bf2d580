#include "gen/nccl/nccl.h"
#include "test/backend/cuda_client.h"

using namespace flexrack;
using namespace flexrack::test;

namespace {

constexpr auto kAnyHandle = ~std::uint64_t{0};

template <class Message>
auto result_of(CudaClient& client, const Message& message) {
  return static_cast<ncclResult_t>(client.call(message).status);
}

}  // namespace

TEST_CASE("collectives are refused by a daemon that has no NCCL, whatever is asked, and nothing ends by it") {
  CudaClient client;
  const auto context = client.context(), memory = client.memory(context, 4096);
  const Bytes id(128, 1);
  CHECK(result_of(client, cu::CollectiveVersion{}) == ncclSystemError);
  CHECK(result_of(client, cu::CollectiveId{}) == ncclSystemError);
  CHECK(
      result_of(client, cu::JoinCollectives{.context = context, .communicator = client.mint(), .ranks = 2, .id = id}) ==
      ncclSystemError);
  // Handles that are none, or of another kind.
  for (const auto handle : {std::uint64_t{0}, context, client.mint(), kAnyHandle}) {
    CAPTURE(handle);
    const cu::Collective one{.which = 1, .type = 7, .count = 1, .source = memory, .target = memory};
    CHECK(client.refusal(cu::Collectives{.context = context, .communicator = handle, .calls = {one}}) ==
          CUDA_ERROR_INVALID_HANDLE);
    for (const auto color : {0, -1, -2})
      CHECK(result_of(client, cu::SplitCollectives{.communicator = handle, .made = client.mint(), .color = color}) ==
            ncclInvalidArgument);
    for (const std::uint32_t how : {0u, 1u, 2u, ~0u})
      CHECK(result_of(client, cu::EndCollectives{.communicator = handle, .how = how}) == ncclInvalidArgument);
  }
  CHECK(client.refusal(cu::Collectives{.context = 99, .communicator = 1}) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(client.wait(context) == CUDA_SUCCESS);
  CHECK(client.read(context, memory, 4).size() == 4);
}
