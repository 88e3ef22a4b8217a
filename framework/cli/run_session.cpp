// See run_session.hpp.
#include "cli/run_session.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <set>

#include "cli/access.hpp"
#include "cli/run_display.hpp"
#include "cli/run_ranks.hpp"
#include "cli/run_summary.hpp"
#include "cli/session_tasks.hpp"
#include "cli/slurm_session.hpp"
#include "cli/stop_requests.hpp"
#include "record/thread_adaptation.hpp"
#include "report/wording.hpp"
#include "runner/code_state.hpp"
#include "runner/launched_worker.hpp"
#include "runner/programs.hpp"
#include "runner/runner.hpp"
#include "store/run_score.hpp"
#include "world/cores.hpp"

namespace encore {

namespace {

class RunSession final : public RunnerObserver {
 public:
  RunSession(const CommandLine& line, Store& store, const PlannedRuns& planned)
      : line_(line), store_(store), planned_(planned), lines_(stdout, terminal_of(stdout)) {}

  int run(std::optional<std::int64_t> sweep, const std::vector<WorkerPlace>& places,
          const SessionFile& session) {
    SessionTasks made = make_session_tasks(line_, store_, planned_, sweep);
    to_do_ = std::move(made.planned);
    names_ = std::move(made.names);
    tasks_ = std::move(made.tasks);
    displays_.resize(tasks_.size());
    say(places_text(places, why_unpinned(usable_cores(), openmp_wishes())));
    RunnerSettings settings{places, line_.integer("retries"), line_.flag("fail-fast")};
    settings.stop_wish = [&session] { return session.asked(); };
    CodeState code = read_code_state(std::filesystem::absolute(planned_.file).parent_path());
    Runner runner(store_, {std::move(code.commit), std::move(code.diff)}, std::move(settings),
                  stop_requests(), *this);
    const std::size_t left = runner.run(tasks_);
    lines_.hide();
    if (left > 0) std::cout << left << (left == 1 ? " more run was" : " more runs were") << " not started\n";
    if (planned_.runs.size() > 1) {
      std::vector<std::int64_t> numbers;
      for (std::size_t task : ended_) numbers.push_back(tasks_[task].run);
      print_sweep_summary(std::cout, line_, store_, numbers, lines_.terminal());
      for (const std::string& name : unrecorded_)
        std::cout << name << " has ended, but that is not recorded\n";
    }
    std::cout.flush();
    return session_exit_code(failed_, unfinished_ || left > 0, gaps_);
  }

  RunObserver& begun(std::size_t task, int retry) override {
    const PlannedRun& planned = *to_do_[task];
    auto& display = displays_[task] =
        std::make_unique<RunDisplay>(title(task), lines_, static_cast<int>(task), line_.flag("quiet"),
                                     selected_metric(setting_text(planned.specification.config.value(
                                         nlohmann::json::json_pointer("/train/select"), nlohmann::json()))));
    if (retry == 0 && planned.action != Action::start)
      display->say(names_[task] + " " + (planned.action == Action::retry ? "failed" : "was interrupted") +
                   " before; " + (planned.from_start ? "it begins anew" : resume_text(store_, id_of(task))));
    for (const RecordGap& gap : find_record_gaps(store_, store_.read_run(tasks_[task].run)))
      display->noticed(gap.text);
    return *display;
  }

  void ended(std::size_t task, const RunOutcome& outcome, bool again) override {
    displays_[task].reset();
    lines_.hide();
    if (again) {
      noticed(names_[task] + " was cut off at step " + std::to_string(outcome.step) + ": " + outcome.reason +
              "; trying again: " + resume_text(store_, id_of(task)));
      return;
    }
    worsen(outcome);
    if (!outcome.began) {
      unfinished_ |= print_not_begun(line_, names_[task], outcome);
      return;
    }
    if (outcome.recorded)
      ended_.insert(task);
    else
      unrecorded_.push_back(names_[task]);
    const bool alone = tasks_.size() == 1;
    if (outcome.state == RunState::completed)
      end_completed(store_.read_run(tasks_[task].run), outcome, alone);
    else
      print_not_completed(std::cerr, line_, store_, store_.read_run(tasks_[task].run), outcome);
  }

