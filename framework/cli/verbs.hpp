// The verbs of exp: one file each, one function each, one list for main, help and completion.
#pragma once

#include <string>
#include <vector>

namespace encore {

using Arguments = std::vector<std::string>;

/// Each takes what follows the verb and returns the exit code. What it throws as Error means that nothing was
/// started (exit 2).
int run_verb(const Arguments& arguments);
int plan_verb(const Arguments& arguments);
int ls_verb(const Arguments& arguments);
int show_verb(const Arguments& arguments);
int status_verb(const Arguments& arguments);
int logs_verb(const Arguments& arguments);
int stop_verb(const Arguments& arguments);
int retry_verb(const Arguments& arguments);
int verify_verb(const Arguments& arguments);
int diff_verb(const Arguments& arguments);
int compare_verb(const Arguments& arguments);
int report_verb(const Arguments& arguments);
int bundle_verb(const Arguments& arguments);
int explain_verb(const Arguments& arguments);
int tag_verb(const Arguments& arguments);
int note_verb(const Arguments& arguments);
int rm_verb(const Arguments& arguments);
int undelete_verb(const Arguments& arguments);
int gc_verb(const Arguments& arguments);
int evaluate_verb(const Arguments& arguments);
int predict_verb(const Arguments& arguments);
int generate_verb(const Arguments& arguments);
int attention_verb(const Arguments& arguments);
int embed_verb(const Arguments& arguments);
int serve_verb(const Arguments& arguments);
int monitor_verb(const Arguments& arguments);
int quantize_verb(const Arguments& arguments);
int export_verb(const Arguments& arguments);
int retrain_verb(const Arguments& arguments);
int import_verb(const Arguments& arguments);
int bench_verb(const Arguments& arguments);
int query_verb(const Arguments& arguments);
int dump_verb(const Arguments& arguments);
int plugin_verb(const Arguments& arguments);
int db_verb(const Arguments& arguments);
int doctor_verb(const Arguments& arguments);
int job_verb(const Arguments& arguments);
int completion_verb(const Arguments& arguments);
int version_verb(const Arguments& arguments);
int help_verb(const Arguments& arguments);

/// What these verbs do; each is in one component alone (report_main.cpp, serve_main.cpp, bench_main.cpp).
int report_in_component(const Arguments& arguments);
int compare_in_component(const Arguments& arguments);
int attention_in_component(const Arguments& arguments);
int export_in_component(const Arguments& arguments);
int bundle_in_component(const Arguments& arguments);
int bundle_show_in_component(const Arguments& arguments);
int db_merge_in_component(const Arguments& arguments);
/// Of a bundle; runs are verified in exp itself.
int verify_in_component(const Arguments& arguments);
int serve_in_component(const Arguments& arguments);
int monitor_in_component(const Arguments& arguments);
int bench_in_component(const Arguments& arguments);
int bench_ls_in_component(const Arguments& arguments);
int bench_show_in_component(const Arguments& arguments);

struct Verb {
  const char* name;
  const char* summary;  ///< one line, no final stop
  int (*run)(const Arguments& arguments);
  const std::vector<Verb>& (*actions)() = nullptr;  ///< of a verb that has some: plugin ls, db check
  const char* component =
      "";  ///< the program that does it, where exp itself has only its options (components.hpp)
};

/// In the order in which people meet them.
const std::vector<Verb>& verbs();
/// Throws UsageError that names the nearest verb.
const Verb& find_verb(const std::string& name);
/// For a verb with actions: runs the one that the first argument names, or prints the list of them under
/// `purpose`.
int run_action(const Verb& verb, const std::string& purpose, const Arguments& arguments);

}  // namespace encore
