// The kernels that the speed of a GPU in software is measured with, and the same work as a loop of C++.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace flexrack::bench {

/// What every word of an input is; as a float 0.747, as two halves 1.811 each.
inline constexpr std::uint32_t kWord = 0x3f3f3f3f;
inline constexpr std::size_t kInputWords =
    128 * 65536 / sizeof(std::uint32_t);   ///< of the input and of the result: what streaming goes through

/// A kernel (u64 in, u64 out, u32 rounds) whose one loop is between begin and end: so its instructions can be counted
/// from its text.
struct Kernel {
  std::string name;
  std::string begin, loop, end;
  unsigned rounds = 1;
  std::string shared{};
  unsigned block = 256, block_rows = 1, grid = 64, grid_rows = 1;
  /// Of the result's i-th word, with kWord in every word of the input.
  std::function<std::uint32_t(unsigned word, unsigned rounds)> right;
  bool is_close = false;                ///< the results are floats, and a few units in the last place are nothing
  unsigned words = 0;                   ///< of the result; 0: one a thread
  /// The same for all threads of the grid, on one core.
  std::function<void(const std::uint32_t* in, std::uint32_t* out)> loop_of_cpp;

  unsigned threads() const { return block * block_rows * grid * grid_rows; }
  std::string text() const;
  /// PTX instructions as they are written, of one thread.
  std::uint64_t instructions() const;
};

/// Of one kind of instruction each, but for the matrix product.
std::vector<Kernel> simple_kernels();
/// As frameworks and their compilers write them.
std::vector<Kernel> framework_kernels();
std::vector<Kernel> wheel_kernels();

std::uint32_t bits_of(float value);
std::string repeat(int count, const std::function<std::string(int)>& text);
/// %name and a number; a vector of four such registers.
std::string number(const std::string& name, int i);
std::string four(const std::string& name, int first);
/// i is the thread's number, o the address of its word of the result, a that of its word of the input.
std::string kernel_start();
/// The same for `bytes` of the input a thread, and o still where all results begin.
std::string input_start(int bytes);

}  // namespace flexrack::bench
