// run: plan, check everything, then train what is missing, some runs at once.
// The flow, top to bottom: SessionFile (exp stop sees it from now on) -> read_plan -> compare_with the
// database -> require_startable -> work_on (run_session.hpp), which gives the runs to the Runner.
#include <iostream>

#include "base/input_file.hpp"
#include "cli/base_notes.hpp"
#include "cli/plan_comparison.hpp"
#include "cli/planned_runs.hpp"
#include "cli/planned_search.hpp"
#include "cli/plugin_passes.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_ranks.hpp"
#include "cli/run_session.hpp"
#include "cli/run_summary.hpp"
#include "cli/session_tasks.hpp"
#include "cli/slurm_session.hpp"
#include "cli/verbs.hpp"
#include "record/run_paths.hpp"
#include "runner/launched_runs.hpp"

namespace encore {

namespace {

void say_what_is_done(const PlannedRuns& planned) {
  for (const Problem& warning : planned.plan.warnings) std::cout << "warning: " << warning.text() << '\n';
  for (const PlannedRun& run : planned.runs)
    if (run.action == Action::elsewhere)
      std::cout << run.before->name << " is running in " << place_text(run.before->holder)
                << ", it is left alone\n";
  if (const std::size_t complete = planned.count(Action::skip); complete > 0 && planned.to_do() > 0)
    std::cout << complete << " of " << planned.runs.size()
              << (planned.runs.size() == 1 ? " run is" : " runs are") << " complete, " << planned.to_do()
              << " to do\n";
  if (planned.changed && planned.to_do() > 0)
    std::cout << planned.to_do() << " of " << planned.runs.size()
              << " runs to do, trained with other plugin files before\n";
  for (const std::string& line : kept_though(planned)) std::cout << line << '\n';
  std::cout.flush();
}

/// False where the record of a run that is left alone, since it is complete, has gaps.
bool say_what_is_missing(const CommandLine& line, Store& store, const PlannedRuns& planned) {
  bool whole = true;
  for (const PlannedRun& run : planned.runs)
    if (run.action == Action::skip)
      whole = !print_gaps(std::cerr, line, *run.before, find_record_gaps(store, *run.before)) && whole;
  return whole;
}

CommandLine make_run_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "run",
      {"run FILE [-S key=value]... [options]",
       "Trains every run of an experiment file that is not complete yet: what is complete is skipped, what "
       "was interrupted goes on from its last checkpoint. Everything is checked before the first run starts. "
       "Ctrl-C writes a checkpoint and ends with exit code 75; the same command goes on. A file with "
       "[search] proposes its runs itself, one trial after the other, by what earlier ones gave.",
       {{"exp run experiments/quickstart.toml", "train the quickstart"},
        {"exp run experiments/quickstart.toml -S model.dropout=0.2 --seed 2",
         "the same with two settings changed"},
        {"exp run experiments/quickstart.toml --grid model.layers=1,2 --seeds 1-3",
         "a sweep without a file of its own: each value with each seed"},
        {"exp run experiments/quickstart.toml -j 4 --retries 2",
         "four runs of a sweep at once, and two more tries for a worker that crashes"},
        {"exp run experiments/quickstart.toml -S train.gradient_shards=2 --ranks 2",
         "trained by two processes together, with the bits of one"}}});
  add_plan_options(line);
  add_session_options(line);
  line.options()(
      "accept-plugin-change", po::bool_switch(),
      "go on with runs whose plugin files have changed since; each change is recorded as an event");
  return line;
}

}  // namespace

int run_verb(const Arguments& arguments) {
  CommandLine line = make_run_line();
  if (!line.parse(arguments)) return exit_done;
  check_session_options(line);
  if (line.flag("changed") && line.flag("accept-plugin-change"))
    throw UsageError("--changed trains again what --accept-plugin-change would go on with; give one of them");

  if (names_search(line)) {
    if (line.flag("detach"))
      throw UsageError(
          "--detach leaves what is submitted, and a search decides by what has ended: exp run stays (in "
          "tmux, say), and when it is stopped or killed the same command goes on");
    if (line.integer("ranks") > 1)
      throw UsageError(
          "--ranks is for runs of an experiment file, and this one has [search]: its trials run "
          "beside each other (-j)");
    return run_search(line);
  }
  require_no_jobs_of_slurm(line);
  SessionFile session(runs_folder_of(line.database()), "exp run " + line.text("file"));
  PlannedRuns planned = read_plan(line);
  session.works_on(planned.plan.name);
  session_places(line, planned.backend, planned.runs.size());
  std::unique_ptr<Store> store;
  if (std::filesystem::exists(line.database())) {
    // Another exp run may have made the file this moment, and its tables not yet.
    store = std::make_unique<Store>(line.database(), OpenMode::create);
    std::vector<RunRow> settled = store->settle();
    for (RunRow& run : settle_launched(*store)) settled.push_back(std::move(run));
    for (const RunRow& run : settled)
      if (!line.flag("quiet"))
        std::cout << "what run " << run.name << " left behind is merged; it " << state_clause(run.state)
                  << '\n';
    compare_with(*store, planned);
    record_descriptions(*store, planned);
  }
  print_base_notes(std::cerr, planned.sources);
  say_what_is_done(planned);
  const bool whole = !store || say_what_is_missing(line, *store, planned);
  const auto add_sweep = [&] {
    return store->add_sweep(planned.plan.name, planned.file.string(), planned.sources.front().text,
                            context_of(planned));
  };
  if (planned.to_do() == 0) {
    trust_plugins_of(planned);
    if (store) add_known_runs(*store, planned, add_sweep);
    print_nothing_to_do(std::cout, line, store.get(), planned);
    return whole ? exit_done : exit_failed;
  }
  if (!line.flag("accept-plugin-change")) require_same_plugins(planned);
  require_ranks(line, planned);
  require_startable(planned);
  for (const UsedPlugin& plugin : unchecked_plugins(planned)) std::cerr << warning_text(plugin) << '\n';
  trust_plugins_of(planned);
  if (!store) store = std::make_unique<Store>(line.database(), OpenMode::create);

  const std::int64_t sweep = add_sweep();
  for (ParentFile& parent : planned.parents)
    parent.sweep = store->add_sweep(parent.plan.name, parent.file.string(), parent.sources.front().text,
                                    context_of(parent));
  return work_on(line, *store, planned, sweep, session_places(line, planned.backend, planned.to_do()),
                 session);
}

}  // namespace encore
