// plan: what run would do, without doing it; nothing is written.
// The flow, top to bottom: read_plan -> compare_with the database -> require_startable -> what each run will
// take (run_time.hpp) -> plan_text.hpp.
#include <fnmatch.h>

#include <iostream>

#include <nlohmann/json.hpp>

#include "base/nearest.hpp"
#include "base/shell_word.hpp"
#include "cli/access.hpp"
#include "cli/base_notes.hpp"
#include "cli/plan_comparison.hpp"
#include "cli/plan_size.hpp"
#include "cli/plan_text.hpp"
#include "cli/planned_search.hpp"
#include "cli/verbs.hpp"

namespace encore {

namespace {

std::vector<std::size_t> shown_runs(const PlannedRuns& planned, const std::string& pattern) {
  std::vector<std::size_t> shown;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < planned.runs.size(); ++i) {
    const PlannedRun& run = planned.runs[i];
    const std::string& name = run.name();
    names.push_back(name);
    if (pattern.empty() || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0) shown.push_back(i);
  }
  if (shown.empty())
    throw UsageError(
        "no run of " + planned.file.string() + " is called \"" + pattern + "\"" +
        did_you_mean(pattern, names,
                     "; " + shell_command({"exp", "plan", planned.file.string()}) + " lists them"));
  return shown;
}

std::vector<std::optional<TimeEstimate>> times_of(Store* store, const PlannedRuns& planned) {
  std::vector<std::optional<TimeEstimate>> times(planned.runs.size());
  if (store == nullptr || planned.to_do() == 0) return times;
  RunTimes past(*store, planned.backend, this_process().host);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const PlannedRun& run = planned.runs[i];
    const bool goes_on = run.goes_on() && run.has_checkpoint;
    if (run.to_do()) times[i] = past.estimate(run.specification, goes_on ? share_left(*run.before) : 1.0);
  }
  return times;
}

CommandLine make_plan_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "plan", {"plan FILE [RUN] [-S key=value]... [options]",
               "Shows what exp run would do with an experiment file: every run, whether it would be started, "
               "gone on with or skipped and why, and how long it will take, going by the most similar "
               "complete runs of the database (? where there is none). With --values every option with its "
               "value and where that comes from: default, file:line:column, sweep or command line. RUN, a "
               "name or a pattern as in a shell, limits what is shown. Everything is checked, nothing is "
               "written. With --size, what each distinct model costs before anything is there: parameters, "
               "operations and memory, part by part. Of a file with [search]: what would be proposed next.",
               {{"exp plan experiments/quickstart.toml", "the runs of the file, and what is left to do"},
                {"exp plan experiments/quickstart.toml --values -S model.dropout=0.2",
                 "where every value of it comes from"},
                {"exp plan experiments/quickstart.toml --size --length 32 --batch 64",
                 "what its model would cost on batches of 64 sequences of 32 tokens"}}});
  add_plan_options(line);
  line.positional("run");
  line.options()("values", po::bool_switch(), "every option with its value and origin");
  add_size_options(line);
  line.options()("jobs,j", po::value<int>()->value_name("N")->default_value(1),
                 "the time with so many runs at once");
  line.options()("json", po::bool_switch(),
                 "as JSON; with --values the values of each run too, with --size what its model costs");
  return line;
}

/// Instead of what would be done: neither the database nor the data are looked at for it.
int print_sizes_of(const CommandLine& line) {
  if (line.flag("values")) throw UsageError("--size and --values are two questions; ask one of them");
  const PlannedRuns planned = read_plan(line, hash_of_path);
  print_base_notes(std::cerr, planned.sources);
  const nlohmann::ordered_json sizes = sizes_of(line, planned, shown_runs(planned, line.text("run")));
  if (line.flag("json"))
    std::cout << sizes.dump(2) << '\n';
  else
    print_sizes(std::cout, terminal_of(stdout), sizes);
  return exit_done;
}

void require_no_shape(const CommandLine& line) {
  for (const char* option : {"length", "batch", "vocabulary", "labels", "picked"})
    if (line.has(option))
      throw UsageError(std::string("--") + option + " is the shape of a size; add --size");
}

}  // namespace

int plan_verb(const Arguments& arguments) {
  CommandLine line = make_plan_line();
  if (!line.parse(arguments)) return exit_done;
  if (line.integer("jobs") < 1)
    throw UsageError("-j " + std::to_string(line.integer("jobs")) + " would run nothing; give at least 1");

  if (line.flag("size")) return print_sizes_of(line);
  require_no_shape(line);
  if (names_search(line)) return plan_search(line);

  PlannedRuns planned = read_plan(line);
  print_base_notes(std::cerr, planned.sources);
  std::optional<Store> store;
  if (std::filesystem::exists(line.database())) {
    store.emplace(line.database(), OpenMode::read);
    compare_with(*store, planned);
  }
  require_startable(planned);
  const PlanView view{planned, shown_runs(planned, line.text("run")),
                      times_of(store ? &*store : nullptr, planned), line.integer("jobs")};
  if (line.flag("json"))
    std::cout << plan_json(view, line.flag("values")).dump(2) << '\n';
  else if (line.flag("values"))
    print_values(std::cout, terminal_of(stdout), view);
  else
    print_plan(std::cout, terminal_of(stdout), view);
  return exit_done;
}

}  // namespace encore
