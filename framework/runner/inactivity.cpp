// SPDX-License-Identifier: BSD-3-Clause
// Inactivity: decides when a silent worker deserves a message (noticeable) and when it has passed
// --step-timeout (passed_limit), from its usual step and its longest pause. The constants are chosen so that
// scoring and vocabulary training cause no message. attempt.cpp, job_keeper.cpp and `exp status` ask it. Read
// inactivity.hpp first.
#include "runner/inactivity.hpp"

#include <algorithm>

namespace encore::runner {

namespace {

/// In seconds. A shorter inactivity causes no message.
constexpr double shortest = 10.0;
/// In seconds, for a worker without a step yet: it may read data and train a vocabulary.
constexpr double shortest_at_start = 60.0;
/// An inactivity is noticeable if it exceeds both: the usual step and the longest pause so far, times these
/// factors.
constexpr double many_steps = 20.0, many_pauses = 3.0;
/// A launcher may need longer to start ranks than they need for a step.
constexpr std::chrono::seconds least_to_start(60);

}  // namespace

bool Inactivity::noticeable() const {
  if (last_step_done) return false;
  if (!stepped) return seconds > shortest_at_start;
  return seconds > std::max({shortest, many_steps * usual_step, many_pauses * longest_pause});
}

Inactivity inactivity_of(const store::RunRow& run, double now) {
  const record::Progressed progress = run.progress.value_or(record::Progressed{});
  const double last = run.progress ? run.progress_time : run.started.value_or(now);
  return {.seconds = std::max(0.0, now - last),
          .usual_step = progress.step_seconds,
          .longest_pause = progress.longest_pause,
          .stepped = run.progress.has_value(),
          .last_step_done = progress.total_steps > 0 && progress.step >= progress.total_steps};
}

std::optional<std::chrono::seconds> passed_limit(WorkerStage stage, double seconds,
                                                 std::chrono::seconds limit) {
  // A worker that prepares reports nothing, however long it reads data or makes a vocabulary.
  if (limit.count() == 0 || stage == WorkerStage::preparing) return std::nullopt;
  const std::chrono::seconds time = stage == WorkerStage::starting ? std::max(limit, least_to_start) : limit;
  return seconds >= static_cast<double>(time.count()) ? std::optional(time) : std::nullopt;
}

}  // namespace encore::runner
