// The models of stored runs, and which plugin folders they may use. specification.json in a run's folder
// names those that it was planned with, but a plugin is code, and a run folder may come from anybody: what
// lies neither in the build nor in a folder that this call or $ENCORE_PLUGIN_PATH names, and was never used
// by this user, is asked about and else refused. Place in the flow: before a worker starts for evaluate,
// predict, verify, and retry without an experiment file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/planned_runs.hpp"
#include "app/run_selection.hpp"
#include "record/specification.hpp"
#include "store/store.hpp"

namespace encore {

/// What a verb that asks the model of a stored run lets the user choose.
struct ModelRequest {
  std::optional<std::string> backend;    ///< not written: that of the run
  std::vector<std::string> plugin_path;  ///< in place of those that the run was trained with
  int threads = 0;                       ///< 0: all this process may use
  bool int8 = false, int4 = false;       ///< with these weights of exp quantize
};

/// --plugin-path, for verbs that take a stored run.
inline constexpr const char* run_plugin_help =
    "the folder with the run's plugins (may be repeated, or several with colons), in place of those that it "
    "was "
    "trained with; plugins outside of the build are code that you trust";
/// --backend, --plugin-path and --threads.
Form<ModelRequest> model_options();
/// The same with --int8 and --int4, for verbs that compute with the model; worker_arguments hands them on.
Form<ModelRequest> weights_options();

/// A run whose folder holds a model, and the worker that can use it.
struct TrainedRun {
  std::string name;
  std::filesystem::path folder;
  std::filesystem::path worker;
};

/// `backend`: not that of the run. Throws Error where nothing was trained yet.
TrainedRun find_trained_run(const Store& store, const RunRow& run, const std::optional<std::string>& backend);

/// The runs that a request means which asks the models of several.
struct TrainedRuns {
  std::vector<TrainedRun> runs;
  bool one = false;  ///< the user means exactly one (asks_for_one)
};
TrainedRuns find_trained_runs(const App& app, const RunSelection& selection,
                              const std::optional<std::string>& backend);

/// Where the plugins of the run are searched: in `plugin_path` if it is given, else in those of the
/// specification; then in $ENCORE_PLUGIN_PATH and the build for `backend`. Throws Error where a plugin that
/// would be loaded may not be; notices when one is not the file that the run was trained with.
std::vector<std::string> run_plugin_folders(const App& app, const std::vector<std::string>& plugin_path,
                                            Store& store, const RunRow& run,
                                            const Specification& specification, const std::string& backend);

/// What a worker is started with for a run that has a model: VERB --run-folder DIR --plugin-folder DIR ...,
/// then `more`. Throws as run_plugin_folders.
std::vector<std::string> worker_arguments(const App& app, const ModelRequest& request, const TrainedRun& run,
                                          const std::string& verb, const std::vector<std::string>& more);
/// The same for a folder whose plugins are searched in these.
std::vector<std::string> worker_arguments(const ModelRequest& request,
                                          const std::filesystem::path& run_folder,
                                          const std::vector<std::string>& plugin_folders,
                                          const std::string& verb, const std::vector<std::string>& more);

/// Remembers what the runs of an experiment file load from outside the build: whoever runs the file has
/// chosen them, and evaluates or predicts later without being asked.
void trust_plugins_of(const PlannedRuns& planned);

}  // namespace encore
