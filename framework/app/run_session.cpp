// One session, top to bottom: tasks -> runner, of this machine or of Slurm -> what became of them.
#include "app/run_session.hpp"

#include <algorithm>
#include <set>

#include "app/session_tasks.hpp"
#include "app/slurm_session.hpp"
#include "config/setting_text.hpp"
#include "record/thread_adaptation.hpp"
#include "runner/code_state.hpp"
#include "runner/launched_worker.hpp"
#include "runner/programs.hpp"
#include "world/cores.hpp"

namespace encore {

namespace {

class RunSession final : public RunnerObserver {
 public:
  RunSession(const SessionRequest& request, const App& app, SessionEvents& events, Store& store,
             const PlannedRuns& planned)
      : request_(request), app_(app), events_(events), store_(store), planned_(planned) {}

  SessionResult run(std::optional<std::int64_t> sweep, const std::vector<WorkerPlace>& places,
                    const SessionFile& session) {
    made_ = make_session_tasks(store_, planned_, sweep, std::chrono::seconds(request_.step_timeout));
    CodeState state = read_code_state(std::filesystem::absolute(planned_.file).parent_path());
    CodeVersion code{std::move(state.commit), std::move(state.diff)};
    result_.planned = planned_.runs.size();
    if (request_.uses_slurm())
      work_in_slurm(std::move(code), places.front(), session);
    else
      work_here(std::move(code), places, session);
    for (const std::size_t task : ended_) result_.ended.push_back(made_.tasks[task].run);
    events_.concluded(result_);
    return std::move(result_);
  }

  RunObserver& begun(std::size_t task, int retry) override {
    const PlannedRun& planned = *made_.planned[task];
    const std::string select = setting_text(
        planned.specification.config.value(nlohmann::json::json_pointer("/train/select"), nlohmann::json()));
    return events_.begun({.task = task,
                          .tasks = made_.tasks.size(),
                          .name = made_.names[task],
                          .id = made_.tasks[task].specification.run,
                          .select = select,
                          .retry = retry,
                          .action = planned.action,
                          .from_start = planned.from_start,
                          .gaps = find_record_gaps(store_, store_.read_run(made_.tasks[task].run))});
  }

  void ended(std::size_t task, const RunOutcome& outcome, bool again) override {
    RunEnded ended{.task = task,
                   .tasks = made_.tasks.size(),
                   .name = made_.names[task],
                   .outcome = outcome,
                   .again = again};
    if (outcome.began) ended.run = store_.read_run(made_.tasks[task].run);
    if (!again) take(ended);
    events_.ended(ended);
  }

  void noticed(const std::string& text) override { events_.noticed(text); }
  void glanced() override { events_.glanced(); }
  void queued(const std::string& text, const Progressed* progress) override {
    events_.queued(text, progress);
  }

 private:
  void work_here(CodeVersion code, const std::vector<WorkerPlace>& places, const SessionFile& session) {
    events_.placed(places);
    RunnerSettings settings{places, request_.retries, request_.fail_fast};
    settings.stop_wish = [&session] { return session.asked(); };
    result_.left = Runner(store_, std::move(code), std::move(settings), app_.stop, *this).run(made_.tasks);
  }

  void work_in_slurm(CodeVersion code, const WorkerPlace& place, const SessionFile& session) {
    SlurmRunner runner(store_, std::move(code), slurm_submitter(request_, store_),
                       slurm_settings(request_, place, session), app_.stop, *this);
    result_.left = runner.run(made_.tasks);
    result_.detached = request_.detach;
    result_.held = runner.held();
    result_.submitted = runner.submitted();
  }

