// The verbs whose work is done by programs of their own, so that exp is built without what only they need:
// exp-report, exp-serve and exp-bench, which lie beside exp (CMakeLists.txt) and which ./exp builds when they
// are first called. exp has the forms of these verbs, for help, completion and refusals. verbs() says which
// component a verb is in.
#pragma once

#include <string>
#include <vector>

#include "cli/verbs.hpp"

namespace encore {

/// Has the component of the verb, or of the verb with its action ("db merge"), do the work. Throws NotBuilt.
[[noreturn]] void become_component(const std::string& verb, const Arguments& arguments);
/// Where a verb or a verb with its action is done: the name of a program, or empty: in exp itself.
std::string component_of(const std::string& verb);

/// What these verbs do; each list is in one component alone (report_main.cpp, serve_main.cpp,
/// bench_main.cpp).
std::vector<Verb> verbs_of_serve();
std::vector<Verb> verbs_of_bench();
Verb report_of_component();
Verb compare_of_component();
Verb attention_of_component();
Verb export_of_component();
Verb bundle_of_component();
Verb bundle_show_of_component();
Verb db_merge_of_component();
/// Of a bundle; runs are verified in exp itself.
Verb verify_of_component();
Verb monitor_of_component();

}  // namespace encore
