// SPDX-License-Identifier: BSD-3-Clause
// Finds the model of a stored run and the plugin folders that its worker may load. specification.json in a
// run's folder names plugin folders, but a plugin is code and a run folder may come from a stranger. So a
// plugin outside of the build, of the folders of this call and of $ENCORE_PLUGIN_PATH needs the user's
// consent the first time: run_plugin_folders() asks through Events::agrees() and stores the answer in
// ~/.local/state/encore/trusted_plugins. Verbs call it before a worker opens a stored run (predict, evaluate,
// embed, serve, quantize, export, attention, verify, retrain, and retry without an experiment file). No verb
// may load a stored run's plugins without it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/planned_runs.hpp"
#include "app/run_selection.hpp"
#include "record/specification.hpp"
#include "store/store.hpp"

namespace encore::app {

/// The options of verbs that use the model of a stored run.
struct ModelRequest {
  std::optional<std::string> backend;    ///< not given: that of the run
  std::vector<std::string> plugin_path;  ///< instead of the folders of the run's training
  int threads = 0;                       ///< 0: all CPUs of this process
  bool int8 = false, int4 = false;       ///< with these weights of exp quantize
};

/// --plugin-path, for verbs that take a stored run.
inline constexpr const char* run_plugin_help =
    "a folder with the run's plugins (may be repeated, or several with colons), instead of those of its "
    "training; only name folders whose code you trust";
/// The options --backend, --plugin-path and --threads.
Form<ModelRequest> model_options();
/// The options of model_options() with --int8 and --int4, for verbs that compute with the model;
/// worker_arguments() passes them to the worker.
Form<ModelRequest> weights_options();

/// A run whose folder holds a model, and its worker.
struct TrainedRun {
  std::string name;  ///< of the run
  std::filesystem::path folder;
  std::filesystem::path worker;  ///< program of the run's backend
};

/// Whether a verb accepts runs with a model only (`models`), or also applications, which answer with the
/// models of other runs (`applications`).
enum class Takes : std::uint8_t { models, applications };

/// `backend` replaces that of the run. Throws Error if the run has no checkpoint yet, or UsageError if it is
/// an application that the verb does not take.
TrainedRun find_trained_run(const store::Store& store, const store::RunRow& run,
                            const std::optional<std::string>& backend, Takes takes = Takes::models);
/// Throws UsageError if weights of quantization are wanted of an application.
void require_own_weights(const store::RunRow& run, const ModelRequest& request);

/// The runs of a request that uses several models.
struct TrainedRuns {
  std::vector<TrainedRun> runs;
  bool one = false;  ///< the user means exactly one (asks_for_one)
};
TrainedRuns find_trained_runs(const App& app, const store::RunSelection& selection,
                              const std::optional<std::string>& backend, Takes takes = Takes::models);

/// Returns the folders in which the plugins of the run are searched: `plugin_path`, or without it the folders
/// of the specification; then $ENCORE_PLUGIN_PATH and the build for `backend`. Throws Error if the user does
/// not allow a needed plugin, or cannot be asked. Prints a note (Events::noticed) about each plugin whose
/// file differs from that of the training.
std::vector<std::string> run_plugin_folders(const App& app, const std::vector<std::string>& plugin_path,
                                            store::Store& store, const store::RunRow& run,
                                            const record::Specification& specification,
                                            const std::string& backend);

/// Returns the arguments of a worker for a run with a model: VERB --run-folder DIR --plugin-folder DIR ...,
/// then `more`. Throws like run_plugin_folders.
std::vector<std::string> worker_arguments(const App& app, const ModelRequest& request, const TrainedRun& run,
                                          const std::string& verb, const std::vector<std::string>& more);
/// Returns these arguments for a folder whose plugins are searched in `plugin_folders`.
std::vector<std::string> worker_arguments(const ModelRequest& request,
                                          const std::filesystem::path& run_folder,
                                          const std::vector<std::string>& plugin_folders,
                                          const std::string& verb, const std::vector<std::string>& more);

/// Stores the plugins that the runs of an experiment file load from outside of the build as allowed. The user
/// chose them by running the file, so later commands do not ask.
void trust_plugins_of(const PlannedRuns& planned);

}  // namespace encore::app
