// A trace for people who look for a fault or count what a program costs: lines in the file that FLEXRACK_TRACE names.
// Nothing is written anywhere else.
//   send NAME                a message that nobody waits for
//   call NAME took N us      a message whose answer was waited for: a round trip
//   wait took N us           bytes or a notice that was waited for without asking
// Others say what went wrong or how it was done.
#pragma once

#include <chrono>
#include <string_view>

namespace flexrack::client {

/// True where a trace is wanted; ask before making up a line on a path that should be fast.
bool is_traced();
/// One line, with the time in seconds since the first and the thread. Never fails visibly.
void trace(std::string_view line);
/// That message is on its way.
void trace_sent(const char* name);
/// What was waited for (call, wait), its name if it has one, and how long it took until now.
void trace_waited(const char* what, const char* name, std::chrono::steady_clock::time_point start);

}  // namespace flexrack::client
