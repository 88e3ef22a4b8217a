// See slurm_session.hpp.
#include "cli/slurm_session.hpp"

#include <algorithm>
#include <iostream>

#include "cli/access.hpp"
#include "cli/exit_code.hpp"
#include "cli/run_display.hpp"
#include "cli/run_ranks.hpp"
#include "cli/run_summary.hpp"
#include "cli/session_tasks.hpp"
#include "cli/stop_requests.hpp"
#include "config/site_file.hpp"
#include "record/thread_adaptation.hpp"
#include "runner/code_state.hpp"
#include "store/record_gaps.hpp"

namespace encore {

namespace {

constexpr const char* launcher_name = "slurm";

/// As --site names it, or the user's own where there is one.
SlurmSite site_of(const CommandLine& line) {
  if (line.has("site")) return load_site(line.text("site"));
  const std::filesystem::path own = default_site_file();
  std::error_code ignored;
  return !own.empty() && std::filesystem::exists(own, ignored) ? load_site(own) : SlurmSite{};
}

class SlurmSession final : public RunnerObserver {
 public:
  SlurmSession(const CommandLine& line, Store& store, const PlannedRuns& planned)
      : line_(line),
        store_(store),
        planned_(planned),
        lines_(stdout, terminal_of(stdout)),
        queue_(lines_, line.flag("quiet")) {}

  int run(std::optional<std::int64_t> sweep, const WorkerPlace& place, const SessionFile& session) {
    SessionTasks made = make_session_tasks(line_, store_, planned_, sweep);
    tasks_ = made.tasks;
    names_ = std::move(made.names);
    CodeState code = read_code_state(std::filesystem::absolute(planned_.file).parent_path());
    SlurmSettings settings = slurm_settings(line_, place, session);
    settings.detach = line_.flag("detach");
    SlurmRunner runner(store_, {std::move(code.commit), std::move(code.diff)}, slurm_submitter(line_, store_),
                       std::move(settings), stop_requests(), *this);
    const std::size_t left = runner.run(std::move(made.tasks));
    lines_.hide();
    return line_.flag("detach") ? leave(runner, left) : finish(left);
  }

  RunObserver& begun(std::size_t /*task*/, int /*retry*/) override {
    throw Error("a job of Slurm begins without its exp run");
  }

  void ended(std::size_t task, const RunOutcome& outcome, bool again) override {
    lines_.hide();
    if (!outcome.began) {
      unfinished_ |= print_not_begun(line_, names_[task], outcome);
      return;
    }
    const RunRow run = store_.read_run(tasks_[task].run);
    if (again) {
      noticed(run.name + " was cut off: " + outcome.reason +
              "; trying again: " + resume_text(store_, run.id));
      return;
    }
    ended_.push_back(run.number);
    if (outcome.state == RunState::completed) {
      const std::vector<RecordGap> gaps = find_record_gaps(store_, run);
      print_completed(std::cout, line_, store_, run, outcome, gaps, tasks_.size() == 1);
      gaps_ |= print_gaps(std::cerr, line_, run, gaps);
      return;
    }
    (outcome.state == RunState::failed ? failed_ : unfinished_) = true;
    print_not_completed(std::cerr, line_, store_, run, outcome);
  }

  void noticed(const std::string& text) override {
    lines_.hide();
    std::cerr << "exp: " << text << '\n';
  }

  void glanced() override {}
  void queued(const std::string& text, const Progressed* progress) override { queue_.show(text, progress); }

 private:
  /// The jobs do the rest.
  int leave(const SlurmRunner& runner, std::size_t left) {
    std::cout << runner.held() << (runner.held() == 1 ? " run is" : " runs are") << " in the hands of Slurm ("
              << runner.submitted() << (runner.submitted() == 1 ? " submission)" : " submissions)");
    if (left > 0)
      std::cout << "; " << left << " more wait for runs that they start from: the same command "
                << "submits them once those have ended";
    std::cout << "\n  next      " << suggestion(line_, {"status", "-w"}) << '\n' << std::flush;
    return failed_ ? exit_failed : unfinished_ ? exit_interrupted : exit_done;
  }

