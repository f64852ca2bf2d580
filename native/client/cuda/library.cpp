// Libraries: code without a context, loaded at a server when something of it is first needed there.
#include "client/cuda/library.h"

#include <algorithm>

#include "client/cuda/call.h"
#include "client/trace.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

/// Of libraries, numbers of their own kind (see the backend's LoadOptions).
constexpr unsigned kBinaryIsPreserved = CU_LIBRARY_BINARY_IS_PRESERVED;

/// The device that something is looked up for when no context says it.
Device& some_device() {
  const auto now = thread_state.current;
  return now && is_live(now) ? *now->device : *process()->devices.front();
}

CUcontext current_at(const CudaServer& server) {
  const auto now = thread_state.current;
  return now && is_live(now) && now->handle != 0 && now->server == &server ? now : nullptr;
}

/// Something for at least one device.
bool is_for_any(const Code& code) {
  const auto& devices = process()->devices;
  return std::any_of(devices.begin(), devices.end(),
                     [&](const auto* device) { return code.for_device(*device) != nullptr; });
}

CUresult make_library(CUlibrary* library, std::shared_ptr<const Code> code, bool is_at_once, unsigned count,
                      const CUjit_option* options, void** values) {
  LoadRequest request;
  if (const auto status = take_options(request, count, options, values); status != CUDA_SUCCESS) return status;
  if (!is_for_any(*code)) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  const auto made = new CUlib_st;
  made->code = std::move(code);
  made->options = request.options;
  if (is_at_once || request.info_log || request.error_log) {
    Loaded* loaded = nullptr;
    const std::unique_lock guard(made->lock);
    if (const auto status = loaded_for(made, some_device(), request, loaded); status != CUDA_SUCCESS) {
      made->kind.store(Kind::none);
      return status;
    }
  }
  *library = made;
  return CUDA_SUCCESS;
}

/// Text and machine code by themselves are mostly made while the program runs: what is wrong with them is said at once.
/// Of fatbins a program has many, and uses few.
bool is_loaded_at_once(const void* code) {
  return flexrack::cuda::measure(code).format != flexrack::cuda::ImageFormat::fatbin;
}

}  // namespace

CUresult loaded_for(CUlibrary library, const Device& device, const LoadRequest& request, Loaded*& loaded) {
  return with_code([&] {
    const auto image = library->code->for_device(device);
    if (!image) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    const auto [entry, is_new] = library->loaded.try_emplace({device.server, image.get()});
    loaded = &entry->second;
    if (!is_new) return CUDA_SUCCESS;
    auto status = CUDA_ERROR_OUT_OF_MEMORY;
    try {
      status = load(*device.server, request, image, entry->second);
    } catch (...) {
      library->loaded.erase(entry);
      throw;
    }
    if (status != CUDA_SUCCESS) library->loaded.erase(entry);
    return status;
  });
}

CUresult kernel_at(CUkernel kernel, const Device& device, CUcontext context, const KernelAt*& found) {
  auto& known = kernel->at[static_cast<std::size_t>(device.ordinal)];
  found = known.load(std::memory_order_acquire);
  if (found) return CUDA_SUCCESS;
  const auto library = kernel->library;
  const std::lock_guard guard(library->lock);
  Loaded* loaded = nullptr;
  if (const auto status = loaded_for(library, device, {.options = library->options}, loaded); status != CUDA_SUCCESS)
    return status;
  KernelAt* at = nullptr;
  const auto status = find_kernel(*device.server, context ? context->handle : 0, *loaded, kernel->name, at);
  if (status == CUDA_SUCCESS) known.store(at, std::memory_order_release);
  found = at;
  return status;
}

CUresult kernel_of(CUlibrary library, const char* name, const Device& device, CUcontext context, CUkernel* kernel) {
  {
    const std::lock_guard guard(library->lock);
    if (const auto found = library->kernels.find(std::string_view(name)); found != library->kernels.end()) {
      *kernel = found->second;
      return CUDA_SUCCESS;
    }
  }
  const auto made = new CUkern_st;
  made->library = library;
  made->name = name;
  made->at = std::make_unique<std::atomic<const KernelAt*>[]>(process()->devices.size());
  const KernelAt* at = nullptr;
  if (const auto status = kernel_at(made, device, context, at); status != CUDA_SUCCESS) {
    discard(made);
    return status;
  }
  const std::lock_guard guard(library->lock);
  const auto [entry, is_new] = library->kernels.try_emplace(made->name, made);
  if (!is_new) discard(made);  // another thread was faster
  *kernel = entry->second;
  return CUDA_SUCCESS;
}

