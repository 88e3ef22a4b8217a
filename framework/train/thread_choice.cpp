// SPDX-License-Identifier: BSD-3-Clause
// first_choice() and next_choice(): decide by load samples how many threads train. adaptive_threads.cpp calls
// them. The constants come from measurements. Read thread_choice.hpp first, which explains the model.
#include "train/thread_choice.hpp"

#include <algorithm>
#include <cmath>

namespace encore::train {
namespace {

constexpr double smoothing_seconds = 1.0;
constexpr double shortest_patience = 1.0, longest_patience = 60.0;
/// A rise that is reversed within this time, in seconds, counts as a mistake.
constexpr double trial_seconds = 10.0;
/// Of the CPU time that a control group grants, a part of a CPU counts as a whole thread from this value on,
/// because the group stops all threads at about the same time. Less is noise.
constexpr double granted_part = 0.1;

/// Returns the CPUs that may be missing although the machine is idle, because of background work.
double slack(int threads) {
  return 0.25 + 0.02 * threads;
}

void smooth(double& value, double seen, double seconds) {
  value += (1.0 - std::exp(-seconds / smoothing_seconds)) * (seen - value);
}

int wanted_threads(const ThreadChoice& now, int most) {
  // Time for which a control group stopped the process does not count as load of other programs.
  const double waited = std::max(0.0, now.waited - std::max(0.0, now.threads - now.granted));
  const double available = std::min(now.free, now.threads - waited);
  int wanted = now.threads;
  if (available < now.threads - slack(now.threads))
    wanted = static_cast<int>(std::floor(available + slack(now.threads)));
  else if (now.since_change >= now.patience && waited < slack(now.threads) / 2)
    wanted = std::max(wanted, static_cast<int>(std::floor(now.free + slack(now.threads) / 2)));
  const double room = std::ceil(std::min(now.granted, static_cast<double>(most)) - granted_part);
  return std::clamp(std::min(wanted, static_cast<int>(room)), 1, most);
}

}  // namespace

ThreadChoice first_choice(int most) {
  const double all = most;
  return {.threads = most, .free = all, .granted = all, .patience = shortest_patience};
}

ThreadChoice next_choice(ThreadChoice choice, const LoadSample& sample, int most) {
  smooth(choice.free, sample.free, sample.seconds);
  smooth(choice.waited, sample.waited, sample.seconds);
  smooth(choice.granted, std::min(sample.granted, static_cast<double>(most)), sample.seconds);
  choice.since_change += sample.seconds;
  const int threads = wanted_threads(choice, most);
  if (threads == choice.threads) return choice;
  const bool rises = threads > choice.threads;
  if (!rises)
    choice.patience = choice.raised && choice.since_change < trial_seconds
                          ? std::min(2.0 * choice.patience, longest_patience)
                          : shortest_patience;
  choice.threads = threads;
  choice.raised = rises;
  choice.since_change = 0.0;
  choice.waited = 0.0;  // measured with another number of threads
  return choice;
}

}  // namespace encore::train
