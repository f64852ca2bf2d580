#include <algorithm>
#include <cstring>

#include "client/cuda/library.h"
#include "client/cuda/linker.h"
#include "client/cuda/thread.h"
#include "client/trace.h"

namespace flexrack::client::cuda {
namespace {

/// An image of at most this size goes with the first message: asking whether it is known would cost as much as sending
/// it.
constexpr std::size_t kSmallImage = 16 * 1024;

/// Bytes of a kernel's parameters (CUDA C++ Programming Guide, __global__ function parameters).
constexpr std::uint32_t kMostParameterBytes = 32764;

/// Parts become one image: in the request's context, or the one that is current or there anyway.
CUresult link_parts(CudaServer& server, const LoadRequest& request, const DeviceImage& image) {
  if (image.parts.empty()) return CUDA_SUCCESS;
  const std::lock_guard guard(image.lock);
  if (!image.bytes.empty()) return CUDA_SUCCESS;
  const auto now = thread_state.current;
  auto context = request.context                                                     ? request.context
                 : now && is_live(now) && now->server == &server && now->handle != 0 ? now
                                                                                     : nullptr;
  for (const auto& device : server.devices) {
    if (!context && device->primary && device->primary->handle != 0) context = device->primary;
  }
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  std::vector<LinkPart> parts;
  for (const auto& part : image.parts)
    parts.push_back(
        {.kind = part.is_ptx ? CU_JIT_INPUT_PTX : CU_JIT_INPUT_CUBIN, .name = "", .data = part.bytes, .options = {}});
  Linked linked;
  const auto status = link(*context, request.options, parts, linked);
  give_log(linked.error_log, request.error_log, request.error_room, request.error_size);
  if (status != CUDA_SUCCESS) return status;
  image.hash = flexrack::cuda::content_hash(linked.image);
  image.bytes = std::move(linked.image);
  return CUDA_SUCCESS;
}

}  // namespace

void give_log(std::string_view log, char* into, std::size_t room, std::size_t* size) {
  if (into && room > 0) {
    const auto given = std::min(log.size(), room - 1);
    std::memcpy(into, log.data(), given);
    into[given] = 0;
  }
  if (size) *size = log.empty() ? 0 : std::min(log.size() + 1, room);
}

std::unique_ptr<KernelAt> take_kernel(const cu::Kernel& reported) {
  auto kernel = std::make_unique<KernelAt>();
  kernel->handle = reported.kernel;
  kernel->name = reported.name;
  if (reported.parameter_bytes <= kMostParameterBytes) {
    kernel->parameter_bytes = reported.parameter_bytes;
    kernel->parameters = reported.parameters;
  }
  for (const auto& one : reported.attributes) {
    if (one.which < 0 || one.which >= static_cast<int>(CU_FUNC_ATTRIBUTE_MAX)) continue;
    kernel->attributes[static_cast<std::size_t>(one.which)].store(one.value, std::memory_order_relaxed);
    kernel->known |= 1u << one.which;
  }
  // What is launched is written at these places: they must be inside.
  for (const auto& one : kernel->parameters) {
    if (one.size > kernel->parameter_bytes || one.offset > kernel->parameter_bytes - one.size)
      kernel->parameters.clear();
    if (kernel->parameters.empty()) break;
  }
  return kernel;
}

CUresult load(CudaServer& server, const LoadRequest& request, const std::shared_ptr<const DeviceImage>& image,
              Loaded& loaded) {
  auto& session = *server.session;
  if (const auto status = link_parts(server, request, *image); status != CUDA_SUCCESS) return status;
  const wire::View bytes(reinterpret_cast<const std::uint8_t*>(image->bytes.data()), image->bytes.size());
  cu::Load message{.context = request.context ? request.context->handle : 0,
                   .module = mint(),
                   .is_library = request.context == nullptr,
                   .hash = image->hash,
                   .options = request.options};
  const auto says_registers = [](const cu::Option& one) { return one.which == CU_JIT_MAX_REGISTERS; };
  if (image->max_registers > 0 && std::none_of(message.options.begin(), message.options.end(), says_registers)) {
    message.options.push_back(
        {.which = CU_JIT_MAX_REGISTERS, .value = static_cast<std::uint64_t>(image->max_registers)});
  }
  bool is_with_bytes = bytes.size() <= kSmallImage;
  for (;;) {
    auto status = kLost;
    bool is_unknown = false;
    const auto payload = is_with_bytes ? session.payload(bytes) : wire::Payload{};
    message.image = payload;
    // Beside the message, whose answer comes when it is there.
    const auto is_over = std::make_shared<std::atomic<bool>>(!is_with_bytes || payload.is_inline());
    if (!*is_over) session.push_payload(payload, bytes, [is_over, image](bool) { is_over->store(true); }, false);
    session.call(message, [&](const cu::LoadReply& reply) {
      status = static_cast<CUresult>(reply.status);
      is_unknown = reply.is_unknown != 0;
      if (is_unknown && !is_with_bytes) return;
      give_log(reply.info_log, request.info_log, request.info_room, request.info_size);
      give_log(reply.error_log, request.error_log, request.error_room, request.error_size);
      if (is_traced() && !reply.error_log.empty()) trace("load: " + std::string(reply.error_log));
      for (const auto name : reply.names) loaded.names.emplace_back(name);
      for (const auto& reported : reply.kernels)
        loaded.kernels.emplace(std::string(reported.name), take_kernel(reported));
    });
    if (!*is_over && status == kLost) session.link().cancel(payload.ticket);
    if (is_unknown && !is_with_bytes) {
      is_with_bytes = true;
      continue;
    }
    if (status == CUDA_SUCCESS) loaded.handle = message.module;
    return status;
  }
}

CUresult find_kernel(CudaServer& server, std::uint64_t context, Loaded& loaded, std::string_view name,
                     KernelAt*& found) {
  if (const auto known = loaded.kernels.find(name); known != loaded.kernels.end()) {
    found = known->second.get();
    return CUDA_SUCCESS;
  }
  // Where the server could list them all, what is not among them is not there.
  if (!loaded.names.empty() && std::find(loaded.names.begin(), loaded.names.end(), name) == loaded.names.end())
    return CUDA_ERROR_NOT_FOUND;
  auto status = kLost;
  server.session->call(
      cu::FindKernel{.context = context, .module = loaded.handle, .name = name}, [&](const cu::FindKernelReply& reply) {
        status = static_cast<CUresult>(reply.status);
        if (status != CUDA_SUCCESS) return;
        if (reply.kernel.empty()) return void(status = CUDA_ERROR_NOT_FOUND);
        found = loaded.kernels.emplace(std::string(name), take_kernel(reply.kernel.front())).first->second.get();
      });
  return status;
}

}  // namespace flexrack::client::cuda
