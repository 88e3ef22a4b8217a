// SPDX-License-Identifier: BSD-3-Clause
// run_program_of_exp() and run_component_of_exp(): the body of main() of exp (main.cpp) and of the programs
// that hold components of it: exp-report, exp-serve and exp-bench (report_main.cpp and others). They open the
// standard streams, run one verb, and turn what it throws into one sentence and an exit code: WorkError 1,
// other errors of the request 2 (verbs.hpp has all codes, which never change). Read next: verbs.hpp for exp,
// components.hpp for the components.
#pragma once

#include <functional>
#include <vector>

#include "cli/verbs.hpp"

namespace encore::cli {

/// Runs the body of a main(). `run` receives the words after the program's name and returns the exit code. If
/// it throws NotBuilt, ./exp builds the component and calls exp again; without ./exp, the message names the
/// command that builds it.
int run_program_of_exp(int argc, char** argv, const std::function<int(const Arguments&, Console&)>& run);

/// Runs the body of the main() of a component, which has `verbs`. Its arguments are the name of a verb ("db
/// merge"), the schema version of the calling exp, and the arguments of the verb; components.cpp passes them.
/// Refuses another schema version, because the two programs would not agree about the database.
int run_component_of_exp(int argc, char** argv, const std::vector<Verb>& verbs);

}  // namespace encore::cli
