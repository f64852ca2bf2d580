// A session on its way out: what the other worker is told, in the order in which it can be made again.
#pragma once

#include <memory>

#include "backend/cuda/core.h"
#include "backend/cuda/journal.h"
#include "backend/cuda/modules.h"

namespace flexrack::backend::cuda {

/// Dials a worker there and compares its devices. Throws std::runtime_error with the reason.
std::unique_ptr<Departure> make_departure(Core& core, Modules& modules, Journal& journal, const wire::Dial& to);

}  // namespace flexrack::backend::cuda
