// A client that says what it likes, at a session with a library of NCCL that FLEXRACK_NCCL names, NVIDIA's own or one
// that is made up: test_hostile_nccl.py.
#include <cstdlib>

#include "gen/nccl/nccl.h"
#include "test/backend/cuda_client.h"

using namespace flexrack;
using namespace flexrack::test;

namespace {

constexpr std::uint32_t kFloat = 7, kSum = 0, kAverage = 4;
constexpr std::uint64_t kCount = 1024, kBytes = 4 * kCount;

class Rank : public CudaClient {
 public:
  Rank()
      : CudaClient(false, std::getenv("FLEXRACK_NCCL")),
        in(context()),
        source(memory(in, kBytes)),
        target(memory(in, kBytes)) {
    link.patience = std::chrono::minutes(15);   // NCCL brings much PTX
  }

  template <class Message>
  ncclResult_t result(const Message& message) {
    return static_cast<ncclResult_t>(call(message).status);
  }
  Bytes id() {
    const auto reply = call(cu::CollectiveId{});
    REQUIRE(reply.status == ncclSuccess);
    return {reply.id.begin(), reply.id.end()};
  }
  /// One that has its only rank.
  std::uint64_t communicator() {
    const auto handle = mint();
    const auto own = id();
    REQUIRE(result(cu::JoinCollectives{.context = in, .communicator = handle, .ranks = 1, .id = own}) == ncclSuccess);
    return handle;
  }
  /// One whose other rank never comes, and the number of the call that waits for it.
  std::uint64_t alone() {
    const auto handle = mint();
    const auto own = id();
    send(cu::JoinCollectives{.context = in, .communicator = handle, .ranks = 2, .id = own});
    return handle;
  }
  cu::Collective sum() const {
    return {.which = 1, .type = kFloat, .reduction = kSum, .count = kCount, .source = source, .target = target};
  }
  CUresult refused(std::uint64_t communicator, const cu::Collective& one) {
    return refusal(cu::Collectives{.context = in, .communicator = communicator, .calls = {one}});
  }
  /// What it is for still works.
  void check_sum(std::uint64_t communicator, std::uint8_t value) {
    send(cu::Fill{.context = in, .address = source, .width = kBytes, .height = 1, .value = value, .element = 1});
    send(cu::Collectives{.context = in, .communicator = communicator, .calls = {sum()}});
    CHECK(wait(in) == CUDA_SUCCESS);
    CHECK(read(in, target, kBytes) == Bytes(kBytes, value));
  }

  const std::uint64_t in, source, target;
};

}  // namespace

