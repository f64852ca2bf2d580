// A fuzz target without libFuzzer: every kept input, then mutations of them that a seed chooses, so that each build
// with tests runs the same ones. What is new is found by libFuzzer, in the long tests.
//   TARGET MUTATIONS SEED LONGEST FOLDER...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* count, char*** words);

namespace {

using Input = std::vector<std::uint8_t>;
using Engine = std::mt19937_64;

std::size_t below(Engine& engine, std::size_t end) { return end == 0 ? 0 : engine() % end; }

/// In the order of their names, so that a seed means the same on every machine.
std::vector<Input> read_all(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::filesystem::path> files;
  for (const auto& folder : folders) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Input> inputs;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return inputs;
}

/// One change: a bit, a byte that often matters, a piece left out, doubled, or taken from another input.
void change(Input& input, const Input& other, Engine& engine) {
  static constexpr std::uint8_t TELLING[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x10, 0x20};
  const std::size_t at = below(engine, input.size() + 1);
  const std::size_t length = 1 + below(engine, 16);
  const auto position = input.begin() + static_cast<std::ptrdiff_t>(at);
  switch (below(engine, 5)) {
    case 0:
      if (at < input.size()) input[at] ^= static_cast<std::uint8_t>(1U << below(engine, 8));
      return;
    case 1:
      if (at < input.size()) input[at] = TELLING[below(engine, std::size(TELLING))];
      return;
    case 2: input.erase(position, position + static_cast<std::ptrdiff_t>(std::min(length, input.size() - at))); return;
    case 3: {
      const Input piece(position, position + static_cast<std::ptrdiff_t>(std::min(length, input.size() - at)));
      input.insert(position, piece.begin(), piece.end());
      return;
    }
    default: {
      const std::size_t from = below(engine, other.size());
      const auto begin = other.begin() + static_cast<std::ptrdiff_t>(from);
      input.insert(position, begin, begin + static_cast<std::ptrdiff_t>(std::min(length * 4, other.size() - from)));
    }
  }
}

/// Where a sanitizer ends the program, its last lines are not ours: what was tried stands in a file then.
void run(const Input& input, const char* last) {
  if (last != nullptr) {
    std::ofstream(last, std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
  }
  // In a block of its own size, so that a read behind its end is one.
  const Input exact(input);
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::fprintf(stderr, "usage: %s MUTATIONS SEED LONGEST FOLDER...\n", words[0]);
    return 2;
  }
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&count, &words);
  const char* last = std::getenv("FLEXRACK_LAST_INPUT");
  const std::size_t mutations = std::strtoull(words[1], nullptr, 10);
  const std::size_t longest = std::strtoull(words[3], nullptr, 10);
  const std::vector<Input> inputs = read_all({words + 4, words + count});
  if (inputs.empty()) {
    std::fprintf(stderr, "no input there\n");
    return 1;
  }
  for (const Input& input : inputs) run(input, last);
  Engine engine(std::strtoull(words[2], nullptr, 10));
  for (std::size_t index = 0; index < mutations; ++index) {
    Input input = inputs[below(engine, inputs.size())];
    for (std::size_t changes = 1 + below(engine, 4); changes > 0; --changes)
      change(input, inputs[below(engine, inputs.size())], engine);
    input.resize(std::min(input.size(), longest));
    run(input, last);
  }
  std::printf("%zu inputs, %zu mutations\n", inputs.size(), mutations);
}
