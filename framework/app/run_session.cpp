// SPDX-License-Identifier: BSD-3-Clause
// work_on(): trains planned runs, for run.cpp, retry.cpp, import.cpp and retrain.cpp: makes their tasks
// (session_tasks.hpp) -> gives them to the runner on this machine or in Slurm -> returns the results. It
// reports to SessionEvents from its own thread only. A run's row is stored before its worker starts, so that
// a kill loses no run. Read next: run_session.hpp.
#include "app/run_session.hpp"

#include <algorithm>
#include <set>

#include "app/session_tasks.hpp"
#include "config/option_text.hpp"
#include "record/thread_adaptation.hpp"
#include "runner/code_state.hpp"
#include "runner/launched_worker.hpp"
#include "runner/programs.hpp"
#include "world/cores.hpp"

namespace encore::app {

namespace {

class RunSession final : public runner::RunnerObserver {
 public:
  RunSession(const SessionRequest& request, const App& app, SessionEvents& events, store::Store& store,
             const PlannedRuns& planned)
      : request_(request), app_(app), events_(events), store_(store), planned_(planned) {}

  SessionResult run(std::optional<std::int64_t> sweep, const std::vector<runner::WorkerPlace>& places,
                    const runner::SessionFile& session) {
    made_ = make_session_tasks(store_, planned_, sweep, std::chrono::seconds(request_.step_timeout));
    runner::CodeState state = runner::read_code_state(std::filesystem::absolute(planned_.file).parent_path());
    store::CodeVersion code{std::move(state.commit), std::move(state.diff)};
    result_.planned = planned_.runs.size();
    if (request_.uses_slurm())
      work_in_slurm(std::move(code), places.front(), session);
    else
      work_here(std::move(code), places, session);
    for (const std::size_t task : ended_) result_.ended.push_back(made_.tasks[task].run);
    events_.concluded(result_);
    return std::move(result_);
  }

  runner::RunObserver& begun(std::size_t task, int retry) override {
    const PlannedRun& planned = *made_.planned[task];
    const char* rule = record::is_application(planned.specification) ? "/app/select" : "/train/select";
    const std::string select = config::setting_text(
        planned.specification.config.value(nlohmann::json::json_pointer(rule), nlohmann::json()));
    return events_.begun({.task = task,
                          .tasks = made_.tasks.size(),
                          .name = made_.names[task],
                          .id = made_.tasks[task].specification.run,
                          .select = select,
                          .retry = retry,
                          .action = planned.action,
                          .from_start = planned.from_start,
                          .gaps = store::find_record_gaps(store_, store_.read_run(made_.tasks[task].run))});
  }

