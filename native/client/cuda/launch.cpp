// Launches: parameters packed at the kernel's own places, everything the device would refuse refused here, nothing
// waited for.
#include "client/cuda/launch.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "client/cuda/call.h"
#include "client/cuda/capture.h"
#include "client/cuda/graph_work.h"
#include "client/cuda/kernel.h"
#include "client/cuda/mirror.h"
#include "gen/cuda/client_functions.h"

namespace flexrack::client::cuda {
namespace {

constexpr std::size_t kMostParameters = 32 * 1024;

/// Room for the parameters of nearly every kernel, without a look at the heap.
struct Packed {
  alignas(16) std::array<std::uint8_t, 1024> small;
  std::vector<std::uint8_t> large;
  std::uint8_t* room(std::size_t size) {
    if (size <= small.size()) return std::memset(small.data(), 0, size), small.data();
    large.resize(size);
    return large.data();
  }
};

/// The bytes of cuLaunchKernel's `extra`: pairs of names and pointers (cuda.h 13.0).
CUresult from_extra(void** extra, std::size_t needed, Packed& packed, wire::View& bytes) {
  const void* buffer = nullptr;
  const std::size_t* size = nullptr;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) size = static_cast<const std::size_t*>(extra[1]);
    else return CUDA_ERROR_INVALID_VALUE;
  }
  if (!size || (!buffer && *size > 0) || *size > kMostParameters) return CUDA_ERROR_INVALID_VALUE;
  if (*size < needed) {
    // A kernel may declare more than a launch gives; it does not read the rest then.
    auto* const into = packed.room(needed);
    if (*size > 0) std::memcpy(into, buffer, *size);
    bytes = {into, needed};
    return CUDA_SUCCESS;
  }
  bytes = {static_cast<const std::uint8_t*>(buffer), needed == 0 ? *size : needed};
  return CUDA_SUCCESS;
}

CUresult pack(const KernelAt& kernel, void** parameters, void** extra, Packed& packed, wire::View& bytes) {
  if (parameters && extra) return CUDA_ERROR_INVALID_VALUE;
  if (extra) return from_extra(extra, kernel.parameter_bytes, packed, bytes);
  if (kernel.parameter_bytes == 0) return CUDA_SUCCESS;
  if (!parameters) return CUDA_ERROR_INVALID_VALUE;
  auto* const into = packed.room(kernel.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (!parameters[i]) return CUDA_ERROR_INVALID_VALUE;
    const auto& place = kernel.parameters[i];
    // Most are an address or a number.
    if (place.size == 8) std::memcpy(into + place.offset, parameters[i], 8);
    else if (place.size == 4) std::memcpy(into + place.offset, parameters[i], 4);
    else std::memcpy(into + place.offset, parameters[i], place.size);
  }
  bytes = {into, kernel.parameter_bytes};
  return CUDA_SUCCESS;
}

/// Events that an attribute names go beside it, by their handles.
CUresult take_attribute(Call& call, const CUlaunchAttribute& given, CUlaunchAttributeValue& value,
                        cu::LaunchAttribute& reported) {
  value = given.value;
  reported.which = static_cast<std::uint32_t>(given.id);
  switch (given.id) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      reported.event = call.handle(given.value.programmaticEvent.event);
      value.programmaticEvent.event = nullptr;
      break;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      reported.event = call.handle(given.value.launchCompletionEvent.event);
      value.launchCompletionEvent.event = nullptr;
      break;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      if (given.value.deviceUpdatableKernelNode.deviceUpdatable != 0) call.fail(CUDA_ERROR_NOT_SUPPORTED);
      break;
    default: break;
  }
  reported.value = wire::bytes_of(value);
  return call.error();
}

}  // namespace

CUresult pack_parameters(const KernelAt& kernel, void** parameters, void** extra, wire::Bytes& bytes) {
  Packed packed;
  wire::View shown;
  const auto status = pack(kernel, parameters, extra, packed, shown);
  if (status == CUDA_SUCCESS) bytes.assign(shown.begin(), shown.end());
  return status;
}

CUresult take_launch_attributes(Call& call, std::span<const CUlaunchAttribute> given, LaunchAttributes& taken) {
  taken.values.resize(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].id == CU_LAUNCH_ATTRIBUTE_IGNORE) continue;
    auto& reported = taken.reported.emplace_back();
    if (const auto status = take_attribute(call, given[i], taken.values[i], reported); status != CUDA_SUCCESS)
      return status;
  }
  return CUDA_SUCCESS;
}

