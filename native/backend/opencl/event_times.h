// When a command was queued, began and ended, by the device's clock.
#pragma once

#include "backend/opencl/records.h"
#include "gen/opencl/messages.h"

namespace flexrack::backend::opencl {

/// Nanoseconds; 0 where the queue does not measure. The event must be over.
void read_times(const EventRecord& event, cl::Completion& into);

}  // namespace flexrack::backend::opencl
