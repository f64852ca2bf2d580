// Code as it was loaded, of no context yet: from an image to functions that can be launched.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "gen/cuda/cuda.h"
#include "sim/driver/jit_options.h"
#include "sim/driver/kernel_facts.h"
#include "sim/ptx/program.h"

namespace flexrack::sim {

/// A variable of machine code, by its symbol.
struct MachineVariable {
  std::uint64_t size = 0;
  std::vector<std::byte> initial;
};

/// Shared by all contexts. What is known of it does not change; the code itself may be read later than that.
class Program {
 public:
  using Read = std::function<std::shared_ptr<const ptx::Module>()>;

  Program() = default;                                         ///< of machine code
  explicit Program(std::shared_ptr<const ptx::Module> module) : is_ptx_(true), module_(std::move(module)) {}
  explicit Program(Read read) : is_ptx_(true), read_(std::move(read)) {}

  std::map<std::string, KernelFacts, std::less<>> kernels;
  std::map<std::string, MachineVariable, std::less<>> machine_variables;
  std::uint64_t code_bytes = 0;                ///< what its instructions take of a device where it is loaded
  bool uses_heap = false;                      ///< its kernels call malloc or free

  /// Null: none of that name.
  const KernelFacts* kernel(std::string_view name) const;
  bool is_ptx() const { return is_ptx_; }
  bool is_read() const;
  /// The code, read where that was not done yet; null: machine code. Throws CUDA_ERROR_INVALID_PTX.
  std::shared_ptr<const ptx::Module> module() const;

 private:
  bool is_ptx_ = false;
  mutable std::mutex lock_;                                    ///< of what follows
  mutable std::shared_ptr<const ptx::Module> module_;
  mutable Read read_;
};

/// From what cuModuleLoadData and cuLibraryLoadData are given: of a fatbin the entry that fits the device.
/// Throws CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_INVALID_PTX,
/// CUDA_ERROR_UNSUPPORTED_PTX_VERSION; what is wrong with PTX is written into the options' log.
std::shared_ptr<const Program> load_program(const void* image, JitOptions& options);
/// From a file's bytes. Throws the same.
std::shared_ptr<const Program> load_program(std::span<const std::byte> bytes, JitOptions& options);
/// From PTX that was parsed or linked. `max_registers`: of a thread, where the text does not say it; 0: as many as
/// there are.
std::shared_ptr<const Program> make_program(std::shared_ptr<const ptx::Module> module, unsigned max_registers = 0);
/// From an ELF file: its kernels are known and can be launched, but do nothing. Throws CUDA_ERROR_INVALID_IMAGE.
std::shared_ptr<const Program> machine_program(std::span<const std::byte> elf);

/// A whole file. Throws CUDA_ERROR_FILE_NOT_FOUND.
std::vector<std::byte> read_file(const char* path);

}  // namespace flexrack::sim
