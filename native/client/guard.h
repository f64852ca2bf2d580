// What stands between an application's call and our functions: nothing may be thrown at the application.
#pragma once

#include <new>

namespace flexrack::client {

/// What `body` answers; `kNoMemory` where there is none, `kUnknown` for whatever else is thrown.
template <auto kNoMemory, auto kUnknown, class Body>
decltype(kUnknown) guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) { return kNoMemory; } catch (...) {
    return kUnknown;
  }
}

}  // namespace flexrack::client
