// What is known of kernels, on disk: found again, and as if it were not there where anything is wrong with it.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "driver_rig.h"
#include "sim/driver/kernel_cache.h"
#include "sim/driver/program.h"

using namespace flexrack::test::driver;

namespace flexrack::test::driver {
int run_apart(const std::string& test_case, const std::vector<std::pair<std::string, std::string>>& environment);
void apart();
}  // namespace flexrack::test::driver

namespace {

namespace fs = std::filesystem;
namespace sim = flexrack::sim;

class Folder {
 public:
  Folder() {
    char path[] = "/tmp/flexrack-kernel-cache-XXXXXX";
    REQUIRE_NE(mkdtemp(path), nullptr);
    path_ = path;
  }
  ~Folder() { fs::remove_all(path_); }
  std::string cache() const { return path_ + "/kept"; }

 private:
  std::string path_;
};

/// The kernels of driver_rig.h, and so many bytes of a comment that the text is worth keeping.
std::string large_text(const std::string& mark = "") {
  return std::string(kKernels) + "// " + mark + std::string(64 << 10, 'x') + "\n";
}

bool is_read_at_load(const std::string& text) {
  sim::JitOptions options;
  return sim::load_program(text.c_str(), options)->is_read();
}

std::vector<fs::path> files_of(const std::string& folder) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path());
  return all;
}

unsigned mode_of(const fs::path& path) {
  struct stat found{};
  REQUIRE_EQ(stat(path.c_str(), &found), 0);
  return found.st_mode & 0777;
}

sim::KernelCache::Key key_of(unsigned number) {
  sim::KernelCache::Key key{};
  std::memcpy(key.data(), &number, sizeof number);
  return key;
}

sim::KnownKernels known_of(unsigned number) {
  sim::KnownKernels known;
  known.code_bytes = number;
  known.uses_heap = number % 2 != 0;
  sim::KernelFacts facts;
  facts.name = "kernel" + std::string(200, 'k');
  facts.parameters = {{0, 8}, {8, 4}};
  facts.parameter_bytes = 12;
  facts.registers = static_cast<int>(number);
  facts.required_cluster[1] = 2;
  known.kernels.emplace(facts.name, facts);
  return known;
}

}  // namespace

TEST_CASE("driver: a large text is read at its first launch where it is known" * doctest::test_suite("apart") *
          doctest::skip()) {
  apart();
  Rig rig;
  const std::string folder = std::getenv("FLEXRACK_SIM_CACHE");
  const auto text = large_text();
  CHECK(is_read_at_load(text));
  REQUIRE_EQ(files_of(folder).size(), 1);
  CHECK_EQ(mode_of(folder), 0700);
  CHECK_EQ(mode_of(files_of(folder)[0]), 0600);
  CHECK(!is_read_at_load(text));
  // The same facts as without.
  sim::JitOptions options;
  const auto known = sim::load_program(text.c_str(), options), small = sim::load_program(kKernels, options);
  CHECK(!known->is_read());
  REQUIRE_EQ(known->kernels.size(), small->kernels.size());
  CHECK_EQ(known->code_bytes, small->code_bytes);
  for (const auto& [name, facts] : small->kernels) {
    const auto* found = known->kernel(name);
    REQUIRE_NE(found, nullptr);
    CHECK_EQ(found->parameter_bytes, facts.parameter_bytes);
    CHECK_EQ(found->parameters.size(), facts.parameters.size());
    CHECK_EQ(found->registers, facts.registers);
    CHECK_EQ(found->max_threads, facts.max_threads);
    CHECK_EQ(found->shared_bytes, facts.shared_bytes);
    CHECK_EQ(found->const_bytes, facts.const_bytes);
    CHECK_EQ(found->ptx_version, facts.ptx_version);
  }
  // It computes, and has its variables with their values.
  CUmodule module = nullptr;
  CUfunction fill = nullptr;
  CUdeviceptr counter = 0;
  size_t size = 0;
  CU(cuModuleLoadData(&module, text.c_str()));
  CU(cuModuleGetFunction(&fill, module, "fill"));
  int registers = 0;
  CU(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, fill));
  CHECK_EQ(registers, small->kernel("fill")->registers);
  Numbers numbers(300);
  unsigned value = 6, count = 300;
  void* parameters[] = {&numbers.address, &value, &count};
  CU(cuLaunchKernel(fill, 3, 1, 1, 100, 1, 1, 0, nullptr, parameters, nullptr));
  CHECK(numbers.are_all(6));
  CU(cuModuleGetGlobal_v2(&counter, &size, module, "counter"));
  CU(cuMemcpyDtoH_v2(&value, counter, 4));
  CHECK_EQ(value, 7);
  CU(cuModuleUnload(module));
  // Variables may be asked for first.
  CU(cuModuleLoadData(&module, text.c_str()));
  CU(cuModuleGetGlobal_v2(&counter, &size, module, "counter"));
  CHECK_EQ(size, 4);
  CHECK_EQ(cuModuleGetGlobal_v2(&counter, &size, module, "none"), CUDA_ERROR_NOT_FOUND);
  CHECK_EQ(cuModuleGetFunction(&fill, module, "none"), CUDA_ERROR_NOT_FOUND);
  // Another text, or other limits, are another thing.
  CHECK(is_read_at_load(large_text("another")));
  CUjit_option option = CU_JIT_MAX_REGISTERS;
  void* most = reinterpret_cast<void*>(16);
  sim::JitOptions fewer(1, &option, &most);
  CHECK(sim::load_program(text.c_str(), fewer)->is_read());
  // What is wrong is said at every load.
  const auto bad = large_text() + "nonsense\n";
  for (int i = 0; i < 2; ++i) CHECK_EQ(cuModuleLoadData(&module, bad.c_str()), CUDA_ERROR_INVALID_PTX);
}

