// Every symbol of the driver, as applications reach it.
#include "client/cuda/guard.h"

#include "gen/cuda/client_exports.inc"