CUresult function_in(CUkernel kernel, CUcontext context, CUfunction* function) {
  const KernelAt* at = nullptr;
  if (const auto status = kernel_at(kernel, *context->device, context, at); status != CUDA_SUCCESS) return status;
  const std::lock_guard guard(kernel->lock);
  std::erase_if(kernel->functions, [](CUfunction one) {
    if (one->context->handle == one->context_handle) return false;
    discard(one);
    return true;
  });
  for (const auto one : kernel->functions) {
    if (one->context == context) {
      *function = one;
      return CUDA_SUCCESS;
    }
  }
  const auto made = new CUfunc_st;
  made->server = context->server;
  made->context = context;
  made->context_handle = context->handle;
  made->handle = at->handle;
  made->kernel = kernel;
  made->at = at;
  kernel->functions.push_back(made);
  *function = made;
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jitOptions, void** jitOptionsValues,
                           unsigned int numJitOptions, CUlibraryOption* libraryOptions, void** libraryOptionValues,
                           unsigned int numLibraryOptions) {
  if (!process()) return not_open();
  if (!library || !code || (numLibraryOptions > 0 && !libraryOptions)) return CUDA_ERROR_INVALID_VALUE;
  bool is_kept = false;
  for (unsigned i = 0; i < numLibraryOptions; ++i) {
    if (libraryOptions[i] == kBinaryIsPreserved)
      is_kept = libraryOptionValues == nullptr || libraryOptionValues[i] != nullptr;
  }
  return with_code([&] {
    return make_library(library, std::make_shared<Code>(code, is_kept), is_loaded_at_once(code), numJitOptions,
                        jitOptions, jitOptionsValues);
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option* jitOptions,
                               void** jitOptionsValues, unsigned int numJitOptions, CUlibraryOption*, void**,
                               unsigned int) {
  if (!process()) return not_open();
  if (!library || !fileName) return CUDA_ERROR_INVALID_VALUE;
  auto file = read_file(fileName);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  return with_code([&] {
    return make_library(library, std::make_shared<Code>(std::move(*file)), true, numJitOptions, jitOptions,
                        jitOptionsValues);
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  if (!process()) return not_open();
  if (!is_live(library)) return CUDA_ERROR_INVALID_HANDLE;
  Variables gone;
  {
    const std::lock_guard guard(library->lock);
    gone.swap(library->variables);
  }
  for (const auto& [key, where] : gone) forget_variable(where.first);
  {
    const std::lock_guard guard(library->lock);
    for (const auto& [where, loaded] : library->loaded)
      where.first->session->send(cu::Release{.object = loaded.handle});
    for (const auto& [name, kernel] : library->kernels) {
      for (const auto function : kernel->functions) discard(function);
      discard(kernel);
    }
    for (const auto& [context, module] : library->modules) discard(module);
  }
  discard(library);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel* pKernel, CUlibrary library, const char* name) {
  if (!process()) return not_open();
  if (!is_live(library)) return CUDA_ERROR_INVALID_HANDLE;
  if (!pKernel || !name) return CUDA_ERROR_INVALID_VALUE;
  const auto& device = some_device();
  return kernel_of(library, name, device, current_at(*device.server), pKernel);
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary lib) {
  if (!process()) return not_open();
  if (!is_live(lib)) return CUDA_ERROR_INVALID_HANDLE;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard guard(lib->lock);
  Loaded* loaded = nullptr;
  const auto status = loaded_for(lib, some_device(), {.options = lib->options}, loaded);
  if (status == CUDA_SUCCESS) *count = static_cast<unsigned>(loaded->names.size());
  return status;
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int numKernels, CUlibrary lib) {
  if (!process()) return not_open();
  if (!is_live(lib)) return CUDA_ERROR_INVALID_HANDLE;
  if (!kernels) return CUDA_ERROR_INVALID_VALUE;
  const auto& device = some_device();
  std::vector<std::string> names;
  {
    const std::lock_guard guard(lib->lock);
    Loaded* loaded = nullptr;
    if (const auto status = loaded_for(lib, device, {.options = lib->options}, loaded); status != CUDA_SUCCESS)
      return status;
    names = loaded->names;
  }
  for (std::size_t i = 0; i < names.size() && i < numKernels; ++i) {
    if (const auto status = kernel_of(lib, names[i].c_str(), device, current_at(*device.server), &kernels[i]);
        status != CUDA_SUCCESS)
      return status;
  }
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule* pMod, CUlibrary library) {
  Call call;
  call.needs(pMod);
  call.check(is_live(library), CUDA_ERROR_INVALID_HANDLE);
  const auto now = call.current();
  if (!call.is_good()) return call.error();
  const std::lock_guard guard(library->lock);
  Loaded* loaded = nullptr;
  if (const auto status = loaded_for(library, *now->device, {.options = library->options}, loaded);
      status != CUDA_SUCCESS)
    return status;
  auto& module = library->modules[now->handle];
  if (!module) {
    module = new CUmod_st;
    module->server = now->server;
    module->context = now;
    module->context_handle = now->handle;
    module->handle = loaded->handle;
    module->library = library;
  }
  *pMod = module;
  return CUDA_SUCCESS;
}

namespace {

CUresult library_variable(CUlibrary library, bool is_managed, const char* name, CUdeviceptr* address, size_t* size) {
  Call call;
  call.needs(name);
  call.check(address || size);
  call.check(is_live(library), CUDA_ERROR_INVALID_HANDLE);
  // A managed variable is the library's, wherever it is seen from; the runtime library asks for it before there is any
  // context.
  const auto now = is_managed ? nullptr : call.current();
  if (!call.is_good()) return call.error();
  auto& device = now ? *now->device : some_device();
  const std::lock_guard guard(library->lock);
  Loaded* loaded = nullptr;
  if (const auto status = loaded_for(library, device, {.options = library->options}, loaded); status != CUDA_SUCCESS)
    return status;
  return find_variable({device, now, loaded->handle, library}, name, library->variables, address, size);
}

}  // namespace

CUresult cuLibraryGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
  return library_variable(library, false, name, dptr, bytes);
}

CUresult cuLibraryGetManaged(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
  return library_variable(library, true, name, dptr, bytes);
}

void forget_context(std::uint64_t) {}

}  // namespace flexrack::client::cuda
