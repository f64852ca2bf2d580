// The table by which NVML finds this driver (cuda/own_tables.h).
#pragma once

#include "cuda/own_tables.h"

namespace flexrack::client::cuda {

const flexrack::cuda::ClientTable& client_table();

}  // namespace flexrack::client::cuda
