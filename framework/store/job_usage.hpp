// JobUsage: what a scheduler's accounting says that a job has used. A job may have worked on several runs,
// one after the other, and began a run again: the figures are the whole job's, and each attempt that it
// held carries them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace encore {

struct JobUsage {
  std::string job = {};                         ///< as the scheduler calls it: "12_3"
  std::optional<double> joules = {};            ///< nothing where nodes are not measured
  std::optional<std::int64_t> peak_bytes = {};  ///< resident, of the process that had most
  int attempts = 0;                             ///< that the job held

  bool operator==(const JobUsage&) const = default;
};

/// An event of exp with each attempt that it held, in the place of an earlier one. Returns how many there
/// are.
int note_job_usage(Store& store, const ProcessIdentity& holder, JobUsage usage);
/// With the ordinals of the run's attempts, in their order; those alone of which something is known.
std::vector<std::pair<int, JobUsage>> read_job_usage(Store& store, std::int64_t run);

}  // namespace encore
