// See planned_runs.hpp.
#include "cli/planned_runs.hpp"

#include <algorithm>
#include <cstdlib>

#include "config/document.hpp"
#include "runner/check.hpp"
#include "runner/programs.hpp"

namespace encore {

namespace {

std::vector<std::string> overrides_of(const CommandLine& line) {
  std::vector<std::string> overrides = line.texts("set");
  if (line.has("seed")) overrides.push_back("seed=" + line.text("seed"));
  if (line.has("name")) overrides.push_back("name=" + line.text("name"));
  return overrides;
}

std::string backend_of(const CommandLine& line, const Programs& programs) {
  if (line.has("backend")) return line.text("backend");
  const char* backend = std::getenv("ENCORE_BACKEND");
  return backend != nullptr && *backend != '\0' ? backend : programs.backend;
}

Specification specification_of(const RunPoint& point, const std::string& backend,
                               const std::vector<std::filesystem::path>& folders) {
  Specification specification;
  specification.name = point.name;
  specification.seed = static_cast<std::uint64_t>(point.seed);
  specification.question = point.question;
  specification.group = point.group;
  specification.backend = backend;
  specification.config = point.config;
  specification.origin = point.origin;
  for (const auto& [role, file] : point.data) specification.data[role] = {file.path, file.sha256};
  for (const auto& folder : folders) specification.plugin_folders.push_back(folder.string());
  return specification;
}

Action action_for(RunState state) {
  switch (state) {
    case RunState::completed:
      return Action::skip;
    case RunState::running:
      return Action::elsewhere;
    case RunState::failed:
      return Action::retry;
    case RunState::pending:
      return Action::start;
    case RunState::interrupted:
    case RunState::lost:
    case RunState::stopped:
      break;
  }
  return Action::resume;
}

}  // namespace

const char* name_of(Action action) {
  switch (action) {
    case Action::start:
      return "start";
    case Action::resume:
      return "resume";
    case Action::retry:
      return "retry";
    case Action::skip:
      return "skip";
    case Action::elsewhere:
      return "running";
  }
  return "";
}

std::size_t PlannedRuns::count(Action action) const {
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [&](const PlannedRun& run) { return run.action == action; }));
}

std::size_t PlannedRuns::to_do() const {
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [](const PlannedRun& run) { return run.to_do(); }));
}

void add_plan_options(CommandLine& line) {
  namespace po = boost::program_options;
  line.options()("set,S", po::value<std::vector<std::string>>()->value_name("KEY=VALUE"),
                 "override a setting of the file (may be repeated)");
  line.options()("seed", po::value<std::string>()->value_name("N"), "short for -S seed=N");
  line.options()("name", po::value<std::string>()->value_name("NAME"), "short for -S name=NAME");
  line.options()("backend", po::value<std::string>()->value_name("NAME"),
                 "openmp, cuda or hip (default: $ENCORE_BACKEND, else that of this build)");
  line.options()("fresh", po::bool_switch(), "train again what is complete, as a new repeat");
  line.positional("file");
}

PlannedRuns read_plan(const CommandLine& line) {
  PlannedRuns planned;
  planned.file = line.required("file", "an experiment file");
  const Programs programs = installed_programs();
  planned.backend = backend_of(line, programs);
  planned.worker = worker_program(programs, planned.backend);
  planned.fresh = line.flag("fresh");

  const Document document = load_document(planned.file, overrides_of(line));
  std::vector<std::filesystem::path> folders = plugin_folders(document);
  folders.insert(folders.begin(), plugin_folder(programs, planned.backend));
  planned.plan = make_plan(document, Catalogue::load(folders));
  // A single run has the experiment's own name: nobody wants to type what does not tell it from others.
  if (planned.plan.points.size() == 1 && planned.plan.points.front().varied.empty() && !line.has("seed"))
    planned.plan.points.front().name = planned.plan.name;
  for (const RunPoint& point : planned.plan.points)
    planned.runs.push_back({specification_of(point, planned.backend, folders), Action::start, std::nullopt});
  return planned;
}

void compare_with(Store& store, PlannedRuns& planned) {
  for (PlannedRun& run : planned.runs) {
    run.before = store.find_question(run.specification.question, planned.backend);
    if (!run.before) continue;
    run.action = action_for(run.before->state);
    // A repeat that is not finished is gone on with: otherwise an interrupted --fresh would never end.
    if (planned.fresh && run.action == Action::skip) run.action = Action::start;
  }
}

void require_startable(const PlannedRuns& planned) {
  std::vector<Specification> specifications;
  for (const PlannedRun& run : planned.runs)
    if (run.to_do()) specifications.push_back(run.specification);
  if (specifications.empty()) return;
  std::vector<Problem> problems = check_with_worker(planned.worker, specifications);
  if (!problems.empty()) throw ConfigErrors(std::move(problems));
}

}  // namespace encore
