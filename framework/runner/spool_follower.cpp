// See spool_follower.hpp.
#include "runner/spool_follower.hpp"

#include <algorithm>
#include <utility>

namespace encore {

namespace {

/// A number, or `otherwise` where it is missing or null (a spool writes null for what is not finite).
double number(const nlohmann::json& event, const char* key, double otherwise = 0.0) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::int64_t integer(const nlohmann::json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string text(const nlohmann::json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The members of an object that are texts.
std::map<std::string, std::string> texts(const nlohmann::json& event, const char* key) {
  std::map<std::string, std::string> found;
  const auto object = event.find(key);
  if (object == event.end() || !object->is_object()) return found;
  for (const auto& [name, value] : object->items())
    if (value.is_string()) found[name] = value.get<std::string>();
  return found;
}

Measures measures_of(const nlohmann::json& event) {
  Measures measures;
  const auto found = event.find("measures");
  if (found == event.end() || !found->is_object()) return measures;
  for (const auto& [name, value] : found->items())
    if (value.is_number()) measures[name] = value.get<double>();
  return measures;
}

}  // namespace

void SpoolFollower::poll() {
  // A control program that was itself asleep has heard nothing meanwhile, and blames nobody for it.
  constexpr double longest_look = 1.0;
  const auto time = std::chrono::steady_clock::now();
  const double passed =
      std::min(longest_look, std::chrono::duration<double>(time - std::exchange(looked_, time)).count());
  since_record_ += passed;
  since_step_ += passed;
  while (reader_.next(record_)) {
    since_record_ = 0.0;
    switch (record_.kind) {
      case SpoolKind::metric:
        if (record_.name == "train/loss") loss_metric_ = record_.metric;
        break;
      case SpoolKind::point:
        take_point();
        break;
      case SpoolKind::event:
        tell(record_.event());
        break;
    }
  }
}

Silence SpoolFollower::silence() const {
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
  loss_sum_ += record_.value;
  ++loss_count_;
}

void SpoolFollower::tell_scores(const nlohmann::json& event) {
  Scores scores{integer(event, "step"), measures_of(event), std::nullopt, std::nullopt};
  if (const std::int64_t epoch = integer(event, "epoch"); epoch > 0) scores.epoch = epoch;
  if (loss_count_ > 0) scores.train_loss = loss_sum_ / static_cast<double>(loss_count_);
  loss_sum_ = 0.0;
  loss_count_ = 0;
  observer_.measured(scores);
}

void SpoolFollower::tell(const nlohmann::json& event) {
  const std::string type = text(event, "type");
  if (type == "progress") {
    step_ = integer(event, "step");
    since_step_ = 0.0;
    progress_ = {.step = step_,
                 .total_steps = integer(event, "total_steps"),
                 .epoch = integer(event, "epoch"),
                 .loss = number(event, "loss"),
                 .learning_rate = number(event, "learning_rate"),
                 .tokens_per_second = number(event, "tokens_per_second"),
                 .eta_seconds = number(event, "eta_seconds"),
                 .step_seconds = number(event, "step_seconds"),
                 .longest_pause = number(event, "longest_pause")};
    observer_.progressed(progress_);
  } else if (type == "measured") {
    tell_scores(event);
  } else if (type == "log") {
    observer_.logged(text(event, "level"), text(event, "text"));
  } else if (type == "started") {
    ready_ = true;
    since_step_ = 0.0;
    observer_.started(event);
  } else if (type == "digest") {
    observer_.digested(
        {integer(event, "step"), text(event, "scope"), text(event, "value"), texts(event, "tensors")});
  } else if (type == "result") {
    result_ = RunResult{integer(event, "best_step"), measures_of(event)};
  } else if (type == "finished") {
    finished_ = WorkerFinished{text(event, "state"), text(event, "reason"), std::nullopt};
    if (event.contains("step") && event["step"].is_number_integer()) finished_->step = integer(event, "step");
  }
}

}  // namespace encore
