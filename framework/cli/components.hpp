// SPDX-License-Identifier: BSD-3-Clause
// The components of exp: the programs exp-report, exp-serve, exp-bench and exp-index, in the folder of exp,
// that do some of its verbs. So exp builds without their dependencies, which it must never link; ./exp builds
// a component at its first call. exp has the forms of these verbs for help, completion and errors, then
// become_component() replaces exp by the program (components.cpp). A new verb of a component is named here,
// in the main() of the component, and in components.cpp.
#pragma once

#include <string>
#include <vector>

#include "cli/verbs.hpp"

namespace encore::cli {

/// Runs the component of the verb, or of the verb with its action ("db merge"). Throws NotBuilt.
[[noreturn]] void become_component(const std::string& verb, const Arguments& arguments);
/// Returns the program of a verb or of a verb with its action; empty: exp itself.
std::string component_of(const std::string& verb);

/// These functions return the verbs of each component. Each is linked into one component only
/// (report_main.cpp, serve_main.cpp, bench_main.cpp, index_main.cpp).
std::vector<Verb> verbs_of_serve();
std::vector<Verb> verbs_of_review();  ///< of exp-serve too
std::vector<Verb> verbs_of_bench();
std::vector<Verb> verbs_of_index();
/// These functions return the verbs of exp-report, which names them in report_main.cpp.
Verb report_of_component();
Verb compare_of_component();
Verb attention_of_component();
Verb export_of_component();
Verb bundle_of_component();
Verb bundle_show_of_component();
Verb db_merge_of_component();
/// Returns the verb that verifies a bundle; exp itself verifies runs.
Verb verify_of_component();
Verb monitor_of_component();

}  // namespace encore::cli
