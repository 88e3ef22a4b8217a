// SPDX-License-Identifier: BSD-3-Clause
// FinishedSubmissions: decides which folders of submissions are no longer needed, and removes them. A folder
// is kept while a lease, the limit on submissions per minute, or a process that packs it needs it.
// launched_runs.cpp calls it. Read finished_submissions.hpp first.
#include "runner/slurm/finished_submissions.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "runner/slurm/submission.hpp"
#include "world/lease_clock.hpp"

namespace encore::runner {

namespace {

constexpr std::string_view removed_suffix = ".removed";
/// A submitter on another machine writes its submission every few seconds; clocks may differ by hours.
constexpr auto longest_packing = std::chrono::hours(24);

bool is_being_packed(const std::filesystem::path& runs_folder, const Submission& submission) {
  if (submission.stage != SubmissionStage::packing) return false;
  const world::Liveness liveness = world::liveness_of(submission.submitter);
  if (liveness != world::Liveness::unknown) return liveness == world::Liveness::alive;
  std::error_code unreadable;
  const auto written = std::filesystem::last_write_time(
      submission_folder(runs_folder, submission.name) / submission_file, unreadable);
  return unreadable || std::filesystem::file_time_type::clock::now() - written < longest_packing;
}

/// Returns whether a call of sbatch for it counts for the limit on submissions per minute, by this machine's
/// clock. If the clock is behind, it counts longer.
bool counts_for_the_rate(const Submission& submission) {
  const double now = world::now_seconds();
  return std::ranges::any_of(submission.tries,
                             [&](double time) { return time > now - submission_rate_seconds; });
}

/// Returns the submissions to which a run's latest attempt points, if it holds the run or has not completed
/// it.
std::set<std::string> names_in_use(store::Store& store) {
  std::set<std::string> names;
  for (const store::HeldByJob& held : store.attempts_of_jobs())
    if (const std::optional<JobName> job = job_of(held.holder)) names.insert(job->submission);
  for (const store::RunRow& run : store.list_runs(
           {.states = {store::RunState::failed, store::RunState::lost, store::RunState::interrupted}}))
    if (const std::optional<JobName> job = job_of(run.holder)) names.insert(job->submission);
  return names;
}

}  // namespace

FinishedSubmissions::FinishedSubmissions(store::Store& store) : folder_(jobs_folder(store.runs_folder())) {
  for (const Submission& submission : list_submissions(store.runs_folder()))
    if (!counts_for_the_rate(submission) && !is_being_packed(store.runs_folder(), submission))
      names_.push_back(submission.name);
  if (!names_.empty()) {
    // This is read after the files: runs that were being packed before are in the store by now.
    const std::set<std::string> in_use = names_in_use(store);
    std::erase_if(names_, [&](const std::string& name) { return in_use.contains(name); });
  }
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, none)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(removed_suffix) &&
        is_submission_name(name.substr(0, name.size() - removed_suffix.size())))
      removed_.push_back(entry.path());
  }
}

void FinishedSubmissions::want(QueueView& queue) const {
  for (const std::string& name : names_) queue.want({.submission = name});
}

void FinishedSubmissions::remove(QueueView& queue, const JobAccounts& accounts) const {
  std::error_code ignored;
  for (const std::filesystem::path& folder : removed_) std::filesystem::remove_all(folder, ignored);
  for (const std::string& name : names_) {
    if (!queue.is_over(name) || accounts.waits_for(name)) continue;
    const std::filesystem::path aside = folder_ / (name + std::string(removed_suffix));
    std::error_code failed;
    std::filesystem::rename(folder_ / name, aside, failed);
    if (!failed) std::filesystem::remove_all(aside, ignored);
  }
}

}  // namespace encore::runner
