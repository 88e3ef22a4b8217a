// SPDX-License-Identifier: BSD-3-Clause
// ServeMonitor: writes samples of requests and feedback into spools of the run's folder. service.cpp calls it
// once for all requests that a batch has answered; store/served.hpp merges the spools and removes those that
// are closed. store/served.cpp reads the members of a record by name, so they keep their names. Read
// serve_monitor.hpp first.
#include "serve/serve_monitor.hpp"

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/nearest.hpp"
#include "record/text_hash.hpp"
#include "serve/refusal.hpp"
#include "world/lease_clock.hpp"

namespace encore::serve {
namespace {

/// The time after which a spool is closed and another one is begun. A closed one is removed once it is
/// merged.
constexpr std::chrono::minutes spool_time(10);
/// The largest number of answers that feedback may refer to, and their bytes.
constexpr std::size_t most_remembered = 65536, most_remembered_bytes = std::size_t{64} << 20;
constexpr double seconds_of_day = 86400.0;
/// The data of clients is for the user of this server alone.
constexpr unsigned spool_mode = 0600;

}  // namespace

bool is_sampled(std::string_view id, double share) {
  return record::share_of(id) < share;
}

ServeMonitor::ServeMonitor(std::filesystem::path run_folder, std::string run_id, std::string session,
                           const MonitorRules& rules)
    : folder_(std::move(run_folder) / store::served_folder),
      run_id_(std::move(run_id)),
      session_(std::move(session)),
      rules_(rules) {}

ServeMonitor::~ServeMonitor() {
  flush();
}

void ServeMonitor::add(const std::string& id, const std::string& digest, const Job& job, double seconds,
                       const std::string& group) {
  const double now = world::now_seconds();
  std::vector<std::string> answers;
  for (std::size_t i = 0; i < job.answers.size(); ++i) {
    const record::ServeAnswer& answer = job.answers[i];
    const auto place = static_cast<std::int64_t>(i);
    answers.push_back(answer.text);
    if (answer.facts.empty()) continue;
    texts_.push_back(
        {.request = id, .text = place, .time = now, .seconds = seconds, .digest = digest, .group = group});
    facts_.push_back(answer.facts);
    if (rules_.text_days > 0.0)
      contents_.push_back({.request = id,
                           .text = place,
                           .content = job.texts[i],
                           .answer = answer.text,
                           .expires = now + rules_.text_days * seconds_of_day});
  }
  remember(id, std::move(answers));
}

void ServeMonitor::remember(const std::string& id, std::vector<std::string> answers) {
  const auto bytes_of = [](const std::vector<std::string>& list) {
    std::size_t bytes = 0;
    for (const std::string& each : list) bytes += each.size();
    return bytes;
  };
  answer_bytes_ += bytes_of(answers);
  order_.push_back(id);
  answers_[id] = std::move(answers);
  while (order_.size() > most_remembered || (answer_bytes_ > most_remembered_bytes && order_.size() > 1)) {
    const auto oldest = answers_.find(order_.front());
    answer_bytes_ -= bytes_of(oldest->second);
    answers_.erase(oldest);
    order_.pop_front();
  }
}

bool ServeMonitor::feedback(const FeedbackRequest& request) {
  const auto found = answers_.find(request.id);
  if (found == answers_.end())
    throw Refusal(404, "unknown request \"" + request.id + "\"; it was not sampled, or is too old");
  if (request.text >= found->second.size())
    throw Refusal(400, "invalid \"text\" " + std::to_string(request.text) + ": the request had " +
                           std::to_string(found->second.size()) + " inputs; they count from 0");
  const nlohmann::json answer = parse_json<nlohmann::json>(found->second[request.text]);
  const nlohmann::json truth = parse_json<nlohmann::json>(request.answer);
  bool correct = true;
  for (const auto& [name, value] : truth.items()) {
    if (!answer.contains(name)) {
      std::vector<std::string> names;
      for (const auto& [known, ignored] : answer.items()) names.push_back(known);
      throw Refusal(400, "\"answer\" has a member \"" + name + "\", which the model's answer does not have" +
                             did_you_mean(name, names, "; that has " + quoted_list(names)));
    }
    correct = correct && answer.at(name) == value;
  }
  const double now = world::now_seconds();
  const auto place = static_cast<std::int64_t>(request.text);
  flush();  // the record of the answer must come before its feedback
  append(numbers_, [&] {
    return store::record_text(
        store::ServedFeedback{.request = request.id, .text = place, .time = now, .correct = correct});
  });
  if (rules_.text_days > 0.0)
    append(words_, [&] {
      return store::record_text(
          std::vector<store::ServedContent>{{.request = request.id,
                                             .text = place,
                                             .truth = request.answer,
                                             .expires = now + rules_.text_days * seconds_of_day}});
    });
  return correct;
}

void ServeMonitor::flush() {
  if (!texts_.empty()) append(numbers_, [&] { return store::record_text(texts_, facts_); });
  if (!contents_.empty()) append(words_, [&] { return store::record_text(contents_); });
  texts_.clear();
  facts_.clear();
  contents_.clear();
}

void ServeMonitor::append(File& file, const std::function<std::string()>& record_of) try {
  const std::string record = record_of();
  const auto now = std::chrono::steady_clock::now();
  if (file.writer && now - file.opened > spool_time) file.writer.reset();
  if (!file.writer) {
    store::make_served_folder(folder_);
    const std::string name =
        std::string(file.kind) + "-" + session_ + "-" + std::to_string(++file.part) + ".spool";
    file.writer.emplace(folder_ / name, 1, run_id_, spool_mode);
    file.opened = now;
  }
  file.writer->event_text(record);
  failed_ = false;
} catch (const std::exception& error) {
  file.writer.reset();
  if (!std::exchange(failed_, true) && rules_.noticed)
    rules_.noticed("samples of requests are lost until this is corrected: " + std::string(error.what()));
}

}  // namespace encore::serve
