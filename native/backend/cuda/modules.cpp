// Modules, libraries and their kernels: loaded once by content, described to the client so that it needs to ask nothing
// at a launch.
#include "backend/cuda/modules.h"

#include <cstring>

#include "backend/cuda/call_context.h"
#include "backend/cuda/image_check.h"
#include "backend/cuda/load_options.h"
#include "cuda/fatbin.h"

namespace flexrack::backend::cuda {
namespace {

constexpr std::size_t kMostImageBytes = std::size_t{1} << 30;
constexpr std::size_t kMostImagesKept = 4096;
constexpr std::size_t kMostBytesKept = std::size_t{4} << 30,
                      kMostArriving = std::size_t{4} << 30;  ///< of all images of a session
/// So many kernels are described with the load; a library of thousands is asked for those it launches.
constexpr std::size_t kDescribedAtOnce = 64;
/// CUfunction_attribute that kernels are launched and asked by: all that cuda.h 13.0 knows, cudaFuncGetAttributes fails
/// where one is not had.
constexpr int kLastFunctionAttribute = CU_FUNC_ATTRIBUTE_MAX - 1;

std::string key(wire::View hash) { return {reinterpret_cast<const char*>(hash.data()), hash.size()}; }

bool has_device_code_rejected(CUresult status) {
  return status == CUDA_ERROR_INVALID_IMAGE || status == CUDA_ERROR_NO_BINARY_FOR_GPU ||
         status == CUDA_ERROR_INVALID_PTX || status == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
}

}  // namespace

void Modules::on(const cu::HaveImages& m, Respond<cu::HaveImagesReply> respond) {
  std::vector<std::uint8_t> known;
  for (const auto& hash : m.hashes) known.push_back(images_.contains(key(hash)) ? 1 : 0);
  respond({.known = known});
}

void Modules::on(const cu::Load& m, Respond<cu::LoadReply> respond) {
  struct Loading {
    std::uint64_t context, module;
    bool is_library;
    std::string hash;
    LoadOptions options;
    std::shared_ptr<wire::Bytes> image;
    std::shared_ptr<void> arriving;  ///< its bytes among those that are not kept yet
    Respond<cu::LoadReply> respond;
  };
  CallContext call(core_, m.kOp, m.is_library != 0 ? 0 : m.context);
  call.check(m.is_library != 0 || m.context != 0);
  call.may_wait();
  if (!core_.handles.has_room(m.is_library != 0 ? Kind::library : Kind::module)) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  if (!call.is_good()) {
    if (!m.image.is_inline()) core_.link->cancel(m.image.ticket);
    return respond({.status = as_wire(call.status())});
  }
  const auto known = images_.find(key(m.hash));
  if (m.image.size == 0 && known == images_.end())
    return respond({.status = as_wire(CUDA_ERROR_FILE_NOT_FOUND), .is_unknown = 1});
  if (m.image.size > kMostImageBytes || m.image.size > kMostArriving - std::min(kMostArriving, arriving_->load())) {
    if (!m.image.is_inline()) core_.link->cancel(m.image.ticket);
    return respond({.status = as_wire(CUDA_ERROR_OUT_OF_MEMORY)});
  }
  auto loading =
      std::make_shared<Loading>(Loading{m.is_library != 0 ? 0 : m.context, m.module, m.is_library != 0, key(m.hash),
                                        LoadOptions(m.options), nullptr, nullptr, std::move(respond)});
  if (!loading->options.is_passable()) {
    if (!m.image.is_inline()) core_.link->cancel(m.image.ticket);
    return loading->respond({.status = as_wire(CUDA_ERROR_INVALID_VALUE)});
  }
  const auto load = [this, loading](const std::shared_ptr<const wire::Bytes>& image) {
    // The driver may compile for long: not on the dispatching thread.
    core_.later(loading->context, [this, loading, image] {
      LoadReply reply;
      reply.is_library = loading->is_library;
      load_image(reply, loading->context, loading->module, *image, loading->options);
      const std::lock_guard guard(core_.lock);
      keep_image(loading->hash, image, static_cast<CUresult>(reply.message.status));
      loading->respond(reply.message);
    });
  };
  if (m.image.size == 0) return load(known->second);
  *arriving_ += m.image.size;
  loading->arriving = {nullptr, [all = arriving_, size = m.image.size](void*) { *all -= size; }};
  loading->image = std::make_shared<wire::Bytes>(m.image.size + 1);  // a zero behind it ends PTX text
  const auto whole = [loading, load](bool has_arrived) {
    auto& image = *loading->image;
    const wire::View content(image.data(), image.size() - 1);
    const auto digest = flexrack::cuda::content_hash(std::as_bytes(std::span(content)));
    if (!has_arrived || key(digest) != loading->hash || check_image(content) != CUDA_SUCCESS)
      return loading->respond({.status = as_wire(CUDA_ERROR_INVALID_IMAGE)});
    load(loading->image);
  };
  if (m.image.is_inline()) {
    std::memcpy(loading->image->data(), m.image.inline_data.data(), m.image.size);
    whole(true);
  } else {
    core_.link->land(m.image.ticket, {loading->image->data(), m.image.size}, whole);
  }
}

void Modules::keep_image(const std::string& hash, std::shared_ptr<const wire::Bytes> image, CUresult status) {
  const auto size = image->size();
  if (has_device_code_rejected(status) || images_.size() >= kMostImagesKept || size > kMostBytesKept - image_bytes_)
    return;
  if (images_.emplace(hash, std::move(image)).second) image_bytes_ += size;
}

std::shared_ptr<const wire::Bytes> Modules::image(wire::View hash) const {
  const auto found = images_.find(key(hash));
  return found == images_.end() ? nullptr : found->second;
}

bool Modules::keep(wire::View hash, std::shared_ptr<const wire::Bytes> image) {
  const wire::View content(image->data(), image->size() - 1);
  const auto digest = flexrack::cuda::content_hash(std::as_bytes(std::span(content)));
  if (key(digest) != key(hash) || check_image(content) != CUDA_SUCCESS) return false;
  keep_image(key(hash), std::move(image), CUDA_SUCCESS);
  return images_.contains(key(hash));
}

/// On a waiting thread, the context current there.
void Modules::load_image(LoadReply& reply, std::uint64_t context, std::uint64_t module, const wire::Bytes& image,
                         LoadOptions& options) {
  CUmodule made = nullptr;
  CUlibrary library = nullptr;
  const auto takes = image_memory(image);
  auto status = CUDA_SUCCESS;
  std::uint32_t device = 0;
  if (!reply.is_library) {
    const std::lock_guard guard(core_.lock);
    device = core_.device_of(context);
    status = core_.charge_image(context, takes);
  }
  const bool is_charged = !reply.is_library && status == CUDA_SUCCESS;
  ++core_.loads;
  if (status != CUDA_SUCCESS) {
    // The share has not that much left.
  } else if (reply.is_library) {
    status = core_.table.cuLibraryLoadData
                 ? core_.table.cuLibraryLoadData(&library, image.data(), options.jit(), options.jit_values(),
                                                 options.jit_count(), nullptr, nullptr, 0)
                 : CUDA_ERROR_NOT_SUPPORTED;
  } else {
    status =
        core_.table.cuModuleLoadDataEx(&made, image.data(), options.jit_count(), options.jit(), options.jit_values());
  }
  reply.info_log = options.info_log();
  reply.error_log = options.error_log();
  reply.message.info_log = reply.info_log;
  reply.message.error_log = reply.error_log;
  const std::lock_guard guard(core_.lock);
  --core_.loads;
  if (status == CUDA_SUCCESS) {
    // Its context may have been released meanwhile: it ends when this is over.
    const auto* in = reply.is_library ? nullptr : core_.handles.find(context);
    const bool is_kept =
        reply.is_library
            ? core_.handles.insert(module, {.kind = Kind::library, .native = library, .context = 0, .image = takes})
            : in && in->kind == Kind::context &&
                  core_.handles.insert(module, {.kind = Kind::module,
                                                .native = made,
                                                .context = context,
                                                .device = device,
                                                .charged = takes.bytes});
    if (!is_kept) {
      if (library) core_.table.cuLibraryUnload(library);
      if (made) core_.table.cuModuleUnload(made);
      status = CUDA_ERROR_INVALID_HANDLE;
    }
  }
  if (is_charged && status != CUDA_SUCCESS) core_.refund(device, takes.bytes);
  reply.message.status = as_wire(status);
  core_.noticed(context, status);
  if (status == CUDA_SUCCESS) list_kernels(reply, context, module);
}

void Modules::list_kernels(LoadReply& reply, std::uint64_t context, std::uint64_t module) {
  auto* record = core_.handles.find(module);
  unsigned count = 0;
  std::vector<void*> all;
  if (reply.is_library && core_.table.cuLibraryGetKernelCount && core_.table.cuLibraryEnumerateKernels) {
    const auto library = static_cast<CUlibrary>(record->native);
    if (core_.table.cuLibraryGetKernelCount(&count, library) != CUDA_SUCCESS) return;
    all.resize(count);
    if (core_.table.cuLibraryEnumerateKernels(reinterpret_cast<CUkernel*>(all.data()), count, library) != CUDA_SUCCESS)
      return;
  } else if (!reply.is_library && core_.table.cuModuleGetFunctionCount && core_.table.cuModuleEnumerateFunctions) {
    const auto native = static_cast<CUmodule>(record->native);
    if (core_.table.cuModuleGetFunctionCount(&count, native) != CUDA_SUCCESS) return;
    all.resize(count);
    if (core_.table.cuModuleEnumerateFunctions(reinterpret_cast<CUfunction*>(all.data()), count, native) !=
        CUDA_SUCCESS)
      return;
  }
  for (auto* one : all) {
    const char* name = nullptr;
    const auto status = reply.is_library ? core_.table.cuKernelGetName(&name, static_cast<CUkernel>(one))
                                         : core_.table.cuFuncGetName(&name, static_cast<CUfunction>(one));
    if (status != CUDA_SUCCESS || !name) continue;
    reply.message.names.push_back(name);
    if (reply.message.kernels.size() < kDescribedAtOnce) {
      cu::Kernel reported;
      if (describe_kernel(reported, context, module, reply.is_library, one, name))
        reply.message.kernels.push_back(std::move(reported));
    }
  }
}

bool Modules::describe_kernel(cu::Kernel& reported, std::uint64_t context, std::uint64_t module, bool is_library,
                              void* native, std::string_view name) {
  reported.kernel = mint();
  reported.name = name;
  const bool has_parameters =
      is_library ? core_.table.cuKernelGetParamInfo != nullptr : core_.table.cuFuncGetParamInfo != nullptr;
  if (!core_.handles.insert(reported.kernel, {.kind = is_library ? Kind::kernel : Kind::function,
                                              .native = native,
                                              .context = is_library ? 0 : context,
                                              .owner = module}))
    return false;
  for (size_t index = 0; has_parameters; ++index) {
    size_t offset = 0, size = 0;
    const auto status = is_library
                            ? core_.table.cuKernelGetParamInfo(static_cast<CUkernel>(native), index, &offset, &size)
                            : core_.table.cuFuncGetParamInfo(static_cast<CUfunction>(native), index, &offset, &size);
    if (status != CUDA_SUCCESS) break;
    reported.parameters.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)});
    reported.parameter_bytes = static_cast<std::uint32_t>(offset + size);
  }
  auto* record = core_.handles.find(reported.kernel);
  record->parameter_bytes = reported.parameter_bytes;
  record->has_parameter_bytes = has_parameters;
  const auto device = core_.devices[core_.device_of(context)].native;
  for (int which = 0; which <= kLastFunctionAttribute; ++which) {
    int value = 0;
    const auto attribute = static_cast<CUfunction_attribute>(which);
    const auto status = is_library
                            ? core_.table.cuKernelGetAttribute(&value, attribute, static_cast<CUkernel>(native), device)
                            : core_.table.cuFuncGetAttribute(&value, attribute, static_cast<CUfunction>(native));
    if (status == CUDA_SUCCESS) reported.attributes.push_back({which, value});
    if (status == CUDA_SUCCESS && attribute == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES && value > 0)
      record->local_bytes = static_cast<std::uint64_t>(value);
  }
  return true;
}

