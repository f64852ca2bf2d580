// cuLaunch*.
#include <algorithm>
#include <cstring>

#include "sim/driver/event.h"
#include "sim/driver/kernel_work.h"

namespace flexrack::sim {
namespace {

/// The context's own stream, and a function in that context.
Ref<Function> function_in(CUfunction handle, const Stream& stream) {
  auto function = function_of(handle, stream.context);
  require(function->module->context == stream.context, CUDA_ERROR_INVALID_HANDLE,
          "kernel and stream are of different contexts");
  return function;
}

struct Events {
  std::vector<Ref<Event>> after;               ///< to be recorded behind the kernel
};

/// Clusters that the function requires hold where the launch says nothing of clusters.
void apply_required_cluster(const FunctionSettings& settings, LaunchShape& shape) {
  if (shape.has_cluster || settings.cluster[0] == 0) return;
  shape.has_cluster = true;
  shape.cluster = {static_cast<std::uint32_t>(settings.cluster[0]),
                   static_cast<std::uint32_t>(std::max(1, settings.cluster[1])),
                   static_cast<std::uint32_t>(std::max(1, settings.cluster[2]))};
}

void apply(const CUlaunchAttribute& attribute, LaunchShape& shape, int& priority, Events& events) {
  const auto& value = attribute.value;
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: shape.is_cooperative = value.cooperative != 0; return;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      if (value.clusterDim.x == 0) return;
      shape.has_cluster = true;
      shape.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
      return;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: priority = value.priority; return;
    // Recorded when the kernel is over: later than asked for, but never too early.
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      events.after.push_back(event_of(value.programmaticEvent.event));
      return;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      events.after.push_back(event_of(value.launchCompletionEvent.event));
      return;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      require(value.deviceUpdatableKernelNode.deviceUpdatable == 0, CUDA_ERROR_NOT_SUPPORTED,
              "nodes are not updated by kernels");
      return;
    // Hints, and overlap that is allowed and not required.
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: return;
    default: fail(CUDA_ERROR_INVALID_VALUE);
  }
}

/// The runtime library launches kernels of libraries, and gives on the number that it is answered. What it documents
/// for sizes that cannot be is cudaErrorInvalidConfiguration, which the driver has no name for; programs of the
/// driver's API get CUDA_ERROR_INVALID_VALUE.
void check_configuration(CUfunction handle, const LaunchShape& shape) {
  constexpr auto kInvalidConfiguration = static_cast<CUresult>(9);
  if (!shape.is_possible() && Kernel::find(handle))
    fail(kInvalidConfiguration, "a grid or block of a size that cannot be");
}

void launch(CUfunction handle, CUstream stream_handle, LaunchShape shape, std::span<const CUlaunchAttribute> attributes,
            void** parameters, void** extra) {
  const auto stream = stream_of(stream_handle);
  auto function = function_in(handle, *stream);
  auto priority = stream->priority;
  Events events;
  for (const auto& attribute : attributes) apply(attribute, shape, priority, events);
  apply_required_cluster(function->settings(), shape);
  check_configuration(handle, shape);
  auto work = std::make_shared<KernelWork>(std::move(function), shape, parameters, extra);
  work->priority = priority;
  work->attributes.assign(attributes.begin(), attributes.end());
  work->given_function = Kernel::find(handle) ? nullptr : handle;
  work->given_kernel = work->given_function ? nullptr : reinterpret_cast<CUkernel>(handle);
  enqueue(*stream, work);
  for (const auto& event : events.after) enqueue(*stream, std::make_shared<EventRecordWork>(event));
}

CUresult launch_cooperative(CUfunction function, const LaunchShape& shape, CUstream stream, void** parameters) {
  return call([&] { launch(function, stream, shape, {}, parameters, nullptr); });
}

}  // namespace
}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  return call([&] {
    launch(function, stream, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {}, shared_bytes}, {}, parameters,
           extra);
  });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  return call([&] {
    require(config && (config->attrs || config->numAttrs == 0));
    const LaunchShape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                            {config->blockDimX, config->blockDimY, config->blockDimZ},
                            {},
                            config->sharedMemBytes};
    launch(function, config->hStream, shape, {config->attrs, config->numAttrs}, parameters, extra);
  });
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                   unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                   unsigned int shared_bytes, CUstream stream, void** parameters) {
  return launch_cooperative(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {}, shared_bytes, true},
                            stream, parameters);
}

}  // extern "C"
