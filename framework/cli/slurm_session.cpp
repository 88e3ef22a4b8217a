// See slurm_session.hpp.
#include "cli/slurm_session.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <set>

#include "cli/access.hpp"
#include "cli/exit_code.hpp"
#include "cli/run_display.hpp"
#include "cli/run_summary.hpp"
#include "cli/session_tasks.hpp"
#include "cli/stop_requests.hpp"
#include "config/site_file.hpp"
#include "runner/attempt_end.hpp"
#include "runner/code_state.hpp"
#include "runner/launched_runs.hpp"
#include "runner/parent_weights.hpp"
#include "runner/slurm/stop_queued.hpp"
#include "runner/slurm/submitter.hpp"
#include "runner/stop_request.hpp"
#include "store/record_gaps.hpp"

namespace encore {

namespace {

constexpr const char* launcher_name = "slurm";
/// The files of jobs are looked at so often.
constexpr auto look_interval = std::chrono::milliseconds(1000);

/// As --site names it, or the user's own where there is one.
SlurmSite site_of(const CommandLine& line) {
  if (line.has("site")) return load_site(line.text("site"));
  const std::filesystem::path own = default_site_file();
  std::error_code ignored;
  return !own.empty() && std::filesystem::exists(own, ignored) ? load_site(own) : SlurmSite{};
}

class SlurmSession {
 public:
  SlurmSession(const CommandLine& line, Store& store, const PlannedRuns& planned, const WorkerPlace& place)
      : line_(line),
        store_(store),
        planned_(planned),
        place_(place),
        submitter_(store.runs_folder(), installed_programs().folder / "exp", site_of(line), read_limits()),
        lines_(stdout, terminal_of(stdout)) {}

  int run(std::optional<std::int64_t> sweep, const SessionFile& session) {
    SessionTasks made = make_session_tasks(line_, store_, planned_, sweep);
    tasks_ = std::move(made.tasks);
    names_ = std::move(made.names);
    retried_.resize(tasks_.size());
    CodeState code = read_code_state(std::filesystem::absolute(planned_.file).parent_path());
    code_ = {std::move(code.commit), std::move(code.diff)};
    for (std::size_t task = 0; task < tasks_.size(); ++task) waiting_.push_back(task);
    for (;;) {
      pass_on_requests(session);
      begin_what_can();
      submitter_.close();
      submitter_.advance();
      notice_waiting();
      if (line_.flag("detach") && submitter_.waiting() == 0) return leave();
      settle();
      if (open_.empty() && (waiting_.empty() || stopping_)) break;
      show();
      ::poll(nullptr, 0, static_cast<int>(look_interval.count()));
    }
    return finish();
  }

 private:
  /// Takes the leases of all runs that wait for no other one, and packs their orders.
  void begin_what_can() {
    if (stopping_) return;
    std::vector<std::size_t> later;
    for (const std::size_t task : waiting_)
      if (waits(task) || !begin(task)) later.push_back(task);
    waiting_ = std::move(later);
  }

  /// For the runs that it starts or learns from.
  bool waits(std::size_t task) const {
    return std::ranges::any_of(tasks_[task].after,
                               [&](std::size_t parent) { return !over_.contains(parent); });
  }

  /// False where the database did not answer in time.
  bool begin(std::size_t task) {
    RunTask now = tasks_[task];
    now.from_start = now.from_start && retried_[task] == 0;
    std::optional<Lease> lease;
    try {
      now.parent = take_parent(store_, now.specification, now.from_start);
      now.teacher = take_teacher(store_, now.specification, now.from_start);
      lease = store_.begin_attempt(now.run, holder_of(submitter_.next_job()), now.seen_attempts, code_);
      if (!lease) {
        leave_alone(task);
        return true;
      }
      tasks_[task].seen_attempts = lease->ordinal;
      WorkerPlace place = place_;
      submitter_.add(prepare_work(store_, now, *lease, place), place);
      open_[now.run] = task;
    } catch (const DatabaseError& error) {
      if (error.busy() && !lease) return false;
      throw;
    } catch (const LeaseLost&) {
      leave_alone(task);
    } catch (const Error& error) {
      if (lease) {
        store_.finish_attempt(*lease, RunState::interrupted, error.what());
        end(task, store_.read_run(now.run));
      } else {
        store_.note_waiting(now.run, error.what());
        lines_.hide();
        std::cerr << names_[task] << " was not started: " << error.what() << '\n';
        unfinished_ = true;
        over_.insert(task);
      }
    }
    return true;
  }

