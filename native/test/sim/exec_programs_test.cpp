// Kernels as nvcc 13 compiles them (exec_kernels/*.cu, beside what it made of them) against the same computed here.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>

#include "exec_rig.h"

namespace {

using namespace flexrack::test;
using exec::Dim3;

TEST_CASE("a tiled matrix product") {
  Rig rig(kernels("linear"));
  for (const int n : {16, 40, 64}) {
    std::vector<float> a(static_cast<std::size_t>(n * n)), b(a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = static_cast<float>(i % 13) - 5, b[i] = static_cast<float>(i % 7) * 0.5f;
    Buffer<float> da(rig.map, a), db(rig.map, b), dc(rig.map, a.size());
    const auto blocks = static_cast<std::uint32_t>((n + 15) / 16);
    rig.go("matmul", {blocks, blocks, 1}, {16, 16, 1}, da.address(), db.address(), dc.address(), n);
    bool is_same = true;
    for (int y = 0; y < n; ++y) {
      for (int x = 0; x < n; ++x) {
        float sum = 0;
        for (int k = 0; k < n; ++k)
          sum = std::fma(a[static_cast<std::size_t>(y * n + k)], b[static_cast<std::size_t>(k * n + x)], sum);
        is_same &= dc[static_cast<std::size_t>(y * n + x)] == sum;
      }
    }
    CHECK(is_same);
  }
}

TEST_CASE("a reduction by shuffles") {
  Rig rig(kernels("linear"));
  std::vector<int> values(10007);
  std::iota(values.begin(), values.end(), -3000);
  Buffer<int> in(rig.map, values), out(rig.map, 1);
  rig.go("reduce", {7, 1, 1}, {256, 1, 1}, in.address(), out.address(), static_cast<int>(values.size()));
  CHECK(out[0] == std::accumulate(values.begin(), values.end(), 0));
}

TEST_CASE("a scan in dynamic shared memory") {
  Rig rig(kernels("linear"));
  std::vector<int> values(200);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * i % 31);
  Buffer<int> in(rig.map, values), out(rig.map, values.size());
  const auto fault = rig.run(rig.launch("scan", {1, 1, 1}, {256, 1, 1}, 1024),
                             Parameters(in.address(), out.address(), static_cast<int>(values.size())));
  CHECK(!fault);
  std::vector<int> expected(values.size());
  std::partial_sum(values.begin(), values.end(), expected.begin());
  CHECK(out.all() == expected);
}

TEST_CASE("a histogram by atomics of shared and global memory") {
  Rig rig(kernels("linear"));
  std::vector<unsigned char> values(30000);
  std::mt19937 random(1);
  for (auto& value : values) value = static_cast<unsigned char>(random() % 256);
  std::vector<unsigned> expected(256);
  for (const auto value : values) ++expected[value];
  Buffer<unsigned char> in(rig.map, values);
  Buffer<unsigned> bins(rig.map, 256);
  rig.go("histogram", {9, 1, 1}, {192, 1, 1}, in.address(), bins.address(), static_cast<int>(values.size()));
  CHECK(bins.all() == expected);
}

TEST_CASE("ballot, popc and clz") {
  Rig rig(kernels("linear"));
  std::vector<int> values(100);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * 7 % 50);
  Buffer<int> in(rig.map, values), out(rig.map, std::vector<int>(128, -1)), counts(rig.map, 4);
  rig.go("compact", {2, 1, 1}, {64, 1, 1}, in.address(), out.address(), counts.address(), 100);
  std::vector<int> expected(128, -1);
  for (std::size_t warp = 0; warp < 4; ++warp) {
    unsigned votes = 0;
    std::size_t at = warp * 32;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const auto i = warp * 32 + lane;
      if (i >= 100 || values[i] % 3 != 0) continue;
      votes |= 1U << lane;
      expected[at++] = values[i];
    }
    CHECK(counts[warp] == std::popcount(votes) * 100 + std::countl_zero(votes));
  }
  CHECK(out.all() == expected);
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST_CASE("Black-Scholes") {
  Rig rig(kernels("arithmetic"));
  const std::size_t n = 1000;
  Buffer<float> price(rig.map, n), strike(rig.map, n), years(rig.map, n), call(rig.map, n), put(rig.map, n);
  std::mt19937 random(2);
  const auto uniform = [&](double low, double high) {
    return static_cast<float>(std::uniform_real_distribution<>(low, high)(random));
  };
  for (std::size_t i = 0; i < n; ++i)
    price[i] = uniform(5, 30), strike[i] = uniform(1, 100), years[i] = uniform(0.25, 10);
  const float rate = 0.02f, volatility = 0.3f;
  rig.go("black_scholes", {4, 1, 1}, {256, 1, 1}, price.address(), strike.address(), years.address(), call.address(),
         put.address(), rate, volatility, static_cast<int>(n));
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double root = std::sqrt(years[i]),
                 d1 = (std::log(double{price[i]} / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) /
                      (volatility * root);
    const double d2 = d1 - volatility * root, discount = std::exp(-double{rate} * years[i]);
    worst = std::max(worst, std::fabs(call[i] - (price[i] * normal_cdf(d1) - strike[i] * discount * normal_cdf(d2))));
    worst = std::max(worst, std::fabs(put[i] - (strike[i] * discount * normal_cdf(-d2) - price[i] * normal_cdf(-d1))));
  }
  CHECK(worst < 2e-5);
}

