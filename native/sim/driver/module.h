// Modules: programs loaded in a context. Libraries: programs that are loaded in each context where they are used.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sim/driver/alike.h"
#include "sim/driver/context.h"
#include "sim/driver/memory.h"
#include "sim/driver/program.h"
#include "sim/exec/image.h"

namespace flexrack::sim {

class Module;
class Library;

/// Variables that the host uses by the same address, by name: of a library, or of a module that is none's.
class ManagedVariables {
 public:
  /// With their initial values, but for addresses in them. Throws CUDA_ERROR_OUT_OF_MEMORY.
  explicit ManagedVariables(const Program& program);
  ~ManagedVariables();
  ManagedVariables(const ManagedVariables&) = delete;
  ManagedVariables& operator=(const ManagedVariables&) = delete;
  /// Null: none of that name.
  const exec::Image::Symbol* find(std::string_view name) const;
  /// Calls `work`, which initialises all variables of a module, and puts back what these have by now.
  void keep_over(const ptx::Module& module, const std::function<void()>& work) const;

 private:
  std::map<std::string, exec::Image::Symbol, std::less<>> all_;
};

/// What can be set of a function, or of a kernel on a device.
struct FunctionSettings {
  int dynamic_shared = -1;                     ///< -1: never set
  int carveout = -1, cache_config = CU_FUNC_CACHE_PREFER_NONE;
  int non_portable_cluster = 0, cluster_policy = 0;
  std::array<int, 3> cluster{0, 0, 0};
};

/// CU_FUNC_ATTRIBUTE_* of a kernel with its settings. Throw CUDA_ERROR_INVALID_VALUE for what cannot be asked or set.
int function_attribute(const KernelFacts& facts, const FunctionSettings& settings, CUfunction_attribute which);
void set_function_attribute(const KernelFacts& facts, FunctionSettings& settings, CUfunction_attribute which,
                            int value);

/// A kernel in a context.
class Function : public Object<Function> {
 public:
  Function(Ref<Module> in, const KernelFacts& of);
  CUfunction handle() { return reinterpret_cast<CUfunction>(this); }
  FunctionSettings settings();
  /// Under the lock.
  void change(const std::function<void(FunctionSettings&)>& how);

  const Ref<Module> module;
  const KernelFacts& facts;
  /// What runs; null: machine code. Read and made ready at the first call, that throws as Module::image().
  const ptx::Function* code();

 private:
  std::atomic<const ptx::Function*> code_{nullptr};
  std::mutex lock_;
  FunctionSettings settings_;
};

/// Thread-safe.
class Module : public Object<Module>, public Owned {
 public:
  /// Loads it. Throws CUDA_ERROR_OUT_OF_MEMORY.
  Module(Ref<Context> in, std::shared_ptr<const Program> of, std::shared_ptr<const ManagedVariables> managed);
  ~Module();
  CUmodule handle() { return reinterpret_cast<CUmodule>(this); }
  void context_over() noexcept override;

  const Ref<Context> context;
  const std::shared_ptr<const Program> program;

  /// Throw CUDA_ERROR_NOT_FOUND.
  Ref<Function> function(std::string_view name);
  exec::Image::Symbol variable(std::string_view name);
  /// Kernels of it call malloc or free.
  bool uses_heap() const { return program->uses_heap; }
  /// Where its functions' addresses begin and its variables are, in the order in which they were made; empty while
  /// they are not made.
  std::vector<std::uint64_t> layout();
  /// Made anew, as another process's layout() says; before anything of it is used. Throws CUDA_ERROR_ALREADY_MAPPED.
  void lay_out(const std::vector<std::uint64_t>& layout);
  /// Its code and variables, made where that was not done yet; null where it is machine code. Throws
  /// CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_PTX.
  exec::Image* image();

 private:
  std::uint64_t place(std::uint64_t size);
  std::uint64_t next_variable(std::uint64_t size);
  void place_machine_variables();
  void give_back();

  const std::shared_ptr<const ManagedVariables> managed_;
  std::mutex image_lock_;                      ///< of image_ and placed_ while it is made
  std::unique_ptr<exec::Image> image_;
  std::atomic<exec::Image*> ready_{nullptr};   ///< image_, once it is made
  bool has_code_ = false;   ///< has_code_: the device's memory for it is taken
  std::map<std::string, exec::Image::Symbol, std::less<>> machine_variables_;
  Place place_;
  std::vector<std::uint64_t> placed_;
  std::vector<std::uint64_t> wishes_;          ///< of lay_out()
  std::mutex lock_;
  std::map<std::string, Ref<Function>, std::less<>> functions_;
};

/// A kernel of a library.
class Kernel : public Object<Kernel> {
 public:
  Kernel(Ref<Library> in, const KernelFacts& of) : library(std::move(in)), facts(of) {}
  CUkernel handle() { return reinterpret_cast<CUkernel>(this); }
  /// In a context; loads the library there when it was not.
  Ref<Function> function(const Ref<Context>& context);
  FunctionSettings settings(int ordinal);
  /// Holds for contexts of the device, those that are and those to come.
  void change(int ordinal, const std::function<void(FunctionSettings&)>& how);

  const Ref<Library> library;
  const KernelFacts& facts;

 private:
  std::mutex lock_;
  std::map<int, FunctionSettings> settings_;
};

/// Thread-safe.
class Library : public Object<Library> {
 public:
  explicit Library(std::shared_ptr<const Program> of)
      : program(std::move(of)), managed(std::make_shared<ManagedVariables>(*program)) {}
  CUlibrary handle() { return reinterpret_cast<CUlibrary>(this); }

  const std::shared_ptr<const Program> program;
  const std::shared_ptr<const ManagedVariables> managed;   ///< the same in all contexts, and there before the first
  /// In a context; loaded there at the first use.
  Ref<Module> module(const Ref<Context>& context);
  /// Throws CUDA_ERROR_NOT_FOUND.
  Ref<Kernel> kernel(std::string_view name);
  /// Where it is loaded.
  std::vector<Ref<Module>> modules();
  void unload();

 private:
  std::mutex lock_;
  std::map<CUcontext, Ref<Module>> modules_;
  std::map<std::string, Ref<Kernel>, std::less<>> kernels_;
};

/// Throw CUDA_ERROR_INVALID_HANDLE.
Ref<Module> module_of(CUmodule handle);
Ref<Library> library_of(CUlibrary handle);
Ref<Kernel> kernel_of(CUkernel handle);
/// Also from a CUkernel, which may be given where a CUfunction is asked for: then of the context, null: the current
/// one.
Ref<Function> function_of(CUfunction handle, const Ref<Context>& context = nullptr);

}  // namespace flexrack::sim
