// What the daemon calls itself.
#pragma once

namespace flexrack::server {

inline constexpr const char* kProgramVersion = "0.1.0";

}  // namespace flexrack::server
