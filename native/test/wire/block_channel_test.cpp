// The bytes of a bulk connection in blocks, some of them compressed, and blocks that nobody of ours would send.
#include <doctest/doctest.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "test/wire/rig.h"
#include "wire/block_channel.h"

using namespace flexrack::test;

namespace {

constexpr std::size_t kLargePiece = 1024 * 1024;
/// Always, so that nothing depends on how fast this machine is.
constexpr Packing kAlways{1e18, 0, false};

/// A plain connection that counts what is written to it.
class Counted final : public Channel {
 public:
  Counted(int fd, std::atomic<std::size_t>& written) : channel_(make_plain_channel(Socket(fd))), written_(written) {}
  std::ptrdiff_t read_some(std::span<std::uint8_t> into) override { return channel_->read_some(into); }
  bool read_all(std::span<std::uint8_t> into) override { return channel_->read_all(into); }
  bool write(std::span<const iovec> pieces) override {
    for (const auto& piece : pieces) written_ += piece.iov_len;
    return channel_->write(pieces);
  }
  int fd() const override { return channel_->fd(); }
  void shut() override { channel_->shut(); }

 private:
  std::unique_ptr<Channel> channel_;
  std::atomic<std::size_t>& written_;
};

struct BlockEnds {
  std::atomic<std::size_t> written{0};
  std::unique_ptr<Channel> near, far, bare;
  explicit BlockEnds(const Packing& packing) {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    bare = make_plain_channel(Socket(dup(ends[0])));
    near = make_block_channel(std::make_unique<Counted>(ends[0], written), packing);
    far = make_block_channel(make_plain_channel(Socket(ends[1])), packing);
  }
};

Bytes random_bytes(std::size_t size) {
  Bytes bytes(size);
  std::uint64_t state = 88172645463325252ull;
  for (auto& byte : bytes) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    byte = static_cast<std::uint8_t>(state);
  }
  return bytes;
}

/// As token ids are: eight bytes each, most of them zeros.
Bytes small_numbers(std::size_t size) {
  auto bytes = random_bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    if (i % 8 > 1) bytes[i] = 0;
  return bytes;
}

/// Sends it in pieces with a head before each, as chunks are; what came, and how much was on the way.
Bytes carry(BlockEnds& ends, const Bytes& sent, std::size_t piece) {
  const Bytes head(40, 3);
  std::thread writer([&] {
    for (std::size_t at = 0; at < sent.size(); at += piece) {
      const auto size = std::min(piece, sent.size() - at);
      const iovec pieces[] = {{const_cast<std::uint8_t*>(head.data()), head.size()},
                              {const_cast<std::uint8_t*>(sent.data()) + at, size}};
      CHECK(ends.near->write(pieces));
    }
  });
  Bytes came(sent.size());
  for (std::size_t at = 0; at < sent.size(); at += piece) {
    Bytes before(head.size());
    CHECK(ends.far->read_all(before));
    CHECK(before == head);
    CHECK(ends.far->read_all(std::span(came).subspan(at, std::min(piece, sent.size() - at))));
  }
  writer.join();
  return came;
}

bool is_block_taken(const Bytes& bytes) {
  BlockEnds ends(kAlways);
  CHECK(write_all(*ends.bare, bytes));
  ends.bare->shut();
  Bytes into(1000, 1);
  const bool is_read = ends.far->read_all(into);
  if (!is_read) CHECK(ends.far->read_some(into) == Channel::kEnded);
  return is_read;
}

Bytes block(std::uint32_t length, std::uint32_t content, const Bytes& bytes) {
  const BlockHead head{length, content};
  Bytes all(sizeof head);
  std::memcpy(all.data(), &head, sizeof head);
  all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}

}  // namespace

TEST_CASE("what becomes small on a slow link is sent small, what does not is sent as it is, and both arrive") {
  const auto easy = small_numbers(3 * kLargePiece + 77), hard = random_bytes(3 * kLargePiece + 77);
  {
    BlockEnds ends(kAlways);
    CHECK(carry(ends, easy, kLargePiece) == easy);
    CHECK(ends.written < easy.size() * 2 / 3);
  }
  {
    BlockEnds ends(kAlways);
    CHECK(carry(ends, hard, kLargePiece) == hard);
    CHECK((ends.written > hard.size() && ends.written < hard.size() + hard.size() / 1000));
  }
  {
    // Pieces of small payloads are not looked at.
    BlockEnds ends(kAlways);
    CHECK(carry(ends, easy, kLargePiece / 4) == easy);
    CHECK(ends.written > easy.size());
  }
  {
    BlockEnds ends(Packing{1, 0, false});  // no link is that slow
    CHECK(carry(ends, easy, kLargePiece) == easy);
    CHECK(ends.written > easy.size());
  }
}

TEST_CASE("blocks are read in pieces of any size, without waiting too") {
  BlockEnds ends(kAlways);
  const auto sent = small_numbers(3 * kLargePiece);
  std::thread writer([&] {
    for (std::size_t at = 0; at < sent.size(); at += kLargePiece)
      CHECK(write_all(*ends.near, View(sent).subspan(at, kLargePiece)));
  });
  Bytes came(sent.size());
  for (std::size_t at = 0, size = 1; at < came.size(); size = size * 5 % 700'001) {
    const auto part = std::span(came).subspan(at, std::min(size, came.size() - at));
    if (size % 2 == 0) {
      CHECK(ends.far->read_all(part));
      at += part.size();
      continue;
    }
    const auto got = ends.far->read_some(part);
    REQUIRE(got != Channel::kEnded);
    at += static_cast<std::size_t>(got);
  }
  writer.join();
  CHECK(came == sent);
  CHECK(!ends.far->has_buffered());
}

TEST_CASE("a block that lies about its length ends the connection, and no memory is taken for what it claims") {
  const Bytes content(1000, 5);
  Bytes frame(ZSTD_compressBound(content.size()));
  const auto size = ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), 1);
  REQUIRE(ZSTD_isError(size) == 0);
  frame.resize(size);
  const auto length = static_cast<std::uint32_t>(size);
  CHECK(is_block_taken(block(1000, 1000, content)));
  CHECK(is_block_taken(block(length, 1000, frame)));
  CHECK(!is_block_taken(block(0, 0, {})));
  CHECK(!is_block_taken(block(0, 1000, {})));
  CHECK(!is_block_taken(block(1001, 1000, content)));
  CHECK(!is_block_taken(block(~0u, ~0u, content)));
  CHECK(!is_block_taken(block(length, ~0u, frame)));
  CHECK(!is_block_taken(block(length, kPackedContent + 1, frame)));
  CHECK(!is_block_taken(block(length, 999, frame)));   // more is in it than was said
  CHECK(!is_block_taken(block(length, 1001, frame)));  // less
  CHECK(!is_block_taken(block(length - 1, 1000, frame)));
  CHECK(!is_block_taken(block(900, 1000, content)));   // no frame at all
  // A frame that would become 250 times as long as its block may be.
  Bytes bomb(ZSTD_compressBound(64u << 20));
  const Bytes zeros(64u << 20);
  bomb.resize(ZSTD_compress(bomb.data(), bomb.size(), zeros.data(), zeros.size(), 1));
  CHECK(!is_block_taken(block(static_cast<std::uint32_t>(bomb.size()), kPackedContent, bomb)));
  CHECK(!is_block_taken(block(static_cast<std::uint32_t>(bomb.size()), 64u << 20, bomb)));
}