  void noticed(const std::string& text) override {
    lines_.hide();
    std::cerr << "exp: " << text << '\n';
  }

  void glanced() override { lines_.refresh(); }

 private:
  void end_completed(const RunRow& run, const RunOutcome& outcome, bool alone) {
    if (!outcome.recorded) return print_not_recorded(std::cerr, store_, run, outcome);
    const std::vector<RecordGap> gaps = find_record_gaps(store_, run);
    print_completed(std::cout, line_, store_, run, outcome, gaps, alone);
    gaps_ |= print_gaps(std::cerr, line_, run, gaps);
  }

  const std::string& id_of(std::size_t task) const { return tasks_[task].specification.run; }

  std::string title(std::size_t task) const {
    const std::string place = std::to_string(task + 1) + "/" + std::to_string(tasks_.size()) + " ";
    return (tasks_.size() > 1 ? place : "") + names_[task];
  }

  void say(const std::string& text) {
    if (!line_.flag("quiet")) std::cout << text << std::endl;
  }

  void worsen(const RunOutcome& outcome) {
    if (!outcome.began) return;
    if (outcome.state == RunState::failed)
      failed_ = true;
    else if (outcome.state != RunState::completed || !outcome.recorded)
      unfinished_ = true;
  }

  const CommandLine& line_;
  Store& store_;
  const PlannedRuns& planned_;
  LiveLines lines_;
  std::vector<const PlannedRun*> to_do_;
  std::vector<RunTask> tasks_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<RunDisplay>> displays_;
  std::set<std::size_t> ended_;
  std::vector<std::string> unrecorded_;
  bool failed_ = false, unfinished_ = false, gaps_ = false;
};

}  // namespace

void add_session_options(CommandLine& line) {
  namespace po = boost::program_options;
  line.options()("jobs,j", po::value<int>()->value_name("N")->default_value(1),
                 "so many runs at once, each with its own share of the cores (default with --devices: one "
                 "per device)");
  line.options()(
      "threads,t", po::value<int>()->value_name("N")->default_value(0),
      "threads of each worker; 0: its share of what this process may use (the bits of the result do not "
      "depend on it)");
  line.options()(
      "launcher", po::value<std::string>()->value_name("WHAT"),
      "have workers started elsewhere: ssh, slurm, or a command of your own with {command} and {host} "
      "in it; the database's folder must be shared, and runs go on while this exp is gone");
  line.options()("hosts", po::value<std::string>()->value_name("LIST"),
                 "the machines of --launcher, as node1,node2: each works on one run at a time");
  add_slurm_options(line);
  line.options()("devices", po::value<std::string>()->value_name("LIST"),
                 "GPUs to use, as 0,1: one worker each (cuda and hip; default: the first N)");
  line.options()("retries", po::value<int>()->value_name("N")->default_value(0),
                 "try a run again, up to N times, when its worker crashes or is lost; what failed by itself "
                 "(a loss that is not finite) is not tried again");
  line.options()(
      "step-timeout", po::value<int>()->value_name("SECONDS")->default_value(0),
      "a worker that trains and tells of nothing for so long is killed, and its run fails with the "
      "layer named, and so is one that does not start in that time, a minute at least; with --ranks too, and "
      "with any --launcher, there also when this exp is gone; more than the slowest step or dev score takes; "
      "0: it may take for ever");
  add_rank_options(line);
  line.options()("keep-going,k", po::bool_switch(), "go on with other runs when one fails (the default)");
  line.options()("fail-fast", po::bool_switch(),
                 "when a run fails start no more, and have those that run checkpoint and end");
  line.options()("quiet,q", po::bool_switch(), "print only how it ended");
}

void check_session_options(const CommandLine& line) {
  if (line.integer("jobs") < 1)
    throw UsageError("-j " + std::to_string(line.integer("jobs")) + " would run nothing; give at least 1");
  require_threads(line.integer("threads"));
  check_rank_options(line);
  check_slurm_options(line);
  if (line.integer("retries") < 0) throw UsageError("--retries is negative; 0 means no second try");
  if (line.integer("step-timeout") < 0)
    throw UsageError("--step-timeout is negative; 0 means that a step may take for ever");
  if (line.has("hosts") && !line.has("launcher"))
    throw UsageError("--hosts needs --launcher, which says how a worker is started there: --launcher ssh");
  if (line.flag("keep-going") && line.flag("fail-fast"))
    throw UsageError("--keep-going and --fail-fast exclude each other");
}

namespace {

/// One for each host, or as many as -j says where the command itself finds machines.
std::vector<WorkerPlace> launched_places(const CommandLine& line) {
  const std::string name = line.text("launcher");
  if (uses_slurm(line)) return {slurm_place(line)};
  if (line.has("devices"))
    throw UsageError(
        "--devices names GPUs of this machine, and --launcher starts workers elsewhere; set "
        "CUDA_VISIBLE_DEVICES in its command");
  WorkerPlace place;
  place.launcher = make_launcher(name, installed_programs().folder / "exp");
  place.threads = line.integer("threads");
  if (place.threads > 0)
    place.variables["OMP_NUM_THREADS"] = std::to_string(place.threads);
  else
    place.variables[thread_adaptation_variable] = name_of(ThreadAdaptation::threads);
  std::vector<WorkerPlace> places;
  if (line.has("hosts")) {
    const std::vector<std::string> hosts = parse_hosts(line.text("hosts"));
    if (line.integer("jobs") > static_cast<int>(hosts.size()))
      throw UsageError("-j " + std::to_string(line.integer("jobs")) + " needs as many hosts, --hosts names " +
                       std::to_string(hosts.size()));
    for (const std::string& host : hosts) places.emplace_back(place).host = host;
    if (!line.defaulted("jobs")) places.resize(static_cast<std::size_t>(line.integer("jobs")));
    return places;
  }
  if (name == "ssh" || name.find("{host}") != std::string::npos)
    throw UsageError("--launcher \"" + name + "\" starts workers on hosts; name them: --hosts node1,node2");
  for (int index = 1; index <= line.integer("jobs"); ++index)
    places.emplace_back(place).host = "launcher-" + std::to_string(index);
  return places;
}

}  // namespace

std::vector<WorkerPlace> session_places(const CommandLine& line, const std::string& backend,
                                        std::size_t runs) {
  require_rank_backend(line.integer("ranks"), backend);
  if (line.has("launcher")) return launched_places(line);
  PlacesWanted wanted{line.integer("jobs"), line.integer("threads"), openmp_wishes(), backend};
  if (line.has("devices")) {
    if (backend == "openmp")
      throw UsageError(
          "--devices names GPUs, and backend openmp computes on the cores, which -j divides; leave --devices "
          "out, or choose --backend cuda or hip");
    wanted.devices = parse_devices(line.text("devices"));
    const int devices = static_cast<int>(wanted.devices.size());
    if (line.defaulted("jobs")) wanted.workers = devices;
    if (wanted.workers > devices)
      throw UsageError("-j " + std::to_string(wanted.workers) + " needs as many devices, --devices names " +
                       std::to_string(devices));
  } else if (backend != "openmp" && wanted.workers > 1) {
    wanted.devices = first_devices(backend, wanted.workers);
  }
  wanted.workers = std::max(1, std::min(wanted.workers, static_cast<int>(runs)));
  wanted.ranks = line.integer("ranks");
  std::vector<WorkerPlace> places = make_places(usable_cores(), wanted);
  for (WorkerPlace& place : places) place.rank_launcher = rank_launcher(line, wanted.ranks, place.threads);
  return places;
}

int work_on(const CommandLine& line, Store& store, const PlannedRuns& planned,
            std::optional<std::int64_t> sweep, const std::vector<WorkerPlace>& places,
            const SessionFile& session) {
  listen_for_stop_requests();
  const bool slurm = uses_slurm(line);
  // From here on something has been started: what goes wrong now is no longer a matter of usage.
  try {
    if (slurm) return work_on_in_slurm(line, store, planned, sweep, places.front(), session);
    return RunSession(line, store, planned).run(sweep, places, session);
  } catch (const Error& error) {
    std::cerr << "exp: " << error.what() << '\n';
    return exit_failed;
  }
}

}  // namespace encore
