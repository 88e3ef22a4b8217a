// SPDX-License-Identifier: BSD-3-Clause
// SpoolObserver: writes a run's reports into its spool: points for every step and score, events as they
// happen, and progress a few times per second and at the end. Read spool_observer.hpp first; the format is in
// record/spool.hpp.
#include "train/spool_observer.hpp"

#include <algorithm>
#include <limits>

#include "base/measures.hpp"
#include "data/split.hpp"

namespace encore::train {
namespace {

const std::vector<std::string> evaluated_splits = {data::name_of(data::Split::dev),
                                                   data::name_of(data::Split::test)};

/// The seconds of training between two progress events, which the live line shows.
constexpr double progress_interval = 0.2;
/// The weight of the newest step in the smoothed duration of a step.
constexpr double smoothing = 0.05;

/// Calls `write`. If the spool cannot be written, throws RecordError: that ends the attempt, but the run can
/// be resumed.
template <class Write>
void record(Write write) {
  try {
    write();
  } catch (const Error& error) {
    throw RecordError(error.what());
  }
}

}  // namespace

SpoolObserver::SpoolObserver(record::SpoolWriter& spool) : spool_(spool) {
  record::define_measures(spool_, std::vector<std::string>{data::name_of(data::Split::train)},
                          training_measures());
  record::define_measures(spool_, evaluated_splits, std::vector<Measure>{loss_measure()});
}

void SpoolObserver::measures(std::span<const Measure> of_task) {
  record([&] { record::define_measures(spool_, evaluated_splits, of_task); });
}

void SpoolObserver::happened(const record::Event& event) {
  record([&] {
    record::handle(event, [&](const record::Evaluated& scores) {
      for (const record::MeasuredValue& measure : scores.measures)
        spool_.point(measure.name, scores.step, measure.value);
    });
    if (std::holds_alternative<record::Ended>(event)) write_newest_progress();
    spool_.event(event);
    if (std::holds_alternative<record::Saved>(event) || std::holds_alternative<record::Ended>(event))
      spool_.sync();
  });
}

void SpoolObserver::resumed(const Resumption& resumption) {
  progress_ = {.step = resumption.step,
               .total_steps = resumption.total_steps,
               .epoch = resumption.epoch,
               .loss = std::numeric_limits<double>::quiet_NaN()};
  progress_is_written_ = false;
}

void SpoolObserver::stepped(const StepReport& report) {
  progress_ = progress_of(report);
  progress_is_written_ = false;
  last_scoring_.reset();
  record([&] {
    spool_.point("train/loss", report.step, report.loss);
    spool_.point("train/learning_rate", report.step, report.learning_rate);
    spool_.point("train/gradient_norm", report.step, report.gradient_norm);
    spool_.point("train/tokens_per_second", report.step, progress_.tokens_per_second);
    spool_.point("train/step_seconds", report.step, report.seconds);
    seconds_since_progress_ += report.seconds;
    if (report.step > 1 && seconds_since_progress_ < progress_interval) return;
    seconds_since_progress_ = 0.0;
    write_newest_progress();
  });
}

void SpoolObserver::write_newest_progress() {
  if (progress_is_written_) return;
  spool_.event(progress_);
  progress_is_written_ = true;
}

void SpoolObserver::scoring(data::Split split, const infer::EvaluationProgress& progress) {
  if (progress_.total_steps == 0) return;  // nothing to train, so no progress
  const auto time = std::chrono::steady_clock::now();
  // Short scorings get no progress event.
  if (!last_scoring_) last_scoring_ = time;
  if (std::chrono::duration<double>(time - *last_scoring_).count() < progress_interval) return;
  last_scoring_ = time;
  record::Progressed scoring = progress_;
  scoring.activity =
      std::string(progress.writes ? "generating text for " : "scoring ") + data::name_of(split);
  scoring.activity_share =
      static_cast<double>(progress.done) / static_cast<double>(std::max<std::size_t>(progress.all, 1));
  record([&] { spool_.event(scoring); });
}

record::Progressed SpoolObserver::progress_of(const StepReport& report) {
  const auto time = std::chrono::steady_clock::now();
  if (last_step_)
    longest_pause_ = std::max(longest_pause_, std::chrono::duration<double>(time - *last_step_).count());
  last_step_ = time;
  seconds_per_step_ = seconds_per_step_ == 0.0
                          ? report.seconds
                          : (1.0 - smoothing) * seconds_per_step_ + smoothing * report.seconds;
  return {.step = report.step,
          .total_steps = report.total_steps,
          .epoch = report.epoch,
          .loss = report.loss,
          .learning_rate = report.learning_rate,
          .tokens_per_second = report.seconds > 0 ? static_cast<double>(report.tokens) / report.seconds : 0.0,
          .eta_seconds = seconds_per_step_ * static_cast<double>(report.total_steps - report.step),
          .step_seconds = seconds_per_step_,
          .longest_pause = longest_pause_};
}

void SpoolObserver::saving() {
  record([&] { spool_.sync(); });
}

}  // namespace encore::train
