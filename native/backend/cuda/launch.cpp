// Launches, and what a share that is not the whole device pays for them.
#include "backend/cuda/turn.h"

namespace flexrack::backend::cuda {
namespace {

constexpr std::size_t kMostParameters = 32 * 1024;   ///< bytes; CUDA 12.1 and up: 32764

/// Both events of a gated launch, to be read when it is over.
struct Timed {
  CUevent start = nullptr, end = nullptr;
};

}  // namespace

void Session::on(const cu::Launch& m) {
  Turn turn(*this, m.kOp, m.context);
  const auto function = turn.launched(m.kernel);
  const auto stream = turn.get<CUstream>(m.stream);
  turn.check(m.parameters.size() <= kMostParameters);
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

std::vector<CUlaunchAttribute> Session::launch_attributes(Turn& turn, std::span<const cu::LaunchAttribute> told) {
  std::vector<CUlaunchAttribute> all;
  for (const auto& one : told) {
    CUlaunchAttribute attribute{};
    attribute.id = static_cast<CUlaunchAttributeID>(one.which);
    attribute.value = turn.flat<CUlaunchAttributeValue>(one.value);
    if (one.event != 0) {
      const auto event = turn.get<CUevent>(one.event);
      if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) attribute.value.programmaticEvent.event = event;
      else if (attribute.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) attribute.value.launchCompletionEvent.event = event;
      else turn.fail(CUDA_ERROR_INVALID_VALUE);
    }
    all.push_back(attribute);
  }
  return all;
}

/// The stream stops at a gate until it is this share's turn; the time between two events is what the launch took. A capturing stream only notes what
/// it would do: its graph is let through as a whole.
void Session::launch_gated(Turn& turn, std::uint32_t device, CUstream stream, const std::function<bool()>& launch) {
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  if (table_.cuStreamIsCapturing) turn.run(table_.cuStreamIsCapturing, stream, &capture);
  if (!turn.is_good()) return;
  if (capture != CU_STREAM_CAPTURE_STATUS_NONE) {
    launch();
    return;
  }
  const auto gate = gates_.make();
  if (!gate) return turn.fail(CUDA_ERROR_OUT_OF_MEMORY);
  const auto timed = std::make_shared<Timed>();
  turn.run(table_.cuEventCreate, &timed->start, 0u);
  turn.run(table_.cuEventCreate, &timed->end, 0u);
  if (turn.is_good()) turn.fail(gates_.wait(stream, gate));
  turn.run(table_.cuEventRecord, timed->start, stream);
  const bool is_launched = turn.is_good() && launch();
  turn.run(table_.cuEventRecord, timed->end, stream);
  if (!is_launched) {
    Gates::open(gate);  // what was put before it on the stream may go on
    return;
  }
  grant_.admit(device, [gate] { Gates::open(gate); });
  later(turn.context(), [this, timed, device, gate] {
    float milliseconds = 0;
    if (table_.cuEventSynchronize(timed->end) == CUDA_SUCCESS) table_.cuEventElapsedTime(&milliseconds, timed->start, timed->end);
    grant_.finished(device, static_cast<std::uint64_t>(milliseconds * 1e6f));
    table_.cuEventDestroy_v2(timed->start);
    table_.cuEventDestroy_v2(timed->end);
    gates_.recycle(gate);
  });
}

}  // namespace flexrack::backend::cuda
