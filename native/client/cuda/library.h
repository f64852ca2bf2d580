// Libraries and modules: code as the application brought it, and where it has been loaded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cuda/driver.h"
#include "client/cuda/image.h"
#include "client/cuda/kernel.h"
#include "gen/cuda/cuda.h"

namespace flexrack::client::cuda {

/// Code that has been loaded at one server.
struct Loaded {
  std::uint64_t handle = 0;
  std::vector<std::string> names;  ///< of all kernels, where the server can list them
  std::map<std::string, std::unique_ptr<KernelAt>, std::less<>> kernels;  ///< described so far
};

/// Variables that were found: address and size, by context and name.
using Variables = std::map<std::pair<std::uint64_t, std::string>, std::pair<std::uint64_t, std::uint64_t>>;

/// A load and what the application wants to hear about it.
struct LoadRequest {
  CUcontext context = nullptr;  ///< null: a library
  std::vector<cu::Option> options{};
  char* info_log = nullptr;
  std::size_t info_room = 0;
  char* error_log = nullptr;
  std::size_t error_room = 0;
  std::size_t* info_size = nullptr;  ///< where the size that was used goes
  std::size_t* error_size = nullptr;
};

/// Text for a buffer of the application's, cut to its room; `size` is how much was written.
void give_log(std::string_view log, char* into, std::size_t room, std::size_t* size);

/// By content where the server has it, else with the bytes. A module's, or a library's.
CUresult load(CudaServer& server, const LoadRequest& request, const std::shared_ptr<const DeviceImage>& image,
              Loaded& loaded);
/// A kernel of what is loaded there; asked for where it has not been described. `context`: 0 or one of that server's.
CUresult find_kernel(CudaServer& server, std::uint64_t context, Loaded& loaded, std::string_view name,
                     KernelAt*& found);

/// Where a variable is looked up: in what is loaded at that device's server.
struct VariableIn {
  Device& device;
  CUcontext context;  ///< null: a library's managed one, which is in none
  std::uint64_t module;  ///< handle of a module or a library
  CUlibrary library;  ///< null: a module's
};
CUresult find_variable(const VariableIn& in, const char* name, Variables& known, CUdeviceptr* address, size_t* size);
/// Its code is unloaded.
void forget_variable(std::uint64_t address);

/// Options of a load; numbers go to the server, buffers are filled here. `request` has to be used before `values` goes.
CUresult take_options(LoadRequest& request, unsigned count, const CUjit_option* options, void** values);
/// Whole; nothing where it cannot be read.
std::optional<std::vector<std::byte>> read_file(const char* path);

/// The library's code for that device, loaded at its server where it was not before. Under library->lock.
CUresult loaded_for(CUlibrary library, const Device& device, const LoadRequest& request, Loaded*& loaded);
/// A library's kernel in one context: the same object every time.
CUresult function_in(CUkernel kernel, CUcontext context, CUfunction* function);
/// The object for a library's kernel of that name. Looks it up for that device.
CUresult kernel_of(CUlibrary library, const char* name, const Device& device, CUcontext context, CUkernel* kernel);

/// A context is gone: nothing of libraries is in it any more.
void forget_context(std::uint64_t handle);

}  // namespace flexrack::client::cuda

struct CUlib_st : fc::Object {
  std::shared_ptr<const fc::Code> code;
  std::vector<flexrack::cu::Option> options;
  std::mutex lock;
  std::map<std::pair<fc::CudaServer*, const fc::DeviceImage*>, fc::Loaded>
      loaded;  ///< under lock: devices of one server that load the same share it
  std::map<std::string, CUkernel, std::less<>> kernels;  ///< under lock: those the application has asked for
  std::map<std::uint64_t, CUmodule> modules;  ///< under lock: by context
  fc::Variables variables;  ///< under lock
  CUlib_st() : Object(fc::Kind::library) {}
};

struct CUmod_st : fc::Object {
  CUlibrary library = nullptr;  ///< not null: this is that library in one context
  std::mutex lock;
  fc::Loaded loaded;  ///< under lock; of a module that is no library's
  std::map<std::string, CUfunction, std::less<>> functions;  ///< under lock
  fc::Variables variables;  ///< under lock
  CUmod_st() : Object(fc::Kind::module) {}
};