void Modules::on(const cu::FindKernel& m, Respond<cu::FindKernelReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  auto* record = core_.handles.find(m.module);
  if (!record || (record->kind != Kind::module && record->kind != Kind::library)) call.fail(CUDA_ERROR_INVALID_HANDLE);
  const std::string name(m.name);
  void* native = nullptr;
  const bool is_library = call.is_good() && record->kind == Kind::library;
  if (is_library)
    call.run(core_.table.cuLibraryGetKernel, reinterpret_cast<CUkernel*>(&native),
             static_cast<CUlibrary>(record->native), name.c_str());
  else if (call.is_good())
    call.run(core_.table.cuModuleGetFunction, reinterpret_cast<CUfunction*>(&native),
             static_cast<CUmodule>(record->native), name.c_str());
  cu::FindKernelReply reply;
  if (call.is_good()) {
    reply.kernel.emplace_back();
    if (!describe_kernel(reply.kernel.back(), m.context, m.module, is_library, native, name))
      call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  }
  reply.status = as_wire(call.status());
  if (!call.is_good()) reply.kernel.clear();
  respond(reply);
}

void Modules::on(const cu::FindVariable& m, Respond<cu::FindVariableReply> respond) {
  CallContext call(core_, m.kOp, m.context);
  auto* record = core_.handles.find(m.module);
  if (!record || (record->kind != Kind::module && record->kind != Kind::library)) call.fail(CUDA_ERROR_INVALID_HANDLE);
  const std::string name(m.name);
  CUdeviceptr address = 0;
  size_t size = 0;
  if (call.is_good() && record->kind == Kind::library && m.context != 0) call.fail(core_.bring_in(m.module, m.context));
  if (call.is_good() && record->kind == Kind::library) {
    call.run(m.is_managed != 0 ? core_.table.cuLibraryGetManaged : core_.table.cuLibraryGetGlobal, &address, &size,
             static_cast<CUlibrary>(record->native), name.c_str());
  } else if (call.is_good()) {
    call.run(core_.table.cuModuleGetGlobal_v2, &address, &size, static_cast<CUmodule>(record->native), name.c_str());
  }
  if (call.is_good() && size != 0 && !core_.allocations.holds(address, size)) {
    core_.know(address, {.sort = Allocation::Sort::variable,
                         .device = core_.device_of(m.context),
                         .context = m.context,
                         .size = size,
                         .owner = m.module});
  }
  // What a library says is managed is so; of anything else the driver says it.
  unsigned is_managed = m.is_managed != 0 && call.is_good() && record->kind == Kind::library;
  if (call.is_good() && is_managed == 0 &&
      (!core_.table.cuPointerGetAttribute ||
       core_.table.cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) != CUDA_SUCCESS))
    is_managed = 0;
  wire::Bytes content;
  if (call.is_good() && is_managed != 0)
    call.fail(core_.mirrors.watch(record->kind == Kind::library ? 0 : m.context, m.module, address, size, content));
  respond({.status = as_wire(call.status()),
           .is_managed = is_managed,
           .address = address,
           .size = size,
           .content = content});
}

}  // namespace flexrack::backend::cuda
