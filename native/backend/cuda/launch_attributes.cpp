#include "backend/cuda/launch_attributes.h"

namespace flexrack::backend::cuda {

/// Numbers go as they are, events and addresses are the session's own; what a driver will add may hold anything
/// (cuda.h 13.0).
void check_attribute(CallContext& call, CUlaunchAttributeID which, CUlaunchAttributeValue& value, std::uint64_t event) {
  switch (which) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT: value.programmaticEvent.event = call.get<CUevent>(event); return;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      value.launchCompletionEvent.event = call.get<CUevent>(event);
      return;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      call.address(reinterpret_cast<std::uint64_t>(value.accessPolicyWindow.base_ptr),
                   value.accessPolicyWindow.num_bytes);
      break;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      value.deviceUpdatableKernelNode.devNode = nullptr;  // what the driver puts there is a pointer of its own
      break;
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: break;
    default: return call.fail(CUDA_ERROR_INVALID_VALUE);
  }
  call.check(event == 0);
}

std::vector<CUlaunchAttribute> launch_attributes(CallContext& call, std::span<const cu::LaunchAttribute> reported) {
  std::vector<CUlaunchAttribute> all;
  for (const auto& one : reported) {
    CUlaunchAttribute attribute{};
    attribute.id = static_cast<CUlaunchAttributeID>(one.which);
    attribute.value = call.flat<CUlaunchAttributeValue>(one.value);
    check_attribute(call, attribute.id, attribute.value, one.event);
    all.push_back(attribute);
  }
  return all;
}

}  // namespace flexrack::backend::cuda
