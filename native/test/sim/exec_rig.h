// A context of the simplest kind for tests of the executor: memory, an image, launches.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "sim/exec/heap.h"
#include "sim/exec/machine.h"
#include "sim/exec/shells.h"
#include "sim/jit/translate.h"
#include "sim/ptx/parse.h"

namespace flexrack::test {

namespace exec = sim::exec;
namespace ptx = sim::ptx;

/// Keeps what was printed.
class Paper : public exec::Printer {
 public:
  bool print(std::string_view text) override {
    const std::scoped_lock held(lock_);
    printed += text;
    return true;
  }
  void assertion(std::string_view text) override {
    const std::scoped_lock held(lock_);
    assertions += text;
  }
  std::string printed, assertions;

 private:
  std::mutex lock_;
};

/// Device memory as an array; out of the map when it goes.
template <class T>
class Buffer {
 public:
  Buffer(exec::MemoryMap& map, std::size_t count, T value = T{}) : map_(map), data_(count, value) {
    map_.add(address(), count * sizeof(T));
  }
  Buffer(exec::MemoryMap& map, std::vector<T> values) : map_(map), data_(std::move(values)) {
    map_.add(address(), data_.size() * sizeof(T));
  }
  ~Buffer() { map_.remove(address()); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data_.data()); }
  T& operator[](std::size_t at) { return data_[at]; }
  std::vector<T>& all() { return data_; }
  std::size_t size() const { return data_.size(); }

 private:
  exec::MemoryMap& map_;
  std::vector<T> data_;
};

/// A parameter block that grows by values aligned to their sizes.
class Parameters {
 public:
  template <class... T>
  explicit Parameters(const T&... values) {
    (add(values), ...);
  }
  template <class T>
  void add(const T& value) {
    const std::size_t at = (bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

inline std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// PTX that nvcc made of exec_kernels/NAME.cu, which lies beside it.
inline std::string kernels(const std::string& name) {
  return read_text(FLEXRACK_TEST_FOLDER "/sim/exec_kernels/" + name + ".ptx");
}

class Rig {
 public:
  explicit Rig(const std::string& text) {
    std::shared_ptr<const ptx::Module> module = ptx::parse(text);
    image = std::make_unique<exec::Image>(module, [this](const ptx::Variable& variable) {
      const bool has_functions = std::any_of(variable.relocations.begin(), variable.relocations.end(),
                                             [](const auto& one) { return one.is_function; });
      if (has_functions) is_repeatable = false;  // of one image
      auto& memory = variables_.emplace_back(new std::byte[variable.bytes + 256]);
      const auto address = (reinterpret_cast<std::uint64_t>(memory.get()) + 255) / 256 * 256;
      map.add(address, variable.bytes,
              variable.space == ptx::Space::constant ? exec::Access::read : exec::Access::read_write);
      addresses_.push_back(address);
      return address;
    });
    if (is_repeatable)
      interpreted_ = std::make_unique<exec::Image>(
          module, [this, next = std::size_t{0}](const ptx::Variable&) mutable { return addresses_[next++]; });
  }

  exec::Launch launch(const std::string& kernel, exec::Dim3 grid, exec::Dim3 block, std::uint32_t shared = 0) {
    exec::Launch made;
    made.kernel = image->module().kernel(kernel);
    REQUIRE_MESSAGE(made.kernel != nullptr, kernel);
    made.grid = grid;
    made.block = block;
    made.dynamic_shared_bytes = shared;
    return made;
  }

  std::optional<exec::Fault> run(exec::Launch made, const Parameters& parameters, std::stop_token stop = {}) {
    made.parameters = parameters.bytes();
    return machine.run(made, *image, map, paper, stop);
  }

  /// Runs to a good end; first by the interpreter alone, then with what is translated to machine code (sim/jit): all
  /// memory must be the same.
  template <class... T>
  void go(const std::string& kernel, exec::Dim3 grid, exec::Dim3 block, const T&... values) {
    const auto before = memory();
    std::vector<std::vector<std::byte>> wanted;
    const bool is_compared = is_repeatable && exec::has_avx2();
    if (is_compared) {
      interpret(kernel, grid, block, Parameters(values...));
      wanted = memory();
      restore(before);
    }
    const auto fault = run(launch(kernel, grid, block), Parameters(values...));
    if (is_compared) CHECK_MESSAGE(memory() == wanted, kernel);
    const std::string said = fault ? fault->describe() : "";
    CHECK_MESSAGE(!fault, said);
  }

  exec::MemoryMap map;
  Paper paper;
  exec::Machine machine{2};
  std::unique_ptr<exec::Image> image;
  bool is_repeatable = true;   ///< a kernel does the same twice: no clocks, no floats summed in any order

 private:
  void interpret(const std::string& kernel, exec::Dim3 grid, exec::Dim3 block, const Parameters& parameters) {
    Paper unread;
    auto made = launch(kernel, grid, block);
    made.parameters = parameters.bytes();
    sim::jit::use_translations(false);
    const auto fault = machine.run(made, *interpreted_, map, unread);
    sim::jit::use_translations(true);
    CHECK(!fault);
  }
  std::vector<exec::Range> ranges() { return exec::MemoryMap::Reader(map).now().ranges; }
  std::vector<std::vector<std::byte>> memory() {
    std::vector<std::vector<std::byte>> all;
    for (const auto& range : ranges())
      all.emplace_back(reinterpret_cast<const std::byte*>(range.begin), reinterpret_cast<const std::byte*>(range.end));
    return all;
  }
  void restore(const std::vector<std::vector<std::byte>>& all) {
    std::size_t next = 0;
    for (const auto& range : ranges())
      std::copy(all[next].begin(), all[next].end(), reinterpret_cast<std::byte*>(range.begin)), ++next;
  }

  std::unique_ptr<exec::Image> interpreted_;
  std::vector<std::uint64_t> addresses_;
  std::deque<std::unique_ptr<std::byte[]>> variables_;
};

}  // namespace flexrack::test