TEST_CASE("driver: damaged files of the cache are as if they were not there" * doctest::test_suite("apart") *
          doctest::skip()) {
  apart();
  Rig rig;
  const std::string folder = std::getenv("FLEXRACK_SIM_CACHE");
  const auto text = large_text();
  CHECK(is_read_at_load(text));
  const auto path = files_of(folder).at(0);
  std::string good;
  {
    std::ifstream file(path, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(file), {});
  }
  const auto put = [&](const std::string& bytes) { std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes; };
  std::vector<std::string> damaged{"", "x", good.substr(0, good.size() / 2), good + "x"};
  for (std::size_t at = 0; at < good.size(); at += 37) {
    damaged.push_back(good);
    damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 1);
  }
  for (const auto& bytes : damaged) {
    put(bytes);
    CHECK(is_read_at_load(text));
    // And put right.
    CHECK(!is_read_at_load(text));
  }
  // Others' folders are left alone.
  CHECK_EQ(chmod(folder.c_str(), 0770), 0);
  CHECK(is_read_at_load(text));
  CHECK_EQ(chmod(folder.c_str(), 0700), 0);
  CHECK(!is_read_at_load(text));
}

TEST_CASE("driver: kernels are known by what is on disk") {
  for (const auto* name : {"driver: a large text is read at its first launch where it is known",
                           "driver: damaged files of the cache are as if they were not there"}) {
    const Folder folder;
    CHECK_EQ(run_apart(name, {{"FLEXRACK_SIM_CACHE", folder.cache()}}), 0);
  }
}

TEST_CASE("the cache of kernels keeps what it is given, and never more than it may") {
  const Folder folder;
  const sim::KernelCache cache(folder.cache(), 8 << 10);
  for (unsigned i = 1; i <= 100; ++i) {
    cache.keep(key_of(i), known_of(i));
    const auto found = cache.find(key_of(i));
    REQUIRE(found.has_value());
    CHECK_EQ(found->code_bytes, i);
    CHECK_EQ(found->uses_heap, i % 2 != 0);
    REQUIRE_EQ(found->kernels.size(), 1);
    const auto& facts = found->kernels.begin()->second;
    CHECK_EQ(facts.registers, static_cast<int>(i));
    CHECK_EQ(facts.parameters.at(1).offset, 8);
    CHECK_EQ(facts.required_cluster[1], 2);
    std::uint64_t total = 0;
    for (const auto& path : files_of(folder.cache())) total += fs::file_size(path);
    CHECK_LE(total, 8U << 10);
  }
  CHECK(!cache.find(key_of(101)).has_value());
  // A file under another name is not believed.
  fs::rename(cache.path_of(key_of(100)), cache.path_of(key_of(7)));
  CHECK(!cache.find(key_of(7)).has_value());
  const sim::KernelCache none(std::nullopt);
  none.keep(key_of(1), known_of(1));
  CHECK(!none.find(key_of(1)).has_value());
}

TEST_CASE("two that keep and find the same see it whole or not at all") {
  const Folder folder;
  const sim::KernelCache cache(folder.cache());
  std::atomic<int> wrong{0};
  const auto work = [&] {
    for (unsigned i = 0; i < 300; ++i) {
      cache.keep(key_of(i % 3), known_of(i % 3));
      const auto found = cache.find(key_of(i % 3));
      // Once it is there it never goes.
      if (!found || found->code_bytes != i % 3) ++wrong;
    }
  };
  { std::jthread one(work), other(work); }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(files_of(folder.cache()).size(), 3);
}
