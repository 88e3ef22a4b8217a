// The verbs whose work is done by programs of their own, so that exp is built without what only they need:
// exp-report, exp-serve and exp-bench, which lie beside exp (CMakeLists.txt) and which ./exp builds when they
// are first called. exp has the options of these verbs (report_options.cpp, bundle_options.cpp,
// serve_options.cpp, bench_options.cpp), for help, completion and refusals. verbs() says which component a
// verb is in.
#pragma once

#include <string>

#include "cli/command_line.hpp"
#include "cli/verbs.hpp"

namespace encore {

/// Reads the options, and has the component of the verb do the work. Throws NotBuilt, and what parse()
/// throws.
int run_in_component(CommandLine line, const Arguments& arguments);
/// The same where the options have been read.
[[noreturn]] void become_component(const CommandLine& line, const Arguments& arguments);
/// Where a verb ("report") or a verb with its action ("db merge") is done: the name of a program, or empty:
/// in exp itself.
std::string component_of(const std::string& verb);

CommandLine make_report_line();
CommandLine make_compare_line();
CommandLine make_attention_line();
CommandLine make_export_line();
CommandLine make_bundle_line();
CommandLine make_bundle_show_line();
CommandLine make_db_merge_line();
CommandLine make_verify_line();
CommandLine make_serve_line();
CommandLine make_monitor_line();
CommandLine make_bench_line();
CommandLine make_bench_ls_line();
CommandLine make_bench_show_line();

}  // namespace encore