  int finish(std::size_t left) {
    if (left > 0) std::cout << left << (left == 1 ? " more run was" : " more runs were") << " not started\n";
    if (planned_.runs.size() > 1) print_sweep_summary(std::cout, line_, store_, ended_, lines_.terminal());
    std::cout.flush();
    return session_exit_code(failed_, unfinished_ || left > 0, gaps_);
  }

  const CommandLine& line_;
  Store& store_;
  const PlannedRuns& planned_;
  LiveLines lines_;
  QueueLine queue_;
  std::vector<RunTask> tasks_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> ended_;  ///< runs, in that order
  bool failed_ = false, unfinished_ = false, gaps_ = false;
};

}  // namespace

void add_slurm_options(CommandLine& line) {
  namespace po = boost::program_options;
  line.options()("site", po::value<std::string>()->value_name("FILE"),
                 "what the cluster wants to know of jobs, for --launcher slurm (default: "
                 "~/.config/encore/site.toml, if it is there)");
  line.options()("detach", po::bool_switch(),
                 "with --launcher slurm: return as soon as the jobs are submitted; exp status shows them");
}

bool uses_slurm(const CommandLine& line) {
  return line.has("launcher") && line.text("launcher") == launcher_name;
}

void check_slurm_options(const CommandLine& line) {
  for (const char* option : {"site", "detach"})
    if ((std::string(option) == "detach" ? line.flag(option) : line.has(option)) && !uses_slurm(line))
      throw UsageError(std::string("--") + option + " goes with --launcher slurm");
  if (!uses_slurm(line)) return;
  if (line.has("hosts"))
    throw UsageError("--hosts names machines, and with --launcher slurm Slurm chooses them; leave it out");
  if (line.has("devices"))
    throw UsageError(
        "--devices names GPUs of this machine, and with --launcher slurm jobs ask for theirs; `gpus` in the "
        "site "
        "file says how many");
}

void require_no_jobs_of_slurm(const CommandLine& line) {
  if (!uses_slurm(line)) return;
  if (!line.defaulted("jobs"))
    throw UsageError(
        "-j does not go with --launcher slurm: Slurm decides how many jobs run at once, and runs_per_job in "
        "the site file how many runs each of them works on");
}

WorkerPlace slurm_place(const CommandLine& line) {
  const SlurmSite site = site_of(line);
  read_limits();  // throws where there is no Slurm, before anything is stored
  WorkerPlace place;
  place.threads = line.integer("threads") > 0 ? line.integer("threads") : site.cpus;
  place.ranks = line.integer("ranks");
  if (place.ranks > 1) {
    place.rank_launcher = launcher_words(line.has("mpirun") ? line.text("mpirun") : site.mpi, place.ranks,
                                         std::max(1, site.cpus));
    if (place.rank_launcher.empty())
      throw UsageError("--ranks " + std::to_string(place.ranks) +
                       " with --launcher slurm needs what starts ranks inside a job: `mpi = \"srun "
                       "--mpi=pmix -n {ranks} -c {cpus}\"` in [slurm] of the site file, or --mpirun COMMAND");
    place.threads = std::max(1, place.threads);  // Slurm gives each task one CPU
  }
  if (place.threads > 0) place.variables["OMP_NUM_THREADS"] = std::to_string(place.threads);
  if (line.integer("threads") == 0)
    place.variables[thread_adaptation_variable] = name_of(ThreadAdaptation::threads);
  place.host = launcher_name;
  return place;
}

SlurmSubmitter slurm_submitter(const CommandLine& line, const Store& store) {
  return {store.runs_folder(), installed_programs().folder / "exp", site_of(line), read_limits()};
}

SlurmSettings slurm_settings(const CommandLine& line, const WorkerPlace& place, const SessionFile& session) {
  SlurmSettings settings{
      .place = place, .retries = line.integer("retries"), .fail_fast = line.flag("fail-fast")};
  settings.stop_wish = [&session] { return session.asked(); };
  return settings;
}

int work_on_in_slurm(const CommandLine& line, Store& store, const PlannedRuns& planned,
                     std::optional<std::int64_t> sweep, const WorkerPlace& place,
                     const SessionFile& session) {
  return SlurmSession(line, store, planned).run(sweep, place, session);
}

}  // namespace encore
