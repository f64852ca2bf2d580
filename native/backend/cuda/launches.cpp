// Launches, and what a share that is not the whole device pays for them.
#include "backend/cuda/launches.h"

#include "backend/cuda/call_context.h"
#include "backend/cuda/launch_attributes.h"

namespace flexrack::backend::cuda {

void Launches::on(const cu::Launch& m) {
  CallContext call(core_, m.kOp, m.context);
  const auto function = call.launched(m.kernel);
  const auto stream = call.get<CUstream>(m.stream);
  call.check_parameters(m.kernel, m.parameters.size());
  auto size = m.parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<std::uint8_t*>(m.parameters.data()),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  void** const config = size > 0 ? extra : nullptr;
  const auto launch = [&] {
    if (m.attributes.empty() && m.is_cooperative == 0) {
      return call.run(core_.table.cuLaunchKernel, function, m.grid.x, m.grid.y, m.grid.z, m.block.x, m.block.y,
                      m.block.z, m.shared_bytes, stream, static_cast<void**>(nullptr), config);
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
    return call.run(core_.table.cuLaunchKernelEx, &how, function, static_cast<void**>(nullptr), config);
  };
  const auto device = core_.device_of(m.context);
  if (call.is_good() && core_.grant.is_time_sliced(device)) launch_time_sliced(call, device, stream, launch);
  else launch();
  call.end();
}

/// The stream stops at a latch until it is this share's turn; the time between two events is what the launch took.
void Launches::launch_time_sliced(CallContext& call, std::uint32_t device, CUstream stream,
                                  const std::function<bool()>& launch) {
  if (!clock_.has_room()) call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  const auto* context = call.is_good() ? core_.handles.find(call.context()) : nullptr;
  if (!context) return call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  TimedLaunch timed{.latch = HostSide::latch(context->host),
                    .start = HostSide::event(context->host),
                    .end = HostSide::event(context->host),
                    .host = context->host,
                    .use = Users::one_of(context->users)};
  const auto latch = timed.latch;
  bool is_launched = false;
  if (latch && timed.start && timed.end) {
    call.fail(latch.wait(stream));
    call.run(core_.table.cuEventRecord, timed.start, stream);
    is_launched = call.is_good() && launch();
    call.run(core_.table.cuEventRecord, timed.end, stream);
  } else {
    call.fail(CUDA_ERROR_OUT_OF_MEMORY);
  }
  if (!is_launched) {
    if (latch) latch.open_and_recycle();  // what was put before it on the stream may go on
    return HostSide::give_back(*timed.host, {timed.start, timed.end});
  }
  clock_.add(device, static_cast<CUcontext>(context->native), stream, std::move(timed));
  core_.grant.admit(device, clock_.opener(latch));
}

}  // namespace flexrack::backend::cuda