  void leave_alone(std::size_t task) {
    over_.insert(task);
    const RunRow row = store_.read_run(tasks_[task].run);
    lines_.hide();
    RunOutcome outcome;
    outcome.state = row.state;
    outcome.reason = row.reason;
    if (!line_.flag("quiet")) print_left_alone(std::cout, names_[task], outcome);
  }

  void settle() {
    try {
      for (const RunRow& run : settle_launched(store_)) take_end(run);
      // An exp status may have been faster.
      const auto open = open_;
      for (const auto& [number, task] : open)
        if (const RunRow run = store_.read_run(number); run.state != RunState::running) take_end(run);
    } catch (const DatabaseError& error) {
      if (!error.busy()) throw;
    }
  }

  void take_end(const RunRow& run) {
    const auto found = open_.find(run.number);
    if (found == open_.end()) return;
    const std::size_t task = found->second;
    open_.erase(found);
    tasks_[task].seen_attempts = run.attempts;
    if (run.state == RunState::lost && !stopping_ && retried_[task] < line_.integer("retries")) {
      ++retried_[task];
      waiting_.push_back(task);
      lines_.hide();
      std::cerr << "exp: " << run.name << " was cut off: " << run.reason
                << "; trying again: " << resume_text(store_, run.id) << '\n';
      return;
    }
    end(task, run);
  }

  void end(std::size_t task, const RunRow& run) {
    over_.insert(task);
    ended_.push_back(run.number);
    lines_.hide();
    RunOutcome outcome;
    outcome.began = true;
    outcome.state = run.state;
    outcome.reason = run.reason;
    outcome.step = run.progress ? run.progress->step : 0;
    for (const AttemptRow& attempt : store_.read_attempts(run.number))
      outcome.seconds += attempt.finished ? *attempt.finished - attempt.started : 0.0;
    if (run.state == RunState::completed) {
      const std::vector<RecordGap> gaps = find_record_gaps(store_, run);
      print_completed(std::cout, line_, store_, run, outcome, gaps, tasks_.size() == 1);
      gaps_ |= print_gaps(std::cerr, line_, run, gaps);
      return;
    }
    (run.state == RunState::failed ? failed_ : unfinished_) = true;
    const bool bad = run.state == RunState::failed || run.state == RunState::lost;
    if (bad) outcome.log_tail = tail_of(store_.run_folder(run.id) / log_name(static_cast<int>(run.attempts)));
    print_not_completed(std::cerr, line_, store_, run, outcome);
    if (bad && line_.flag("fail-fast") && !stopping_)
      stop_all("a run ended badly and --fail-fast was given", StopWish::checkpoint);
  }

  void pass_on_requests(const SessionFile& session) {
    const int requests = stop_requests().load();
    if (line_.flag("detach") && requests > 0) {
      stopping_ = true;
      return;
    }
    if (requests > passed_on_) {
      stop_all(requests == 1 ? "stopping" : "killing the workers",
               requests == 1 ? StopWish::checkpoint : StopWish::kill);
      passed_on_ = requests;
    }
    if (session.asked() != StopWish::none && !stopping_) {
      lines_.hide();
      std::cerr << "exp: asked to stop by exp stop\n";
      stopping_ = true;
    }
  }

  void stop_all(const std::string& why, StopWish wish) {
    stopping_ = true;
    std::set<std::int64_t> runs;
    for (const auto& entry : open_) {
      const RunRow run = store_.read_run(entry.first);
      runs.insert(run.number);
      request_stop(store_.run_folder(run.id), static_cast<int>(run.attempts), wish);
    }
    lines_.hide();
    std::cerr << "exp: " << why << ": jobs that wait are cancelled, "
              << (wish == StopWish::kill ? "workers are killed"
                                         : "workers write a checkpoint first (once more kills them)")
              << '\n';
    for (const RunRow& run : stop_queued(store_, runs)) take_end(run);
  }

