// Libraries, kernels, and their part of the API.
#include <algorithm>

#include "sim/driver/failure.h"
#include "sim/driver/module.h"

namespace flexrack::sim {

Ref<Module> Library::module(const Ref<Context>& context) {
  const std::lock_guard guard(lock_);
  auto& loaded = modules_[context->handle()];
  // Closed: the context was reset since.
  if (!loaded || !loaded->is_open()) {
    loaded = Module::make(context, program, managed);
    loaded->open();
    context->keep(*loaded);
  }
  return loaded;
}

std::vector<Ref<Module>> Library::modules() {
  std::vector<Ref<Module>> all;
  const std::lock_guard guard(lock_);
  for (const auto& [context, module] : modules_)
    if (module && module->is_open()) all.push_back(module);
  return all;
}

Ref<Kernel> Library::kernel(std::string_view name) {
  const auto* facts = program->kernel(name);
  require(facts, CUDA_ERROR_NOT_FOUND);
  const std::lock_guard guard(lock_);
  auto& kernel = kernels_[facts->name];
  if (!kernel) {
    kernel = Kernel::make(Ref<Library>(this), *facts);
    kernel->open();
  }
  return kernel;
}

void Library::unload() {
  std::map<CUcontext, Ref<Module>> modules;
  std::map<std::string, Ref<Kernel>, std::less<>> kernels;
  {
    const std::lock_guard guard(lock_);
    modules.swap(modules_);
    kernels.swap(kernels_);
  }
  for (const auto& [name, kernel] : kernels) kernel->close();
  for (const auto& [context, module] : modules) {
    if (!module || !module->context->forget(*module)) continue;
    module->context->settle();
    module->context_over();
  }
  close();
}

Ref<Function> Kernel::function(const Ref<Context>& context) {
  const auto function = library->module(context)->function(facts.name);
  const std::lock_guard guard(lock_);
  const auto set = settings_.find(context->device.ordinal);
  if (set != settings_.end()) function->change([&](FunctionSettings& settings) { settings = set->second; });
  return function;
}

FunctionSettings Kernel::settings(int ordinal) {
  const std::lock_guard guard(lock_);
  const auto set = settings_.find(ordinal);
  if (set != settings_.end()) return set->second;
  FunctionSettings fresh;
  for (std::size_t i = 0; i < 3; ++i) fresh.cluster[i] = facts.required_cluster[i];
  return fresh;
}

void Kernel::change(int ordinal, const std::function<void(FunctionSettings&)>& how) {
  auto changed = settings(ordinal);
  how(changed);
  const std::lock_guard guard(lock_);
  settings_[ordinal] = changed;
}

Ref<Library> library_of(CUlibrary handle) {
  auto found = Library::find(handle);
  require(static_cast<bool>(found), CUDA_ERROR_INVALID_HANDLE);
  return found;
}

Ref<Kernel> kernel_of(CUkernel handle) {
  auto found = Kernel::find(handle);
  require(static_cast<bool>(found), CUDA_ERROR_INVALID_HANDLE);
  return found;
}

namespace {

void keep(CUlibrary* made, std::shared_ptr<const Program> program) {
  const auto library = Library::make(std::move(program));
  library->open();
  *made = library->handle();
}

void check_options(CUlibraryOption* options, unsigned count) {
  require(count == 0 || options);
  for (unsigned i = 0; i < count; ++i) {
    require(options[i] < CU_LIBRARY_NUM_OPTIONS);
    require(options[i] != CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE, CUDA_ERROR_NOT_SUPPORTED,
            "functions of the host and the device are not one");
  }
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuLibraryLoadData(CUlibrary* made, const void* code, CUjit_option* jit, void** jit_values,
                           unsigned int jit_count, CUlibraryOption* options, void**, unsigned int option_count) {
  return call([&] {
    require(made && code);
    check_options(options, option_count);
    JitOptions log(jit_count, jit, jit_values);
    keep(made, load_program(code, log));
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* made, const char* path, CUjit_option* jit, void** jit_values,
                               unsigned int jit_count, CUlibraryOption* options, void**, unsigned int option_count) {
  return call([&] {
    require(made && path);
    check_options(options, option_count);
    JitOptions log(jit_count, jit, jit_values);
    keep(made, load_program(std::span<const std::byte>(read_file(path)), log));
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return call([&] { library_of(library)->unload(); });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return call([&] {
    require(kernel && name);
    *kernel = library_of(library)->kernel(name)->handle();
  });
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary library) {
  return call([&] {
    require(count);
    *count = static_cast<unsigned>(library_of(library)->program->kernels.size());
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int most, CUlibrary handle) {
  return call([&] {
    require(kernels && most > 0);
    const auto library = library_of(handle);
    unsigned i = 0;
    for (const auto& [name, facts] : library->program->kernels)
      if (i < most) kernels[i++] = library->kernel(name)->handle();
  });
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return call([&] {
    require(module);
    *module = library_of(library)->module(current())->handle();
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* size, CUlibrary library, const char* name) {
  return call([&] {
    require(name && (address || size));
    const auto symbol = library_of(library)->module(current())->variable(name);
    if (address) *address = symbol.address;
    if (size) *size = symbol.bytes;
  });
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* size, CUlibrary handle, const char* name) {
  return call([&] {
    require(name && (address || size));
    const auto library = library_of(handle);
    const auto* symbol = library->managed->find(name);
    require(symbol, CUDA_ERROR_NOT_FOUND);
    if (address) *address = symbol->address;
    if (size) *size = symbol->bytes;
  });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return call([&] {
    require(function);
    *function = kernel_of(kernel)->function(current())->handle();
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return call([&] {
    require(library);
    *library = kernel_of(kernel)->library->handle();
  });
}

CUresult cuKernelGetName(const char** name, CUkernel handle) {
  return call([&] {
    require(name);
    *name = (handle && Kernel::find(handle)) ? kernel_of(handle)->facts.name.c_str()
                                             : function_of(reinterpret_cast<CUfunction>(handle))->facts.name.c_str();
  });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  return call([&] {
    require(offset);
    const auto& parameters = kernel_of(kernel)->facts.parameters;
    require(index < parameters.size());
    *offset = parameters[index].offset;
    if (size) *size = parameters[index].size;
  });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute which, CUkernel handle, CUdevice ordinal) {
  return call([&] {
    require(value);
    device(ordinal);
    const auto kernel = kernel_of(handle);
    *value = function_attribute(kernel->facts, kernel->settings(ordinal), which);
  });
}

CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel handle, CUdevice ordinal) {
  return call([&] {
    device(ordinal);
    const auto kernel = kernel_of(handle);
    kernel->change(ordinal,
                   [&](FunctionSettings& settings) { set_function_attribute(kernel->facts, settings, which, value); });
  });
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice ordinal) {
  return call([&] {
    require(config <= CU_FUNC_CACHE_PREFER_EQUAL);
    device(ordinal);
    kernel_of(kernel)->change(ordinal,
                              [&](FunctionSettings& settings) { settings.cache_config = static_cast<int>(config); });
  });
}

}  // extern "C"
