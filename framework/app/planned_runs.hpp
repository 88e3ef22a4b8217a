// SPDX-License-Identifier: BSD-3-Clause
// PlannedRuns: the runs of an experiment file, each with the action that `exp plan` shows and `exp run`
// takes. read_plan() (planned_runs.cpp) reads and plans them; compare_with() (plan_comparison.cpp) then adds
// what the database knows. run.cpp, plan.cpp, explain.cpp, retry.cpp, import.cpp and retrain.cpp use them. A
// run is found again by its question (settings, data, seed), so nothing here may change a specification after
// it was planned. Names of actions are read by programs.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/app.hpp"
#include "app/backend.hpp"
#include "app/plugin_changes.hpp"
#include "config/experiment_file.hpp"
#include "plan/plan.hpp"
#include "store/store.hpp"

namespace encore::app {

enum class Action {
  start,      ///< a question (settings, data, seed) that the database does not have
  resume,     ///< it was interrupted, lost or stopped
  retry,      ///< it failed
  skip,       ///< it is complete
  elsewhere,  ///< another process works on it
  leave,      ///< not selected by --changed, or a parent that no run needs
};
const char* name_of(Action action);

/// The names of the runs that a run needs.
struct NeededRuns {
  std::string starts_from = {}, learns_from = {};  ///< [model] from, [distil] teacher; empty: none
  std::vector<std::string> asks = {};              ///< by the steps of [app], each once

  /// Takes note of the run that a table names (config::names_run).
  void add(const std::string& table, const std::string& name);
};

struct PlannedRun {
  /// Everything that the worker needs; its question finds the run again.
  record::Specification specification;
  /// The settings of the sweep, as text: {"model.layers", "4"}.
  std::vector<std::pair<std::string, std::string>> varied = {};
  Action action = Action::start;
  std::optional<store::RunRow> before = {};  ///< its row in the database, if any
  bool new_repeat = false;      ///< another run of the same question, beside existing ones (--fresh)
  bool from_start = false;      ///< begins without the checkpoints of earlier attempts (exp retry --failed)
  bool has_checkpoint = false;  ///< for a run to resume: false means that it starts again
  /// The plugin files and the build of its last attempt, if they differ from the current ones.
  std::vector<PluginChange> changed_plugins = {};
  std::string other_build = {};  ///< `compiler is GNU 12.2 in its build and GNU 13.1 here`
  /// The runs of this plan that it needs, by the tables that name them (record::run_links), as indices.
  std::map<std::string, std::size_t> needs = {};
  NeededRuns needed_names = {};                 ///< of all runs that it needs, in this plan or the database
  std::optional<std::size_t> parent_file = {};  ///< for a parent: its file in PlannedRuns::parents

  /// Returns whether the run exists and is trained on, from a checkpoint if it has one.
  bool goes_on() const { return action == Action::resume || action == Action::retry; }
  /// Returns whether `exp run` would train the run.
  bool to_do() const { return action == Action::start || goes_on(); }
  /// Returns its stored or planned name.
  const std::string& name() const { return before ? before->name : specification.name; }
};

/// Another experiment file, which has a parent of a run.
struct ParentFile {
  plan::Plan plan;  ///< of the whole file
  std::filesystem::path file;
  std::vector<config::SourceFile> sources;  ///< content of the file and its bases
  std::optional<std::int64_t> sweep = {};   ///< its row, once it is stored
};

struct PlannedRuns {
  plan::Plan plan;
  std::filesystem::path file;               ///< the experiment file
  std::vector<config::SourceFile> sources;  ///< content of the file and its bases
  std::vector<std::string> overrides;       ///< key=value, of the command line
  config::SweepTexts sweep;                 ///< --grid and --seeds
  std::string backend;                      ///< openmp, serial, cuda or hip
  std::filesystem::path worker;             ///< program that trains the runs
  config::Catalogue catalogue;              ///< types of the plugins that the file may use
  std::string fingerprint;                  ///< of the build that trains; may be empty (runner/programs.hpp)
  std::vector<PlannedRun> runs;             ///< parents come first
  std::vector<ParentFile> parents;          ///< other files, with runs that start runs of this one
  bool fresh = false;                       ///< train complete runs again as new repeats
  bool changed = false;                     ///< only train runs again whose plugin files have changed

