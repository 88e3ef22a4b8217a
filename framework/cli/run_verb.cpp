// run: plan, check everything, then train what is missing, one run after the other.
// The flow, top to bottom: read_plan -> compare_with the database -> require_startable -> Runner for each run
// -> summary.
#include <fstream>
#include <iostream>
#include <iterator>

#include "cli/access.hpp"
#include "cli/format.hpp"
#include "cli/planned_runs.hpp"
#include "cli/run_display.hpp"
#include "cli/run_summary.hpp"
#include "cli/stop_requests.hpp"
#include "cli/verbs.hpp"
#include "runner/runner.hpp"

namespace encore {

namespace {

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void say_what_is_done(const PlannedRuns& planned) {
  for (const PlannedRun& run : planned.runs)
    if (run.action == Action::elsewhere)
      std::cout << run.before->name << " is running in process " << run.before->holder.pid << " on "
                << run.before->holder.host << ", it is left alone\n";
  if (const std::size_t complete = planned.count(Action::skip); complete > 0 && planned.to_do() > 0)
    std::cout << complete << " of " << planned.runs.size()
              << (planned.runs.size() == 1 ? " run is" : " runs are") << " complete, " << planned.to_do()
              << " to do\n";
  for (const std::string& line : kept_though(planned)) std::cout << line << '\n';
  std::cout.flush();
}

class Session {
 public:
  Session(const CommandLine& line, Store& store, const PlannedRuns& planned)
      : line_(line),
        planned_(planned),
        store_(store),
        terminal_(terminal_of(stdout)),
        runner_(store, read_code_state(std::filesystem::absolute(planned.file).parent_path()),
                stop_requests()),
        sweep_(store.add_sweep(planned.plan.name, planned.file.string(), content_of(planned.file))) {}

  int run() {
    const std::size_t to_do = planned_.to_do();
    int exit_code = exit_done;
    std::size_t number = 0;
    for (const PlannedRun& planned : planned_.runs) {
      if (!planned.to_do()) continue;
      ++number;
      const RunOutcome outcome =
          run_one(planned, to_do > 1 ? std::to_string(number) + "/" + std::to_string(to_do) + " " : "");
      exit_code = worse(exit_code, outcome);
      const bool bad =
          outcome.began && outcome.state != RunState::completed && outcome.state != RunState::stopped;
      if (stop_requests().load() > 0 || (bad && !line_.flag("keep-going"))) {
        if (number < to_do) std::cout << to_do - number << " more runs were not started\n";
        break;
      }
    }
    if (planned_.runs.size() > 1) print_sweep_summary(std::cout, line_, store_, numbers_, terminal_);
    return exit_code;
  }

 private:
  RunOutcome run_one(const PlannedRun& planned, const std::string& position) {
    RunTask task;
    task.specification = planned.specification;
    RunExtras extras{sweep_, planned_.plan.note, planned_.plan.tags, false};
    extras.fresh = planned.new_repeat;
    const RunRow row = store_.add_run(task.specification, extras).run;
    numbers_.push_back(row.number);
    task.run = row.number;
    task.worker = planned_.worker;
    task.threads = line_.integer("threads");
    if (planned.goes_on())
      for (const PluginChange& change : planned.changed_plugins)
        task.plugin_change["plugins"].push_back(change.json());

    RunDisplay display(position + row.name, terminal_, line_.flag("quiet"));
    if (planned.action != Action::start)
      display.say(row.name + " " + (planned.action == Action::retry ? "failed" : "was interrupted") +
                  " before; going on from its last checkpoint");
    const double begin = now();
    const RunOutcome outcome = runner_.run(task, display);
    display.finish();
    const RunRow after = store_.read_run(row.number);
    if (outcome.state == RunState::completed)
      print_completed(std::cout, line_, store_, after, outcome, now() - begin);
    else
      print_not_completed(std::cerr, line_, after, outcome);
    return outcome;
  }

  static int worse(int code, const RunOutcome& outcome) {
    if (!outcome.began) return code;
    if (code == exit_failed || outcome.state == RunState::failed) return exit_failed;
    return outcome.state == RunState::completed && outcome.recorded ? code : exit_interrupted;
  }

  const CommandLine& line_;
  const PlannedRuns& planned_;
  Store& store_;
  Terminal terminal_;
  Runner runner_;
  std::int64_t sweep_;
  std::vector<std::int64_t> numbers_;
};

CommandLine make_line() {
  namespace po = boost::program_options;
  CommandLine line("run", {"run FILE [-S key=value]... [options]",
                           "Trains every run of an experiment file that is not complete yet: what is "
                           "complete is skipped, what was\n"
                           "interrupted goes on from its last checkpoint. Everything is checked before the "
                           "first run starts. Ctrl-C\n"
                           "writes a checkpoint and ends with exit code 75; the same command goes on.",
                           {{"exp run experiments/quickstart.toml", "train the quickstart"},
                            {"exp run experiments/quickstart.toml -S model.dropout=0.2 --seed 2",
                             "the same with two settings changed"}}});
  add_plan_options(line);
  line.options()(
      "threads,t", po::value<int>()->value_name("N")->default_value(0),
      "threads of the worker; 0: all this process may use (the bits of the result do not depend on it)");
  line.options()("keep-going,k", po::bool_switch(), "go on with the next run when one fails");
  line.options()(
      "accept-plugin-change", po::bool_switch(),
      "go on with runs whose plugin files have changed since; each change is recorded as an event");
  line.options()("quiet,q", po::bool_switch(), "print only how it ended");
  return line;
}

}  // namespace

int run_verb(const Arguments& arguments) {
  CommandLine line = make_line();
  if (!line.parse(arguments)) return exit_done;
  if (line.integer("threads") < 0)
    throw UsageError("--threads is negative; 0 means all this process may use");

  PlannedRuns planned = read_plan(line);
  std::unique_ptr<Store> store;
  if (std::filesystem::exists(line.database())) {
    store = std::make_unique<Store>(line.database(), OpenMode::write);
    for (const RunRow& run : store->settle())
      if (!line.flag("quiet"))
        std::cout << "what run " << run.name << " left behind is merged; it is " << name_of(run.state)
                  << '\n';
    compare_with(*store, planned);
  }
  say_what_is_done(planned);
  if (planned.to_do() == 0) {
    print_nothing_to_do(std::cout, line, planned);
    return exit_done;
  }
  if (!line.flag("accept-plugin-change")) require_same_plugins(planned);
  require_startable(planned);
  if (!store) store = std::make_unique<Store>(line.database(), OpenMode::create);

  listen_for_stop_requests();
  // From here on something has been started: what goes wrong now is no longer a matter of usage.
  try {
    return Session(line, *store, planned).run();
  } catch (const Error& error) {
    std::cerr << "exp: " << error.what() << '\n';
    return exit_failed;
  }
}

}  // namespace encore
