// The table by which NVML finds this driver (cuda/own_tables.h).
#pragma once

#include "cuda/own_tables.h"
#include "gen/nccl/client_table.h"

namespace flexrack::client::cuda {

const flexrack::cuda::ClientTable& client_table();
/// The one by which libnccl.so.2 does (nccl.cpp).
const flexrack::cuda::NcclTable& nccl_table();

}  // namespace flexrack::client::cuda
