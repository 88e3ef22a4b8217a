// SPDX-License-Identifier: BSD-3-Clause
// run_program_of_exp() and run_component_of_exp(): the body of main() of exp (main.cpp) and of the programs
// that hold components of it: exp-report, exp-serve, exp-bench and exp-index (report_main.cpp and others).
// They open the standard streams, run one verb, and turn what it throws into one sentence and an exit code:
// WorkError 1, other errors of the request 2 (verbs.hpp has all codes, which never change). Read next:
// verbs.hpp for exp, components.hpp for the components.
#pragma once

#include <functional>
#include <vector>

#include "cli/verbs.hpp"

namespace encore::cli {

/// Runs the body of a main(). `run` receives the words after the program's name and returns the exit code. If
/// it throws NotBuilt, ./exp builds the component and calls exp again; without ./exp, the message names the
/// command that builds it. If answers could not be written to their end, the code is that of a failure: a
/// table that a full disk has cut must not look complete. Called once in a process, because it changes the
/// standard streams.
int run_program_of_exp(int argc, char** argv, const std::function<int(const Arguments&, Console&)>& run);

/// Runs the body of the main() of a component, which has `verbs`. Its arguments are the name of a verb ("db
/// merge"), the schema version of the calling exp, and the arguments of the verb; components.cpp passes them.
/// Refuses another schema version, because the two programs would not agree about the database. Prints errors
/// and returns exit codes as run_program_of_exp() does; neither function throws, so a main() only returns
/// what it gets.
int run_component_of_exp(int argc, char** argv, const std::vector<Verb>& verbs);

}  // namespace encore::cli
