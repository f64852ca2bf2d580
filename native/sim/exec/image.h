// A module loaded in a context: where its variables are, and its code made ready to run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/ptx/program.h"

namespace flexrack::sim::exec {

struct Code;

class Image {
 public:
  /// Gives memory for a variable in .global or .const, its bytes aligned as it says (texture references too: their 8
  /// bytes hold a handle). May throw, then so does the constructor.
  using Place = std::function<std::uint64_t(const ptx::Variable&)>;

  /// Initial values are written here, addresses in them included.
  Image(std::shared_ptr<const ptx::Module> module, const Place& place);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  struct Symbol {
    std::uint64_t address = 0, bytes = 0;
  };
  /// A variable by name.
  std::optional<Symbol> find(std::string_view name) const;
  const ptx::Module& module() const { return *module_; }

  /// A texture or surface reference of the module gets an object of the MemoryMap: its handle. False: no such
  /// reference.
  bool bind(std::string_view reference, std::uint64_t handle);

  /// What cuFuncGetAttribute tells.
  struct Facts {
    std::uint32_t shared_bytes = 0, const_bytes = 0, local_bytes = 0, registers = 0, max_threads = 1024;
  };
  Facts facts(const ptx::Function& kernel) const;

  // ---- for the executor
  std::uint64_t variable(std::uint32_t index) const { return addresses_[index]; }
  std::uint64_t function_address(std::uint32_t index) const;
  /// nullptr: the address of no function of this image.
  const ptx::Function* function_at(std::uint64_t address) const;
  /// Made at the first use; any thread.
  const Code& code(const ptx::Function& function);

 private:
  void initialise(const ptx::Variable& variable, std::uint64_t address) const;

  std::shared_ptr<const ptx::Module> module_;
  std::vector<std::uint64_t> addresses_;  ///< of variables
  std::uint64_t functions_at_;            ///< the first function's address
  std::mutex lock_;
  std::vector<std::atomic<const Code*>> code_;  ///< by function; null: not made yet
  std::vector<std::unique_ptr<Code>> kept_;
};

}  // namespace flexrack::sim::exec
