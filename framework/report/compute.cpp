// See compute.hpp.
#include "report/compute.hpp"

namespace encore {

namespace {

void add(Compute& sum, const AttemptRow& attempt) {
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
void for_each_attempt(const Material& material, const Visit& visit) {
  // In the order of the runs' names, so that sums do not depend on the order in which runs were added.
  for (const RunRow& run : material.runs) {
    const auto attempts = material.attempts.find(run.number);
    if (attempts == material.attempts.end()) continue;
    for (const AttemptRow& attempt : attempts->second) visit(attempt);
  }
}

}  // namespace

Compute compute_of(const Material& material) {
  Compute sum;
  for_each_attempt(material, [&](const AttemptRow& attempt) { add(sum, attempt); });
  return sum;
}

std::map<std::string, Compute> compute_by_state(const Material& material) {
  std::map<std::string, Compute> sums;
  for_each_attempt(material, [&](const AttemptRow& attempt) { add(sums[name_of(attempt.state)], attempt); });
  return sums;
}

}  // namespace encore
