// retry: starts runs again that failed (from the start) or were lost (from their newest valid checkpoint), of
// an experiment file, or of a sweep or a run that the database knows: then nothing but the run's own folder
// is read, so that it works when the file was changed or removed.
#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "cli/access.hpp"
#include "cli/plan_comparison.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_ranks.hpp"
#include "cli/run_selection.hpp"
#include "cli/run_session.hpp"
#include "cli/slurm_session.hpp"
#include "cli/verbs.hpp"
#include "record/checkpoint.hpp"
#include "record/run_paths.hpp"
#include "runner/launched_runs.hpp"

namespace encore {

namespace {

/// Which runs are meant, and how many others there are that a run would go on with.
class Choice {
 public:
  /// To be made before the store is settled: what `exp ls` calls lost may turn out to have ended in order,
  /// with a checkpoint, after its `exp` was killed. Whoever asks for lost runs means it all the same.
  Choice(const CommandLine& line, Store& store) : failed_(line.flag("failed")), lost_(line.flag("lost")) {
    if (!lost_) return;
    for (const RunRow& run : store.list_runs({.states = {RunState::lost}})) seen_lost_.insert(run.id);
  }

  bool takes(const RunRow& run) {
    if (run.state == RunState::failed && failed_) return true;
    if (run.state == RunState::lost && lost_) return true;
    if (run.state == RunState::interrupted && seen_lost_.contains(run.id)) return true;
    if (run.state == RunState::interrupted || run.state == RunState::stopped ||
        run.state == RunState::pending)
      ++others_[run.state];
    return false;
  }

  /// "no run of small has failed", with the others.
  std::string none_text(const std::string& name) const {
    std::string text = "no run of " + name + " has ";
    text += failed_ && lost_ ? "failed or is lost" : failed_ ? "failed" : "been lost";
    for (const auto& [state, count] : others_)
      text += (state == others_.begin()->first ? "; " : ", ") + std::to_string(count) + " " + name_of(state);
    return text + (others_.empty() ? "" : ": exp run with the experiment file goes on with those");
  }

 private:
  bool failed_, lost_;
  std::set<std::string> seen_lost_;  // ids
  std::map<RunState, std::size_t> others_;
};

void set_action(PlannedRun& run) {
  run.from_start = run.before->state == RunState::failed;
  run.action = run.from_start ? Action::retry : Action::resume;
  if (run.from_start) run.changed_plugins.clear();
}

PlannedRuns from_file(const CommandLine& line, Store& store, Choice& choice) {
  PlannedRuns planned = read_plan(line);
  compare_with(store, planned);
  std::erase_if(planned.runs,
                [&](const PlannedRun& run) { return !run.before || !choice.takes(*run.before); });
  for (PlannedRun& run : planned.runs) {
    set_action(run);
    run.parent.reset();  // counted among all runs of the file; the runner looks for what is missing
    run.teacher.reset();
  }
  return planned;
}

/// Of a sweep with runs on several backends only one can be meant: they have different workers.
std::string only_backend(const CommandLine& line, const std::vector<RunRow>& runs) {
  if (line.has("backend")) return line.text("backend");
  std::set<std::string> backends;
  for (const RunRow& run : runs) backends.insert(run.backend);
  if (backends.size() == 1) return *backends.begin();
  std::string names;
  for (const std::string& backend : backends) names += (names.empty() ? "" : " and ") + backend;
  throw UsageError("these runs are on " + names + "; say which with --backend");
}

PlannedRuns from_database(const CommandLine& line, Store& store, const RunSelection& selection,
                          const std::string& name, Choice& choice) {
  for (const char* option : {"set", "seed", "name"})
    if (line.has(option))
      throw UsageError(std::string("--") + option + " belongs to an experiment file, and " + name +
                       " is none; runs of the database are tried again as they are");
  std::vector<RunRow> runs = selected_runs(line, store, selection).runs;
  std::erase_if(runs, [&](const RunRow& run) { return !choice.takes(run); });
  PlannedRuns planned;
  planned.plan.name = name;
  planned.file = name;
  if (runs.empty()) return planned;
  const Programs programs = installed_programs();
  planned.backend = only_backend(line, runs);
  planned.worker = worker_program(programs, planned.backend);
  for (const RunRow& row : runs) {
    if (row.backend != planned.backend) continue;
    PlannedRun& run = planned.runs.emplace_back();
    run.specification = Specification::load(store.run_folder(row.id));
    run.specification.plugin_folders =
        run_plugin_folders(line, store, row, run.specification, planned.backend);
    run.before = row;
    run.has_checkpoint = !list_checkpoints(store.run_folder(row.id)).empty();
    set_action(run);
  }
  return planned;
}

}  // namespace

int retry_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "retry", {"retry FILE|RUN... --failed|--lost [options]",
                "Starts runs again as new attempts: failed ones from the start, lost ones from their newest "
                "valid checkpoint. With an experiment file its runs are meant; otherwise those of the "
                "database, whatever has become of the file.",
                {{"exp retry quickstart --failed", "train the quickstart again from the start, if it failed"},
                 {"exp retry quickstart --lost --failed -j 2", "both kinds, two runs at once"}}});
  add_plan_options(line);
  add_session_options(line);
  line.options()("failed", po::bool_switch(), "runs that failed, from the start");
  line.options()("lost", po::bool_switch(), "runs whose process is gone, from their newest valid checkpoint");
  line.options()(
      "accept-plugin-change", po::bool_switch(),
      "go on with lost runs whose plugin files have changed since; each change is recorded as an event");
  add_run_options(line);
  line.positional("run", -1);  // behind the first word
  if (!line.parse(arguments)) return exit_done;
  std::vector<std::string> words = line.texts("run");
  if (line.has("file")) words.insert(words.begin(), line.text("file"));
  const RunSelection selection = selection_from(line, words);
  if (words.empty() && !selection.narrows()) line.require("file", "an experiment file, a sweep or a run");
  if (!line.flag("failed") && !line.flag("lost"))
    throw UsageError("say which runs to start again: --failed, --lost or both");
  for (const char* option : {"fresh", "changed"})
    if (line.flag(option))
      throw UsageError("--" + std::string(option) +
                       " belongs to exp run: retry works on the runs that are there");
  check_session_options(line);
  require_no_jobs_of_slurm(line);

  std::string name = words.empty() ? "these" : "";
  for (const std::string& word : words) name += (name.empty() ? "" : ", ") + word;
  SessionFile session(runs_folder_of(line.database()), "exp retry " + name);
  Store store(line.database(), OpenMode::write);
  Choice choice(line, store);
  store.settle();
  settle_launched(store);
  const bool is_file = words.size() == 1 && std::filesystem::is_regular_file(words.front());
  if (is_file && selection.narrows())
    throw UsageError("--state, --tag, --sweep, --where and --best choose among runs of the database; \"" +
                     words.front() + "\" is an experiment file");
  const PlannedRuns planned =
      is_file ? from_file(line, store, choice) : from_database(line, store, selection, name, choice);
  session.works_on(planned.plan.name);
  if (planned.runs.empty()) {
    std::cout << "nothing to do: " << choice.none_text(name) << '\n';
    return exit_done;
  }
  const std::vector<WorkerPlace> places = session_places(line, planned.backend, planned.runs.size());
  if (!line.flag("accept-plugin-change")) require_same_plugins(planned);
  require_ranks(line, planned);
  require_startable(planned);
  trust_plugins_of(planned);
  return work_on(line, store, planned, std::nullopt, places, session);
}

}  // namespace encore