TEST_CASE("mathematics in double") {
  Rig rig(kernels("arithmetic"));
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back((i - 100) * 0.37 + 1e-3);
  values.push_back(1e6), values.push_back(-1e9), values.push_back(3e-310), values.push_back(1e15);
  Buffer<double> in(rig.map, values), out(rig.map, values.size() * 8);
  rig.go("doubles", {2, 1, 1}, {128, 1, 1}, in.address(), out.address(), static_cast<int>(values.size()));
  double worst = 0;
  const auto compare = [&](double got, double wanted) {
    if (got == wanted || (std::isinf(wanted) && std::isinf(got))) return;
    worst = std::max(worst, std::fabs(got - wanted) / std::max(std::fabs(wanted), 1e-300));
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = values[i];
    const double expected[] = {std::sin(x),
                               std::exp(x / 10),
                               std::log(std::fabs(x) + 1),
                               std::pow(std::fabs(x), 1.5),
                               std::sqrt(std::fabs(x)),
                               x / 3.0,
                               std::atan2(x, 2.0),
                               std::fmod(x, 1.25)};
    for (std::size_t k = 0; k < 8; ++k) compare(out[8 * i + k], expected[k]);
    CHECK(out[8 * i + 4] == expected[4]);
    CHECK(out[8 * i + 5] == expected[5]);
    CHECK(out[8 * i + 7] == expected[7]);
  }
  CHECK(worst < 1e-15);
}

TEST_CASE("mathematics in float") {
  Rig rig(kernels("arithmetic"));
  std::vector<float> values;
  for (int i = 0; i < 300; ++i) values.push_back(static_cast<float>(i - 150) * 0.21f);
  Buffer<float> in(rig.map, values), out(rig.map, values.size() * 8);
  rig.go("floats", {3, 1, 1}, {128, 1, 1}, in.address(), out.address(), static_cast<int>(values.size()));
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = values[i];
    const float tenth = values[i] / 10;
    const double expected[] = {std::sin(x),
                               std::exp(double{tenth}),
                               std::log2(double{std::fabs(values[i]) + 1}),
                               std::pow(std::fabs(x), 1.5),
                               1 / std::sqrt(double{std::fabs(values[i]) + 1}),
                               values[i] / 3.0f,
                               std::tanh(x),
                               std::rint(x) + std::floor(x) * 8};
    for (std::size_t k = 0; k < 8; ++k)
      worst = std::max(worst, std::fabs(out[8 * i + k] - expected[k]) / std::max(std::fabs(expected[k]), 1e-30));
  }
  CHECK(worst < 5e-7);
}

