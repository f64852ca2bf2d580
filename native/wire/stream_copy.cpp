#include "wire/stream_copy.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace flexrack::wire {

void stream_copy(void* to, const void* from, std::size_t size) {
#if defined(__x86_64__)
  constexpr std::size_t kWorthIt = 16 * 1024;
  if (size >= kWorthIt) {
    auto* target = static_cast<std::uint8_t*>(to);
    const auto* source = static_cast<const std::uint8_t*>(from);
    const auto before = (16 - reinterpret_cast<std::uintptr_t>(target) % 16) % 16;
    std::memcpy(target, source, before);
    target += before, source += before, size -= before;
    for (; size >= 64; target += 64, source += 64, size -= 64) {
      const auto* in = reinterpret_cast<const __m128i*>(source);
      auto* out = reinterpret_cast<__m128i*>(target);
      const auto a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
                 d = _mm_loadu_si128(in + 3);
      _mm_stream_si128(out, a);
      _mm_stream_si128(out + 1, b);
      _mm_stream_si128(out + 2, c);
      _mm_stream_si128(out + 3, d);
    }
    std::memcpy(target, source, size);
    _mm_sfence();
    return;
  }
#endif
  std::memcpy(to, from, size);
}

}  // namespace flexrack::wire
