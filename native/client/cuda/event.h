// Events as others record them.
#pragma once

#include "client/cuda/stream.h"

namespace flexrack::client::cuda {

/// Notes in both that the event was recorded in the stream just now: what records it has been sent.
void note_record(CUevent event, CUstream stream);

}  // namespace flexrack::client::cuda