TEST_CASE("64-bit integers, permutations and funnel shifts") {
  Rig rig(kernels("arithmetic"));
  std::vector<long long> a, b;
  std::mt19937_64 random(3);
  for (int i = 0; i < 100; ++i)
    a.push_back(static_cast<long long>(random())), b.push_back(static_cast<long long>(random() >> (i % 60)));
  a[0] = INT64_MIN, b[0] = -1, b[1] = 0, a[2] = 0;
  Buffer<long long> da(rig.map, a), db(rig.map, b), out(rig.map, a.size() * 8);
  rig.go("integers", {1, 1, 1}, {128, 1, 1}, da.address(), db.address(), out.address(), 100);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const long long x = a[i], y = b[i] == 0 ? 1 : b[i];
    const auto ux = static_cast<unsigned long long>(x), uy = static_cast<unsigned long long>(y);
    const auto lx = static_cast<unsigned>(ux), ly = static_cast<unsigned>(uy);
    const bool overflows = x == INT64_MIN && y == -1;
    CHECK(out[8 * i] == (overflows ? x : x / y));
    CHECK(out[8 * i + 1] == (overflows ? 0 : x % y));
    __extension__ typedef __int128 wide;
    CHECK(out[8 * i + 2] == static_cast<long long>((wide{x} * y) >> 64));
    CHECK(out[8 * i + 3] == static_cast<long long>(ux / uy));
    CHECK(out[8 * i + 4] == std::popcount(ux) * 64 + std::countl_zero(uy));
    unsigned long long reversed = 0;
    for (int bit = 0; bit < 64; ++bit) reversed |= (ux >> bit & 1) << (63 - bit);
    CHECK(out[8 * i + 5] == static_cast<long long>(reversed));
    CHECK(out[8 * i + 6] ==
          static_cast<int>((static_cast<long long>(static_cast<int>(x)) * static_cast<int>(y)) >> 32));
    const unsigned long long bytes = static_cast<unsigned long long>(ly) << 32 | lx;
    const auto byte = [&](unsigned at) { return static_cast<unsigned>(bytes >> (8 * at)) & 0xff; };
    CHECK(out[8 * i + 7] == static_cast<long long>(static_cast<unsigned>(
                                (byte(5) | byte(1) << 8 | byte(7) << 16 | byte(3) << 24) + ((ly << 9) | (lx >> 23)))));
  }
}

TEST_CASE("recursion, that lanes end at different depths") {
  Rig rig(kernels("control"));
  Buffer<int> out(rig.map, 64);
  rig.go("recursion", {1, 1, 1}, {64, 1, 1}, out.address());
  const int fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  for (std::size_t i = 0; i < 64; ++i) CHECK(out[i] == fibonacci[i % 12]);
}

TEST_CASE("loops that lanes leave at different times, and break and continue") {
  Rig rig(kernels("control"));
  Buffer<int> out(rig.map, 500);
  rig.go("collatz", {4, 1, 1}, {128, 1, 1}, out.address(), 500);
  for (unsigned i = 0; i < 500; ++i) {
    unsigned x = i + 1;
    int steps = 0;
    while (x != 1) {
      if (x % 2 == 0) {
        x /= 2;
      } else {
        x = 3 * x + 1;
        if (x > 100000) continue;
      }
      ++steps;
      if (steps > 200) break;
    }
    CHECK(out[i] == steps);
  }
}

