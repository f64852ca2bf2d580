#include "backend/cuda/forwards.h"

#include "backend/cuda/call_context.h"
#include "gen/cuda/server_calls.inc"
