// volatile and relaxed accesses beside another thread, as another process has them in memory that both share: a vector
// is seen whole or not at all.
#include <atomic>
#include <bit>
#include <string>
#include <thread>

#include "exec_rig.h"
#include "sim/exec/strong_access.h"

namespace {

using namespace flexrack::test;
using exec::u128;

constexpr std::uint32_t kTimes = 20000;

struct Access {
  const char* words;                   ///< behind ld and st
  const char* registers;
  std::vector<const char*> elements;
  const char* step;                    ///< one more in each 32-bit word of an element
};
const Access kAccesses[] = {
    {"volatile.global.v4.u32", ".b32", {"%e0", "%e1", "%e2", "%e3"}, "1"},
    {"volatile.global.v2.u64", ".b64", {"%e0", "%e1"}, "0x100000001"},
    {"relaxed.sys.global.v4.b32", ".b32", {"%e0", "%e1", "%e2", "%e3"}, "1"},
};

std::string list(const Access& access) {
  std::string text;
  for (const auto* one : access.elements) text += (text.empty() ? "{" : ", ") + std::string(one);
  return text + "}";
}

/// `writes` counts up in all elements of 16 bytes of its own a lane; `reads` collects in what elements of one vector
/// differ.
std::string kernels_of(const Access& access) {
  std::string each, differ;
  const std::string type = access.registers;
  for (const auto* one : access.elements) {
    each += "add" + (type == ".b32" ? std::string(".u32 ") : std::string(".u64 ")) + one + ", " + one + ", " +
            access.step + "; ";
    differ += "xor" + type + " %t, " + one + ", %e0; or" + type + " %d, %d, %t; ";
  }
  std::string zero;
  for (const auto* one : access.elements) zero += "mov" + type + " " + one + ", 0; ";
  return R"(
.version 8.0
.target sm_70
.address_size 64
.visible .entry writes(.param .u64 to, .param .u32 times) {
  .reg .b32 %r<4>; .reg .b64 %a<3>; .reg .pred %p; .reg )" +
         type + R"( %e<4>;
  ld.param.u64 %a0, [to]; ld.param.u32 %r0, [times]; mov.u32 %r1, %tid.x; mul.wide.u32 %a1, %r1, 16; add.u64 %a0, %a0, %a1; )" +
         zero + R"(
again: )" +
         each + "st." + access.words + " [%a0], " + list(access) +
         R"(; sub.u32 %r0, %r0, 1; setp.ne.u32 %p, %r0, 0; @%p bra again; ret;
}
.visible .entry reads(.param .u64 from, .param .u64 out, .param .u32 times) {
  .reg .b32 %r<4>; .reg .b64 %a<3>; .reg .pred %p; .reg )" +
         type + " %e<4>, %d, %t;" + R"(
  ld.param.u64 %a0, [from]; ld.param.u64 %a1, [out]; ld.param.u32 %r0, [times]; mov)" +
         type + R"( %d, 0;
again: ld.)" +
         access.words + " " + list(access) + ", [%a0]; " + differ +
         R"(sub.u32 %r0, %r0, 1; setp.ne.u32 %p, %r0, 0; @%p bra again; st.global)" + type + R"( [%a1], %d; ret;
}
)";
}

constexpr std::uint64_t both(std::uint32_t word) { return std::uint64_t{word} << 32 | word; }
constexpr u128 four(std::uint32_t word) { return u128{both(word)} << 64 | both(word); }

TEST_CASE("another thread sees a stored vector whole") {
  for (const auto& access : kAccesses) {
    Rig rig(kernels_of(access));
    struct alignas(16) Place {
      std::uint32_t words[4];
    };
    Buffer<Place> places(rig.map, 32);
    std::atomic<bool> is_over{false};
    std::optional<exec::Fault> fault;
    std::jthread kernel([&] {
      fault = rig.run(rig.launch("writes", {1, 1, 1}, {32, 1, 1}), Parameters(places.address(), kTimes));
      is_over = true;
    });
    std::uint64_t torn = 0;
    while (!is_over) {
      const u128 seen = exec::load_sixteen(&places[31]);
      torn += seen != four(static_cast<std::uint32_t>(seen));
    }
    kernel.join();
    CHECK_MESSAGE(torn == 0, std::string(access.words));
    CHECK(!fault);
    CHECK(places[31].words[3] == kTimes);
  }
}

TEST_CASE("a loaded vector is whole while another thread stores it") {
  for (const auto& access : kAccesses) {
    Rig rig(kernels_of(access));
    struct alignas(16) Place {
      std::uint32_t words[4];
    };
    Buffer<Place> place(rig.map, 1);
    Buffer<std::uint64_t> out(rig.map, 1, 0);
    std::atomic<bool> is_over{false};
    std::jthread writer([&] {
      for (std::uint32_t value = 1; !is_over; ++value) exec::store_sixteen(&place[0], four(value));
    });
    const auto fault =
        rig.run(rig.launch("reads", {1, 1, 1}, {32, 1, 1}), Parameters(place.address(), out.address(), kTimes));
    is_over = true;
    writer.join();
    CHECK_MESSAGE(out[0] == 0, std::string(access.words));
    CHECK(!fault);
  }
}

TEST_CASE("volatile vectors of all sizes, with places that are not asked for, keep what they are given") {
  Rig rig(R"(
.version 8.8
.target sm_100
.address_size 64
.visible .entry copies(.param .u64 from, .param .u64 to) {
  .reg .b64 %a<2>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %l<4>;
  ld.param.u64 %a0, [from]; ld.param.u64 %a1, [to];
  ld.volatile.global.v2.u8 {%h0, %h1}, [%a0]; st.volatile.global.v2.u8 [%a1], {%h0, %h1};
  ld.volatile.global.v4.u16 {%h0, %h1, %h2, %h3}, [%a0+8]; st.volatile.global.v4.u16 [%a1+8], {%h0, %h1, %h2, %h3};
  ld.volatile.global.v4.u32 {%r0, _, %r2, %r3}, [%a0+16]; mov.u32 %r1, 7; st.volatile.global.v4.u32 [%a1+16], {%r0, %r1, %r2, %r3};
  ld.volatile.global.v4.u64 {%l0, %l1, %l2, %l3}, [%a0+32]; st.volatile.global.v4.u64 [%a1+32], {%l0, %l1, %l2, %l3};
  ret;
})");
  // Vectors of 32 bytes lie at multiples of that.
  Buffer<std::uint8_t> from(rig.map, 96), to(rig.map, 96);
  const auto begin = [](Buffer<std::uint8_t>& of) { return (of.address() + 31) / 32 * 32; };
  std::uint8_t expected[64];
  for (unsigned i = 0; i < 64; ++i)
    expected[i] = reinterpret_cast<std::uint8_t*>(begin(from))[i] = static_cast<std::uint8_t>(i + 1);
  rig.go("copies", {1, 1, 1}, {1, 1, 1}, begin(from), begin(to));
  std::memset(expected + 2, 0, 6);
  const std::uint32_t seven = 7;
  std::memcpy(expected + 20, &seven, sizeof seven);
  CHECK(std::memcmp(reinterpret_cast<const void*>(begin(to)), expected, sizeof expected) == 0);
}

}  // namespace