TEST_CASE("a switch with fall-through and a return in it") {
  Rig rig(kernels("control"));
  std::vector<int> values(96);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i % 9);
  Buffer<int> in(rig.map, values), out(rig.map, std::vector<int>(96, 4));
  rig.go("switches", {1, 1, 1}, {96, 1, 1}, in.address(), out.address(), 90);
  const int expected[] = {17, 12, 105, 103, 4, -25, 2 << 10, -1, -1};
  for (std::size_t i = 0; i < 96; ++i) CHECK(out[i] == (i < 90 ? expected[i % 9] : 4));
}

TEST_CASE("locks between lanes of one warp, between warps and between blocks") {
  for (const char* kernel : {"lane_lock", "flag_lock"}) {
    CAPTURE(kernel);
    Rig rig(kernels("control"));
    Buffer<int> lock(rig.map, 1), count(rig.map, 1);
    const bool has_rounds = std::string(kernel) == "lane_lock";
    const int rounds = has_rounds ? 3 : 1;
    for (const Dim3 grid : {Dim3{1, 1, 1}, Dim3{5, 1, 1}}) {
      count[0] = lock[0] = 0;
      const auto fault =
          rig.run(rig.launch(kernel, grid, {64, 1, 1}), Parameters(lock.address(), count.address(), rounds));
      CHECK(!fault);
      CHECK(count[0] == static_cast<int>(grid.x) * 64 * rounds);
    }
  }
}

TEST_CASE("lanes that come to a shuffle by different ways") {
  Rig rig(kernels("control"));
  Buffer<int> out(rig.map, 32);
  rig.go("diverged_shuffle", {1, 1, 1}, {32, 1, 1}, out.address());
  for (int lane = 0; lane < 32; ++lane) {
    const int from = (lane + 2) % 32, same = lane / 5 == 6 ? 2 : 5;
    CHECK(out[static_cast<std::size_t>(lane)] == from * (lane % 2 == 0 ? 10 : 100) + same * 100000);
  }
}

TEST_CASE("calls through pointers, structures by value, local arrays") {
  Rig rig(kernels("control"));
  Buffer<int> out(rig.map, 64);
  rig.go("pointers", {1, 1, 1}, {64, 1, 1}, out.address());
  for (int i = 0; i < 64; ++i)
    CHECK(out[static_cast<std::size_t>(i)] == (i % 3 == 0 ? i + 7 : i % 3 == 1 ? i - 7 : i * 7));
  rig.go("local_arrays", {1, 1, 1}, {64, 1, 1}, out.address());
  for (int t = 0; t < 64; ++t) {
    int stack[16];
    for (int i = 0; i < 16; ++i) stack[(i * 7 + t) % 16] = i;
    CHECK(out[static_cast<std::size_t>(t)] == (((t % 6) + t) % 6 * 10 + t) * 100 + stack[t % 16]);
  }
}

TEST_CASE("barriers: by different ways, of some warps, with counts and votes") {
  Rig rig(kernels("control"));
  Buffer<int> out(rig.map, 256);
  rig.go("barriers", {1, 1, 1}, {256, 1, 1}, out.address());
  for (int i = 0; i < 256; ++i)
    CHECK(out[static_cast<std::size_t>(i)] == 255 - i + (i >= 128 ? 1000 : 0) + 86 * 10000 + 4000000);
}

TEST_CASE("printf") {
  Rig rig(kernels("services"));
  rig.go("print", {1, 1, 1}, {2, 1, 1}, 1.5f);
  CHECK(rig.paper.printed ==
        "thread 0 of 2:  0.00 text 1099511627776 x%\nthread 1 of 2:  1.50 text 1099511627776 x%\nno arguments\n");
}

TEST_CASE("assert stops the kernel and says where") {
  Rig rig(kernels("services"));
  const auto fault = rig.run(rig.launch("asserts", {1, 1, 1}, {40, 1, 1}), Parameters(33));
  REQUIRE(fault);
  CHECK(fault->kind == exec::Fault::Kind::assertion);
  CHECK(fault->thread == Dim3{33, 0, 0});
  CHECK(
      rig.paper.assertions.find(
          "services.cu:11: void asserts(int): block: [0,0,0], thread: [33,0,0] Assertion `threadIdx.x < limit && \"too many\"` failed.\n") ==
      0);
  CHECK(!rig.run(rig.launch("asserts", {1, 1, 1}, {40, 1, 1}), Parameters(40)));
}

