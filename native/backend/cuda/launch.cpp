// Launches, and what a share that is not the whole device pays for them.
#include "backend/cuda/call_context.h"

namespace flexrack::backend::cuda {
void Session::on(const cu::Launch& m) {
  CallContext call(*this, m.kOp, m.context);
  const auto function = call.launched(m.kernel);
  const auto stream = call.get<CUstream>(m.stream);
  call.check_parameters(m.kernel, m.parameters.size());
  auto size = m.parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<std::uint8_t*>(m.parameters.data()), CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  void** const config = size > 0 ? extra : nullptr;
  const auto launch = [&] {
    if (m.attributes.empty() && m.is_cooperative == 0) {
      return call.run(table_.cuLaunchKernel, function, m.grid.x, m.grid.y, m.grid.z, m.block.x, m.block.y, m.block.z, m.shared_bytes, stream, static_cast<void**>(nullptr), config);
    }
    auto attributes = launch_attributes(call, m.attributes);
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
    return call.run(table_.cuLaunchKernelEx, &how, function, static_cast<void**>(nullptr), config);
  };
  const auto device = device_of(m.context);
  if (call.is_good() && grant_.is_time_sliced(device)) launch_time_sliced(call, device, stream, launch);
  else launch();
  call.end();
}

/// Numbers go as they are, events and addresses are the session's own; what a driver will add may hold anything (cuda.h 13.0).
void Session::check_attribute(CallContext& call, CUlaunchAttributeID which, CUlaunchAttributeValue& value, std::uint64_t event) {
  switch (which) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      value.programmaticEvent.event = call.get<CUevent>(event);
      return;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      value.launchCompletionEvent.event = call.get<CUevent>(event);
      return;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      call.address(reinterpret_cast<std::uint64_t>(value.accessPolicyWindow.base_ptr), value.accessPolicyWindow.num_bytes);
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

std::vector<CUlaunchAttribute> Session::launch_attributes(CallContext& call, std::span<const cu::LaunchAttribute> reported) {
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

/// The stream stops at a latch until it is this share's turn; the time between two events is what the launch took.
void Session::launch_time_sliced(CallContext& call, std::uint32_t device, CUstream stream, const std::function<bool()>& launch) {
  if (!clock_.has_room()) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  const auto* context = call.is_good() ? handles_.find(call.context()) : nullptr;
  if (!context) return call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  TimedLaunch timed{.latch = HostSide::latch(context->host), .start = HostSide::event(context->host), .end = HostSide::event(context->host), .host = context->host, .use = Users::one_of(context->users)};
  const auto latch = timed.latch;
  bool is_launched = false;
  if (latch && timed.start && timed.end) {
    call.fail(latch.wait(stream));
    call.run(table_.cuEventRecord, timed.start, stream);
    is_launched = call.is_good() && launch();
    call.run(table_.cuEventRecord, timed.end, stream);
  } else {
    call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  }
  if (!is_launched) {
    if (latch) latch.open_and_recycle();  // what was put before it on the stream may go on
    return HostSide::give_back(*timed.host, {timed.start, timed.end});
  }
  clock_.add(device, static_cast<CUcontext>(context->native), stream, std::move(timed));
  grant_.admit(device, clock_.opener(latch));
}

}  // namespace flexrack::backend::cuda
