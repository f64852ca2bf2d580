// A trace for people who look for a fault: lines in the file that FLEXRACK_TRACE names. Nothing is written anywhere else.
#pragma once

#include <string_view>

namespace flexrack::client {

/// True where a trace is wanted; ask before making up a line on a path that should be fast.
bool is_traced();
/// One line, with the time in seconds since the first and the thread. Never fails visibly.
void trace(std::string_view line);

}  // namespace flexrack::client
