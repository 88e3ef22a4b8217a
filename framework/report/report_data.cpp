// SPDX-License-Identifier: BSD-3-Clause
// read_report_data() reads the rows of a report with a fixed number of queries, however many runs there are,
// and derives the facts that all sections use. report.cpp calls it. The number of queries must not grow with
// the number of runs. Read report_data.hpp first; questions.cpp groups the runs.
#include "report/report_data.hpp"

#include <algorithm>
#include <set>

#include "report/wording.hpp"
#include "store/searches.hpp"

namespace encore::report {

namespace {

/// Returns how checkpoints are chosen, "max dev/f1", if all runs agree; else "".
std::string selection_of(const ReportData& data) {
  std::set<std::string> rules;
  for (const store::RunRow& run : data.runs) {
    const nlohmann::json of_training = data.setting(run, "train.select");
    rules.insert(config::setting_text(of_training.is_null() ? data.setting(run, "app.select") : of_training));
  }
  return rules.size() == 1 ? *rules.begin() : "";
}

}  // namespace

std::vector<std::string> ReportData::metric_names() const {
  std::vector<std::string> names;
  for (const Question& question : questions)
    if (std::ranges::find(names, question.metric().name) == names.end())
      names.push_back(question.metric().name);
  return names;
}

bool ReportData::all_searched(const Question& question) const {
  return std::ranges::all_of(question.runs,
                             [&](const store::RunRow& run) { return searched.contains(run.number); });
}

bool ReportData::any_searched(const Question& question) const {
  return std::ranges::any_of(question.runs,
                             [&](const store::RunRow& run) { return searched.contains(run.number); });
}

const store::AttemptRow* ReportData::told(const store::RunRow& run) const {
  const auto own = attempts.find(run.number);
  if (own == attempts.end()) return nullptr;
  for (auto attempt = own->second.rbegin(); attempt != own->second.rend(); ++attempt)
    if (attempt->started_event) return &*attempt;
  return nullptr;
}

const record::Started* ReportData::started(const store::RunRow& run) const {
  const store::AttemptRow* attempt = told(run);
  return attempt != nullptr ? &*attempt->started_event : nullptr;
}

const record::SetFacts* ReportData::facts(const store::RunRow& run, const std::string& role) const {
  const record::Started* own = started(run);
  if (own == nullptr) return nullptr;
  const auto set = own->data.find(role);
  return set != own->data.end() ? &set->second : nullptr;
}

nlohmann::json ReportData::setting(const store::RunRow& run, const std::string& key) const {
  const auto own = params.find(run.number);
  if (own == params.end()) return nullptr;
  const auto found = std::lower_bound(
      own->second.begin(), own->second.end(), key,
      [](const store::ParamRow& param, const std::string& name) { return param.key < name; });
  return found != own->second.end() && found->key == key ? found->value : nlohmann::json();
}

bool ReportData::hides_texts(const Question& question, const std::string& section) const {
  const std::vector<std::string>& named = options.sections;
  if (std::find(named.begin(), named.end(), section) != named.end()) return false;
  // If one run marks its data as private, this holds for every run that was scored on the same data.
  return std::any_of(question.runs.begin(), question.runs.end(), [&](const store::RunRow& run) {
    return setting(run, "data.private") == nlohmann::json(true);
  });
}

std::string ReportData::caption_of(const Question& question, const std::string& text) const {
  return questions.size() > 1 ? question.title + ": " + text : text;
}

std::size_t ReportData::rows_of(std::size_t all) const {
  return options.most_rows == 0 ? all : std::min(all, options.most_rows);
}

ReportData read_report_data(store::Store& store, const std::vector<store::RunRow>& runs,
                            const std::string& subject, const ReportOptions& options) {
  ReportData data{.store = store,
                  .options = options,
                  .subject = subject,
                  .metrics = store::read_metrics(store.database(), runs),
                  .select = {},
                  .runs = runs,
                  .params = {},
                  .datasets = {},
                  .attempts = {},
                  .artifacts = {},
                  .verifications = {},
                  .sweeps = {},
                  .beside = 0,
                  .factors = {},
                  .questions = {},
                  .searched = store::runs_of_searches(store)};
  std::sort(data.runs.begin(), data.runs.end(),
            [](const store::RunRow& a, const store::RunRow& b) { return natural_less(a.name, b.name); });
  store::RunBatch batch(store, data.runs);
  data.params = batch.params();
  data.datasets = batch.datasets();
  data.attempts = batch.attempts();
  data.artifacts = batch.artifacts();
  data.verifications = batch.verifications();
  data.sweeps = batch.sweeps();
  data.beside = batch.runs_beside(data.sweeps);
  data.select = selection_of(data);
  data.factors = analysis::factors_of(data.runs, data.params);
  data.questions = questions_of(data);
  return data;
}

}  // namespace encore::report