  void notice_waiting() {
    if (submitter_.waits_for().empty() || submitter_.waits_for() == told_) return;
    told_ = submitter_.waits_for();
    lines_.hide();
    if (!line_.flag("quiet")) std::cerr << "exp: jobs wait to be submitted: " << told_ << '\n';
  }

  void show() {
    std::size_t working = 0;
    std::string last;
    for (const auto& entry : open_) {
      const RunRow run = store_.read_run(entry.first);
      const std::optional<SchedulerNote> note = scheduler_note(store_, run);
      if (!note) continue;
      if (note->begun) ++working;
      last = note->text;
      if (note->begun && run.progress && lines_.terminal().live) last += "  " + progress_text(*run.progress);
    }
    std::string text = std::to_string(open_.size() - working) + " queued, " + std::to_string(working) +
                       " running, " + std::to_string(over_.size()) + " of " + std::to_string(tasks_.size()) +
                       " ended";
    if (open_.size() == 1) text = names_[open_.begin()->second] + ": " + last;
    if (text == shown_) return;
    shown_ = text;
    if (lines_.terminal().live) {
      lines_.set(0, text);
      lines_.refresh();
    } else if (!line_.flag("quiet")) {
      std::cout << text << std::endl;
    }
  }

  /// The jobs do the rest.
  int leave() {
    lines_.hide();
    settle();
    std::cout << open_.size() << (open_.size() == 1 ? " run is" : " runs are") << " in the hands of Slurm ("
              << submitter_.submitted() << (submitter_.submitted() == 1 ? " submission)" : " submissions)");
    if (!waiting_.empty())
      std::cout << "; " << waiting_.size() << " more wait for runs that they start from: the same command "
                << "submits them once those have ended";
    std::cout << "\n  next      " << suggestion(line_, "status -w") << '\n' << std::flush;
    return failed_ ? exit_failed : unfinished_ ? exit_interrupted : exit_done;
  }

  int finish() {
    lines_.hide();
    if (!waiting_.empty())
      std::cout << waiting_.size() << (waiting_.size() == 1 ? " more run was" : " more runs were")
                << " not started\n";
    if (planned_.runs.size() > 1) print_sweep_summary(std::cout, line_, store_, ended_, lines_.terminal());
    std::cout.flush();
    return session_exit_code(failed_, unfinished_ || !waiting_.empty(), gaps_);
  }

  const CommandLine& line_;
  Store& store_;
  const PlannedRuns& planned_;
  const WorkerPlace place_;
  SlurmSubmitter submitter_;
  LiveLines lines_;
  CodeVersion code_;
  std::vector<RunTask> tasks_;
  std::vector<std::string> names_;
  std::vector<int> retried_;                  ///< by task
  std::vector<std::size_t> waiting_;          ///< tasks that were not begun yet
  std::map<std::int64_t, std::size_t> open_;  ///< number of a run that a job holds, its task
  std::set<std::size_t> over_;                ///< tasks for which nothing more is done
  std::vector<std::int64_t> ended_;           ///< runs, in that order
  std::string told_, shown_;
  int passed_on_ = 0;
  bool stopping_ = false;  ///< nothing new is begun
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
  if (!line.defaulted("jobs"))
    throw UsageError(
        "-j does not go with --launcher slurm: Slurm decides how many jobs run at once, and runs_per_job in "
        "the site file how many runs each of them works on");
  if (line.integer("step-timeout") > 0)
    throw UsageError("--step-timeout does not go with --launcher slurm; `time` in the site file ends a job");
}

WorkerPlace slurm_place(const CommandLine& line) {
  const SlurmSite site = site_of(line);
  read_limits();  // throws where there is no Slurm, before anything is stored
  WorkerPlace place;
  place.threads = line.integer("threads") > 0 ? line.integer("threads") : site.cpus;
  if (place.threads > 0) place.variables["OMP_NUM_THREADS"] = std::to_string(place.threads);
  place.host = launcher_name;
  return place;
}

int work_on_in_slurm(const CommandLine& line, Store& store, const PlannedRuns& planned,
                     std::optional<std::int64_t> sweep, const WorkerPlace& place,
                     const SessionFile& session) {
  return SlurmSession(line, store, planned, place).run(sweep, session);
}

}  // namespace encore
