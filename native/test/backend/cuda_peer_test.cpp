// Copies and signals between servers, seen from one of them: what its client may name, and what its peer may do.
#include "test/backend/cuda_client.h"

using namespace flexrack;
using namespace flexrack::test;

namespace {

constexpr std::uint64_t kPeer = 7;

cu::Place plain(std::uint64_t address, std::uint64_t size) {
  return {.kind = 0, .object = address, .pitch = size, .height = 1};
}

/// A client whose server has a link to another one, which is the test.
struct Pair {
  CudaClient client;
  LoopLink peer;
  std::uint64_t context = client.context(), stream = client.stream(context), memory = client.memory(context, 4096),
                last = 100;
  Pair() {
    client.peers.links[kPeer] = &peer;
    client.send(cu::Fill{.context = context,
                         .stream = stream,
                         .address = memory,
                         .width = 4096,
                         .height = 1,
                         .value = 0x11,
                         .element = 1});
  }
  ~Pair() {
    peer.lose();
    client.stop();
  }

  std::uint64_t take(const cu::Place& to, const cu::Extent& extent, std::uint64_t by = kPeer) {
    client.send(cu::ImportMemory{
        .context = context, .stream = stream, .target = to, .extent = extent, .peer = by, .ticket = ++last});
    return last;
  }
  std::uint64_t give(const cu::Place& from, const cu::Extent& extent, std::uint64_t by = kPeer) {
    client.send(cu::ExportMemory{
        .context = context, .stream = stream, .source = from, .extent = extent, .peer = by, .ticket = ++last});
    return last;
  }
  Bytes read(std::uint64_t offset, std::uint64_t size) {
    const auto ticket = client.link.ticket();
    client.send(cu::ReadMemory{
        .context = context, .stream = stream, .address = memory + offset, .size = size, .ticket = ticket});
    return client.link.payload(ticket);
  }
};

}  // namespace

TEST_CASE("bytes go to another server and come from there in the order of the stream") {
  Pair pair;
  const auto out = pair.give(plain(pair.memory, 256), {256, 1, 1});
  CHECK(pair.peer.payload(out) == Bytes(256, 0x11));
  const auto in = pair.take(plain(pair.memory + 64, 64), {64, 1, 1});
  pair.client.send(cu::Fill{.context = pair.context,
                            .stream = pair.stream,
                            .address = pair.memory + 64,
                            .width = 1,
                            .height = 1,
                            .value = 0x33,
                            .element = 1});
  CHECK(pair.peer.is_waiting_for(in));
  CHECK(pair.client.call(cu::QueryStream{.context = pair.context, .stream = pair.stream}).status ==
        CUDA_ERROR_NOT_READY);
  pair.peer.supply(in, Bytes(64, 0x22));
  CHECK(pair.read(63, 3) == Bytes{0x11, 0x33, 0x22});
  CHECK(pair.read(127, 2) == Bytes{0x22, 0x11});
  CHECK_FALSE(pair.client.link.has_refusals());
}

TEST_CASE("a client has another server take and send memory of its own only") {
  Pair pair;
  const Bytes secret(64, 0x5a);
  const auto foreign = reinterpret_cast<std::uint64_t>(secret.data());
  for (const auto& [place, extent] : std::vector<std::pair<cu::Place, cu::Extent>>{
           {plain(foreign, 64), {64, 1, 1}},
           {plain(pair.memory, 4097), {4097, 1, 1}},
           {plain(pair.memory + 4090, 64), {64, 1, 1}},
           {plain(pair.memory, ~0ull), {~0ull, 2, 1}},
           {{.kind = 0, .object = pair.memory, .z = ~0ull, .pitch = 16, .height = 2}, {16, 2, 2}}}) {
    const auto out = pair.give(place, extent);
    CHECK(pair.client.link.refusal(cu::ExportMemory::kOp) != CUDA_SUCCESS);
    CHECK(pair.peer.is_cancelled(out));
    const auto in = pair.take(place, extent);
    CHECK(pair.client.link.refusal(cu::ImportMemory::kOp) != CUDA_SUCCESS);
    CHECK(pair.peer.is_cancelled(in));
    CHECK_FALSE(pair.peer.is_landing(in));
  }
  pair.take(plain(pair.memory, 64), {64, 1, 1}, kPeer + 1);
  CHECK(pair.client.link.refusal(cu::ImportMemory::kOp) == CUDA_ERROR_UNKNOWN);
  pair.give(plain(pair.memory, 64), {64, 1, 1}, kPeer + 1);
  CHECK(pair.client.link.refusal(cu::ExportMemory::kOp) == CUDA_ERROR_UNKNOWN);
  CHECK(secret == Bytes(64, 0x5a));
  CHECK(pair.client.call(cu::PeerReady{.peer = kPeer + 1}).status != CUDA_SUCCESS);
  CHECK(pair.client.call(cu::PeerReady{.peer = kPeer}).status == CUDA_SUCCESS);
  CHECK(pair.read(0, 2) == Bytes{0x11, 0x11});
}

