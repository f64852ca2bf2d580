// The messages that the made-up devices understand; see made_up_backend_test.cpp.
#pragma once

#include <cstdint>

namespace flexrack::test {

inline constexpr std::uint16_t kCharge = 0x7001;   ///< u64 bytes on device 0; answers u32: 1 if granted
inline constexpr std::uint16_t kRefund = 0x7002;   ///< likewise; answers 1
inline constexpr std::uint16_t kEcho = 0x7003;     ///< answers u32: 1
inline constexpr std::uint16_t kCrash = 0x7004;    ///< the worker dies on the spot
inline constexpr std::uint16_t kHangAtEnd = 0x7005;  ///< the driver hangs when it is to give back
inline constexpr std::uint64_t kDeviceMemory = 1 << 30;

}  // namespace flexrack::test
