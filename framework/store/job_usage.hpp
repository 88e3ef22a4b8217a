// SPDX-License-Identifier: BSD-3-Clause
// JobUsage is what a job has used according to a scheduler's accounting. A job may have worked on several
// runs, one after the other, and resumed one: the figures are those of the whole job, and each attempt that
// it held has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace encore {

struct JobUsage {
  std::string job = {};                         ///< its name in the scheduler: "12_3"
  std::optional<double> joules = {};            ///< nothing if the nodes are not measured
  std::optional<std::int64_t> peak_bytes = {};  ///< resident, of the process that had most
  int attempts = 0;                             ///< that the job held

  bool operator==(const JobUsage&) const = default;
};

/// Adds an event of exp to each attempt that the job held, in place of an earlier one. Returns their
/// number.
int note_job_usage(Store& store, const ProcessIdentity& holder, JobUsage usage);
/// Returns the usage with the ordinals of the run's attempts, in their order; only of attempts with a record.
std::vector<std::pair<int, JobUsage>> read_job_usage(Store& store, std::int64_t run);

}  // namespace encore