CUresult check_launch(const Device& device, const KernelAt& kernel, const Shape& shape, bool is_of_library) {
  // The runtime library launches kernels of libraries, and gives on the number that it is answered: what it documents
  // for sizes that cannot be is cudaErrorInvalidConfiguration, which the driver has no name for.
  const auto impossible = is_of_library ? static_cast<CUresult>(9) : CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < 3; ++i) {
    // Unsigned: zero is larger than any limit.
    if (shape.grid[i] - 1 >= device.most_grid[i] || shape.block[i] - 1 >= device.most_block[i]) return impossible;
  }
  const auto threads = std::uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  if (threads > device.most_threads) return impossible;
  const auto most =
      static_cast<unsigned>(kernel.attributes[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK].load(std::memory_order_relaxed));
  if (threads > most && has_attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK))
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  const auto shared = static_cast<unsigned>(
      kernel.attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES].load(std::memory_order_relaxed));
  if (shape.shared_bytes > shared && has_attribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

namespace {

/// A node that has what the stream has beside.
CUresult capture_launch(CUfunction function, const Shape& shape, CUstream stream, void** parameters, void** extra,
                        std::span<const CUlaunchAttribute> attributes, bool is_cooperative) {
  std::vector<CUlaunchAttribute> all(attributes.begin(), attributes.end());
  const auto add = [&](CUlaunchAttributeID which, auto&& fill) {
    if (std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.id == which; })) return;
    fill(all.emplace_back(CUlaunchAttribute{.id = which, .pad = {}, .value = {}}).value);
  };
  if (is_cooperative)
    add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, [](CUlaunchAttributeValue& value) { value.cooperative = 1; });
  if (stream->priority != 0)
    add(CU_LAUNCH_ATTRIBUTE_PRIORITY, [&](CUlaunchAttributeValue& value) { value.priority = stream->priority; });
  WorkPointer work;
  const auto status = kernel_work(
      stream->context,
      {.function = function, .shape = shape, .parameters = parameters, .extra = extra, .attributes = all}, work);
  if (status != CUDA_SUCCESS) return status;
  if (const auto added = capture_work(stream, std::move(work)); added != CUDA_SUCCESS) return added;
  // Events that a launch records stand for all of it here.
  for (const auto& one : attributes) {
    const auto event = one.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT        ? one.value.programmaticEvent.event
                       : one.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT ? one.value.launchCompletionEvent.event
                                                                               : nullptr;
    if (event && is_live(event)) capture_record(stream, event);
  }
  return CUDA_SUCCESS;
}

CUresult launch(CUfunction function, const Shape& shape, CUstream which, void** parameters, void** extra,
                std::span<const CUlaunchAttribute> attributes, bool is_cooperative) {
  Call call;
  const auto stream = call.stream(which);
  const auto* kernel = call.kernel(function);
  if (!call.settle()) return call.error();
  if (is_capturing(stream))
    return capture_launch(function, shape, stream, parameters, extra, attributes, is_cooperative);
  if (const auto status = refuse_implicit(stream); status != CUDA_SUCCESS) return status;
  const auto context = stream->context;
  if (const auto status = check_launch(*context->device, *kernel, shape, !is_live(function)); status != CUDA_SUCCESS)
    return status;
  if (is_cooperative) {
    if (const auto status = check_cooperative(*context, *kernel, shape); status != CUDA_SUCCESS) return status;
  }
  Packed packed;
  cu::Launch message;
  if (const auto status = pack(*kernel, parameters, extra, packed, message.parameters); status != CUDA_SUCCESS)
    return status;
  message.context = stream->context_handle;
  message.kernel = kernel->handle;
  message.stream = stream->handle;
  message.grid = {shape.grid[0], shape.grid[1], shape.grid[2]};
  message.block = {shape.block[0], shape.block[1], shape.block[2]};
  message.shared_bytes = shape.shared_bytes;
  message.is_cooperative = is_cooperative;
  LaunchAttributes taken;
  if (!attributes.empty()) {
    if (const auto status = take_launch_attributes(call, attributes, taken); status != CUDA_SUCCESS) return status;
    message.attributes = std::move(taken.reported);
  }
  if (unmirrored.load(std::memory_order_relaxed) != 0) {
    if (const auto status = mirror_arguments(context, message.parameters); status != CUDA_SUCCESS) return status;
  }
  if (has_mirrors.load(std::memory_order_relaxed)) {
    if (const auto status = before_launch(context, stream); status != CUDA_SUCCESS) return status;
  }
  note_put(stream);
  const auto status = call.session().send(message) ? CUDA_SUCCESS : kLost;
  for (const auto& one : attributes) note_launch_event(one, stream);
  return status;
}

}  // namespace

std::atomic<bool> has_mirrors{false};

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                        unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                        unsigned int sharedMemBytes, CUstream hStream, void** kernelParams, void** extra) {
  return launch(f, {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes}, hStream,
                kernelParams, extra, {}, false);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                   unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream, void** kernelParams) {
  return launch(f, {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes}, hStream,
                kernelParams, nullptr, {}, true);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams, void** extra) {
  if (!config || (config->numAttrs > 0 && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
  const Shape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                    {config->blockDimX, config->blockDimY, config->blockDimZ},
                    config->sharedMemBytes};
  return launch(f, shape, config->hStream, kernelParams, extra, {config->attrs, config->numAttrs}, false);
}

}  // namespace flexrack::client::cuda
