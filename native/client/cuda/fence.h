// What a blocking copy to the device promises: it is over when it comes back, for every stream there is.
#pragma once

#include <mutex>
#include <vector>

#include "client/cuda/objects.h"

namespace flexrack::client::cuda {

class Call;

/// Of one server. Its default stream alone keeps everything in order behind such a copy until there is a stream or a
/// context that it does not hold back.
struct Fences {
  std::mutex lock;
  bool is_apart = false;                                     ///< there is, or was, one of those
  unsigned contexts = 0;
  struct Fence {
    CUcontext context;
    std::uint64_t event;
  };  ///< behind the last copy on that context's default stream
  std::vector<Fence> all;
};

/// After the messages of a blocking copy to the device on that stream. Waits for it only where something else could
/// overtake it.
CUresult end_blocking_copy(Call& call, CUstream stream);

/// A stream that the default stream does not hold back was made: it comes after all copies of before.
void begin_apart(CUstream stream);
/// A context was made, or has gone.
void enter_fences(CUcontext context);
void leave_fences(CUcontext context);

}  // namespace flexrack::client::cuda
