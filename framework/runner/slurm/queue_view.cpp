// SPDX-License-Identifier: BSD-3-Clause
// QueueView: reads the state of jobs from squeue, shares the answer with other processes through a file, asks
// sacct for jobs that squeue no longer lists, and judges each job. launched_runs.cpp calls it. If Slurm does
// not answer, a job is never judged to be over. Read queue_view.hpp first.
#include "runner/slurm/queue_view.hpp"

#include <algorithm>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "base/input_file.hpp"
#include "base/json_text.hpp"
#include "base/sha256.hpp"
#include "world/atomic_file.hpp"
#include "world/lease_clock.hpp"

namespace encore::runner {

namespace {

constexpr std::size_t most_queue_bytes = std::size_t{64} << 20;
/// A job that was accepted fewer seconds ago may be missing in an answer that was under way.
constexpr double just_taken = 30.0;

/// Returns the name of the file with the shared answer; each machine and each configuration of Slurm has its
/// own.
std::string queue_file() {
  const char* configuration = std::getenv("SLURM_CONF");
  const std::string asks =
      world::this_process().host + "\n" + (configuration == nullptr ? "" : configuration);
  return "queue-" + sha256(asks).substr(0, 16) + ".json";
}

std::map<std::string, QueuedJob> by_name(const std::vector<QueuedJob>& jobs) {
  std::map<std::string, QueuedJob> named;
  // The accounting has a line for each start of a requeued job; the last one counts.
  for (const QueuedJob& job : jobs) named[JobName{job.name, job.element}.text()] = job;
  return named;
}

}  // namespace

const Submission* QueueView::submission_of(const std::string& name) {
  const auto [at, is_new] = submissions_.try_emplace(name);
  if (is_new) at->second = load_submission(runs_folder_, name);
  return at->second ? &*at->second : nullptr;
}

std::optional<QueueView::Answer> QueueView::load_shared(int queue_seconds) const {
  try {
    const nlohmann::json json =
        json_or_null(read_file(jobs_folder(runs_folder_) / queue_file(), most_queue_bytes));
    if (!json.is_object()) return std::nullopt;
    Answer answer{.answered = json.at("answered"),
                  .time = json.at("time"),
                  .cluster = json.value("cluster", std::string())};
    // The clock of another login node may be ahead: a time in the future is asked again.
    const double age = world::now_seconds() - answer.time;
    if (age < 0.0 || age >= queue_seconds) return std::nullopt;
    const auto names = json.at("names").get<std::set<std::string>>();
    if (!std::ranges::includes(names, names_)) return std::nullopt;
    for (const nlohmann::json& row : json.at("jobs")) {
      const QueuedJob job{row.at(0), row.at(1), row.at(2), row.at(3), row.at(4), row.at(5)};
      answer.jobs[JobName{job.name, job.element}.text()] = job;
    }
    return answer;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  } catch (const UnreadableFile&) {
    return std::nullopt;
  }
}

void QueueView::save_shared() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [name, job] : answer_->jobs)
    rows.push_back({job.name, job.element, job.id, job.state, job.reason, job.nodes});
  const nlohmann::json json = {{"time", answer_->time},
                               {"answered", answer_->answered},
                               {"names", names_},
                               {"jobs", rows},
                               {"cluster", answer_->cluster}};
  try {
    world::replace_file(jobs_folder(runs_folder_) / queue_file(),
                        json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } catch (const Error&) {
    // Only the next process asks again.
  }
}

void QueueView::ask() {
  int queue_seconds = 60;
  for (const std::string& name : names_)
    if (const Submission* submission = submission_of(name))
      queue_seconds = std::min(queue_seconds, submission->queue_seconds);
  if ((answer_ = load_shared(queue_seconds))) return;
  const double time = world::now_seconds();
  const std::optional<std::vector<QueuedJob>> jobs = read_queue({names_.begin(), names_.end()});
  answer_ = Answer{.answered = jobs.has_value(), .time = time};
  if (jobs) answer_->jobs = by_name(*jobs);
  save_shared();
}

bool QueueView::is_elsewhere(const Submission& submission) {
  if (submission.cluster.empty() || submission.tries.empty()) return false;
  if (answer_->cluster.empty()) {
    try {
      answer_->cluster = read_limits().cluster;
      save_shared();
    } catch (const Error&) {
      return true;
    }
  }
  return answer_->cluster != submission.cluster;
}

