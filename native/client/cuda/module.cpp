// Modules: code loaded into one context, at once.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "client/cuda/addresses.h"
#include "client/cuda/call.h"
#include "client/cuda/library.h"
#include "client/cuda/mirror.h"
#include "client/trace.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {

std::optional<std::vector<std::byte>> read_file(const char* path) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  struct stat about{};
  std::optional<std::vector<std::byte>> content;
  if (::fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
    content.emplace(static_cast<std::size_t>(about.st_size));
    std::size_t at = 0;
    while (at < content->size()) {
      const auto got = ::read(fd, content->data() + at, content->size() - at);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      at += static_cast<std::size_t>(got);
    }
    content->resize(at);
  }
  ::close(fd);
  return content;
}

CUresult take_options(LoadRequest& request, unsigned count, const CUjit_option* options, void** values) {
  if (count > 0 && (!options || !values)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    const auto number = reinterpret_cast<std::uintptr_t>(values[i]);
    switch (options[i]) {
      case CU_JIT_INFO_LOG_BUFFER: request.info_log = static_cast<char*>(values[i]); break;
      case CU_JIT_ERROR_LOG_BUFFER: request.error_log = static_cast<char*>(values[i]); break;
      // The size comes in the place of the pointer, and goes out there (cuda.h 13.0).
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        request.info_room = static_cast<unsigned>(number);
        request.info_size = reinterpret_cast<std::size_t*>(&values[i]);
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        request.error_room = static_cast<unsigned>(number);
        request.error_size = reinterpret_cast<std::size_t*>(&values[i]);
        break;
      case CU_JIT_WALL_TIME: values[i] = nullptr; break;
      case CU_JIT_GLOBAL_SYMBOL_NAMES:
      case CU_JIT_GLOBAL_SYMBOL_ADDRESSES:
      case CU_JIT_GLOBAL_SYMBOL_COUNT: return CUDA_ERROR_NOT_SUPPORTED;  // addresses in this process
      default:
        if (options[i] >= CU_JIT_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
        request.options.push_back({.which = static_cast<std::uint32_t>(options[i]), .value = number});
    }
  }
  return CUDA_SUCCESS;
}

CUresult find_variable(const VariableIn& in, const char* name, Variables& known, CUdeviceptr* address, size_t* size) {
  const auto context = in.context ? in.context->handle : 0;
  auto found = known.find({context, name});
  if (found == known.end()) {
    auto status = kLost;
    Allocation made{.sort = Allocation::Sort::variable,
                    .server = in.device.server,
                    .context = in.context,
                    .context_handle = context,
                    .device = &in.device};
    wire::Bytes content;
    const cu::FindVariable message{
        .context = context, .module = in.module, .is_managed = in.context == nullptr, .name = name};
    in.device.server->session->call(message, [&](const auto& reply) {
      status = static_cast<CUresult>(reply.status);
      made.base = reply.address;
      made.size = reply.size;
      content.assign(reply.content.begin(), reply.content.end());
      if (reply.is_managed != 0) made.sort = Allocation::Sort::managed;
    });
    if (status == CUDA_SUCCESS && made.size > 0 && !is_stretch(made.base, made.size)) status = CUDA_ERROR_UNKNOWN;
    if (status == CUDA_SUCCESS && made.sort == Allocation::Sort::managed)
      status = mirror_variable(in, name, made, content);
    if (status != CUDA_SUCCESS) return status;
    found = known.emplace(std::pair(context, std::string(name)), std::pair(made.base, made.size)).first;
    if (made.sort == Allocation::Sort::variable) {
      if (made.size > 0 && keep_addresses(made.base, made.size)) made.kept = made.size;
      if (!add_allocation(made) && is_traced()) trace("a variable at an address that something else has");
    }
  }
  if (address) *address = found->second.first;
  if (size) *size = found->second.second;
  return CUDA_SUCCESS;
}

void forget_variable(std::uint64_t address) {
  const auto gone = take_allocation(address);
  if (!gone) return;
  if (gone->sort == Allocation::Sort::managed) forget_managed(*gone);
  else if (gone->kept != 0) let_addresses_go(gone->base, gone->kept);
}

namespace {

CUresult load_module(CUmodule* module, const Code& code, unsigned count, const CUjit_option* options, void** values) {
  Call call;
  const auto now = call.current();
  if (!call.settle()) return call.error();
  LoadRequest request{.context = now};
  if (const auto status = take_options(request, count, options, values); status != CUDA_SUCCESS) return status;
  const auto image = code.for_device(*now->device);
  if (!image) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  const auto made = call.make<CUmodule>();
  if (const auto status = load(*now->server, request, image, made.get()->loaded); status != CUDA_SUCCESS) return status;
  made.get()->handle = made.get()->loaded.handle;
  *module = made.keep();
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int numOptions, CUjit_option* options,
                            void** optionValues) {
  if (!process()) return not_open();
  if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
  return with_code([&] { return load_module(module, Code(image, true), numOptions, options, optionValues); });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return cuda::cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) {
  return cuda::cuModuleLoadDataEx(module, fatCubin, 0, nullptr, nullptr);
}

CUresult cuModuleLoad(CUmodule* module, const char* fname) {
  if (!process()) return not_open();
  if (!module || !fname) return CUDA_ERROR_INVALID_VALUE;
  auto file = read_file(fname);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  return with_code([&] { return load_module(module, Code(std::move(*file)), 0, nullptr, nullptr); });
}

CUresult cuModuleUnload(CUmodule hmod) {
  Call call;
  if (!call.use(hmod)) {
    if (call.error() == CUDA_ERROR_CONTEXT_IS_DESTROYED && !hmod->library) discard(hmod);
    return call.error();
  }
  if (hmod->library) return CUDA_ERROR_INVALID_HANDLE;  // goes with its library
  for (const auto& [key, where] : hmod->variables) forget_variable(where.first);
  call.session().send(cu::Release{.object = hmod->handle});
  for (const auto& [name, function] : hmod->functions) discard(function);
  discard(hmod);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
  Call call;
  call.needs(hfunc);
  call.needs(name);
  if (!call.use(hmod)) return call.error();
  if (hmod->library) {
    CUkernel kernel = nullptr;
    const auto status = kernel_of(hmod->library, name, *hmod->context->device, hmod->context, &kernel);
    return status == CUDA_SUCCESS ? function_in(kernel, hmod->context, hfunc) : status;
  }
  const std::lock_guard guard(hmod->lock);
  if (const auto known = hmod->functions.find(std::string_view(name)); known != hmod->functions.end()) {
    *hfunc = known->second;
    return CUDA_SUCCESS;
  }
  KernelAt* at = nullptr;
  if (const auto status = find_kernel(*hmod->server, hmod->context_handle, hmod->loaded, name, at);
      status != CUDA_SUCCESS)
    return status;
  const auto made = call.make<CUfunction>();
  made.get()->module = hmod;
  made.get()->at = at;
  made.get()->handle = at->handle;
  hmod->functions.emplace(name, made.get());
  *hfunc = made.keep();
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule mod) {
  Call call;
  call.needs(count);
  if (!call.use(mod)) return call.error();
  if (mod->library) return cuda::cuLibraryGetKernelCount(count, mod->library);
  const std::lock_guard guard(mod->lock);
  *count = static_cast<unsigned>(mod->loaded.names.size());
  return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int numFunctions, CUmodule mod) {
  Call call;
  call.needs(functions);
  if (!call.use(mod)) return call.error();
  std::vector<std::string> names;
  if (mod->library) {
    const std::lock_guard guard(mod->library->lock);
    Loaded* loaded = nullptr;
    if (const auto status = loaded_for(mod->library, *mod->context->device, {.options = mod->library->options}, loaded);
        status != CUDA_SUCCESS)
      return status;
    names = loaded->names;
  } else {
    const std::lock_guard guard(mod->lock);
    names = mod->loaded.names;
  }
  for (std::size_t i = 0; i < names.size() && i < numFunctions; ++i) {
    if (const auto status = cuda::cuModuleGetFunction(&functions[i], mod, names[i].c_str()); status != CUDA_SUCCESS)
      return status;
  }
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod, const char* name) {
  Call call;
  call.needs(name);
  call.check(dptr || bytes);
  if (!call.use(hmod)) return call.error();
  const std::lock_guard guard(hmod->lock);
  return find_variable({*hmod->context->device, hmod->context, hmod->handle, hmod->library}, name, hmod->variables,
                       dptr, bytes);
}

}  // namespace flexrack::client::cuda