TEST_CASE(
    "what a peer sends and nobody has announced lands nowhere, nor does what is larger or smaller than was announced") {
  Pair pair;
  pair.peer.supply(500, Bytes(4096, 0x66));
  pair.peer.supply(101, Bytes(65, 0x66));
  CHECK(pair.take(plain(pair.memory + 64, 64), {64, 1, 1}) == 101);
  CHECK(pair.client.link.refusal(cu::ImportMemory::kOp) == CUDA_ERROR_UNKNOWN);
  CHECK(pair.client.link.refused_object() == pair.stream);
  CHECK(pair.client.wait(pair.context, pair.stream) == CUDA_SUCCESS);
  CHECK(pair.read(0, 64) == Bytes(64, 0x11));
  CHECK(pair.read(128, 3968) == Bytes(3968, 0x11));
}

TEST_CASE("a peer that is lost is an error of the streams that wait for it, and they go on") {
  Pair pair;
  for (int i = 0; i < 20; ++i) pair.take(plain(pair.memory, 64), {64, 1, 1});
  CHECK(pair.peer.is_waiting_for(pair.last));
  pair.peer.lose();
  for (int i = 0; i < 20; ++i) CHECK(pair.client.link.refusal(cu::ImportMemory::kOp) == CUDA_ERROR_UNKNOWN);
  CHECK(pair.client.wait(pair.context, pair.stream) == CUDA_SUCCESS);
  pair.client.send(cu::PeerClose{.peer = kPeer});
  CHECK(pair.peer.is_closed());
}

TEST_CASE("a stream waits for another server's signal, and gives its own when it has got there") {
  Pair pair;
  const cu::AwaitPeer wait{.context = pair.context, .stream = pair.stream, .peer = kPeer, .ticket = 201};
  const cu::SignalPeer tell{.context = pair.context, .stream = pair.stream, .peer = kPeer, .ticket = 202};
  pair.client.send(wait);
  pair.client.send(tell);
  CHECK(pair.peer.is_waiting_for(201));
  CHECK(pair.client.call(cu::QueryStream{.context = pair.context, .stream = pair.stream}).status ==
        CUDA_ERROR_NOT_READY);
  pair.peer.supply(201, Bytes(1, 0));
  CHECK(pair.peer.payload(202).size() == 1);
  CHECK(pair.client.wait(pair.context, pair.stream) == CUDA_SUCCESS);
  CHECK_FALSE(pair.client.link.has_refusals());
}

TEST_CASE("a signal that does not come is an error of the stream, which goes on") {
  Pair pair;
  pair.client.send(cu::AwaitPeer{.context = pair.context, .stream = pair.stream, .peer = kPeer, .ticket = 201});
  pair.peer.lose();
  CHECK(pair.client.link.refusal(cu::AwaitPeer::kOp) == CUDA_ERROR_UNKNOWN);
  CHECK(pair.client.wait(pair.context, pair.stream) == CUDA_SUCCESS);
  pair.client.send(cu::AwaitPeer{.context = pair.context, .stream = pair.stream, .peer = kPeer + 1, .ticket = 202});
  CHECK(pair.client.link.refusal(cu::AwaitPeer::kOp) == CUDA_ERROR_UNKNOWN);
  pair.client.send(cu::SignalPeer{.context = pair.context, .stream = pair.stream, .peer = kPeer + 1, .ticket = 203});
  CHECK(pair.client.link.refusal(cu::SignalPeer::kOp) == CUDA_ERROR_UNKNOWN);
  pair.client.send(cu::SignalPeer{.context = pair.context, .stream = pair.memory, .peer = kPeer, .ticket = 204});
  CHECK(pair.client.link.refusal(cu::SignalPeer::kOp) != CUDA_SUCCESS);
  CHECK(pair.peer.is_cancelled(204));
}