TEST_CASE("live NCCL: wrong ranks, handles, sizes and memory of others are refused, and nothing ends by it" *
          doctest::test_suite("apart") * doctest::skip()) {
  Rank client, other;
  const auto communicator = client.communicator(), foreign = client.mint() + 1000;
  const auto own = client.id();
  const Bytes early(127, 1);
  const auto join = [&](std::uint64_t context, std::uint64_t handle, std::uint32_t ranks, std::uint32_t rank, View id) {
    return client.result(
        cu::JoinCollectives{.context = context, .communicator = handle, .ranks = ranks, .rank = rank, .id = id});
  };
  for (const auto& [ranks, rank] : {std::pair{0u, 0u}, {1u, 1u}, {2u, ~0u}, {~0u, 0u}, {(1u << 16) + 1, 0u}})
    CHECK(join(client.in, client.mint(), ranks, rank, own) == ncclInvalidArgument);
  CHECK(join(client.in, client.mint(), 1, 0, early) == ncclInvalidArgument);
  CHECK(join(client.in, client.mint(), 1, 0, {}) == ncclInvalidArgument);
  CHECK(join(0, client.mint(), 1, 0, own) == ncclInvalidArgument);
  CHECK(join(communicator, client.mint(), 1, 0, own) == ncclInvalidArgument);
  for (const auto handle : {std::uint64_t{0}, communicator, client.in})
    CHECK(join(client.in, handle, 1, 0, own) == ncclInvalidUsage);

  // Of the other session: a communicator, memory.
  const auto theirs = other.communicator();
  CHECK(client.refused(foreign, client.sum()) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(client.result(cu::EndCollectives{.communicator = foreign, .how = 1}) == ncclInvalidArgument);
  const auto wrong = [&](auto change) {
    auto one = client.sum();
    change(one);
    return client.refused(communicator, one);
  };
  CHECK(wrong([&](auto& one) { one.source = other.source; }) == CUDA_ERROR_INVALID_VALUE);
  CHECK(wrong([&](auto& one) { one.target = other.target; }) == CUDA_ERROR_INVALID_VALUE);
  CHECK(wrong([](auto& one) { one.target = 0; }) == CUDA_ERROR_INVALID_VALUE);
  CHECK(wrong([](auto& one) { one.source = ~std::uint64_t{0} - 8; }) == CUDA_ERROR_INVALID_VALUE);
  CHECK(wrong([](auto& one) { one.source += 4; }) == CUDA_ERROR_INVALID_VALUE);
  for (const auto count : {kCount + 1, std::uint64_t{1} << 62, ~std::uint64_t{0}})
    CHECK(wrong([&](auto& one) { one.count = count; }) == CUDA_ERROR_INVALID_VALUE);
  for (const auto type : {8u, 12u, ~0u}) CHECK(wrong([&](auto& one) { one.type = type; }) == CUDA_ERROR_INVALID_VALUE);
  for (const auto which : {0u, 11u, ~0u})
    CHECK(wrong([&](auto& one) { one.which = which; }) == CUDA_ERROR_INVALID_VALUE);
  for (const auto reduction : {kAverage + 1, ~0u})
    CHECK(wrong([&](auto& one) { one.reduction = reduction; }) == CUDA_ERROR_INVALID_VALUE);
  for (const auto which : {2u, 3u, 6u, 7u, 9u, 10u})
    CHECK(wrong([&](auto& one) { one.which = which, one.peer = 1; }) == CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::Collectives{.context = client.in, .communicator = communicator}) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::Collectives{.context = client.in,
                                       .communicator = communicator,
                                       .calls = std::vector<cu::Collective>(4097, client.sum())}) ==
        CUDA_ERROR_INVALID_VALUE);
  // A stream that is none, or of another context; a communicator of another context.
  const auto second = client.context(false), stream = client.stream(second);
  for (const auto wrong_stream : {client.mint(), communicator})
    CHECK(client.refusal(cu::Collectives{
              .context = client.in, .stream = wrong_stream, .communicator = communicator, .calls = {client.sum()}}) ==
          CUDA_ERROR_INVALID_HANDLE);
  CHECK(client.refusal(cu::Collectives{
            .context = client.in, .stream = stream, .communicator = communicator, .calls = {client.sum()}}) !=
        CUDA_SUCCESS);
  CHECK(client.refusal(cu::Collectives{.context = second, .communicator = communicator, .calls = {client.sum()}}) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(client.refusal(cu::Release{.object = communicator}) == CUDA_ERROR_INVALID_HANDLE);
  // Splits.
  const auto split = [&](std::uint64_t of, std::uint64_t made, std::int32_t color) {
    return client.result(cu::SplitCollectives{.communicator = of, .made = made, .color = color});
  };
  CHECK(split(foreign, client.mint(), 0) == ncclInvalidArgument);
  CHECK(split(client.in, client.mint(), 0) == ncclInvalidArgument);
  CHECK(split(communicator, client.mint(), -1) == ncclInvalidArgument);
  CHECK(split(communicator, client.mint(), -2) == ncclInvalidArgument);
  CHECK(split(communicator, 0, 0) == ncclInvalidArgument);
  CHECK(split(communicator, client.in, 0) == ncclInvalidUsage);
  CHECK(split(communicator, 0, -1) == ncclSuccess);

  client.check_sum(communicator, 3);
  other.check_sum(theirs, 4);
  CHECK(client.result(cu::EndCollectives{.communicator = communicator}) == ncclSuccess);
  CHECK(client.refused(communicator, client.sum()) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE(
    "live NCCL: what is made of a communicator has its own ranks, and is used before it is told of at nobody's cost" *
    doctest::test_suite("apart") * doctest::skip()) {
  Rank client;
  const auto communicator = client.communicator(), made = client.mint();
  client.send(cu::SplitCollectives{.communicator = communicator, .made = made, .color = 5});
  // Refused where it is too early, done where it is not: memory is never written that is not checked.
  client.send(cu::Collectives{.context = client.in, .communicator = made, .calls = {client.sum()}});
  const auto another = client.mint();
  const auto told = client.call(cu::SplitCollectives{.communicator = communicator, .made = another, .color = 0});
  CHECK(told.status == ncclSuccess);
  CHECK(told.ranks == 1);
  CHECK(told.rank == 0);
  client.wait(client.in);
  client.check_sum(another, 5);
  CHECK(client.result(cu::EndCollectives{.communicator = communicator}) == ncclSuccess);
  client.check_sum(another, 6);
  CHECK(client.result(cu::EndCollectives{.communicator = another}) == ncclSuccess);
}

TEST_CASE("live NCCL: one that is finalized takes nothing but its end" * doctest::test_suite("apart") *
          doctest::skip()) {
  Rank client;
  const auto communicator = client.communicator(), made = client.mint();
  const auto end = [&](std::uint32_t how) {
    return client.result(cu::EndCollectives{.communicator = communicator, .how = how});
  };
  CHECK(end(2) == ncclSuccess);
  CHECK(end(2) == ncclInvalidArgument);
  CHECK(client.refused(communicator, client.sum()) == CUDA_ERROR_UNKNOWN);
  for (const auto& [handle, color] : {std::pair{made, 0}, {std::uint64_t{0}, -1}})
    CHECK(client.result(cu::SplitCollectives{.communicator = communicator, .made = handle, .color = color}) ==
          ncclInvalidUsage);
  CHECK(client.refused(made, client.sum()) == CUDA_ERROR_INVALID_VALUE);
  CHECK(end(0) == ncclSuccess);
  CHECK(end(0) == ncclInvalidArgument);
  // Another one computes.
  client.check_sum(client.communicator(), 8);
}

TEST_CASE("live NCCL: a flood behind a rank that never comes is refused in the end, others compute, and all ends" *
          doctest::test_suite("apart") * doctest::skip()) {
  Rank client;
  const auto waits = client.alone(), communicator = client.communicator();
  const auto stream = client.stream(client.in);
  const std::vector<cu::Collective> many(4096, client.sum()), fewer(4094, client.sum());
  const cu::SplitCollectives split{.communicator = waits, .color = -1};
  const cu::EndCollectives finalize{.communicator = waits, .how = 2};
  // As many calls as may wait, and one more group.
  client.send(split);
  client.send(finalize);
  client.send(cu::Collectives{.context = client.in, .stream = stream, .communicator = waits, .calls = fewer});
  for (int i = 1; i < 256; ++i)
    client.send(cu::Collectives{.context = client.in, .stream = stream, .communicator = waits, .calls = many});
  CHECK_FALSE(client.link.has_refusals());
  CHECK(client.refusal(cu::Collectives{.context = client.in, .stream = stream, .communicator = waits, .calls = many}) ==
        CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(client.refused(communicator, client.sum()) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(client.result(split) == ncclSystemError);
  CHECK(client.result(finalize) == ncclSystemError);
  // At once: nothing is waited for.
  CHECK(client.result(cu::EndCollectives{.communicator = waits, .how = 1}) == ncclSuccess);
  client.wait(client.in, stream);   // it is answered
  client.check_sum(communicator, 7);
}

TEST_CASE("live NCCL: a client that is gone in the midst of it leaves nothing" * doctest::test_suite("apart") *
          doctest::skip()) {
  Rank client;
  const auto waits = client.alone(), communicator = client.communicator();
  for (int i = 0; i < 100; ++i) {
    client.send(cu::Collectives{.context = client.in, .communicator = communicator, .calls = {client.sum()}});
    client.send(cu::Collectives{.context = client.in, .communicator = waits, .calls = {client.sum()}});
  }
  // More are made than may be.
  for (int i = 0; i < 100; ++i) client.alone();
  client.stop();
  CHECK(client.grant.is_used(0));
  CHECK_FALSE(client.grant.is_overdrawn());
}
