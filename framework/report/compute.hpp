// SPDX-License-Identifier: BSD-3-Clause
// Compute is the cost of the attempts (worker processes) of a report's runs: wall time, thread time, and what
// a scheduler's accounting recorded. The sections abstract, trials, environment and reproduction and the
// checklists call it. Sums must not depend on the order of rows, because equal databases give equal reports:
// they visit runs by name (the order of ReportData::runs) and then attempts by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "report/report_data.hpp"

namespace encore::report {

struct Compute {
  std::size_t attempts = 0;
  std::size_t untimed = 0;      ///< attempts whose end was not recorded; they are in no sum
  double seconds = 0.0;         ///< wall time of the timed attempts: those with a recorded end
  double thread_seconds = 0.0;  ///< wall time multiplied by the threads of the worker, if it reported them
  std::size_t unthreaded = 0;   ///< timed attempts that reported no threads
};

/// Returns the cost of all attempts.
Compute compute_of(const ReportData& data);

/// What a scheduler recorded about the jobs in which attempts ran. The figures of a job include other work
/// that it did.
struct JobsUsed {
  std::size_t jobs = 0;         ///< with a record
  double joules = 0.0;          ///< sum over the jobs that recorded it; 0: none did
  std::int64_t peak_bytes = 0;  ///< of the task with the largest memory; 0: not recorded
};
JobsUsed jobs_used(const ReportData& data);

/// Returns the cost by the state in which attempts ended.
std::map<std::string, Compute> compute_by_state(const ReportData& data);

}  // namespace encore::report
