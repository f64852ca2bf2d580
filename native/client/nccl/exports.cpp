// Every symbol of NCCL, as applications reach it.
#include "client/nccl/library.h"

#include "gen/nccl/client_exports.inc"
