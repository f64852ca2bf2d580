// What copies have staged in a worker at one time. FLEXRACK_TEST_STAGING_BYTES makes the machine small for this
// program.
#include <cstdlib>

#include "test/backend/cuda_client.h"

using namespace flexrack;
using namespace flexrack::test;

namespace {

constexpr std::size_t kPiece = 4u << 20, kBound = 64u << 20;
[[maybe_unused]] const bool is_small = setenv("FLEXRACK_TEST_STAGING_BYTES", std::to_string(kBound).c_str(), 1) == 0;

Bytes piece(std::uint8_t first) {
  Bytes bytes(kPiece, first);
  bytes[1] = 0x5a;
  return bytes;
}

struct Announced {
  std::vector<std::uint64_t> tickets;
  void supply(CudaClient& client) {
    for (std::size_t i = 0; i < tickets.size(); ++i)
      client.link.supply(tickets[i], piece(static_cast<std::uint8_t>(i)));
  }
};

/// A copy of so many pieces whose bytes have not come.
Announced announce(CudaClient& client, std::uint64_t context, std::uint64_t stream, std::uint64_t to,
                   std::size_t pieces) {
  Announced all;
  for (std::size_t i = 0; i < pieces; ++i) {
    all.tickets.push_back(client.link.ticket());
    client.send(cu::WriteMemory{
        .context = context, .stream = stream, .address = to + i * kPiece, .data = {all.tickets.back(), kPiece, {}}});
  }
  return all;
}

}  // namespace

TEST_CASE("a copy larger than what may be staged goes through a window, in both directions") {
  CudaClient client;
  constexpr std::size_t kPieces = 40;
  static_assert(kPieces * kPiece > 2 * kBound);
  const auto context = client.context(), memory = client.memory(context, kPieces * kPiece),
             stream = client.stream(context);
  auto all = announce(client, context, stream, memory, kPieces);
  CHECK(client.link.is_waiting_for(all.tickets[0]));
  CHECK_FALSE(client.link.is_landing(all.tickets.back()));
  CHECK_FALSE(client.link.has_refusals());
  all.supply(client);
  CHECK(client.wait(context, stream) == CUDA_SUCCESS);

  // The other way the stream stands still while nobody takes the bytes, and nothing is refused either.
  client.link.keep_pushes(true);
  std::vector<std::uint64_t> tickets;
  for (std::size_t i = 0; i < kPieces; ++i) {
    tickets.push_back(client.link.ticket());
    client.send(cu::ReadMemory{.context = context,
                               .stream = stream,
                               .address = memory + i * kPiece,
                               .size = kPiece,
                               .ticket = tickets.back()});
  }
  CHECK(client.link.payload(tickets[0])[0] == 0);
  CHECK(client.call(cu::QueryStream{.context = context, .stream = stream}).status == CUDA_ERROR_NOT_READY);
  client.link.keep_pushes(false);
  bool is_right = true;
  for (std::size_t i = 0; i < kPieces; ++i)
    is_right &= client.link.payload(tickets[i]) == piece(static_cast<std::uint8_t>(i));
  CHECK(is_right);
  CHECK(client.wait(context, stream) == CUDA_SUCCESS);
  CHECK_FALSE(client.link.has_refusals());
}

TEST_CASE("a stream whose window is full holds up no other stream") {
  CudaClient client;
  const auto context = client.context(), memory = client.memory(context, 40 * kPiece), stream = client.stream(context),
             other = client.stream(context);
  auto all = announce(client, context, stream, memory, 30);
  auto beside = announce(client, context, other, memory + 30 * kPiece, 10);
  beside.supply(client);
  CHECK(client.wait(context, other) == CUDA_SUCCESS);
  CHECK(client.call(cu::QueryStream{.context = context, .stream = stream}).status == CUDA_ERROR_NOT_READY);
  all.supply(client);
  CHECK(client.wait(context, stream) == CUDA_SUCCESS);
  CHECK(client.read(context, memory + 29 * kPiece, 2) == Bytes{29, 0x5a});
}

TEST_CASE("streams that want more together than may be staged are refused, and what is given back can be had again") {
  CudaClient client;
  const auto context = client.context(), memory = client.memory(context, 30 * kPiece);
  std::vector<std::uint64_t> streams;
  std::vector<Announced> all;
  for (std::size_t i = 0; i < 2 * kBound / kPiece; ++i) {
    streams.push_back(client.stream(context));
    all.push_back(announce(client, context, streams.back(), memory, 1));
  }
  CHECK(client.link.refusal(cu::WriteMemory::kOp) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(client.link.is_cancelled(all.back().tickets[0]));
  // One payload that is more than may be staged in all.
  CHECK(client.refusal(cu::ReadMemory{.context = context,
                                      .address = client.memory(context, 2 * kBound),
                                      .size = 2 * kBound,
                                      .ticket = client.link.ticket()}) == CUDA_ERROR_OUT_OF_MEMORY);
  for (auto& one : all) one.supply(client);
  for (const auto stream : streams) CHECK(client.wait(context, stream) == CUDA_SUCCESS);
  const auto last = client.stream(context);
  auto again = announce(client, context, last, memory, 30);
  again.supply(client);
  CHECK(client.wait(context, last) == CUDA_SUCCESS);
  CHECK(client.read(context, memory + 29 * kPiece, 2) == Bytes{29, 0x5a});
}

TEST_CASE("a client that goes while copies wait for each other leaves nothing behind") {
  CudaClient client;
  const auto context = client.context(), memory = client.memory(context, 30 * kPiece), stream = client.stream(context);
  announce(client, context, stream, memory, 30);
  client.stop();
  CHECK(client.grant.is_used(0));
}
