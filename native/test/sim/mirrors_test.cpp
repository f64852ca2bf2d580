// The server's mirrors of a client's memory, over the driver in software.
#include "backend/cuda/mirrors.h"

#include <cstring>

#include "sim/driver_rig.h"

namespace {

using flexrack::backend::cuda::Mirrors;
using flexrack::test::driver::Rig;
using flexrack::wire::Bytes;
namespace cu = flexrack::cu;

constexpr std::uint64_t kContext = 5, kStream = 9, kMirrored = 64 * 1024;

/// With one context, and what the client was told.
struct MirrorRig {
  Rig rig{};
  cu::DriverTable table{};
  Mirrors mirrors{table};
  std::vector<std::pair<std::uint64_t, Bytes>> reported;

  MirrorRig() {
    table.cuMemHostRegister_v2 = &::cuMemHostRegister_v2;
    table.cuMemHostUnregister = &::cuMemHostUnregister;
    table.cuMemHostGetDevicePointer_v2 = &::cuMemHostGetDevicePointer_v2;
    mirrors.start(4 * kMirrored, [this](const cu::Changed& changed) {
      auto data = changed.data;
      for (const auto& range : changed.ranges) {
        reported.emplace_back(range.address,
                              Bytes(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(range.size)));
        data = data.subspan(range.size);
      }
      CHECK(data.empty());
    });
  }
  ~MirrorRig() {
    for (const auto& one : mirrors.take_of_context(kContext)) mirrors.give_back(*one);
  }
  MirrorRig(const MirrorRig&) = delete;
  MirrorRig& operator=(const MirrorRig&) = delete;
  std::uint64_t make(std::uint64_t size = kMirrored) {
    std::uint64_t at = 0;
    REQUIRE_EQ(mirrors.make(kContext, 0, size, 0, at), CUDA_SUCCESS);
    return at;
  }
  bool write(std::uint64_t at, const Bytes& bytes) {
    const cu::Range range{at, bytes.size()};
    return mirrors.write(std::span(&range, 1), bytes);
  }
};

}  // namespace

TEST_CASE("mirrors: what the client writes is there, and is not told back; what a kernel writes is") {
  MirrorRig with;
  const auto at = with.make();
  auto* const memory = reinterpret_cast<std::uint8_t*>(at);
  CHECK(with.write(at + 100, {1, 2, 3}));
  CHECK_EQ(memory[101], 2);
  with.mirrors.used(kContext, kStream);
  with.mirrors.tell_changes();
  CHECK(with.reported.empty());
  CU(with.rig.fill(at + 8192, 77, 2));
  CU(cuCtxSynchronize());
  with.mirrors.tell_changes();
  REQUIRE_EQ(with.reported.size(), 2);  // only the bytes that are not zero any more
  CHECK(with.reported[0] == std::pair(at + 8192, Bytes{77}));
  CHECK(with.reported[1] == std::pair(at + 8196, Bytes{77}));
  with.mirrors.tell_changes();
  CHECK_EQ(with.reported.size(), 2);
}

TEST_CASE("mirrors: nothing is compared once all streams that could have changed them are over") {
  MirrorRig with;
  const auto at = with.make();
  CHECK(with.mirrors.is_quiet());
  with.mirrors.used(kContext, kStream);
  const auto point = with.mirrors.point();
  with.mirrors.used(kContext, kStream + 1);
  CHECK_FALSE(with.mirrors.is_quiet());
  with.mirrors.tell_changes(point, kContext, kStream);
  CHECK_FALSE(with.mirrors.is_quiet());   // the other stream may still change them
  with.mirrors.used(kContext, kStream);
  with.mirrors.tell_changes(with.mirrors.point(), kContext, kStream + 1);
  CHECK_FALSE(with.mirrors.is_quiet());
  with.mirrors.tell_changes(point, kContext, std::nullopt);
  CHECK_FALSE(with.mirrors.is_quiet());   // what was put there after that point
  with.mirrors.tell_changes(with.mirrors.point(), kContext, std::nullopt);
  CHECK(with.mirrors.is_quiet());
  reinterpret_cast<std::uint8_t*>(at)[5] = 1;
  with.mirrors.tell_changes();
  CHECK(with.reported.empty());
}

TEST_CASE("mirrors: nothing is written beside them, and no more is mirrored than may be") {
  MirrorRig with;
  const auto at = with.make();
  CHECK_FALSE(with.write(at - 1, {1}));
  CHECK_FALSE(with.write(at + kMirrored, {1}));
  CHECK_FALSE(with.write(at + kMirrored - 1, {1, 2}));
  CHECK_FALSE(with.write(0, {1}));
  const cu::Range whole[] = {{at, 2}, {at + 10, ~std::uint64_t{0}}}, twice[] = {{at, 2}, {at + 10, 2}};
  const Bytes three{1, 2, 3}, five{1, 2, 3, 4, 5};
  CHECK_FALSE(with.mirrors.write(whole, three));
  CHECK_FALSE(with.mirrors.write(twice, three));   // too few bytes
  CHECK_FALSE(with.mirrors.write(twice, five));    // and too many
  std::uint64_t other = 0;
  CHECK_EQ(with.mirrors.make(kContext, 0, 0, 0, other), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(with.mirrors.make(kContext, at, kMirrored, 0, other), CUDA_ERROR_ALREADY_MAPPED);
  CHECK_EQ(with.mirrors.make(kContext, ~std::uint64_t{0} - 100, 4096, 0, other), CUDA_ERROR_INVALID_VALUE);
  CHECK_EQ(with.mirrors.make(kContext, 0, 3 * kMirrored + 1, 0, other), CUDA_ERROR_OUT_OF_MEMORY);
  const auto rest = with.make(3 * kMirrored);
  CHECK_EQ(with.mirrors.make(kContext, 0, 1, 0, other), CUDA_ERROR_OUT_OF_MEMORY);
  const auto gone = with.mirrors.take(rest);
  REQUIRE(gone);
  CU(with.mirrors.give_back(*gone));
  CHECK_EQ(with.mirrors.take(rest), nullptr);
  CHECK_FALSE(with.write(rest, {1}));
  with.make(3 * kMirrored);
  CHECK_EQ(with.mirrors.take_of_context(kContext + 1).size(), 0);
  for (const auto& one : with.mirrors.take_of_context(kContext)) CU(with.mirrors.give_back(*one));
  CHECK_FALSE(with.write(at, {1}));
}

TEST_CASE("mirrors: a variable that the driver has is told with what it holds, and no more once its module goes") {
  MirrorRig with;
  alignas(8) static std::uint8_t variable[4096];
  std::memset(variable, 0, sizeof variable);
  variable[10] = 4;
  Bytes content;
  const auto at = reinterpret_cast<std::uint64_t>(variable);
  CU(with.mirrors.watch(0, 70, at, sizeof variable, content));
  CHECK_EQ(content.size(), 11);
  CHECK_EQ(content[10], 4);
  CHECK_EQ(with.mirrors.take(at), nullptr);   // not the client's to free
  variable[20] = 6;
  with.mirrors.used(kContext, kStream);
  with.mirrors.tell_changes();
  REQUIRE_EQ(with.reported.size(), 1);
  CHECK(with.reported[0] == std::pair(at + 20, Bytes{6}));
  with.mirrors.forget_owner(70);
  variable[30] = 7;
  with.mirrors.tell_changes();
  CHECK_EQ(with.reported.size(), 1);
  CHECK_FALSE(with.write(at, {1}));
}
