// Functions that go to a server as they stand.
#include "client/cuda/graph_exec.h"
#include "gen/cuda/client_functions.h"

#include "gen/cuda/client_stubs.inc"
