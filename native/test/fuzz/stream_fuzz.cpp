// The first bytes of a connection, and frames cut from a stream that comes in pieces of any size.
#include <algorithm>
#include <cstdlib>

#include "wire/error.h"
#include "wire/frame_reader.h"
#include "wire/preamble.h"

using namespace flexrack::wire;

namespace {

void read_preamble_from(View data) {
  if (data.size() < kPreambleSize) return;
  std::array<std::uint8_t, kPreambleSize> bytes;
  std::copy_n(data.begin(), kPreambleSize, bytes.begin());
  try {
    const auto preamble = decode_preamble(bytes);
    const auto again = decode_preamble(encode_preamble(preamble));
    if (again.lease != preamble.lease || again.session != preamble.session || again.peer != preamble.peer ||
        again.kind != preamble.kind)
      std::abort();
  } catch (const Error&) {}
}

void read_frames_from(View data, std::size_t piece) {
  FrameReader reader;
  while (!data.empty()) {
    const auto room = reader.room();
    const auto count = std::min({piece, data.size(), room.size()});
    if (room.empty()) std::abort();
    std::copy_n(data.begin(), count, room.begin());
    reader.added(count);
    data = data.subspan(count);
    for (;;) {
      Header header;
      View body;
      const auto next = reader.next(header, body);
      if (next == FrameReader::Next::malformed) return;
      if (next == FrameReader::Next::more) break;
      if (body.size() != header.length || reinterpret_cast<std::uintptr_t>(body.data()) % 8 != 0) std::abort();
      volatile std::uint64_t sum = 0;  // every byte of it may be read
      for (auto byte : body) sum = sum + byte;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const View rest(data + 1, size - 1);
  read_preamble_from(rest);
  read_frames_from(rest, 1 + data[0]);
  return 0;
}
