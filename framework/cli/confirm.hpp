// The question before what would be a pity if it was not meant.
#pragma once

#include <string>

#include "cli/command_line.hpp"

namespace encore {

/// Adds -y, --yes.
void add_yes_option(CommandLine& line);
/// What somebody at the terminal answers; nothing is yes but y and yes. The question goes to the standard
/// error, since the output may be data.
bool ask(const std::string& question);
/// True with -y, or when somebody at a terminal answers yes. Throws UsageError where nobody can be asked;
/// `what` is what would be done: "remove 2 runs for good"; `consequence` is a sentence about it.
bool confirm(const CommandLine& line, const std::string& what,
             const std::string& consequence = "This cannot be undone.");

}  // namespace encore
