// What the attempts of a report's runs cost. Place in the flow: abstract, trials and environment tell it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "report/report_data.hpp"

namespace encore {

struct Compute {
  std::size_t attempts = 0;
  std::size_t untimed = 0;      ///< attempts whose end was not recorded
  double seconds = 0.0;         ///< between beginning and end, of the others
  double thread_seconds = 0.0;  ///< the same times the threads of the worker, where it told them
  std::size_t unthreaded = 0;   ///< timed attempts that told no threads
};

Compute compute_of(const ReportData& data);
/// What the accounting of a scheduler says of the jobs that held attempts. A job's figures are those of all
/// that it has worked on.
struct JobsUsed {
  std::size_t jobs = 0;         ///< of which something is known
  double joules = 0.0;          ///< 0: of none
  std::int64_t peak_bytes = 0;  ///< of the task that had most; 0: of none
};
JobsUsed jobs_used(const ReportData& data);

/// By how the attempts ended.
std::map<std::string, Compute> compute_by_state(const ReportData& data);

}  // namespace encore
