// SPDX-License-Identifier: BSD-3-Clause
// SlurmSubmitter: collects orders into job arrays, keeps to the limits of the site and calls sbatch.
// SlurmRunner calls it. submission.json is written before sbatch is called, so that a killed process leaves
// no unknown job. Read submitter.hpp first.
#include "runner/slurm/submitter.hpp"

#include <algorithm>

#include "runner/job_files.hpp"
#include "runner/slurm/submission.hpp"
#include "world/atomic_file.hpp"
#include "world/lease_clock.hpp"

namespace encore::runner {

namespace {

/// The pause before a submission that Slurm did not accept is tried again.
constexpr auto pause_after_refusal = std::chrono::seconds(10);

}  // namespace

SlurmSubmitter::SlurmSubmitter(std::filesystem::path runs_folder, std::filesystem::path exp,
                               config::SlurmSite site, SlurmLimits limits)
    : runs_folder_(std::move(runs_folder)),
      exp_(std::move(exp)),
      site_(std::move(site)),
      most_elements_(static_cast<std::size_t>(site_.max_array_size > 0
                                                  ? std::min(site_.max_array_size, limits.max_array_size)
                                                  : limits.max_array_size)),
      cluster_(std::move(limits.cluster)) {}

JobName SlurmSubmitter::next_job() {
  if (!open_) {
    open_.emplace();
    open_->submission = {.name = make_submission_name(),
                         .submitter = world::this_process(),
                         .queue_seconds = site_.queue_seconds,
                         .cluster = cluster_};
    save_submission(runs_folder_, open_->submission);
  }
  const bool full = open_->elements.empty() ||
                    open_->elements.back().size() >= static_cast<std::size_t>(site_.runs_per_job);
  return {open_->submission.name, static_cast<int>(open_->elements.size()) - (full ? 0 : 1)};
}

void SlurmSubmitter::add(WorkOrder order, const WorkerPlace& place) {
  const JobName job = next_job();
  order.job = job.text();
  save_order(order, place);
  open_->ranks = std::max(open_->ranks, place.ranks);
  const auto element = static_cast<std::size_t>(job.element);
  if (element == open_->elements.size()) open_->elements.emplace_back();
  open_->elements[element].push_back(order_file(order.run_folder, order.attempt));
  if (open_->elements.size() == most_elements_ &&
      open_->elements.back().size() == static_cast<std::size_t>(site_.runs_per_job))
    close();
}

void SlurmSubmitter::close() {
  if (!open_ || open_->elements.empty()) return;
  const std::filesystem::path folder = submission_folder(runs_folder_, open_->submission.name);
  for (std::size_t element = 0; element < open_->elements.size(); ++element) {
    std::string lines;
    for (const std::filesystem::path& order : open_->elements[element]) lines += order.string() + "\n";
    world::save_file(orders_file(runs_folder_, open_->submission.name, static_cast<int>(element)), lines);
  }
  world::save_file(folder / "job.sh", script_text(site_, folder, exp_));
  closed_.push_back(std::move(*open_));
  open_.reset();
}

/// Counts what all control programs of this database have submitted in the last minute.
bool SlurmSubmitter::may_submit() {
  if (std::chrono::steady_clock::now() < not_before_) return false;
  const double now = world::now_seconds();
  int recent = 0;
  for (const Submission& submission : list_submissions(runs_folder_))
    recent += static_cast<int>(std::ranges::count_if(
        submission.tries, [&](double time) { return time > now - submission_rate_seconds && time <= now; }));
  if (recent < site_.max_submits_per_minute) return true;
  waits_for_ = "at most " + std::to_string(site_.max_submits_per_minute) +
               " submissions a minute (max_submits_per_minute)";
  not_before_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  return false;
}

/// Writes the submission again from time to time, by which processes on other machines see that the submitter
/// lives.
void SlurmSubmitter::beat() {
  if (std::chrono::steady_clock::now() - beaten_ < beat_interval) return;
  beaten_ = std::chrono::steady_clock::now();
  if (open_) save_submission(runs_folder_, open_->submission);
  for (Packed& packed : closed_) {
    packed.submission.waits_for = waits_for_;
    save_submission(runs_folder_, packed.submission);
  }
}

void SlurmSubmitter::take(const std::string& job) {
  Submission& submission = closed_.front().submission;
  submission.stage = SubmissionStage::submitted;
  submission.job = job;
  submission.waits_for.clear();
  save_submission(runs_folder_, submission);
  closed_.pop_front();
  waits_for_.clear();
  ++submitted_;
}

void SlurmSubmitter::advance() {
  while (!closed_.empty() && may_submit()) {
    Packed& packed = closed_.front();
    Submission& submission = packed.submission;
    const std::filesystem::path folder = submission_folder(runs_folder_, submission.name);
    submission.tries.push_back(world::now_seconds());
    save_submission(runs_folder_, submission);
    const SubmitAnswer answer =
        submit(sbatch_options(site_, submission.name, static_cast<int>(packed.elements.size()), packed.ranks,
                              folder),
               folder / "job.sh");
    if (!answer.id.empty()) {
      take(answer.id);
      continue;
    }
    // Perhaps only the answer was lost: the name shows whether the job exists.
    if (const auto there = read_queue({submission.name}); there && !there->empty()) {
      take(there->front().id.substr(0, there->front().id.find('_')));
      continue;
    }
    if (!answer.later) {
      submission.stage = SubmissionStage::refused;
      submission.waits_for = "its job was refused by Slurm: " + answer.problem;
      save_submission(runs_folder_, submission);
      closed_.pop_front();
      continue;
    }
    waits_for_ = answer.problem;
    not_before_ = std::chrono::steady_clock::now() + pause_after_refusal;
  }
  if (closed_.empty()) waits_for_.clear();
  beat();
}

}  // namespace encore::runner
