// Which plugin folders a stored run may use. specification.json in its folder names those that it was planned
// with, but a plugin is code, and a run folder may come from anybody: what lies neither in the build nor in a
// folder that this call or $ENCORE_PLUGIN_PATH names, and was never used by this user, is asked about on a
// terminal and else refused. Place in the flow: before a worker starts for evaluate, predict, verify, and
// retry without an experiment file.
#pragma once

#include <string>
#include <vector>

#include "cli/access.hpp"
#include "cli/command_line.hpp"
#include "cli/planned_runs.hpp"
#include "cli/run_selection.hpp"
#include "record/specification.hpp"
#include "store/store.hpp"

namespace encore {

/// --plugin-path, for verbs that take a stored run.
void add_run_plugin_option(CommandLine& line);

/// --backend, --plugin-path and --threads, for verbs that ask the model of a stored run.
void add_model_options(CommandLine& line);

/// --int8 and --int4, for those of them that compute with the model; worker_arguments hands it on.
void add_weights_option(CommandLine& line);

/// Where the plugins of the run are searched: in the folders of --plugin-path if it is given, else in those
/// of the specification; then in $ENCORE_PLUGIN_PATH and the build for `backend`. Throws Error where a plugin
/// that would be loaded may not be; says on the standard error when one is not the file that the run was
/// trained with.
std::vector<std::string> run_plugin_folders(const CommandLine& line, Store& store, const RunRow& run,
                                            const Specification& specification, const std::string& backend);

/// The runs that a verb means which asks the models of several.
struct TrainedRuns {
  std::vector<TrainedRun> runs;
  bool one = false;  ///< the user means exactly one (asks_for_one)
};
TrainedRuns find_trained_runs(const CommandLine& line, const RunSelection& selection);

/// What a worker is started with for a run that has a model: VERB --run-folder DIR --plugin-folder DIR ...,
/// then `more`. The backend is that of --backend, else the run's. Throws as run_plugin_folders.
std::vector<std::string> worker_arguments(const CommandLine& line, const TrainedRun& run,
                                          const std::string& verb, const std::vector<std::string>& more);
/// The same for a folder whose plugins are searched in these.
std::vector<std::string> worker_arguments(const CommandLine& line, const std::filesystem::path& run_folder,
                                          const std::vector<std::string>& plugin_folders,
                                          const std::string& verb, const std::vector<std::string>& more);

/// Remembers what the runs of an experiment file load from outside the build: whoever runs the file has
/// chosen them, and evaluates or predicts later without being asked.
void trust_plugins_of(const PlannedRuns& planned);

}  // namespace encore