const QueuedJob* QueueView::find_in_accounts(const JobName& job) {
  if (!accounts_) {
    const std::optional<std::vector<QueuedJob>> jobs = read_accounts({names_.begin(), names_.end()});
    accounts_ = jobs ? by_name(*jobs) : std::map<std::string, QueuedJob>();
  }
  const auto found = accounts_->find(job.text());
  return found == accounts_->end() ? nullptr : &found->second;
}

JobStatus QueueView::look(const JobName& job) {
  names_.insert(job.submission);
  if (!answer_) ask();
  JobStatus status;
  if (const Submission* submission = submission_of(job.submission)) status.submission = *submission;
  const auto found = answer_->jobs.find(job.text());
  const QueuedJob* known = found == answer_->jobs.end() ? nullptr : &found->second;
  if (known == nullptr) {
    if (answer_->answered && status.submission && status.submission->stage != SubmissionStage::refused &&
        is_elsewhere(*status.submission)) {
      status.job.id = status.submission->job;
      if (!answer_->cluster.empty()) status.elsewhere = status.submission->cluster;
      return status;
    }
    const bool tried = status.submission && !status.submission->tries.empty();
    const double taken = tried ? status.submission->tries.back() : 0.0;
    const bool packed = status.submission && status.submission->stage != SubmissionStage::submitted;
    if (packed || !status.submission) {
      const bool refused = packed && status.submission->stage == SubmissionStage::refused;
      const bool at_work =
          packed && world::liveness_of(status.submission->submitter) != world::Liveness::gone;
      const bool told = answer_->answered && !(taken > answer_->time - just_taken);
      status.stage = refused || at_work || told ? JobStage::unsubmitted : JobStage::silent;
      return status;
    }
    status.job = {.name = job.submission,
                  .element = job.element,
                  .id = status.submission->job + (job.element > 0 ? "_" + std::to_string(job.element) : ""),
                  .state = "PENDING"};
    if (taken > answer_->time - just_taken) {
      status.stage = JobStage::waiting;
      return status;
    }
    if (!answer_->answered) return status;
    known = find_in_accounts(job);
    if (known == nullptr) {
      status.stage = JobStage::vanished;
      return status;
    }
  }
  status.job = *known;
  status.stage = known->waits() ? JobStage::waiting : known->is_over() ? JobStage::over : JobStage::working;
  return status;
}

bool QueueView::is_over(const std::string& submission_name) {
  names_.insert(submission_name);
  if (!answer_) ask();
  if (!answer_->answered) return false;
  const Submission* submission = submission_of(submission_name);
  return submission != nullptr && !is_elsewhere(*submission) &&
         std::ranges::none_of(answer_->jobs, [&](const auto& entry) {
           return entry.second.name == submission_name && !entry.second.is_over();
         });
}

std::string status_text(const JobStatus& status, bool begun) {
  const QueuedJob& job = status.job;
  const std::string number = job.id.empty() ? "" : ", job " + job.id;
  switch (status.stage) {
    case JobStage::unsubmitted: {
      const std::string why = status.submission ? status.submission->waits_for : "";
      return "not submitted to Slurm yet" + (why.empty() ? "" : ": " + why);
    }
    case JobStage::silent:
      return (status.elsewhere.empty() ? "Slurm does not answer"
                                       : "submitted to Slurm on cluster " + status.elsewhere +
                                             ", which cannot be reached from here") +
             number;
    case JobStage::waiting:
      return "queued in Slurm" + number + (job.reason.empty() ? "" : ", reason " + job.reason);
    case JobStage::working:
      return std::string(begun ? "running" : "waits for its turn") + " in Slurm" + number +
             (job.nodes.empty() ? "" : " on " + job.nodes);
    case JobStage::over:
      return job_end_text(job);
    case JobStage::vanished:
      return "Slurm has no record of its job" + number;
  }
  return "";
}

std::string job_end_text(const QueuedJob& job) {
  const std::string its = "its job " + job.id;
  if (job.state == "CANCELLED") return its + " was cancelled in Slurm (scancel)";
  if (job.state == "TIMEOUT") return its + " ran into its time limit (TIMEOUT)";
  if (job.state == "OUT_OF_MEMORY")
    return its +
           " was killed because it had too little memory (OUT_OF_MEMORY); `memory` in [slurm] asks for more";
  if (job.state == "NODE_FAIL") return its + " has lost its node, " + job.nodes + " (NODE_FAIL)";
  if (job.state == "PREEMPTED") return its + " was preempted by another job (PREEMPTED)";
  if (job.state == "COMPLETED") return its + " has ended";
  return its + " has ended as " + job.state + (job.reason.empty() ? "" : ", reason " + job.reason);
}

}  // namespace encore::runner
