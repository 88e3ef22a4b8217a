// SPDX-License-Identifier: BSD-3-Clause
// JobUsage: what a job has used, according to the accounting of a scheduler such as Slurm. One job may work
// on several runs, one after the other. The figures are those of the whole job, and each of its attempts
// stores a copy. runner/slurm/job_accounts.cpp writes them; `exp show` and reports read them. They are stored
// as an event, whose members keep their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace encore::store {

struct JobUsage {
  std::string job = {};                         ///< its name in the scheduler: "12_3"
  std::optional<double> joules = {};            ///< no value: the nodes do not measure energy
  std::optional<std::int64_t> peak_bytes = {};  ///< resident memory of the largest process
  int attempts = 0;                             ///< that the job held

  bool operator==(const JobUsage&) const = default;
};

/// Stores the usage with each attempt that the job held, in place of an earlier record. Returns the number of
/// these attempts.
int note_job_usage(Store& store, const world::ProcessIdentity& holder, JobUsage usage);
/// Returns each usage with the ordinal of its attempt, in order. Attempts without a record are left out.
std::vector<std::pair<int, JobUsage>> read_job_usage(Store& store, std::int64_t run);

}  // namespace encore::store
