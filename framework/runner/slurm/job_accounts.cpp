// SPDX-License-Identifier: BSD-3-Clause
// JobAccounts: asks sacct once for all submissions that are over, and stores the energy and memory that it
// reports. A file "accounted" in the submission's folder marks that this is done. launched_runs.cpp calls it.
// The name of that file stays, or jobs would be asked about again. Read job_accounts.hpp first.
#include "runner/slurm/job_accounts.hpp"

#include <algorithm>

#include "runner/slurm/submission.hpp"
#include "store/job_usage.hpp"
#include "world/atomic_file.hpp"
#include "world/lease_clock.hpp"

namespace encore::runner {

namespace {

/// The file in a submission's folder that marks that its accounts were stored.
constexpr const char* accounted_file = "accounted";
constexpr double longest_delay_seconds = 3600.0;

bool is_recent(const std::filesystem::path& runs_folder, const std::string& name) {
  const std::optional<Submission> submission = load_submission(runs_folder, name);
  const double now = world::now_seconds();
  return submission && std::ranges::any_of(submission->tries, [&](double time) {
           return time <= now && time > now - longest_delay_seconds;
         });
}

}  // namespace

JobAccounts::JobAccounts(const store::Store& store) : runs_folder_(store.runs_folder()) {
  std::error_code unreadable;
  for (const Submission& submission : list_submissions(runs_folder_))
    if (submission.stage == SubmissionStage::submitted &&
        !std::filesystem::exists(submission_folder(runs_folder_, submission.name) / accounted_file,
                                 unreadable))
      names_.push_back(submission.name);
}

void JobAccounts::want(QueueView& queue) const {
  for (const std::string& name : names_) queue.want({.submission = name});
}

void JobAccounts::record(store::Store& store, QueueView& queue) {
  std::erase_if(names_, [&](const std::string& name) { return !queue.is_over(name); });
  if (names_.empty()) return;
  const std::optional<std::vector<AccountedJob>> jobs = read_usage(names_);
  for (const std::string& name : names_) {
    bool known = !jobs, whole = true;
    for (const AccountedJob& one : jobs ? *jobs : std::vector<AccountedJob>()) {
      if (one.job.name != name) continue;
      known = true;
      whole = whole && one.job.is_over();
    }
    if ((!known || !whole) && is_recent(runs_folder_, name)) {
      waiting_.insert(name);
      continue;
    }
    for (const AccountedJob& one : jobs ? *jobs : std::vector<AccountedJob>())
      if (one.job.name == name && (one.joules || one.peak_bytes))
        store::note_job_usage(store, holder_of({name, one.job.element}),
                              {.job = one.job.id, .joules = one.joules, .peak_bytes = one.peak_bytes});
    world::save_file(submission_folder(runs_folder_, name) / accounted_file, "");
  }
}

}  // namespace encore::runner
