// Every symbol of the library, as applications reach it.
#include "client/nvml/guard.h"

#include "gen/nvml/client_exports.inc"
#include "gen/nvml/layouts.inc"
