// What launches have in common with whatever else runs kernels: graphs, questions about occupancy.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "client/cuda/call.h"

namespace flexrack::client::cuda {

struct Shape {
  std::array<unsigned, 3> grid{}, block{};
  unsigned shared_bytes = 0;
};

/// As the device would refuse it, where it would.
CUresult check_launch(const Device& device, const KernelAt& kernel, const Shape& shape, bool is_of_library);
/// More blocks than can be on the device at once: CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE. Asks the server once a
/// kernel and block.
CUresult check_cooperative(const CUctx_st& context, const KernelAt& kernel, const Shape& shape);

/// A kernel's parameters, as a launch names them, at its own places. CUDA_ERROR_INVALID_VALUE where they are not what
/// it takes.
CUresult pack_parameters(const KernelAt& kernel, void** parameters, void** extra, wire::Bytes& bytes);

/// Attributes as messages carry them; `values` are what `told` shows.
struct LaunchAttributes {
  std::vector<CUlaunchAttributeValue> values;
  std::vector<cu::LaunchAttribute> reported;
};
CUresult take_launch_attributes(Call& call, std::span<const CUlaunchAttribute> given, LaunchAttributes& taken);
/// The launch records the event that the attribute names, where it names one.
void note_launch_event(const CUlaunchAttribute& attribute, CUstream stream);

/// True where a kernel may use memory of this process: before_launch() has to bring it up to date at the server.
extern std::atomic<bool> has_mirrors;
CUresult before_launch(CUcontext context, CUstream stream);

}  // namespace flexrack::client::cuda
