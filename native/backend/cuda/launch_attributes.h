// Attributes of launches and streams: what of them a client may say to a driver.
#pragma once

#include <span>
#include <vector>

#include "backend/cuda/call_context.h"

namespace flexrack::backend::cuda {

void check_attribute(CallContext& call, CUlaunchAttributeID which, CUlaunchAttributeValue& value, std::uint64_t event);
std::vector<CUlaunchAttribute> launch_attributes(CallContext& call, std::span<const cu::LaunchAttribute> reported);

}  // namespace flexrack::backend::cuda
