// See run_display.hpp.
#include "cli/run_display.hpp"

#include <cmath>

#include "cli/format.hpp"

namespace encore {

namespace {

/// Without a terminal a line of progress at most this often.
constexpr std::chrono::seconds plain_interval(10);
/// And while nothing happens.
constexpr std::chrono::seconds silent_interval(60);

std::string counted(const nlohmann::json& number, const char* what) {
  return number.is_number() ? count_text(number.get<double>()) + " " + what : std::string();
}

}  // namespace

std::string progress_text(const Progress& progress) {
  std::string text = "step " + std::to_string(progress.step) + "/" + std::to_string(progress.total_steps);
  text += "  epoch " + std::to_string(progress.epoch) + "  loss " + number_text(progress.loss);
  text += "  " + count_text(progress.tokens_per_second) + " tokens/s";
  text += "  lr " + number_text(progress.learning_rate);
  return text + "  " + duration_text(progress.eta_seconds) + " left";
}

std::string silence_text(const Silence& silence) {
  const std::string time = duration_text(std::floor(silence.seconds));
  if (!silence.stepped) return "no step yet, " + time + " after its start";
  if (silence.usual_step <= 0.0) return "no step for " + time;
  return "no step for " + time + ", usually " +
         (silence.usual_step < 1.0 ? number_text(silence.usual_step) + " s"
                                   : duration_text(silence.usual_step));
}

std::string measures_text(const Measures& measures) {
  struct Shown {
    const char* measure;
    const char* title;
    bool fraction;
  };
  constexpr Shown shown[] = {{"f1", "F1", true},
                             {"precision", "precision", true},
                             {"recall", "recall", true},
                             {"accuracy", "accuracy", true},
                             {"loss", "loss", false}};
  for (const char* split : {"dev", "test"}) {
    std::string text;
    for (const Shown& entry : shown) {
      const auto found = measures.find(std::string(split) + "/" + entry.measure);
      if (found == measures.end()) continue;
      text += std::string(text.empty() ? "" : "  ") + entry.title + " " +
              (entry.fraction ? percent_text(found->second) : number_text(found->second));
    }
    if (!text.empty()) return std::string(split) + " " + text;
  }
  return "";
}

RunDisplay::RunDisplay(std::string title, LiveLines& lines, int key, bool quiet)
    : title_(std::move(title)),
      lines_(lines),
      key_(key),
      quiet_(quiet),
      last_plain_line_(std::chrono::steady_clock::now()) {
  if (!quiet_) lines_.set(key_, title_ + "  starting");
}

RunDisplay::~RunDisplay() {
  lines_.remove(key_);
}

void RunDisplay::started(const nlohmann::json& description) {
  if (quiet_) return;
  const auto field = [&](const char* key) {
    const auto found = description.find(key);
    return found != description.end() ? *found : nlohmann::json();
  };
  std::string text = counted(field("parameters"), "parameters");
  const nlohmann::json data = field("data");
  for (const char* split : {"train", "dev", "test"})
    if (data.is_object() && data.contains(split) && data[split].is_object())
      text += (text.empty() ? "" : ", ") + counted(data[split].value("examples", nlohmann::json()), split);
  const nlohmann::json threads = field("threads");
  if (threads.is_number_integer())
    text += ", " + std::to_string(threads.get<int>()) + (threads.get<int>() == 1 ? " thread" : " threads");
  print(title_ + "  " + text);
}

void RunDisplay::progressed(const Progress& progress) {
  progress_ = progress;
  silent_ = false;
  if (quiet_) return;
  lines_.set(key_, title_ + "  " + progress_text(progress));
  if (lines_.terminal().live) return lines_.refresh();
  const auto time = std::chrono::steady_clock::now();
  if (time - last_plain_line_ < plain_interval) return;
  print(title_ + "  " + progress_text(progress));
}

void RunDisplay::measured(const Scores& scores) {
  const std::string text = measures_text(scores.measures);
  if (quiet_ || text.empty()) return;
  std::string line = title_ + "  step " + std::to_string(scores.step);
  const bool training = text.starts_with("dev");
  if (training && scores.epoch) line += "  epoch " + std::to_string(*scores.epoch);
  if (training && scores.train_loss) line += "  train loss " + number_text(*scores.train_loss);
  print(line + "  " + text);
}

void RunDisplay::logged(const std::string& level, const std::string& text) {
  if (quiet_ && level == "info") return;
  print(title_ + "  " + (level == "info" ? "" : level + ": ") + printable(text));
}

void RunDisplay::silent(const Silence& silence) {
  if (quiet_) return;
  const std::string step =
      "step " + std::to_string(progress_.step) + "/" + std::to_string(progress_.total_steps);
  const std::string text = title_ + "  " + (silence.stepped ? step + "  " : "") + silence_text(silence);
  lines_.set(key_, text);
  if (lines_.terminal().live) return lines_.refresh();
  const auto time = std::chrono::steady_clock::now();
  if (time - last_plain_line_ < (silent_ ? silent_interval : plain_interval)) return;
  silent_ = true;
  print(text);
}

void RunDisplay::noticed(const std::string& text) {
  lines_.hide();
  std::fprintf(stderr, "exp: %s: %s\n", title_.c_str(), text.c_str());
}

void RunDisplay::say(const std::string& text) {
  if (!quiet_) print(text);
}

void RunDisplay::print(const std::string& text) {
  last_plain_line_ = std::chrono::steady_clock::now();
  lines_.print(lines_.terminal().live ? text : clock_text(now()) + " " + text);
}

}  // namespace encore
