// COMMAND as a child: started, passed the signals, waited for.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace flexrack::lease_keeper {

inline constexpr int kCannotHold = 125, kCannotExecute = 126, kNotFound = 127;

struct CommandSettings {
  std::vector<std::string> words;
  bool ends_with_lease =
      false;  ///< a lease that is over ends COMMAND; else its programs see API errors and decide themselves
  bool ends_with_parent = true;
  /// Started over SSH without a terminal: signals are sent to the whole group there, and that the client has gone is
  /// told by nobody but the output, which has no reader any more; then COMMAND ends.
  bool is_remote = false;
};

/// Blocks the signals that run_command() passes on; before anything is started, so that none is lost.
void block_signals();
/// The same, undone: for processes that are started.
void unblock_signals();

/// Starts COMMAND in this process's group, so that the terminal's keys reach it as if it had been started alone, and
/// returns its exit status: 128+n for one that signal n ended, 126 and 127 as a shell has them. Listens to the keeper
/// meanwhile.
int run_command(const CommandSettings& settings, int keeper);

}  // namespace flexrack::lease_keeper
