#include <doctest/doctest.h>

#include "cuda_facts/fatbin_writer.h"

using namespace flexrack::cuda;
using namespace flexrack::test;

namespace {

constexpr std::uint16_t kPtxKind = 1, kElf = 2, kLater = 8;
constexpr std::uint64_t kPlain = 0x11;

/// What a device takes of an image, described without sizes; several with + between them.
std::string chosen(const std::string& bytes, const Target& target) {
  const auto image = parse(view(bytes));
  std::string text;
  for (const auto* entry : choose(image, target).entries) {
    const auto said = describe(*entry);
    text += (text.empty() ? "" : " + ") + said.substr(0, said.find(','));
  }
  return text;
}

Target device(int major, int minor) { return {.architecture = {major, minor}}; }
Target in_software(int major, int minor) { return {.architecture = {major, minor}, .runs_elf = false}; }

}  // namespace

TEST_CASE("machine code runs within its major version, from its minor version up") {
  CHECK(runs_machine_code({8, 9}, {8, 0}));
  CHECK(runs_machine_code({8, 0}, {8, 0}));
  CHECK_FALSE(runs_machine_code({8, 0}, {8, 6}));
  CHECK_FALSE(runs_machine_code({9, 0}, {8, 0}));
  CHECK(runs_machine_code({9, 0}, {9, 0, 'a'}));
  CHECK_FALSE(runs_machine_code({10, 3}, {10, 0, 'a'}));
  CHECK(runs_machine_code({10, 3}, {10, 0, 'f'}));
  CHECK_FALSE(runs_machine_code({12, 0}, {10, 0, 'f'}));
  CHECK_FALSE(runs_machine_code({8, 7}, {8, 6}));
  CHECK_FALSE(runs_machine_code({8, 9}, {8, 7}));
}

TEST_CASE("PTX runs on what is newer, a family's within it") {
  CHECK(runs_ptx({12, 0}, {7, 5}));
  CHECK_FALSE(runs_ptx({7, 0}, {7, 5}));
  CHECK_FALSE(runs_ptx({10, 0}, {9, 0, 'a'}));
  CHECK(runs_ptx({10, 3}, {10, 0, 'f'}));
  CHECK_FALSE(runs_ptx({12, 0}, {10, 0, 'f'}));
}

TEST_CASE("a device takes machine code that fits best, else the newest PTX") {
  const auto bytes = FatbinWriter()
                         .add(kElf, 75, "x")
                         .add(kElf, 80, "x")
                         .add(kElf, 86, "x")
                         .add(kElf, 90, "x")
                         .add(kElf, 90, "x", kPlain | kOneArchitecture)
                         .add(kPtxKind, 75, "p")
                         .add(kPtxKind, 90, "p")
                         .add(kPtxKind, 100, "p", kPlain | kFamily)
                         .add(kLater, 120, "l")
                         .container();
  CHECK(chosen(bytes, device(8, 0)) == "machine code for sm_80");
  CHECK(chosen(bytes, device(8, 9)) == "machine code for sm_86");
  CHECK(chosen(bytes, device(9, 0)) == "machine code for sm_90a");
  CHECK(chosen(bytes, device(10, 3)) == "PTX for sm_100f");
  CHECK(chosen(bytes, device(12, 0)) == "PTX for sm_90");
  CHECK(chosen(bytes, device(7, 0)) == "");
  CHECK(chosen(bytes, in_software(8, 0)) == "PTX for sm_75");
  CHECK(chosen(bytes, in_software(9, 0)) == "PTX for sm_90");
  auto wants_ptx = device(8, 0);
  wants_ptx.prefers_ptx = true;
  CHECK(chosen(bytes, wants_ptx) == "PTX for sm_75");
  CHECK(chosen(FatbinWriter().add(kElf, 80, "x").container(), wants_ptx) == "machine code for sm_80");
  CHECK(chosen(FatbinWriter().add(kElf, 80, "x").container(), in_software(8, 0)) == "");
  CHECK(chosen(FatbinWriter().add(kLater, 80, "l").container(), device(8, 0)) == "");
}

TEST_CASE("of what nvlink linked, a device takes the whole, or links the parts itself") {
  const auto parts = FatbinWriter().add(kElf, 80, "x").add(kPtxKind, 75, "p").container() +
                     FatbinWriter().add(kPtxKind, 75, "p").container() + FatbinWriter().container();
  CHECK(chosen(FatbinWriter().add(kElf, 80, "whole").container() + parts, device(8, 0)) == "machine code for sm_80");
  CHECK(chosen(FatbinWriter().container() + parts, device(8, 0)) == "machine code for sm_80 + PTX for sm_75");
  CHECK(chosen(FatbinWriter().container() + parts, in_software(9, 0)) == "PTX for sm_75 + PTX for sm_75");
  CHECK(chosen(FatbinWriter().container() + parts, device(7, 0)) == "");
  const auto runtime = FatbinWriter().add(kElf, 120, "x").add(kPtxKind, 121, "p").container();
  CHECK(chosen(FatbinWriter().container() + parts + runtime, in_software(7, 5)) == "PTX for sm_75 + PTX for sm_75");
}

TEST_CASE("an image that stands alone is taken where it runs") {
  CHECK(chosen(elf(80), device(8, 6)) == "machine code for sm_80");
  CHECK(chosen(elf(80), device(9, 0)) == "");
  CHECK(chosen(".version 8.0\n.target sm_80\n", in_software(9, 0)) == "PTX for sm_80");
  CHECK(chosen(".version 8.0\n", in_software(9, 0)) == "PTX");
}
