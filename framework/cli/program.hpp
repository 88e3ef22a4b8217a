// What exp and the programs that hold components of it (exp-report, exp-serve, exp-bench) share: they open
// the standard streams, run one verb, and turn what it throws into one sentence and an exit code. Read next:
// verbs.hpp for exp, components.hpp for the components.
#pragma once

#include <functional>
#include <vector>

#include "cli/verbs.hpp"

namespace encore {

/// The whole of a main(); `run` gets what follows the name of the program and returns the exit code. Where it
/// throws NotBuilt, ./exp builds the component and calls exp again, unless exp was not started by ./exp: then
/// the message names the command that builds it.
int run_program_of_exp(int argc, char** argv, const std::function<int(const Arguments&, Console&)>& run);

/// The main() of a component: its arguments are the name of one of the verbs ("db merge"), the schema version
/// of the exp that calls it, and those of the verb.
int run_component_of_exp(int argc, char** argv, const std::vector<Verb>& verbs);

}  // namespace encore
