// What several verbs need: the model of a run, the backend, commands to suggest, the look of a state.
#pragma once

#include <filesystem>
#include <string>

#include "cli/command_line.hpp"
#include "cli/table.hpp"
#include "runner/programs.hpp"
#include "store/run_score.hpp"
#include "store/store.hpp"

namespace encore {

/// A run whose folder holds a model, and the worker that can use it.
struct TrainedRun {
  std::string name;
  std::filesystem::path folder;
  std::filesystem::path worker;
};

/// `backend` may be empty: that of the run. Throws Error where nothing was trained yet.
TrainedRun find_trained_run(const Store& store, const RunRow& run, const std::string& backend);

/// --backend and --plugin-path, for every verb that looks for plugins.
void add_backend_options(CommandLine& line);
/// --backend, else $ENCORE_BACKEND, else that of this build.
std::string backend_of(const CommandLine& line, const Programs& programs);

/// How the user called this program: what stands in front of the commands we suggest.
std::string command_name();
/// "exp show tiny", with --db where the user gave one: to be copied into a shell, so each word is quoted
/// where a shell would take it for something else.
std::string suggestion(const CommandLine& line, std::vector<std::string> words);

/// The state with the colour it has everywhere.
Cell state_cell(RunState state);
/// "is running", "has failed": what a sentence says of a run.
std::string state_clause(RunState state);
/// The same of a run, which is "queued" where a job of a scheduler waits to begin with it.
Cell state_cell(Store& store, const RunRow& run);

}  // namespace encore
