// Code as it was loaded, of no context yet: from an image to functions that can be launched.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gen/cuda/cuda.h"
#include "sim/driver/jit_options.h"
#include "sim/ptx/program.h"

namespace flexrack::sim {

/// What is known of a kernel before it is loaded anywhere.
struct KernelFacts {
  struct Parameter {
    std::size_t offset, size;
  };
  std::string name;
  std::vector<Parameter> parameters;
  std::size_t parameter_bytes = 0;
  int max_threads = 1024, registers = 16;
  int shared_bytes = 0, local_bytes = 0, const_bytes = 0;
  int required_cluster[3] = {0, 0, 0};
  int ptx_version = 0, binary_version = 0;
  const ptx::Function* code = nullptr;         ///< null: machine code, which is not executed
};

/// A variable of machine code, by its symbol.
struct MachineVariable {
  std::uint64_t size = 0;
  std::vector<std::byte> initial;
};

/// Does not change once it is made; shared by all contexts.
class Program {
 public:
  std::shared_ptr<const ptx::Module> module;   ///< null: machine code
  std::map<std::string, KernelFacts, std::less<>> kernels;
  std::map<std::string, MachineVariable, std::less<>> machine_variables;

  std::uint64_t code_bytes = 0;                ///< what its instructions take of a device where it is loaded

  /// Null: none of that name.
  const KernelFacts* kernel(std::string_view name) const;
};

/// From what cuModuleLoadData and cuLibraryLoadData are given: of a fatbin the entry that fits the device.
/// Throws CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_INVALID_PTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION; what is wrong with PTX is written into the options' log.
std::shared_ptr<const Program> load_program(const void* image, JitOptions& options);
/// From a file's bytes. Throws the same.
std::shared_ptr<const Program> load_program(std::span<const std::byte> bytes, JitOptions& options);
/// From PTX that was parsed or linked.
std::shared_ptr<const Program> make_program(std::shared_ptr<const ptx::Module> module);
/// From an ELF file: its kernels are known and can be launched, but do nothing. Throws CUDA_ERROR_INVALID_IMAGE.
std::shared_ptr<const Program> machine_program(std::span<const std::byte> elf);

/// A whole file. Throws CUDA_ERROR_FILE_NOT_FOUND.
std::vector<std::byte> read_file(const char* path);

}  // namespace flexrack::sim
