#include "gen/cuda/entry_points.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace flexrack;

namespace {

std::string symbol_of(std::string_view name, int version, std::uint64_t flags = CU_GET_PROC_ADDRESS_DEFAULT) {
  const auto found = cu::find(name, version, flags);
  return found.entry ? found.entry->symbol : "";
}

/// The lines of requested_symbols.txt, split at blanks.
std::vector<std::vector<std::string>> requested() {
  std::ifstream file(std::filesystem::path(FLEXRACK_TEST_FOLDER) / "cuda/requested_symbols.txt");
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    lines.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return lines;
}

}  // namespace

TEST_CASE("the newest symbol that is not too new") {
  CHECK(symbol_of("cuMemAlloc", 2000) == "cuMemAlloc");
  CHECK(symbol_of("cuMemAlloc", 3010) == "cuMemAlloc");
  CHECK(symbol_of("cuMemAlloc", 3020) == "cuMemAlloc_v2");
  CHECK(symbol_of("cuMemAlloc", 13000) == "cuMemAlloc_v2");
  CHECK(symbol_of("cuCtxGetDevice", 12090) == "cuCtxGetDevice");
  CHECK(symbol_of("cuCtxGetDevice", 13000) == "cuCtxGetDevice_v2");
  CHECK(symbol_of("cuCtxCreate", 3020) == "cuCtxCreate_v2");
  CHECK(symbol_of("cuCtxCreate", 11040) == "cuCtxCreate_v3");
  CHECK(symbol_of("cuCtxCreate", 13000) == "cuCtxCreate_v4");
  CHECK(symbol_of("cuStreamGetCaptureInfo", 11030) == "cuStreamGetCaptureInfo_v2");
  CHECK(symbol_of("cuStreamGetCaptureInfo", 12030) == "cuStreamGetCaptureInfo_v3");
  CHECK(symbol_of("cuGetProcAddress", 11030) == "cuGetProcAddress");
  CHECK(symbol_of("cuGetProcAddress", 12000) == "cuGetProcAddress_v2");
}

TEST_CASE("the thread's own default stream where it is asked for, and where there is such a symbol") {
  constexpr auto per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  CHECK(symbol_of("cuLaunchKernel", 7000) == "cuLaunchKernel");
  CHECK(symbol_of("cuLaunchKernel", 7000, CU_GET_PROC_ADDRESS_LEGACY_STREAM) == "cuLaunchKernel");
  CHECK(symbol_of("cuLaunchKernel", 7000, per_thread) == "cuLaunchKernel_ptsz");
  CHECK(symbol_of("cuLaunchKernel", 4000, per_thread) == "cuLaunchKernel");
  CHECK(symbol_of("cuMemcpyHtoD", 7000, per_thread) == "cuMemcpyHtoD_v2_ptds");
  CHECK(symbol_of("cuMemcpyHtoD", 3020, per_thread) == "cuMemcpyHtoD_v2");
  CHECK(symbol_of("cuMemPrefetchAsync", 8000, per_thread) == "cuMemPrefetchAsync_ptsz");
  CHECK(symbol_of("cuMemPrefetchAsync", 12020, per_thread) == "cuMemPrefetchAsync_v2_ptsz");
  CHECK(symbol_of("cuStreamBeginCapture", 10010, per_thread) == "cuStreamBeginCapture_v2_ptsz");
  CHECK(symbol_of("cuInit", 2000, per_thread) == "cuInit");
}

TEST_CASE("an unknown name and a version that is too old are different answers") {
  CHECK(cu::find("", 0, 0).status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  CHECK(cu::find("cuNoSuchThing", 13000, 0).status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  CHECK(cu::find("cuMemAlloc_v2", 13000, 0).status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  CHECK(cu::find("cuLibraryLoadData", 11080, 0).status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  CHECK(cu::find("cuLibraryLoadData", 12000, 0).status == CU_GET_PROC_ADDRESS_SUCCESS);
  CHECK(cu::why_absent("cuGLInit") != "");
  CHECK(cu::why_absent("cuInit") == "");
}

TEST_CASE("every symbol is found by itself, and once") {
  std::set<std::string> seen;
  for (const auto& entry : cu::entry_points()) {
    CAPTURE(entry.symbol);
    CHECK(seen.insert(entry.symbol).second);
    CHECK(cu::find_symbol(entry.symbol) == &entry);
    const auto flags =
        entry.is_per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_DEFAULT;
    CHECK(cu::find(entry.name, entry.version, flags).entry == &entry);
    CHECK(cu::why_absent(entry.name) == "");
  }
  CHECK(seen.size() == cu::kEntryPoints);
  CHECK(cu::find_symbol("cuGLInit") == nullptr);
  CHECK(cu::find_symbol("") == nullptr);
}

TEST_CASE("what programs ask for is here, or absent for a reason") {
  const auto lines = requested();
  CHECK(lines.size() > 400);
  std::size_t absent = 0;
  for (const auto& words : lines) {
    CAPTURE(words[0]);
    if (words[0] == "dlsym") {
      CAPTURE(words[1]);
      CHECK(cu::find_symbol(words[1]) != nullptr);
      continue;
    }
    const bool is_absent = cu::why_absent(words[0]) != "";
    absent += is_absent;
    std::set<std::string> symbols;
    for (std::size_t at = 1; at < words.size(); at++) {
      const auto found = cu::find(words[0], std::stoi(words[at]), CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
      CHECK((found.entry == nullptr) == is_absent);
      if (!found.entry) continue;
      CHECK(found.entry->version == std::stoi(words[at]));   // a version is asked for because something begins there
      CHECK(symbols.insert(found.entry->symbol).second);
    }
  }
  CHECK(absent == 27);
}
