// Every message of the OpenCL API from bytes: as they come, and as patches of a valid example. What decodes must encode
// to something that decodes to the same.
#include <cstdlib>

#include "gen/opencl/fuzz_cases.h"
#include "wire/codec.h"

using namespace flexrack;

namespace {

/// A body starts on an 8-byte boundary in a frame reader; vectors of u8 come from an allocator that gives at least
/// that.
wire::Bytes patched(wire::Bytes body, wire::View patches) {
  wire::Reader reader(patches);
  while (reader.left() >= 4 && !body.empty()) {
    const auto at = reader.get<std::uint16_t>() % body.size();
    const auto how = reader.get<std::uint8_t>();
    const auto value = reader.get<std::uint8_t>();
    switch (how % 4) {
      case 0: body[at] = value; break;
      case 1: body[at] = static_cast<std::uint8_t>(body[at] + value); break;
      case 2: body.resize(at); break;
      default: body.insert(body.begin() + static_cast<std::ptrdiff_t>(at), value);
    }
  }
  return body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto cases = cl::fuzz_cases();
  const auto& one = cases[data[0] % cases.size()];
  const wire::View rest(data + 2, size - 2);
  const wire::Bytes body = data[1] % 2 == 0 ? wire::Bytes(rest.begin(), rest.end()) : patched(one.make(), rest);
  wire::Bytes first, second;
  if (!one.again(body, first)) return 0;
  if (!one.again(first, second) || first != second) std::abort();
  return 0;
}
