// JobName: how Encore calls a job of Slurm. A submission has a name that exists before Slurm has heard of it
// and that squeue finds; with the number of the array element it holds the lease of the element's runs. So a
// job can be found again whatever was killed when.
#pragma once

#include <optional>
#include <string>

#include "world/process.hpp"

namespace encore {

struct JobName {
  std::string submission;  ///< "encore-0123456789ab", Slurm's job name
  int element = 0;         ///< of its array

  /// "encore-0123456789ab_3"
  std::string text() const;
  bool operator==(const JobName&) const = default;
};

/// Never the same twice.
std::string make_submission_name();
bool is_submission_name(const std::string& text);
/// Nothing where it is none.
std::optional<JobName> job_name_from(const std::string& text);

/// Who holds the lease of a run that the job works on, and back.
ProcessIdentity holder_of(const JobName& job);
std::optional<JobName> job_of(const ProcessIdentity& holder);

}  // namespace encore
