#include "cuda/fatbin.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cuda_facts/fatbin_writer.h"

using namespace flexrack::cuda;
using namespace flexrack::test;

namespace {

const std::string kPtx =
    ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n" + std::string(300, ' ');

std::string file(const std::string& name) {
  std::ifstream in(std::filesystem::path(FLEXRACK_TEST_FOLDER) / "fuzz" / "corpus" / "fatbin_fuzz" / name,
                   std::ios::binary);
  REQUIRE(in);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

struct Wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* data;
  const void* const* others = nullptr;
};

}  // namespace

TEST_CASE("entries have their kind, architecture and code, however they are compressed") {
  const auto bytes = FatbinWriter()
                         .add(2, 75, "0123456789", 0x11)
                         .add(1, 90, kPtx, 0x11 | kZstd | kOneArchitecture)
                         .add(1, 100, kPtx, 0x11 | kLz4 | kFamily)
                         .add(8, 80, "later")
                         .container();
  const auto image = parse(view(bytes));
  CHECK(image.format == ImageFormat::fatbin);
  REQUIRE(image.containers.size() == 1);
  const auto& entries = image.containers.front();
  REQUIRE(entries.size() == 4);
  CHECK(entries[0].kind == CodeKind::elf);
  CHECK(entries[0].architecture == Architecture{7, 5, 0});
  CHECK(text(contents(entries[0])) == std::string("0123456789") + std::string(6, '\0'));
  CHECK(entries[1].kind == CodeKind::ptx);
  CHECK(entries[1].architecture == Architecture{9, 0, 'a'});
  CHECK(entries[1].compression == Compression::zstd);
  CHECK(text(contents(entries[1])) == kPtx);
  CHECK(entries[2].architecture == Architecture{10, 0, 'f'});
  CHECK(entries[2].compression == Compression::lz4);
  CHECK(text(contents(entries[2])) == kPtx);
  CHECK(entries[3].kind == CodeKind::other);
  CHECK(describe(entries[2]) == "PTX for sm_100f, " + std::to_string(entries[2].payload.size()) + " bytes, LZ4");
}

TEST_CASE("how many registers the compiler was told a thread may have") {
  const std::pair<const char*, int> told[] = {{" -maxrregcount=32 ", 32}, {"-maxrregcount 96", 96},
                                              {" -lineinfo ", 0},         {"", 0},
                                              {"-maxrregcount", 0},       {"-maxrregcount=", 0}};
  for (const auto& [options, registers] : told) {
    FatbinWriter writer;
    writer.add(1, 75, ".target sm_75", 0x11, options).add(2, 80, elf(80));
    const auto bytes = writer.container();
    const auto image = parse(view(bytes));
    CHECK_MESSAGE(image.containers[0][0].max_registers == registers, std::string(options));
    CHECK(image.containers[0][1].max_registers == 0);
    CHECK(contents(image.containers[0][0]).size() == 13);
  }
  // Places beyond the header say nothing, and nothing is read there.
  auto bytes = FatbinWriter().add(1, 75, ".target sm_75", 0x11, " -maxrregcount=32 ").container();
  for (const std::size_t at : {16 + 20, 16 + 64, 16 + 68}) {
    for (const std::uint32_t wrong : {0xffffffffU, 96U, 97U, 1000U}) {
      auto damaged = bytes;
      std::memcpy(damaged.data() + at, &wrong, sizeof wrong);
      CHECK(parse(view(damaged)).containers[0][0].max_registers == 0);
    }
  }
}

TEST_CASE("what nvcc 13.0 wrote is read") {
  struct Case {
    const char* file;
    Compression elf, ptx;
  };
  for (const auto& [name, elf_compression, ptx_compression] :
       {Case{"default.fatbin", Compression::none, Compression::zstd},
        Case{"size.fatbin", Compression::zstd, Compression::zstd},
        Case{"speed.fatbin", Compression::none, Compression::lz4},
        Case{"none.fatbin", Compression::none, Compression::none}}) {
    CAPTURE(name);
    const auto bytes = file(name);
    const auto measured = measure(bytes.data());
    CHECK(measured.containers.front().size() == bytes.size());
    const auto image = parse(measured);
    const auto& entries = image.containers.front();
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].compression == elf_compression);
    CHECK(entries[1].compression == ptx_compression);
    const auto ptx = text(contents(entries[1]));
    CHECK(ptx.find(".visible .entry add_one(") != ptx.npos);
    CHECK(ptx.find(".target sm_75") != ptx.npos);
    CHECK(ptx.back() != '\0');
    const auto code = contents(entries[0]);
    const auto alone = parse(code);
    CHECK(alone.format == ImageFormat::elf);
    CHECK(alone.containers[0][0].architecture == Architecture{7, 5, 0});
    CHECK(measure(code.data()).containers[0].size() == code.size());
  }
}