TEST_CASE("malloc and free in kernels") {
  Rig rig(kernels("services"));
  Buffer<std::byte> region(rig.map, 1 << 20);
  exec::Heap heap(region.address(), region.size());
  Buffer<int> out(rig.map, 96);
  auto launch = rig.launch("heap", {1, 1, 1}, {96, 1, 1});
  launch.heap = &heap;
  const auto fault = rig.run(launch, Parameters(out.address()));
  CHECK(!fault);
  for (int i = 0; i < 96; ++i) CHECK(out[static_cast<std::size_t>(i)] == i * 64 * 63 / 2);
  CHECK(heap.used() == 0);
}

exec::Texels texels_of(Buffer<float>& buffer, std::uint32_t width, std::uint32_t height) {
  exec::Texels made;
  made.data = buffer.address();
  made.width = width;
  made.height = height;
  made.row_pitch = width * sizeof(float);
  made.slice_pitch = made.row_pitch * height;
  return made;
}

TEST_CASE("textures and surfaces by handle") {
  Rig rig(kernels("services"));
  Buffer<float> image(rig.map, 64), line(rig.map, 8), out(rig.map, 64);
  for (std::size_t i = 0; i < 64; ++i) image[i] = static_cast<float>(i * i);
  for (std::size_t i = 0; i < 8; ++i) line[i] = static_cast<float>(i) * 0.25f;
  exec::Texture texture, linear;
  texture.levels = {texels_of(image, 8, 8)};
  linear.levels = {texels_of(line, 8, 0)};
  rig.map.add_texture(11, texture);
  rig.map.add_texture(12, linear);
  rig.map.add_surface(13, exec::Surface{texels_of(image, 8, 8)});
  rig.go("fetch", {1, 1, 1}, {8, 8, 1}, std::uint64_t{11}, std::uint64_t{12}, out.address(), 8, 8);
  for (std::size_t i = 0; i < 64; ++i) CHECK(out[i] == static_cast<float>(i * i) + static_cast<float>(i % 8) * 0.25f);
  rig.go("surface", {1, 1, 1}, {8, 8, 1}, std::uint64_t{13}, 8);
  for (std::size_t i = 0; i < 64; ++i) CHECK(image[i] == static_cast<float>(i * i) * 2 + static_cast<float>(i / 8));
  const auto fault = rig.run(rig.launch("fetch", {1, 1, 1}, {8, 8, 1}),
                             Parameters(std::uint64_t{99}, std::uint64_t{12}, out.address(), 8, 8));
  REQUIRE(fault);
  CHECK(fault->kind == exec::Fault::Kind::bad_object);
  CHECK(fault->address == 99);
}

TEST_CASE("all blocks of a cooperative launch meet") {
  Rig rig(kernels("services"));
  const int n = 20 * 64, rounds = 10;
  Buffer<int> data(rig.map, static_cast<std::size_t>(n));
  std::iota(data.all().begin(), data.all().end(), 0);
  auto launch = rig.launch("grid_sync", {20, 1, 1}, {64, 1, 1});
  launch.is_cooperative = true;
  const auto fault = rig.run(launch, Parameters(data.address(), rounds));
  const std::string said = fault ? fault->describe() : "";
  CHECK_MESSAGE(!fault, said);
  for (int i = 0; i < n; ++i) CHECK(data[static_cast<std::size_t>(i)] == (i + rounds) % n + rounds);
}

