// Launches, and what a share that is not the whole device pays for them.
#include "backend/cuda/turn.h"

namespace flexrack::backend::cuda {
void Session::on(const cu::Launch& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto function = turn.launched(m.kernel);
  const auto stream = turn.get<CUstream>(m.stream);
  turn.check_parameters(m.kernel, m.parameters.size());
  auto size = m.parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<std::uint8_t*>(m.parameters.data()), CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  void** const config = size > 0 ? extra : nullptr;
  const auto launch = [&] {
    if (m.attributes.empty() && m.is_cooperative == 0) {
      return turn.run(table_.cuLaunchKernel, function, m.grid.x, m.grid.y, m.grid.z, m.block.x, m.block.y, m.block.z, m.shared_bytes, stream, static_cast<void**>(nullptr), config);
    }
    auto attributes = launch_attributes(turn, m.attributes);
    if (m.is_cooperative != 0) {
      CUlaunchAttribute together{};
      together.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      together.value.cooperative = 1;
      attributes.push_back(together);
    }
    CUlaunchConfig how{};
    how.gridDimX = m.grid.x, how.gridDimY = m.grid.y, how.gridDimZ = m.grid.z;
    how.blockDimX = m.block.x, how.blockDimY = m.block.y, how.blockDimZ = m.block.z;
    how.sharedMemBytes = m.shared_bytes;
    how.hStream = stream;
    how.attrs = attributes.data();
    how.numAttrs = static_cast<unsigned>(attributes.size());
    return turn.run(table_.cuLaunchKernelEx, &how, function, static_cast<void**>(nullptr), config);
  };
  const auto device = device_of(m.context);
  if (turn.is_good() && grant_.is_gated(device)) launch_gated(turn, device, stream, launch);
  else launch();
  turn.end();
}

/// Numbers go as they are, events and addresses are the session's own; what a driver will add may hold anything (cuda.h 13.0).
void Session::check_attribute(Turn& turn, CUlaunchAttributeID which, CUlaunchAttributeValue& value, std::uint64_t event) {
  switch (which) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      value.programmaticEvent.event = turn.get<CUevent>(event);
      return;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      value.launchCompletionEvent.event = turn.get<CUevent>(event);
      return;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      turn.address(reinterpret_cast<std::uint64_t>(value.accessPolicyWindow.base_ptr), value.accessPolicyWindow.num_bytes);
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
    default: return turn.fail(CUDA_ERROR_INVALID_VALUE);
  }
  turn.check(event == 0);
}

std::vector<CUlaunchAttribute> Session::launch_attributes(Turn& turn, std::span<const cu::LaunchAttribute> told) {
  std::vector<CUlaunchAttribute> all;
  for (const auto& one : told) {
    CUlaunchAttribute attribute{};
    attribute.id = static_cast<CUlaunchAttributeID>(one.which);
    attribute.value = turn.flat<CUlaunchAttributeValue>(one.value);
    check_attribute(turn, attribute.id, attribute.value, one.event);
    all.push_back(attribute);
  }
  return all;
}

/// The stream stops at a gate until it is this share's turn; the time between two events is what the launch took.
void Session::launch_gated(Turn& turn, std::uint32_t device, CUstream stream, const std::function<bool()>& launch) {
  if (!clock_.has_room()) turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
  const auto* context = turn.is_good() ? handles_.find(turn.context()) : nullptr;
  if (!context) return turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
  TimedLaunch timed{.gate = HostSide::gate(context->host), .start = HostSide::event(context->host), .end = HostSide::event(context->host), .host = context->host, .use = Users::one_of(context->users)};
  const auto gate = timed.gate;
  bool is_launched = false;
  if (gate && timed.start && timed.end) {
    turn.fail(gate.wait(stream));
    turn.run(table_.cuEventRecord, timed.start, stream);
    is_launched = turn.is_good() && launch();
    turn.run(table_.cuEventRecord, timed.end, stream);
  } else {
    turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
  }
  if (!is_launched) {
    if (gate) gate.open_and_recycle();  // what was put before it on the stream may go on
    return HostSide::give_back(*timed.host, {timed.start, timed.end});
  }
  clock_.add(device, static_cast<CUcontext>(context->native), stream, std::move(timed));
  grant_.admit(device, clock_.opener(gate));
}

}  // namespace flexrack::backend::cuda
