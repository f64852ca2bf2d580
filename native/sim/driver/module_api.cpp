// cuModule*, cuFunc*.
#include "sim/driver/module.h"

namespace flexrack::sim {
namespace {

void keep(CUmodule* made, std::shared_ptr<const Program> program) {
  const auto context = current();
  auto managed = std::make_shared<ManagedVariables>(*program);
  const auto module = Module::make(context, std::move(program), std::move(managed));
  module->open();
  context->keep(*module);
  *made = module->handle();
}

CUresult load(CUmodule* made, const void* image, unsigned count, CUjit_option* options, void** values) {
  return call([&] {
    require(made && image);
    current();
    JitOptions log(count, options, values);
    keep(made, load_program(image, log));
  });
}

Ref<Module> working_module(CUmodule handle) {
  current();
  return module_of(handle);
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuModuleLoad(CUmodule* made, const char* path) {
  return call([&] {
    require(made && path);
    current();
    JitOptions log;
    keep(made, load_program(std::span<const std::byte>(read_file(path)), log));
  });
}

CUresult cuModuleLoadData(CUmodule* made, const void* image) { return load(made, image, 0, nullptr, nullptr); }
CUresult cuModuleLoadDataEx(CUmodule* made, const void* image, unsigned int count, CUjit_option* options,
                            void** values) {
  return load(made, image, count, options, values);
}
CUresult cuModuleLoadFatBinary(CUmodule* made, const void* image) { return load(made, image, 0, nullptr, nullptr); }

CUresult cuModuleUnload(CUmodule handle) {
  return call([&] {
    const auto context = current_even_failed();
    const auto module = module_of(handle);
    module->context->settle();
    require(module->context->forget(*module), CUDA_ERROR_INVALID_HANDLE);
    module->context_over();
    require_working(*context);
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return call([&] {
    require(mode);
    *mode = CU_MODULE_LAZY_LOADING;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return call([&] {
    require(function && name);
    *function = working_module(module)->function(name)->handle();
  });
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule module) {
  return call([&] {
    require(count);
    *count = static_cast<unsigned>(working_module(module)->program->kernels.size());
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int most, CUmodule handle) {
  return call([&] {
    require(functions && most > 0);
    const auto module = working_module(handle);
    unsigned i = 0;
    for (const auto& [name, facts] : module->program->kernels)
      if (i < most) functions[i++] = module->function(name)->handle();
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* size, CUmodule module, const char* name) {
  return call([&] {
    require(name && (address || size));
    const auto symbol = working_module(module)->variable(name);
    if (address) *address = symbol.address;
    if (size) *size = symbol.bytes;
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return call([&] {
    require(name);
    *name = function_of(function)->facts.name.c_str();
  });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return call([&] {
    require(module);
    require(!Kernel::find(function), CUDA_ERROR_INVALID_HANDLE);
    *module = function_of(function)->module->handle();
  });
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size) {
  return call([&] {
    require(offset);
    const auto found = function_of(function);
    const auto& parameters = found->facts.parameters;
    require(index < parameters.size());
    *offset = parameters[index].offset;
    if (size) *size = parameters[index].size;
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return call([&] {
    require(state);
    function_of(function);
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
  });
}

CUresult cuFuncLoad(CUfunction function) {
  return call([&] { function_of(function); });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction handle) {
  return call([&] {
    require(value);
    const auto function = function_of(handle);
    *value = function_attribute(function->facts, function->settings(), which);
  });
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute which, int value) {
  return call([&] {
    const auto function = function_of(handle);
    function->change(
        [&](FunctionSettings& settings) { set_function_attribute(function->facts, settings, which, value); });
  });
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
  return call([&] {
    require(config <= CU_FUNC_CACHE_PREFER_EQUAL);
    function_of(handle)->change([&](FunctionSettings& settings) { settings.cache_config = static_cast<int>(config); });
  });
}

/// Shared memory has no banks here.
CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
  return call([&] {
    require(config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
    function_of(handle);
  });
}

}  // extern "C"
