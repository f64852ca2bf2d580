// A notice of a server, on the thread that reads: nothing may be thrown at it.
#pragma once

#include <exception>

#include "client/session.h"
#include "client/trace.h"

namespace flexrack::client {

/// `read()` takes the notice, and says what an API's dispatch() does.
template <class Read>
void take_notice(Session& session, Read&& read) {
  try {
    using Dispatch = decltype(read());
    switch (read()) {
      case Dispatch::ok: return;
      case Dispatch::unknown: return trace("a notice that is none of ours was left out");
      case Dispatch::malformed: break;
    }
    // Somebody may be waiting for what it says: an error is better than that.
    trace("a notice that cannot be read ends the session");
    session.abandon();
  } catch (const std::exception& error) { trace(error.what()); }
}

}  // namespace flexrack::client
