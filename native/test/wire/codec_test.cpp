// Bounds of everything that is read from the other side.
#include <doctest/doctest.h>

#include <cstring>

#include "test/wire/rig.h"
#include "wire/frame_reader.h"
#include "wire/outbox.h"

using namespace flexrack::test;

namespace {

/// What write_out would send, as one piece.
Bytes taken(Outbox& outbox) {
  Bytes all;
  for (const auto& piece : outbox.take()) {
    const auto* bytes = static_cast<const std::uint8_t*>(piece.iov_base);
    all.insert(all.end(), bytes, bytes + piece.iov_len);
  }
  outbox.written();
  return all;
}

std::vector<std::uint64_t> sequences(FrameReader& reader) {
  std::vector<std::uint64_t> found;
  Header header;
  View body;
  while (reader.next(header, body) == FrameReader::Next::frame) found.push_back(header.sequence);
  return found;
}

void feed(FrameReader& reader, View bytes) {
  while (!bytes.empty()) {
    const auto room = reader.room();
    const auto count = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), count);
    reader.added(count);
    bytes = bytes.subspan(count);
  }
}

}  // namespace

TEST_CASE("fields come back as they were written, on their own alignment") {
  Bytes body;
  Writer writer(body);
  writer.put<std::uint8_t>(1);
  writer.put<std::uint32_t>(2);
  writer.put<std::uint8_t>(3);
  writer.put<double>(4.5);
  const std::uint16_t numbers[] = {5, 6, 7};
  writer.put_array<std::uint16_t>(numbers);
  writer.put_text("eight");
  CHECK(body.size() == 8 + 16 + 8 + 6 + 2 + 8 + 5);
  std::vector<std::uint64_t> aligned((body.size() + 7) / 8);
  std::memcpy(aligned.data(), body.data(), body.size());
  Reader reader({reinterpret_cast<const std::uint8_t*>(aligned.data()), body.size()});
  CHECK(reader.get<std::uint8_t>() == 1);
  CHECK(reader.get<std::uint32_t>() == 2);
  CHECK(reader.get<std::uint8_t>() == 3);
  CHECK(reader.get<double>() == 4.5);
  const auto back = reader.get_array<std::uint16_t>();
  REQUIRE(back.size() == 3);
  CHECK(back[2] == 7);
  CHECK(reader.get_text() == "eight");
  CHECK(reader.ok());
  CHECK(reader.left() == 0);
}

TEST_CASE("a body that ends early, or claims more than it has, reads as zeros and is not ok") {
  std::uint64_t words[3] = {~std::uint64_t{0}, 3, 1};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(words);
  for (std::size_t size = 0; size < 8; ++size) {
    Reader reader({bytes, size});
    CHECK(reader.get<std::uint64_t>() == 0);
    CHECK_FALSE(reader.ok());
    CHECK(reader.get<std::uint8_t>() == 0);
    CHECK(reader.left() == 0);
  }
  Reader huge({bytes, 24});
  CHECK(huge.get_array<std::uint64_t>().empty());
  CHECK_FALSE(huge.ok());
  Reader counted({bytes, 24});
  CHECK(counted.get_count(1) == 0);
  CHECK_FALSE(counted.ok());
  Reader one_too_many({bytes + 8, 16});
  CHECK(one_too_many.get_array<std::uint32_t>().empty());
  CHECK_FALSE(one_too_many.ok());
}

TEST_CASE("frames are found however the stream is cut, and a large one does not stay in memory") {
  Outbox outbox(1 << 30);
  for (std::size_t size : {0, 1, 8, 100, 5000, 3000000, 16})
    outbox.append(0x1001, 0, [&](Bytes& out) { out.resize(out.size() + size, 7); }, true);
  const auto stream = taken(outbox);
  for (std::size_t step : {1000003, 4096, 24, 17}) {
    FrameReader reader;
    std::vector<std::uint64_t> found;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      feed(reader, View(stream).subspan(at, std::min(step, stream.size() - at)));
      for (const auto sequence : sequences(reader)) found.push_back(sequence);
    }
    CHECK(found == std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7});
    CHECK(reader.room().size() < 1 << 20);
  }
}

TEST_CASE("a frame longer than the longest, or not padded, is malformed") {
  for (const std::uint32_t length : {static_cast<std::uint32_t>(kMaximumBody) + 8, 0xffffffffu, 7u, 9u}) {
    FrameReader reader;
    const Header header{0x1001, 0, length, 1};
    feed(reader, {reinterpret_cast<const std::uint8_t*>(&header), sizeof header});
    Header got;
    View body;
    CHECK(reader.next(got, body) == FrameReader::Next::malformed);
  }
}

TEST_CASE("what is not acknowledged is sent again, from where the other side stopped") {
  Outbox outbox(1 << 20);
  const auto append = [&] {
    return outbox.append(0x1001, 0, [](Bytes& out) { out.resize(out.size() + 24); }, true).sequence;
  };
  const auto sent = [&] {
    FrameReader reader;
    feed(reader, taken(outbox));
    return sequences(reader);
  };
  append(), append(), append();
  CHECK(sent() == std::vector<std::uint64_t>{1, 2, 3});
  CHECK_FALSE(outbox.acknowledge(4));
  CHECK(outbox.acknowledge(1));
  append();
  CHECK_FALSE(outbox.acknowledge(4));  // not sent yet
  CHECK(outbox.rewind(2));
  CHECK(sent() == std::vector<std::uint64_t>{3, 4});
  CHECK_FALSE(outbox.rewind(1));
  CHECK_FALSE(outbox.rewind(5));
  CHECK(outbox.acknowledge(4));
  CHECK(outbox.rewind(4));
  CHECK(sent().empty());
  CHECK(outbox.append(0x1001, 0, [](Bytes& out) { out.resize(out.size() + kMaximumBody + 1); }, true).sequence == 0);
  CHECK(append() == 5);
}

TEST_CASE("a preamble says what was written, and nothing else is one") {
  Preamble preamble;
  preamble.kind = ConnectionKind::peer;
  preamble.transport = Transport::shm;
  preamble.flags = kResume;
  preamble.lease[3] = 9;
  preamble.session[15] = 8;
  preamble.peer = 77;
  auto bytes = encode_preamble(preamble);
  const auto back = decode_preamble(bytes);
  CHECK(back.kind == preamble.kind);
  CHECK(back.transport == preamble.transport);
  CHECK(back.is_resume());
  CHECK(back.lease == preamble.lease);
  CHECK(back.session == preamble.session);
  CHECK(back.peer == 77);
  for (const std::size_t at : {0, 7, 12, 13}) {
    auto wrong = bytes;
    wrong[at] = 0;
    CHECK_THROWS_AS(decode_preamble(wrong), Error);
  }
}

TEST_CASE("a client of another version is told which one is spoken") {
  Server server(some_key(), {}, [](Link&, const Header&, View) {});
  Preamble preamble;
  preamble.version_min = 2;
  preamble.version_max = 9;
  const auto socket = connect_tcp("127.0.0.1", server.port(), std::chrono::seconds(5));
  write_within(socket.fd(), encode_preamble(preamble), std::chrono::seconds(5));
  CHECK_THROWS_WITH_AS(read_answer(socket.fd(), std::chrono::seconds(5)), "this server speaks version 1", Error);
}