  /// Returns the facts of the file from which the run comes.
  const plan::Plan& plan_of(const PlannedRun& run) const;
  /// Returns the number of runs with this action.
  std::size_t count(Action action) const;
  /// Returns the number of runs that `exp run` would train.
  std::size_t to_do() const;
};

struct PlanRequest {
  std::string file = {};                             ///< path of the experiment file
  std::vector<std::string> set = {};                 ///< key=value
  std::optional<std::string> seed = {}, seeds = {};  ///< one number; a list such as "1-5"
  std::vector<std::string> grid = {};                ///< key=a,b
  std::optional<std::string> name = {};              ///< of the experiment
  BackendRequest backend = {};
  bool fresh = false;    ///< train complete runs again
  bool changed = false;  ///< train runs again whose plugin files have changed
};

/// The options that `run` and `plan` share: -S, --seed, --seeds, --grid, --name, --backend, --plugin-path,
/// --fresh, --changed.
Form<PlanRequest> plan_options();
/// The options of plan_options(), with the experiment file as an argument.
Form<PlanRequest> plan_arguments();
/// Returns settings, seed and name of the request as key=value.
std::vector<std::string> overrides_of(const PlanRequest& request);
/// Returns --grid and --seeds of the request.
config::SweepTexts sweep_of(const PlanRequest& request);
/// Returns the specification of a point, and removes config and origin from the point: in a plan of many runs
/// they need most of the memory.
record::Specification specification_of(plan::RunPoint& point, const std::string& backend,
                                       const std::vector<std::filesystem::path>& folders);
/// Reads and checks the file. Reads only the runs of `[model] from` from the database. Throws ConfigErrors or
/// UsageError with all problems. `hash` computes the hash of a data file.
PlannedRuns read_plan(const PlanRequest& request, const App& app,
                      const plan::ContentHash& hash = pretrained::sha256_of_content);
/// Works like read_plan() without parents, on this backend; the overrides `more` follow those of the request.
PlannedRuns read_own_plan(const PlanRequest& request, const App& app, const std::string& backend,
                          const std::vector<std::string>& more);
/// Works like read_plan() for a document, without overrides and sweep. The names of its runs are made of the
/// experiment's name and the seed.
PlannedRuns plan_document(const App& app, const config::ExperimentFile& document, const std::string& backend,
                          const std::vector<std::string>& plugin_path);
/// Notices tables in base files that the experiment does not use (config/experiment_file.hpp).
void notice_unused_tables(const App& app, const std::vector<config::SourceFile>& sources);
/// Leaves parents alone that no run needs: initial weights are read only at step 0, a teacher only while its
/// student trains.
void leave_spent_parents(PlannedRuns& planned);
/// Gives a single run the experiment's own name.
void name_like_experiment(PlannedRuns& planned);
/// Updates descriptive settings (name of the sweep, note, tags) of known runs to those of the file.
void record_descriptions(store::Store& store, const PlannedRuns& planned);
/// Stores the experiment file and the inputs that planning it again needs, and the same for its parents'
/// files. Returns its row.
std::int64_t add_sweep(store::Store& store, PlannedRuns& planned);
/// Lets the worker check all runs that would start. Throws ConfigErrors.
void require_startable(const PlannedRuns& planned, const App& app);

// --- the comparison with the database (plan_comparison.cpp) ---

/// Sets the action of each run from the facts of the database: which to start, resume, retry, skip or leave.
/// Called after the plan is read.
void compare_with(store::Store& store, PlannedRuns& planned, const App& app);
/// Checks that each run resumes with the plugin files that wrote its checkpoint. Throws Error that lists all
/// changed files of all runs, and says what to do.
void require_same_plugins(const PlannedRuns& planned);
/// Returns one line for each difference in plugins or build between now and the training of complete runs,
/// which are kept nevertheless.
std::vector<std::string> kept_though(const PlannedRuns& planned);

}  // namespace encore::app
