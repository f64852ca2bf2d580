// Why a link could not be made.
#pragma once

#include <stdexcept>
#include <string>

namespace flexrack::wire {

class Error : public std::runtime_error {
 public:
  enum class Kind {
    unreachable,  ///< nobody answers at that address, or not in time
    refused,      ///< the server answered and does not want us: no such lease, too many connections, a version it does not speak
    untrusted,    ///< the other side does not have the lease's key
    malformed,    ///< what came is not this protocol
    gone,         ///< the connection ended in the middle
  };
  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace flexrack::wire