  void take(RunEnded& ended) {
    const RunOutcome& outcome = ended.outcome;
    if (!outcome.began) {
      result_.unfinished |= outcome.blocked;
      return;
    }
    if (outcome.recorded)
      ended_.insert(ended.task);
    else
      result_.unrecorded.push_back(ended.name);
    if (outcome.state == RunState::failed)
      result_.failed = true;
    else if (outcome.state != RunState::completed || !outcome.recorded)
      result_.unfinished = true;
    if (outcome.state != RunState::completed || !outcome.recorded) return;
    ended.gaps = find_record_gaps(store_, *ended.run);
    result_.gaps |= std::ranges::any_of(ended.gaps, &RecordGap::lost);
  }

  const SessionRequest& request_;
  const App& app_;
  SessionEvents& events_;
  Store& store_;
  const PlannedRuns& planned_;
  SessionTasks made_;
  std::set<std::size_t> ended_;
  SessionResult result_;
};

/// One for each host, or as many as -j says where the command itself finds machines.
std::vector<WorkerPlace> launched_places(const SessionRequest& request) {
  const std::string& name = *request.launcher;
  if (request.uses_slurm()) return {slurm_place(request)};
  if (request.devices)
    throw UsageError(
        "--devices names GPUs of this machine, and --launcher starts workers elsewhere; set "
        "CUDA_VISIBLE_DEVICES in its command");
  const int jobs = request.jobs.value_or(1);
  WorkerPlace place;
  place.launcher = make_launcher(name, installed_programs().folder / "exp");
  place.threads = request.threads;
  if (place.threads > 0)
    place.variables["OMP_NUM_THREADS"] = std::to_string(place.threads);
  else
    place.variables[thread_adaptation_variable] = name_of(ThreadAdaptation::threads);
  std::vector<WorkerPlace> places;
  if (request.hosts) {
    const std::vector<std::string> hosts = parse_hosts(*request.hosts);
    if (jobs > static_cast<int>(hosts.size()))
      throw UsageError("-j " + std::to_string(jobs) + " needs as many hosts, --hosts names " +
                       std::to_string(hosts.size()));
    for (const std::string& host : hosts) places.emplace_back(place).host = host;
    if (request.jobs) places.resize(static_cast<std::size_t>(jobs));
    return places;
  }
  if (name == "ssh" || name.find("{host}") != std::string::npos)
    throw UsageError("--launcher \"" + name + "\" starts workers on hosts; name them: --hosts node1,node2");
  for (int index = 1; index <= jobs; ++index)
    places.emplace_back(place).host = "launcher-" + std::to_string(index);
  return places;
}

std::string wrong_launcher(const SessionRequest& request) {
  if (request.launcher && !request.uses_slurm() && request.ranks.ranks > 1)
    return "--ranks goes with --launcher slurm alone of all launchers; have --mpirun find the machines";
  if (request.site && !request.uses_slurm()) return "--site goes with --launcher slurm";
  if (request.detach && !request.uses_slurm()) return "--detach goes with --launcher slurm";
  if (request.uses_slurm() && request.hosts)
    return "--hosts names machines, and with --launcher slurm Slurm chooses them; leave it out";
  if (request.uses_slurm() && request.devices)
    return "--devices names GPUs of this machine, and with --launcher slurm jobs ask for theirs; `gpus` in "
           "the "
           "site file says how many";
  return "";
}

}  // namespace

Form<SessionRequest> session_options() {
  using R = SessionRequest;
  return Form<R>()
      .option("jobs,j", &R::jobs, "N",
              "so many runs at once, each with its own share of the cores (default with --devices: one per "
              "device)")
      .usual("1")
      .option(
          "threads,t", &R::threads, "N",
          "threads of each worker; 0: its share of what this process may use (the bits of the result do not "
          "depend on it)")
      .option(
          "launcher", &R::launcher, "WHAT",
          "have workers started elsewhere: ssh, slurm, or a command of your own with {command} and {host} "
          "in it; the database's folder must be shared, and runs go on while this exp is gone")
      .option("hosts", &R::hosts, "LIST",
              "the machines of --launcher, as node1,node2: each works on one run at a time")
      .option("site", &R::site, "FILE",
              "what the cluster wants to know of jobs, for --launcher slurm (default: "
              "~/.config/encore/site.toml, if it is there)")
      .flag("detach", &R::detach,
            "with --launcher slurm: return as soon as the jobs are submitted; exp status shows them")
      .option("devices", &R::devices, "LIST",
              "GPUs to use, as 0,1: one worker each (cuda and hip; default: the first N)")
      .option("retries", &R::retries, "N",
              "try a run again, up to N times, when its worker crashes or is lost; what failed by itself (a "
              "loss that is not finite) is not tried again")
      .option("step-timeout", &R::step_timeout, "SECONDS",
              "a worker that trains and tells of nothing for so long is killed, and its run fails with the "
              "layer named, and so is one that does not start in that time, a minute at least; with --ranks "
              "too, and with any --launcher, there also when this exp is gone; more than the slowest step or "
              "dev score takes; 0: it may take for ever")
      .include(&R::ranks, rank_options())
      .flag("keep-going,k", &R::keep_going, "go on with other runs when one fails (the default)")
      .flag("fail-fast", &R::fail_fast,
            "when a run fails start no more, and have those that run checkpoint and end")
      .flag("quiet,q", &R::quiet, "print only how it ended")
      .least("jobs", 1, "-j {} would run nothing; give at least 1")
      .refuse([](const R& request) {
        require_threads(request.threads);
        return wrong_launcher(request);
      })
      .least("retries", 0, "--retries is negative; 0 means no second try")
      .least("step-timeout", 0, "--step-timeout is negative; 0 means that a step may take for ever")
      .needs("hosts", "launcher",
             "--hosts needs --launcher, which says how a worker is started there: --launcher ssh")
      .exclude("keep-going", "fail-fast");
}

std::string wrong_jobs_of_slurm(const SessionRequest& request) {
  return request.uses_slurm() && request.jobs ? "-j does not go with --launcher slurm: Slurm decides how "
                                                "many jobs run at once, and runs_per_job "
                                                "in the site file how many runs each of them works on"
                                              : "";
}

std::vector<WorkerPlace> session_places(const SessionRequest& request, const std::string& backend,
                                        std::size_t runs) {
  require_rank_backend(request.ranks.ranks, backend);
  if (request.launcher) return launched_places(request);
  PlacesWanted wanted{request.jobs.value_or(1), request.threads, openmp_wishes(), backend};
  if (request.devices) {
    if (backend == "openmp")
      throw UsageError(
          "--devices names GPUs, and backend openmp computes on the cores, which -j divides; leave --devices "
          "out, or choose --backend cuda or hip");
    wanted.devices = parse_devices(*request.devices);
    const int devices = static_cast<int>(wanted.devices.size());
    if (!request.jobs) wanted.workers = devices;
    if (wanted.workers > devices)
      throw UsageError("-j " + std::to_string(wanted.workers) + " needs as many devices, --devices names " +
                       std::to_string(devices));
  } else if (backend != "openmp" && wanted.workers > 1) {
    wanted.devices = first_devices(backend, wanted.workers);
  }
  wanted.workers = std::max(1, std::min(wanted.workers, static_cast<int>(runs)));
  wanted.ranks = request.ranks.ranks;
  std::vector<WorkerPlace> places = make_places(usable_cores(), wanted);
  for (WorkerPlace& place : places) place.rank_launcher = rank_launcher(request.ranks, place.threads);
  return places;
}

SessionResult work_on(const SessionRequest& request, const App& app, SessionEvents& events, Store& store,
                      const PlannedRuns& planned, std::optional<std::int64_t> sweep,
                      const std::vector<WorkerPlace>& places, const SessionFile& session) {
  app.events.started();
  events.opened(store);
  // From here on something has been started: what goes wrong now is no longer a matter of usage.
  try {
    return RunSession(request, app, events, store, planned).run(sweep, places, session);
  } catch (const Error& error) {
    throw WorkError(error.what());
  }
}

}  // namespace encore
