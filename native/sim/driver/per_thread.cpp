// The forms of functions that work on the default stream of the calling thread.
#include "sim/driver/stream.h"

using flexrack::sim::PerThreadScope;

#define PER_THREAD(symbol, plain, parameters, arguments) \
  extern "C" CUresult symbol parameters {                \
    const PerThreadScope scope;                          \
    return plain arguments;                              \
  }
#include "gen/cuda/per_thread.inc"
