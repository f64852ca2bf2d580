// Why a link could not be made.
#pragma once

#include <stdexcept>
#include <string>

namespace flexrack::wire {

/// What a client says of a server that it does not trust, and what whoever reads it can do.
inline constexpr char kUnprovenServer[] =
    "the server has not proved the lease's key: it is not the daemon that granted the lease, or something on the way changes what passes. "
    "Nothing was sent to it. See with flexrack gpu list whether the daemon runs, and what else has its port";

class Error : public std::runtime_error {
 public:
  enum class Kind {
    unreachable,  ///< nobody answers at that address, or not in time
    refused,  ///< the server answered and does not want us: no such lease, too many connections, a version it does not
              ///< speak
    untrusted,  ///< the other side does not have the lease's key
    malformed,  ///< what came is not this protocol
    gone,  ///< the connection ended in the middle
  };
  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace flexrack::wire
