#include "sim/driver/host_work.h"

namespace flexrack::sim {

void HostWork::execute(Context& context) const {
  context.printing.flush();
  const HostFunctionScope scope;
  function(data);
}

void CallbackWork::execute(Context& context) const {
  context.printing.flush();
  const HostFunctionScope scope;
  function_(stream_, context.error(), data_);
}

}  // namespace flexrack::sim

using namespace flexrack::sim;

extern "C" {

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return call([&] {
    require(function);
    enqueue(*stream_of(stream), std::make_shared<HostWork>(function, data));
  });
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback function, void* data, unsigned int flags) {
  return call([&] {
    require(function && flags == 0);
    const auto stream = stream_of(handle);
    require_not_captured(*stream);
    enqueue(*stream, std::make_shared<CallbackWork>(handle, function, data));
  });
}

}  // extern "C"
