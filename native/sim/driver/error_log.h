// What the driver can say about a failed call beyond its result: the lines that cuLogs* give, and the text of the last
// fault.
#pragma once

#include <string>
#include <string_view>

namespace flexrack::sim {

/// Kept among the newest lines, given to callbacks, and written to stderr where FLEXRACK_SIM_VERBOSE is set.
void log_error(std::string_view text) noexcept;
void log_warning(std::string_view text) noexcept;

/// The description of a kernel's fault: logged, and what flexrack_sim_last_fault() tells.
void log_fault(std::string_view text) noexcept;

void set_verbose(bool is_verbose);

}  // namespace flexrack::sim

/// Copies the text of the newest fault, cut to `size` with its end marked by a zero byte; gives its whole length, 0
/// where there was none.
extern "C" __attribute__((visibility("default"))) unsigned long flexrack_sim_last_fault(char* text, unsigned long size);
