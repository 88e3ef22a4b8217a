// SPDX-License-Identifier: BSD-3-Clause
// stop_queued(): cancels jobs that still wait in Slurm's queue and ends the rows of their runs. `exp stop`
// and slurm_runner.cpp call it. A job that has begun is not touched: its worker gets the request. Read
// launched_runs.hpp first.
#include "runner/launched_runs.hpp"

#include "runner/job_files.hpp"
#include "runner/slurm/queue_view.hpp"
#include "runner/stop_request.hpp"

namespace encore::runner {

std::vector<store::RunRow> stop_queued(store::Store& store, const std::set<std::int64_t>& runs) {
  std::vector<store::RunRow> ended;
  std::map<std::string, JobName> jobs;
  for (const store::HeldByJob& held : store.attempts_of_jobs()) {
    const std::optional<JobName> job = job_of(held.holder);
    const std::filesystem::path folder = store.run_folder(held.lease.run_id);
    const std::optional<JobReport> report = read_report(folder, held.lease.ordinal);
    const bool works = report && report->token == held.lease.token && !report->end;
    if (!job || works || !runs.contains(held.lease.run) ||
        requested_stop(folder, held.lease.ordinal) == StopWish::none)
      continue;
    try {
      store.finish_attempt(
          held.lease, store::RunState::stopped,
          report ? "stopped while its job waited to resume it" : "stopped before its job started it");
      ended.push_back(store.read_run(held.lease.run));
      jobs[job->text()] = *job;
    } catch (const store::LeaseLost&) {
      // Another control program has ended this attempt in the meantime.
    }
  }
  // A job may have several runs. It is cancelled only if no other run of it remains.
  for (const store::HeldByJob& held : store.attempts_of_jobs())
    if (const std::optional<JobName> job = job_of(held.holder)) jobs.erase(job->text());
  QueueView queue(store.runs_folder());
  for (const auto& [name, job] : jobs) queue.want(job);
  for (const auto& [name, job] : jobs)
    if (const JobStatus status = queue.look(job); status.stage == JobStage::waiting) cancel(status.job);
  return ended;
}

}  // namespace encore::runner
