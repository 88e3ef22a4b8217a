// SPDX-License-Identifier: BSD-3-Clause
// JobName: Encore's name for a job of Slurm. A submission has a name that exists before Slurm knows it and
// that squeue finds; with the number of the array element it holds the lease of the element's runs. So a job
// can be found again after any process was killed at any time. submitter.hpp draws names, queue_view.hpp
// finds jobs by them. Slurm and the database hold these names, so their form does not change.
#pragma once

#include <optional>
#include <string>

#include "world/process.hpp"

namespace encore::runner {

struct JobName {
  std::string submission;  ///< "encore-0123456789ab", Slurm's job name
  int element = 0;         ///< of its array

  /// Returns "encore-0123456789ab_3".
  std::string text() const;
  bool operator==(const JobName&) const = default;
};

/// Returns a name that was never used before.
std::string make_submission_name();
bool is_submission_name(const std::string& text);
/// Returns nothing if it is not a job name.
std::optional<JobName> job_name_from(const std::string& text);

/// Converts to the holder of the lease of a run on which the job works, and back.
world::ProcessIdentity holder_of(const JobName& job);
std::optional<JobName> job_of(const world::ProcessIdentity& holder);

}  // namespace encore::runner
