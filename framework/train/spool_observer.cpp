// Points for every step, events for everything else.
#include "train/spool_observer.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace encore {
namespace {

/// A progress event after this many seconds of training: what the live line shows.
constexpr double progress_interval = 0.2;
/// Weight of the newest step in the mean time of a step.
constexpr double smoothing = 0.05;

const char* name_of(Ending ending) {
  switch (ending) {
    case Ending::completed:
      return "completed";
    case Ending::interrupted:
      return "interrupted";
    case Ending::failed:
      return "failed";
  }
  return "failed";
}

/// A spool that cannot be written ends the attempt, not the run.
template <class Write>
void record(Write write) {
  try {
    write();
  } catch (const Error& error) {
    throw RecordError(error.what());
  }
}

}  // namespace

SpoolObserver::SpoolObserver(SpoolWriter& spool) : spool_(spool) {
  spool_.define("train/tokens_per_second", "tokens/s");
  spool_.define("train/step_seconds", "s");
}

void SpoolObserver::log(const std::string& message) {
  record([&] { spool_.event("log", {{"level", "info"}, {"text", message}}); });
}

void SpoolObserver::stepped(const StepReport& report) {
  epoch_ = report.epoch;
  const auto time = std::chrono::steady_clock::now();
  if (last_step_)
    longest_pause_ = std::max(longest_pause_, std::chrono::duration<double>(time - *last_step_).count());
  last_step_ = time;
  record([&] {
    const double tokens_per_second =
        report.seconds > 0 ? static_cast<double>(report.tokens) / report.seconds : 0.0;
    spool_.point("train/loss", report.step, report.loss);
    spool_.point("train/learning_rate", report.step, report.learning_rate);
    spool_.point("train/gradient_norm", report.step, report.gradient_norm);
    spool_.point("train/tokens_per_second", report.step, tokens_per_second);
    spool_.point("train/step_seconds", report.step, report.seconds);

    seconds_per_step_ = seconds_per_step_ == 0.0
                            ? report.seconds
                            : (1.0 - smoothing) * seconds_per_step_ + smoothing * report.seconds;
    seconds_since_progress_ += report.seconds;
    if (report.step > 1 && seconds_since_progress_ < progress_interval) return;
    seconds_since_progress_ = 0.0;
    spool_.event("progress", {{"step", report.step},
                              {"total_steps", report.total_steps},
                              {"epoch", report.epoch},
                              {"loss", report.loss},
                              {"learning_rate", report.learning_rate},
                              {"tokens_per_second", tokens_per_second},
                              {"step_seconds", seconds_per_step_},
                              {"longest_pause", longest_pause_},
                              {"eta_seconds",
                               seconds_per_step_ * static_cast<double>(report.total_steps - report.step)}});
  });
}

void SpoolObserver::measured(std::int64_t step, const std::vector<Measure>& measures) {
  record([&] {
    nlohmann::json values = nlohmann::json::object();
    for (const Measure& measure : measures) {
      spool_.point(measure.name, step, measure.value);
      values[measure.name] = measure.value;
    }
    spool_.event("measured", {{"step", step}, {"epoch", epoch_}, {"measures", values}});
  });
}

void SpoolObserver::digested(const Digest& digest) {
  record([&] {
    nlohmann::json event = {{"step", digest.step}, {"scope", digest.scope}, {"value", digest.sha256}};
    if (!digest.tensors.empty()) event["tensors"] = digest.tensors;
    spool_.event("digest", std::move(event));
  });
}

void SpoolObserver::saving() {
  record([&] { spool_.sync(); });
}

void SpoolObserver::saved(const CheckpointReport& report) {
  record([&] {
    spool_.event("checkpoint", {{"step", report.step},
                                {"path", report.path},
                                {"bytes", report.bytes},
                                {"sha256", report.sha256},
                                {"kind", report.kind == CheckpointKind::best ? "best" : "last"}});
    spool_.sync();
  });
}

void SpoolObserver::wrote(const std::string& name, const std::string& path, const std::string& sha256) {
  record([&] { spool_.event("artifact", {{"name", name}, {"path", path}, {"sha256", sha256}}); });
}

void SpoolObserver::concluded(std::int64_t best_step, const std::vector<Measure>& result) {
  record([&] {
    nlohmann::json measures = nlohmann::json::object();
    for (const Measure& measure : result) measures[measure.name] = measure.value;
    spool_.event("result", {{"best_step", best_step}, {"measures", measures}});
  });
}

void SpoolObserver::ended(Ending ending, const std::string& reason, std::int64_t step) {
  record([&] {
    spool_.event("finished", {{"state", name_of(ending)}, {"reason", reason}, {"step", step}});
    spool_.sync();
  });
}

}  // namespace encore