  void ended(std::size_t task, const runner::RunOutcome& outcome, bool again) override {
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
  void queued(const std::string& text, const record::Progressed* progress) override {
    events_.queued(text, progress);
  }

 private:
  void work_here(store::CodeVersion code, const std::vector<runner::WorkerPlace>& places,
                 const runner::SessionFile& session) {
    events_.placed(places);
    runner::RunnerSettings settings{places, request_.retries, request_.fail_fast};
    settings.stop_wish = [&session] { return session.asked(); };
    result_.left =
        runner::Runner(store_, std::move(code), std::move(settings), app_.stop, *this).run(made_.tasks);
  }

  void work_in_slurm(store::CodeVersion code, const runner::WorkerPlace& place,
                     const runner::SessionFile& session) {
    runner::SlurmRunner runner(store_, std::move(code), slurm_submitter(request_, store_),
                               slurm_settings(request_, place, session), app_.stop, *this);
    result_.left = runner.run(made_.tasks);
    result_.detached = request_.detach;
    result_.held = runner.held();
    result_.submitted = runner.submitted();
  }

  void take(RunEnded& ended) {
    const runner::RunOutcome& outcome = ended.outcome;
    if (!outcome.began) {
      result_.unfinished |= outcome.blocked;
      return;
    }
    if (outcome.recorded)
      ended_.insert(ended.task);
    else
      result_.unrecorded.push_back(ended.name);
    if (outcome.state == store::RunState::failed)
      result_.failed = true;
    else if (outcome.state != store::RunState::completed || !outcome.recorded)
      result_.unfinished = true;
    if (outcome.state != store::RunState::completed || !outcome.recorded) return;
    ended.gaps = store::find_record_gaps(store_, *ended.run);
    result_.gaps |= std::ranges::any_of(ended.gaps, &store::RecordGap::lost);
  }

  const SessionRequest& request_;
  const App& app_;
  SessionEvents& events_;
  store::Store& store_;
  const PlannedRuns& planned_;
  SessionTasks made_;
  std::set<std::size_t> ended_;
  SessionResult result_;
};

/// Returns one place for each host, or -j places if the command itself finds machines.
std::vector<runner::WorkerPlace> launched_places(const SessionRequest& request) {
  const std::string& name = *request.launcher;
  if (request.uses_slurm()) return {slurm_place(request)};
  if (request.devices)
    throw UsageError(
        "--devices selects GPUs of this machine, but --launcher starts workers elsewhere; set "
        "CUDA_VISIBLE_DEVICES in its command");
  const int jobs = request.jobs.value_or(1);
  runner::WorkerPlace place;
  place.launcher = runner::make_launcher(name, runner::installed_programs().folder / "exp");
  place.threads = request.threads;
  if (place.threads > 0)
    place.variables["OMP_NUM_THREADS"] = std::to_string(place.threads);
  else
    place.variables[record::thread_adaptation_variable] = record::name_of(record::ThreadAdaptation::threads);
  std::vector<runner::WorkerPlace> places;
  if (request.hosts) {
    const std::vector<std::string> hosts = runner::parse_hosts(*request.hosts);
    if (jobs > static_cast<int>(hosts.size()))
      throw UsageError("-j " + std::to_string(jobs) + " needs as many hosts, but --hosts has " +
                       std::to_string(hosts.size()));
    for (const std::string& host : hosts) places.emplace_back(place).host = host;
    if (request.jobs) places.resize(static_cast<std::size_t>(jobs));
    return places;
  }
  if (name == "ssh" || name.find("{host}") != std::string::npos)
    throw UsageError("--launcher \"" + name + "\" needs hosts: --hosts node1,node2");
  for (int index = 1; index <= jobs; ++index)
    places.emplace_back(place).host = "launcher-" + std::to_string(index);
  return places;
}

std::string wrong_launcher(const SessionRequest& request) {
  if (request.launcher && !request.uses_slurm() && request.ranks.ranks > 1)
    return "--ranks needs --launcher slurm, or no launcher; let --mpirun find the machines";
  if (request.site && !request.uses_slurm()) return "--site needs --launcher slurm";
  if (request.detach && !request.uses_slurm()) return "--detach needs --launcher slurm";
  if (request.uses_slurm() && request.hosts)
    return "--launcher slurm chooses the machines itself; remove --hosts";
  if (request.uses_slurm() && request.devices)
    return "--devices selects GPUs of this machine, but with --launcher slurm jobs request GPUs; set their "
           "number as `gpus` in the site file";
  return "";
}

}  // namespace

Form<SessionRequest> session_options() {
  using R = SessionRequest;
  return Form<R>()
      .option("jobs,j", &R::jobs, "N",
              "run at most N trainings at once; each gets an equal share of the cores (default with "
              "--devices: one for each device)")
      .usual("1")
      .option("threads,t", &R::threads, "N",
              "threads of each worker; 0: its share of this process's CPUs (bits do not depend on it)")
      .option("launcher", &R::launcher, "WHAT",
              "start workers elsewhere: ssh, slurm, or your own command with {command} and {host}; the "
              "database's folder must be shared; runs continue if this exp ends")
      .option("hosts", &R::hosts, "LIST",
              "the machines of --launcher, such as node1,node2; each trains one run at a time")
      .option("site", &R::site, "FILE",
              "the site file of the cluster, for --launcher slurm (default: ~/.config/encore/site.toml, if "
              "it exists)")
      .flag("detach", &R::detach,
            "with --launcher slurm: return as soon as the jobs are submitted; exp status shows them")
      .option("devices", &R::devices, "LIST",
              "GPUs to use, such as 0,1; one worker on each (cuda and hip; default: the first N)")
      .option("retries", &R::retries, "N",
              "retry a run at most N times if its worker crashes or is lost; a run that fails by itself (a "
              "loss that is not finite) is not retried")
      .option("step-timeout", &R::step_timeout, "SECONDS",
              "stop a worker that makes no progress for SECONDS, or does not start in that time (at least a "
              "minute); its run fails, and the error names the layer. Choose more than the slowest step or "
              "dev score takes. Works with --ranks and with any --launcher, there also after this exp has "
              "ended; 0: no limit")
      .include(&R::ranks, rank_options())
      .flag("keep-going,k", &R::keep_going, "continue with the other runs if one fails (the default)")
      .flag("fail-fast", &R::fail_fast,
            "if a run fails, start no more runs and ask the others to write a checkpoint and end")
      .flag("quiet,q", &R::quiet, "print only the result")
      .least("jobs", 1, "invalid -j {}: expected at least 1")
      .refuse([](const R& request) {
        world::require_threads(request.threads);
        return wrong_launcher(request);
      })
      .least("retries", 0, "invalid --retries {}: expected at least 0; 0 means no retry")
      .least("step-timeout", 0, "invalid --step-timeout {}: expected at least 0; 0 means no limit")
      .needs("hosts", "launcher",
             "--hosts needs --launcher, the command that starts workers there, such as --launcher ssh")
      .exclude("keep-going", "fail-fast");
}

std::string wrong_jobs_of_slurm(const SessionRequest& request) {
  return request.uses_slurm() && request.jobs
             ? "-j and --launcher slurm exclude each other: Slurm decides how many jobs run at once; "
               "runs_per_job in the site file sets the runs of each job"
             : "";
}

std::vector<runner::WorkerPlace> session_places(const SessionRequest& request, const std::string& backend,
                                                std::size_t runs) {
  require_rank_backend(request.ranks.ranks, backend);
  if (request.launcher) return launched_places(request);
  runner::PlacesWanted wanted{request.jobs.value_or(1), request.threads, world::openmp_wishes(), backend};
  if (request.devices) {
    if (runner::computes_on_host(backend))
      throw UsageError("--devices selects GPUs, but backend " + backend +
                       " computes on the cores; remove --devices, or choose "
                       "--backend cuda or hip");
    wanted.devices = runner::parse_devices(*request.devices);
    const int devices = static_cast<int>(wanted.devices.size());
    if (!request.jobs) wanted.workers = devices;
    if (wanted.workers > devices)
      throw UsageError("-j " + std::to_string(wanted.workers) + " needs as many devices, but --devices has " +
                       std::to_string(devices));
  } else if (!runner::computes_on_host(backend) && wanted.workers > 1) {
    wanted.devices = runner::first_devices(backend, wanted.workers);
  }
  wanted.workers = std::max(1, std::min(wanted.workers, static_cast<int>(runs)));
  wanted.ranks = request.ranks.ranks;
  std::vector<runner::WorkerPlace> places = runner::make_places(world::usable_cores(), wanted);
  for (runner::WorkerPlace& place : places) place.rank_launcher = rank_launcher(request.ranks, place.threads);
  return places;
}

SessionResult work_on(const SessionRequest& request, const App& app, SessionEvents& events,
                      store::Store& store, const PlannedRuns& planned, std::optional<std::int64_t> sweep,
                      const std::vector<runner::WorkerPlace>& places, const runner::SessionFile& session) {
  app.events.started();
  events.opened(store);
  // Work has started: errors from here on are WorkErrors, not UsageErrors.
  try {
    return RunSession(request, app, events, store, planned).run(sweep, places, session);
  } catch (const Error& error) {
    throw WorkError(error.what());
  }
}

}  // namespace encore::app
