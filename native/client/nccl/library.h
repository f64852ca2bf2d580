// What stands between an application's call of NCCL and the CUDA driver beside this library, which has the session, the
// streams and the memory that the call is about.
#pragma once

#include <type_traits>

#include "gen/nccl/client_table.h"

namespace flexrack::client::nccl {

/// Of the driver that the application uses; null where that is none of ours.
const flexrack::cuda::NcclTable* table();

/// Calls it there.
template <class Returns, class... Parameters>
Returns through(Returns (*flexrack::cuda::NcclTable::*function)(Parameters...), Parameters... values) {
  const auto* found = table();
  if constexpr (std::is_void_v<Returns>) {
    if (found) (found->*function)(values...);
  } else if constexpr (std::is_pointer_v<Returns>) {
    return found ? (found->*function)(values...) : "the CUDA driver is none of flexrack's";
  } else {
    return found ? (found->*function)(values...) : static_cast<Returns>(ncclSystemError);
  }
}

/// For every name that is refused, whatever it answers.
struct Refused {
  operator ncclResult_t() const { return ncclInvalidUsage; }
};
inline Refused refused() { return {}; }

}  // namespace flexrack::client::nccl
