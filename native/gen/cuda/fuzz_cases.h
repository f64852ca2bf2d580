// A valid example of every request, reply and notice of cuda.
// Generated from native/spec/cuda.* by native/codegen/generate.ts; change those.
#pragma once

#include "gen/cuda/messages.h"

namespace flexrack::cu {

struct FuzzCase {
  const char* name;     ///< as in the specification, "_reply" added for a reply
  std::uint16_t op;
  bool is_reply;
  bool is_notice;
  wire::Bytes (*make)();
  /// Decodes a body and, where that went well, encodes it again into the empty `out`.
  bool (*again)(wire::View body, wire::Bytes& out);
};

std::span<const FuzzCase> fuzz_cases();

}  // namespace flexrack::cu
