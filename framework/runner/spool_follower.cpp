// SPDX-License-Identifier: BSD-3-Clause
// SpoolFollower: reads what a worker appends to its spool, passes it to the observer, and remembers step,
// result and end. Events that cannot be read are skipped: the database keeps them, and `exp logs` shows why.
// Attempt, Verifier and JobKeeper poll it. Read spool_follower.hpp first.
#include "runner/spool_follower.hpp"

#include <algorithm>
#include <utility>

#include "store/metrics.hpp"

namespace encore::runner {

void SpoolFollower::poll() {
  // A control program that was itself asleep received nothing meanwhile, so that time does not count.
  constexpr double longest_look = 1.0;
  const auto time = std::chrono::steady_clock::now();
  const double passed =
      std::min(longest_look, std::chrono::duration<double>(time - std::exchange(looked_, time)).count());
  since_record_ += passed;
  since_step_ += passed;
  while (reader_.next(record_)) {
    since_record_ = 0.0;
    switch (record_.kind) {
      case record::SpoolKind::metric:
        if (record_.name == "train/loss") loss_metric_ = record_.metric;
        observer_.defined(store::metric_from(record_.name, record_.unit, record_.meaning));
        break;
      case record::SpoolKind::point:
        take_point();
        break;
      case record::SpoolKind::event:
        if (const std::optional<record::Event> event = record_.event().event) take(*event);
        break;
    }
  }
}

Inactivity SpoolFollower::inactivity() const {
  return {.seconds = since_step_,
          .usual_step = progress_.step_seconds,
          .longest_pause = progress_.longest_pause,
          .stepped = step_ > 0,
          .last_step_done = progress_.total_steps > 0 && step_ >= progress_.total_steps};
}

void SpoolFollower::take_point() {
  if (loss_metric_ != record_.metric) return;
  step_ = record_.step;
  since_step_ = 0.0;
  observer_.stepped(record_.step, record_.value);
}

void SpoolFollower::take(const record::Event& event) {
  record::handle(
      event,
      [&](const record::Started&) {
        ready_ = true;
        since_step_ = 0.0;
      },
      [&](const record::Progressed& progress) {
        progress_ = progress;
        step_ = progress.step;
        since_step_ = 0.0;
      },
      [&](const record::Concluded& result) { result_ = result; },
      [&](const record::Ended& ended) { ended_ = ended; });
  observer_.happened(event);
}

}  // namespace encore::runner
