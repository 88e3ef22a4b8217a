// See access.hpp.
#include "cli/access.hpp"

#include <cstdlib>

#include "base/shell_word.hpp"
#include "record/checkpoint.hpp"
#include "record/weights_file.hpp"
#include "runner/launched_runs.hpp"

namespace encore {

TrainedRun find_trained_run(const Store& store, const RunRow& run, const std::string& backend) {
  const std::filesystem::path folder = store.run_folder(run.id);
  std::error_code ignored;
  if (!std::filesystem::exists(folder / weights_file, ignored) && list_checkpoints(folder).empty())
    throw Error("run " + run.name + " (" + name_of(run.state) + ") has no checkpoint in " + folder.string() +
                (run.state == RunState::completed ? "; was its folder removed?" : "; train it first"));
  return {run.name, folder, worker_program(installed_programs(), backend.empty() ? run.backend : backend)};
}

void add_backend_options(CommandLine& line) {
  namespace po = boost::program_options;
  line.options()("backend", po::value<std::string>()->value_name("NAME"),
                 "openmp, cuda or hip (default: $ENCORE_BACKEND, else that of this build)");
  line.options()(
      "plugin-path", po::value<std::vector<std::string>>()->value_name("DIR"),
      "a folder with plugins (may be repeated, or several with colons); searched after plugin_path "
      "of the file, before $ENCORE_PLUGIN_PATH");
}

std::string backend_of(const CommandLine& line, const Programs& programs) {
  if (line.has("backend")) return line.text("backend");
  const char* backend = std::getenv("ENCORE_BACKEND");
  return backend != nullptr && *backend != '\0' ? backend : programs.backend;
}

std::string command_name() {
  const char* name = std::getenv("ENCORE_COMMAND");
  return name != nullptr && *name != '\0' ? name : "exp";
}

std::string suggestion(const CommandLine& line, std::vector<std::string> words) {
  if (line.has("db")) words.insert(words.end(), {"--db", line.text("db")});
  return command_name() + " " + shell_command(words);
}

std::string state_clause(RunState state) {
  return state == RunState::failed ? "has failed" : std::string("is ") + name_of(state);
}

Cell state_cell(RunState state) {
  switch (state) {
    case RunState::completed:
      return {name_of(state), Style::green};
    case RunState::running:
      return {name_of(state), Style::cyan};
    case RunState::failed:
      return {name_of(state), Style::red};
    case RunState::interrupted:
    case RunState::lost:
    case RunState::stopped:
    case RunState::pruned:
      return {name_of(state), Style::yellow};
    case RunState::pending:
      break;
  }
  return {name_of(state), Style::dim};
}

Cell state_cell(Store& store, const RunRow& run) {
  const std::optional<SchedulerNote> note = scheduler_note(store, run);
  return note && !note->begun ? Cell{"queued", Style::dim} : state_cell(run.state);
}

}  // namespace encore