TEST_CASE("groups of lanes: tiles, and those that are active") {
  Rig rig(kernels("services"));
  Buffer<int> out(rig.map, 32);
  rig.go("groups", {1, 1, 1}, {32, 1, 1}, out.address());
  for (int lane = 0; lane < 32; ++lane) {
    // Each step adds what the lane above had; at the tile's end a lane adds its own.
    std::vector<int> values(8);
    const int base = lane / 8 * 8;
    for (int i = 0; i < 8; ++i) values[static_cast<std::size_t>(i)] = base + i;
    for (int d = 4; d > 0; d /= 2) {
      const auto before = values;
      for (int i = 0; i < 8; ++i)
        values[static_cast<std::size_t>(i)] += before[static_cast<std::size_t>(i + d < 8 ? i + d : i)];
    }
    int expected = values[static_cast<std::size_t>(lane % 8)];
    if (lane % 3 == 0) expected += 1000 * 11 + 100000 * (lane / 3);
    CHECK(out[static_cast<std::size_t>(lane)] == expected);
  }
}

TEST_CASE("wmma of halves and of bytes, from global and shared memory, by rows and columns") {
  Rig rig(kernels("matrices"));
  Buffer<std::uint16_t> a(rig.map, 256), b(rig.map, 24 * 16);
  Buffer<float> c(rig.map, 256), d(rig.map, 256);
  // Small integers are exact in f16: 0x3c00 is 1.
  const std::uint16_t halves[] = {0x0000, 0x3c00, 0x4000, 0x4200, 0x4400, 0xbc00, 0xc000};
  const float floats[] = {0, 1, 2, 3, 4, -1, -2};
  const auto pick_a = [](std::size_t row, std::size_t k) { return (row * 5 + k * 3) % 7; };
  const auto pick_b = [](std::size_t k, std::size_t column) { return (k * 2 + column * 3 + 1) % 7; };
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t j = 0; j < 16; ++j) {
      a[i * 16 + j] = halves[pick_a(i, j)];
      b[j * 24 + i] = halves[pick_b(i, j)];
      c[i * 16 + j] = static_cast<float>(i) * 0.5f - static_cast<float>(j);
    }
  }
  rig.go("wmma_half", {1, 1, 1}, {32, 1, 1}, a.address(), b.address(), c.address(), d.address());
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 16; ++column) {
      float sum = 2 * c[row * 16 + column];
      for (std::size_t k = 0; k < 16; ++k) sum += floats[pick_a(row, k)] * floats[pick_b(k, column)];
      CHECK(d[column * 16 + row] == sum);
    }
  }
  Buffer<signed char> e(rig.map, 128), f(rig.map, 512);
  Buffer<int> g(rig.map, 256);
  for (std::size_t i = 0; i < 512; ++i) f[i] = static_cast<signed char>(i * 37 % 251 - 125);
  for (std::size_t i = 0; i < 128; ++i) e[i] = static_cast<signed char>(i * 91 % 255 - 127);
  rig.go("wmma_bytes", {1, 1, 1}, {32, 1, 1}, e.address(), f.address(), g.address());
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t column = 0; column < 32; ++column) {
      int sum = 7;
      for (std::size_t k = 0; k < 16; ++k) sum += e[row * 16 + k] * f[k * 32 + column];
      CHECK(g[row * 32 + column] == sum);
    }
  }
}

TEST_CASE("the last block finds what all have written; variables and constants of the module") {
  Rig rig(kernels("services"));
  rig.is_repeatable = false;  // another block may be the last one
  const std::size_t n = 37 * 64;
  Buffer<float> in(rig.map, n, 1.0f), out(rig.map, n + 1);
  Buffer<int> order(rig.map, 1, -1);
  rig.go("last_block", {37, 1, 1}, {64, 1, 1}, in.address(), out.address(), order.address());
  CHECK(out[n] == 37 * 16 * 8.0f);
  CHECK(order[0] >= 0);
  const auto last = rig.image->find("last");
  REQUIRE(last);
  CHECK(*reinterpret_cast<int*>(last->address) == 37);
}

}  // namespace
