// SPDX-License-Identifier: BSD-3-Clause
// Compute: the cost of the attempts of a report's runs: wall time, thread time, and what a scheduler's
// accounting recorded. Place in the flow: store rows -> here -> abstract, trials and environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "report/report_data.hpp"

namespace encore::report {

struct Compute {
  std::size_t attempts = 0;
  std::size_t untimed = 0;      ///< attempts whose end was not recorded
  double seconds = 0.0;         ///< between beginning and end, of the others
  double thread_seconds = 0.0;  ///< the same times the threads of the worker, if it reported them
  std::size_t unthreaded = 0;   ///< timed attempts that reported no threads
};

Compute compute_of(const ReportData& data);
/// The accounting of a scheduler about the jobs that held attempts. A job's figures are those of all
/// its work.
struct JobsUsed {
  std::size_t jobs = 0;         ///< with a record
  double joules = 0.0;          ///< 0: not recorded
  std::int64_t peak_bytes = 0;  ///< of the task with the largest memory; 0: not recorded
};
JobsUsed jobs_used(const ReportData& data);

/// Returns the cost by the state in which attempts ended.
std::map<std::string, Compute> compute_by_state(const ReportData& data);

}  // namespace encore::report
