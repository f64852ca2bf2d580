// Accesses that another thread, or another process, sees whole or not at all: 1 to 16 bytes, by their size aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace flexrack::sim::exec {

__extension__ typedef unsigned __int128 u128;

// Aligned loads and stores of 16 bytes are one access on every processor with AVX (Intel SDM 3A, 9.1.1; AMD64 APM
// 2, 7.3.2) and with FEAT_LSE2 on ARM; compilers promise nothing of plain ones, and std::atomic of 16 bytes is a call
// that would write where it reads.
inline u128 load_sixteen(const void* from) {
#if defined(__x86_64__)
  __attribute__((vector_size(16))) long long value;
  asm volatile("movdqa %1, %0" : "=x"(value) : "m"(*static_cast<const u128*>(from)) : "memory");
  return __builtin_bit_cast(u128, value);
#elif defined(__aarch64__)
  std::uint64_t low, high;
  asm volatile("ldp %0, %1, %2" : "=r"(low), "=r"(high) : "Q"(*static_cast<const u128*>(from)) : "memory");
  return u128{high} << 64 | low;
#else
#error "which instruction loads 16 bytes at once on this processor?"
#endif
}

inline void store_sixteen(void* to, u128 value) {
#if defined(__x86_64__)
  const auto in = __builtin_bit_cast(__attribute__((vector_size(16))) long long, value);
  asm volatile("movdqa %1, %0" : "=m"(*static_cast<u128*>(to)) : "x"(in) : "memory");
#elif defined(__aarch64__)
  asm volatile("stp %1, %2, %0"
               : "=Q"(*static_cast<u128*>(to))
               : "r"(static_cast<std::uint64_t>(value)), "r"(static_cast<std::uint64_t>(value >> 64))
               : "memory");
#endif
}

/// The vectors of PTX have 2, 4 or 8 elements: so many bytes are a power of two, and 32 are two accesses, as on the
/// devices. Acquires.
inline void load_whole(void* to, const void* from, std::size_t size) {
  const auto copy = [to](auto value) { std::memcpy(to, &value, sizeof value); };
  switch (size) {
    case 1: return copy(__atomic_load_n(static_cast<const std::uint8_t*>(from), __ATOMIC_ACQUIRE));
    case 2: return copy(__atomic_load_n(static_cast<const std::uint16_t*>(from), __ATOMIC_ACQUIRE));
    case 4: return copy(__atomic_load_n(static_cast<const std::uint32_t*>(from), __ATOMIC_ACQUIRE));
    case 8: return copy(__atomic_load_n(static_cast<const std::uint64_t*>(from), __ATOMIC_ACQUIRE));
    default: break;
  }
  if (size % 16 != 0) __builtin_unreachable();
  for (std::size_t at = 0; at < size; at += 16) {
    const u128 value = load_sixteen(static_cast<const std::byte*>(from) + at);
    std::memcpy(static_cast<std::byte*>(to) + at, &value, sizeof value);
  }
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/// The same for stores. Releases.
inline void store_whole(void* to, const void* from, std::size_t size) {
  const auto put = [to, from]<class T>(T value) {
    std::memcpy(&value, from, sizeof value);
    __atomic_store_n(static_cast<T*>(to), value, __ATOMIC_RELEASE);
  };
  switch (size) {
    case 1: return put(std::uint8_t{});
    case 2: return put(std::uint16_t{});
    case 4: return put(std::uint32_t{});
    case 8: return put(std::uint64_t{});
    default: break;
  }
  if (size % 16 != 0) __builtin_unreachable();
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (std::size_t at = 0; at < size; at += 16) {
    u128 value;
    std::memcpy(&value, static_cast<const std::byte*>(from) + at, sizeof value);
    store_sixteen(static_cast<std::byte*>(to) + at, value);
  }
}

}  // namespace flexrack::sim::exec
