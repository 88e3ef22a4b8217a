// SPDX-License-Identifier: BSD-3-Clause
// Verb: one command of exp. Each file of a verb makes one Verb or more with make_verb(); verbs() lists them
// for main.cpp, help and completion. A new verb needs a function here and a line in the list of
// help_verb.cpp. Names of verbs and exit codes never change, because scripts rely on them. Read next:
// app/form.hpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/binder.hpp"

namespace encore::cli {

/// What exp and its components return. Scripts rely on these values, so they never change.
enum ExitCode : int {
  exit_done = 0,          ///< also: there was nothing to do
  exit_failed = 1,        ///< a run or other work failed, or the record of a complete run has gaps
  exit_usage = 2,         ///< command line or configuration: nothing was started
  exit_different = 3,     ///< verification found a difference, or monitoring a shift or an alert
  exit_not_promoted = 4,  ///< exp retrain: trained and compared, but its rule does not hold
  exit_interrupted = 75   ///< run the same command to resume
};

struct Verb {
  std::string name;     ///< such as "run"; for an action of a verb, such as "ls" of "plugin ls"
  std::string summary;  ///< one line, no final stop
  /// Runs the verb with the words that follow it and returns the exit code. An Error that it throws means
  /// that nothing was started (exit 2); a WorkError, that work had begun (exit 1).
  std::function<int(const Arguments&, Console&)> run;
  std::function<app::FormFields()> form;  ///< describes its options; help and completion read it
  /// The program that runs the verb if exp itself has only its form (components.hpp); empty: exp runs it.
  std::string component = {};
  std::vector<Verb> actions = {};  ///< such as "ls" of the verb "plugin"; empty for most verbs
};

/// Reads the request of a form and calls `run` with it, or prints the help.
template <class Request, class Run>
int run_bound(const app::Form<Request>& form, const Arguments& arguments, Console& console, const Run& run) {
  Request request;
  if (!read_request(form, arguments, &request, console)) return exit_done;
  app::App app{
      .database = database_of(console), .events = console, .stop = stop_requests(), .verb = form.verb()};
  return run(request, app, console);
}

/// Makes a verb from `form`. `run` receives the request, the App and the Console.
template <class Request>
Verb make_verb(const std::string& name, const std::string& summary, app::Form<Request> (*form)(),
               int (*run)(const Request&, app::App&, Console&)) {
  return {.name = name,
          .summary = summary,
          .run = [form, run](const Arguments& arguments,
                             Console& console) { return run_bound(form(), arguments, console, run); },
          .form = form};
}

Verb run_verb();
Verb plan_verb();
Verb ls_verb();
Verb show_verb();
Verb status_verb();
Verb logs_verb();
Verb stop_verb();
Verb retry_verb();
Verb verify_verb();
Verb diff_verb();
Verb compare_verb();
Verb report_verb();
Verb bundle_verb();
Verb explain_verb();
Verb tag_verb();
Verb note_verb();
Verb rm_verb();
Verb undelete_verb();
Verb evaluate_verb();
Verb predict_verb();
Verb generate_verb();
Verb attention_verb();
Verb embed_verb();
Verb serve_verb();
Verb monitor_verb();
Verb review_verb();
Verb index_verb();
Verb text_verb();
Verb retrain_verb();
Verb quantize_verb();
Verb export_verb();
Verb import_verb();
Verb bench_verb();
Verb query_verb();
Verb dump_verb();
Verb plugin_verb();
Verb app_verb();
// The action of `app`.
Verb app_new();
// The actions of `plugin`.
Verb plugin_ls();
Verb plugin_info();
Verb plugin_new();
Verb plugin_build();
Verb plugin_check();

Verb db_verb();
Verb db_merge_verb();  ///< an action of `db`; db_verb.cpp makes the others
Verb doctor_verb();
Verb gc_verb();
/// Runs `exp job`, which jobs of Slurm and the command of --launcher call on another machine. Help and
/// completion do not list it, because no user calls it.
int job_verb(const Arguments& arguments, Console& console);
Verb completion_verb();
Verb version_verb();
Verb help_verb();

/// Returns the verbs in the order in which users meet them.
const std::vector<Verb>& verbs();
/// Returns the verb with this name. Throws UsageError that names the nearest one.
const Verb& find_verb(const std::string& name);
/// Makes a verb with actions: it runs the action of the first argument, or prints their list under `purpose`.
Verb make_verb_of_actions(const std::string& name, const std::string& summary, const std::string& purpose,
                          std::vector<Verb> actions);

/// Returns the completions of a command line. `words` follow "exp"; the last is being typed and may be empty.
/// The result has the verbs, actions, options, names of runs, sweeps and tags that begin with it. It is empty
/// where a file name is expected, or if the database cannot be read.
std::vector<std::string> completions(const std::vector<std::string>& words);

}  // namespace encore::cli
