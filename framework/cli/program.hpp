// SPDX-License-Identifier: BSD-3-Clause
// What exp and the programs that hold components of it (exp-report, exp-serve, exp-bench) share: they open
// the standard streams, run one verb, and turn what it throws into one sentence and an exit code. Read next:
// verbs.hpp for exp, components.hpp for the components.
#pragma once

#include <functional>
#include <vector>

#include "cli/verbs.hpp"

namespace encore::cli {

/// Runs the body of a main(). `run` receives the words after the program's name and returns the exit code. If
/// it throws NotBuilt, ./exp builds the component and calls exp again; without ./exp, the message names the
/// command that builds it.
int run_program_of_exp(int argc, char** argv, const std::function<int(const Arguments&, Console&)>& run);

/// Runs the body of the main() of a component. Its arguments are the name of a verb ("db merge"), the schema
/// version of the calling exp, and the arguments of the verb.
int run_component_of_exp(int argc, char** argv, const std::vector<Verb>& verbs);

}  // namespace encore::cli
