// SPDX-License-Identifier: BSD-3-Clause
// Adds up the times of attempts, by state (compute_of and others), and what the accounting of a scheduler
// recorded. abstract.cpp, trials.cpp, environment.cpp, reproduction.cpp and checklist_facts.cpp call it. Sums
// follow the order of names, so that equal databases give equal reports. Read compute.hpp first.
#include "report/compute.hpp"

#include <algorithm>
#include <set>

#include "store/job_usage.hpp"

namespace encore::report {

namespace {

void add(Compute& sum, const store::AttemptRow& attempt) {
  ++sum.attempts;
  if (!attempt.finished) {
    ++sum.untimed;
    return;
  }
  const double seconds = *attempt.finished - attempt.started;
  sum.seconds += seconds;
  if (attempt.started_event && attempt.started_event->threads)
    sum.thread_seconds += seconds * static_cast<double>(*attempt.started_event->threads);
  else
    ++sum.unthreaded;
}

template <class Visit>
void for_each_attempt(const ReportData& data, const Visit& visit) {
  // Runs are in the order of their names, so that sums do not depend on the order in which they were added.
  for (const store::RunRow& run : data.runs) {
    const auto attempts = data.attempts.find(run.number);
    if (attempts == data.attempts.end()) continue;
    for (const store::AttemptRow& attempt : attempts->second) visit(attempt);
  }
}

}  // namespace

Compute compute_of(const ReportData& data) {
  Compute sum;
  for_each_attempt(data, [&](const store::AttemptRow& attempt) { add(sum, attempt); });
  return sum;
}

JobsUsed jobs_used(const ReportData& data) {
  JobsUsed sum;
  std::set<std::string> jobs;
  for (const store::RunRow& run : data.runs) {
    const auto attempts = data.attempts.find(run.number);
    if (attempts == data.attempts.end() ||
        std::ranges::none_of(attempts->second,
                             [](const store::AttemptRow& one) { return one.holder.is_job(); }))
      continue;
    std::map<int, std::string> holders;
    for (const store::AttemptRow& attempt : attempts->second) holders[attempt.ordinal] = attempt.holder.host;
    for (const auto& [attempt, usage] : store::read_job_usage(data.store, run.number)) {
      if (!jobs.insert(holders[attempt]).second) continue;
      sum.joules += usage.joules.value_or(0.0);
      sum.peak_bytes = std::max(sum.peak_bytes, usage.peak_bytes.value_or(0));
    }
  }
  sum.jobs = jobs.size();
  return sum;
}

std::map<std::string, Compute> compute_by_state(const ReportData& data) {
  std::map<std::string, Compute> sums;
  for_each_attempt(
      data, [&](const store::AttemptRow& attempt) { add(sums[store::name_of(attempt.state)], attempt); });
  return sums;
}

}  // namespace encore::report
