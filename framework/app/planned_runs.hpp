// PlannedRuns: the runs of an experiment file and what is to be done with each: `exp plan` shows it, `exp
// run` does it. Here they are read; what the database knows of them comes from plan_comparison.hpp.
#pragma once

#include <filesystem>
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

namespace encore {

enum class Action {
  start,      ///< nobody asked this before
  resume,     ///< it was interrupted, lost or stopped
  retry,      ///< it failed
  skip,       ///< it is complete
  elsewhere,  ///< another process works on it
  leave,      ///< --changed asks for others only, or nothing starts from it any more
};
const char* name_of(Action action);

struct PlannedRun {
  Specification specification;
  /// What the sweep set, as text: {"model.layers", "4"}.
  std::vector<std::pair<std::string, std::string>> varied = {};
  Action action = Action::start;
  std::optional<RunRow> before = {};  ///< what the database knows of it
  bool new_repeat = false;            ///< --fresh: beside what is there
  bool from_start = false;            ///< without what earlier attempts left (exp retry --failed)
  bool has_checkpoint = false;        ///< of one that goes on: otherwise it begins again
  /// Where it went on or ended with other plugin files, or in another build, than those of now.
  std::vector<PluginChange> changed_plugins = {};
  std::string other_build = {};  ///< `compiler is GNU 12.2 in its build and GNU 13.1 here`
  /// The run of this plan that it starts from ([model] from = { experiment = }), by its index.
  std::optional<std::size_t> parent = {};
  std::string starts_from = {};  ///< the name of its parent, of this plan or of the database; empty: none
  /// The same of the run that it learns from ([distil] teacher).
  std::optional<std::size_t> teacher = {};
  std::string learns_from = {};
  std::optional<std::size_t> parent_file = {};  ///< of a parent: its file in PlannedRuns::parents

  /// From where the last attempt left it.
  bool goes_on() const { return action == Action::resume || action == Action::retry; }
  bool to_do() const { return action == Action::start || goes_on(); }
  /// As it is stored, or as it would be.
  const std::string& name() const { return before ? before->name : specification.name; }
};

/// Another experiment file, of which a run is a parent.
struct ParentFile {
  Plan plan;
  std::filesystem::path file;
  std::vector<SourceFile> sources;
  std::optional<std::int64_t> sweep = {};  ///< its row, once it is stored
};

struct PlannedRuns {
  Plan plan;
  std::filesystem::path file;
  std::vector<SourceFile> sources;     ///< the file and its bases as they were read
  std::vector<std::string> overrides;  ///< key=value, of the command line
  SweepTexts sweep;                    ///< --grid and --seeds
  std::string backend;
  std::filesystem::path worker;
  Catalogue catalogue;
  std::string fingerprint;       ///< of the build that would train; may be empty (runner/programs.hpp)
  std::vector<PlannedRun> runs;  ///< those that others start from stand before them
  std::vector<ParentFile> parents;
  bool fresh = false;
  bool changed = false;  ///< only what another plugin file trained, again

  /// Of the file that the run comes from.
  const Plan& plan_of(const PlannedRun& run) const;
  std::size_t count(Action action) const;
  std::size_t to_do() const;
};

struct PlanRequest {
  std::string file = {};
  std::vector<std::string> set = {};  ///< key=value
  std::optional<std::string> seed = {}, seeds = {};
  std::vector<std::string> grid = {};  ///< key=a,b
  std::optional<std::string> name = {};
  BackendRequest backend = {};
  bool fresh = false;    ///< train again what is complete
  bool changed = false;  ///< train again what other plugin files trained
};

/// -S, --seed, --seeds, --grid, --name, --backend, --plugin-path, --fresh, --changed: what `run` and `plan`
/// have in common.
Form<PlanRequest> plan_options();
/// The same, and the experiment file as an argument.
Form<PlanRequest> plan_arguments();
/// Settings, seed and name, as key=value.
std::vector<std::string> overrides_of(const PlanRequest& request);
SweepTexts sweep_of(const PlanRequest& request);
/// Takes config and origin out of the point: of many runs they are most of what the plan holds.
Specification specification_of(RunPoint& point, const std::string& backend,
                               const std::vector<std::filesystem::path>& folders);
/// Reads and checks the file; of the database only what `[model] from` names. Throws ConfigErrors or
/// UsageError with everything that is wrong. `hash`: of data.
PlannedRuns read_plan(const PlanRequest& request, const App& app,
                      const ContentHash& hash = sha256_of_content);
/// Without the runs that others start from, on this backend; `more` overrides come behind those of the
/// request.
PlannedRuns read_own_plan(const PlanRequest& request, const App& app, const std::string& backend,
                          const std::vector<std::string>& more);
/// The same of a document, without what only describes how it was asked for (overrides, sweep). Its runs are
/// called by the experiment's name and the seed.
PlannedRuns plan_document(const App& app, const ExperimentFile& document, const std::string& backend,
                          const std::vector<std::string>& plugin_path);
/// Notices what the bases of an experiment file say and the experiment does not use
/// (config/unused_tables.hpp).
void notice_unused_tables(const App& app, const std::vector<SourceFile>& sources);
/// What nothing needs any more is left alone: weights to start from are read at step 0 only, those of a
/// teacher as long as its student is trained.
void leave_spent_parents(PlannedRuns& planned);
/// Gives a single run the experiment's own name.
void name_like_experiment(PlannedRuns& planned);
/// Of runs that the database has: what the file says now of settings that only describe.
void record_descriptions(Store& store, const PlannedRuns& planned);
/// The row of the experiment file and what has to be there to plan it again; of its parents' files too.
std::int64_t add_sweep(Store& store, PlannedRuns& planned);
/// Asks the worker about everything that would be started. Throws ConfigErrors.
void require_startable(const PlannedRuns& planned, const App& app);

}  // namespace encore
