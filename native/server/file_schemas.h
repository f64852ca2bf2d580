// The number of the shape of each file that outlives the daemon. Generated from protocol/ by `npm run protocol`.
#pragma once

namespace flexrack::server {

inline constexpr int kGpuAddressSchema = 2;
inline constexpr int kGpuLeasesSchema = 2;

}  // namespace flexrack::server