TEST_CASE("sizes are found from a pointer alone") {
  const auto ptx = kPtx + '\0' + "behind";
  CHECK(measure(ptx.data()).format == ImageFormat::ptx);
  CHECK(measure(ptx.data()).containers[0].size() == kPtx.size());
  const auto code = elf(86) + "behind";
  CHECK(measure(code.data()).format == ImageFormat::elf);
  CHECK(measure(code.data()).containers[0].size() == code.size() - 6);
  const auto linked = FatbinWriter().container(), first = FatbinWriter().add(1, 75, kPtx).container(),
             second = FatbinWriter().add(1, 80, kPtx).container();
  const auto two = first + second;
  CHECK(measure(two.data()).containers.size() == 1);
  CHECK(measure(two.data()).containers[0].size() == first.size());
  const void* others[] = {first.data(), second.data(), nullptr};
  const Wrapper plain{.data = first.data()}, with_others{.version = 2, .data = linked.data(), .others = others};
  CHECK(measure(&plain).containers.size() == 1);
  CHECK(measure(&plain).containers[0].data() == view(first).data());
  const auto measured = measure(&with_others);
  REQUIRE(measured.containers.size() == 3);
  CHECK(measured.containers[0].size() == 16);
  CHECK(measured.containers[2].size() == second.size());
  CHECK(parse(measured).containers.size() == 3);
}

TEST_CASE("bytes may hold several fatbins, with padding between them") {
  const auto bytes = FatbinWriter().add(1, 75, kPtx).container() + std::string(16, '\0') +
                     FatbinWriter().add(1, 80, kPtx).container() + std::string(8, '\0');
  const auto image = parse(view(bytes));
  REQUIRE(image.containers.size() == 2);
  CHECK(image.containers[1][0].architecture == Architecture{8, 0, 0});
}

TEST_CASE("PTX says what it is for") {
  const auto of = [](std::string_view ptx) { return parse(view(ptx)).containers[0][0].architecture; };
  CHECK(of("//\n// .target sm_10\n.version 9.0 /* .target sm_20 */\n.target sm_120f, debug\n") ==
        Architecture{12, 0, 'f'});
  CHECK(of(" .version 8.0\n.target\tsm_90a") == Architecture{9, 0, 'a'});
  CHECK(of(".version 8.0\n.target texmode_independent") == Architecture{});
  CHECK(of(".version 8.0") == Architecture{});
  CHECK(of("/* open") == Architecture{});
  CHECK(of(".target sm_99999999999999999999").major <= 999);
}

TEST_CASE("damaged bytes are refused, and nothing is read beyond them") {
  const auto good = FatbinWriter().add(1, 75, kPtx, 0x11 | kZstd).add(2, 80, elf(80)).container();
  for (std::size_t size = 0; size < good.size(); ++size) {
    const std::vector<char> cut(
        good.begin(),
        good.begin() + static_cast<std::ptrdiff_t>(size));   // its own memory, so that a sanitizer sees its end
    CHECK_THROWS_AS(parse(view({cut.data(), cut.size()})), FatbinError);
  }
  const auto whole = elf(80);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_THROWS_AS(parse(view({cut.data(), cut.size()})), FatbinError);
  }
  auto wrong = good;
  wrong[16 + 64 + 10] ^= 0x55;
  const auto image = parse(view(wrong));
  CHECK_THROWS_AS(contents(image.containers[0][0]), FatbinError);
  CHECK_THROWS_AS(contents(parse(view(good)).containers[0][0], 100), FatbinError);
  CHECK_THROWS_AS(measure(nullptr), FatbinError);
  CHECK_THROWS_AS(measure("hello"), FatbinError);
  CHECK_THROWS_AS(measure(""), FatbinError);
}

TEST_CASE("an entry that claims to grow without measure takes no memory") {
  auto bytes = FatbinWriter().add(1, 75, kPtx, 0x11 | kZstd).container();
  const std::uint64_t size = 1ull << 29;
  std::memcpy(bytes.data() + 16 + 56, &size, sizeof size);
  CHECK_THROWS_AS(contents(parse(view(bytes)).containers[0][0]), FatbinError);
}

TEST_CASE("content has a hash") {
  const auto digest = content_hash(view("abc"));
  CHECK(digest[0] == 0xba);   // FIPS 180-2, B.1
  CHECK(digest[31] == 0xad);
  CHECK(content_hash(view("abd")) != digest);
}
