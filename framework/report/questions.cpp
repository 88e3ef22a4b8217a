// SPDX-License-Identifier: BSD-3-Clause
// questions_of() makes the questions of a report: it groups runs by the data they were scored on, names their
// candidates, and tests the candidates against each other. read_report_data() of report_data.cpp calls it
// once; all sections use the result. Ids of questions are part of the ids of tables, so they stay. Read
// report_data.hpp first.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/report_data.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

/// The largest number of candidates of which all pairs are tested. With more, only the best is tested against
/// the others.
constexpr std::size_t most_for_all_pairs = 12;
/// The largest number of runs whose predictions are read. More would take longer than the rest of the report.
constexpr std::size_t most_runs_for_examples = 40;

/// Returns the data that a run was scored on; null if it is not recorded.
const store::DatasetRow* set_of(const ReportData& data, const store::RunRow& run, const std::string& role) {
  const auto files = data.datasets.find(run.number);
  if (files == data.datasets.end()) return nullptr;
  for (const store::DatasetRow& file : files->second)
    if (file.role == role) return &file;
  return nullptr;
}

// --- names ---

/// Returns whether a part of a name, such as "learning_rate=1e-05", may begin here, that is, not within a
/// number.
bool begins_part(const std::string& name, std::size_t at) {
  return at < name.size() && std::isalpha(static_cast<unsigned char>(name[at])) != 0;
}

/// Returns the length of the beginning that all names share: whole parts only, and no name is left empty.
std::size_t common_front(const std::vector<std::string>& names) {
  const std::string& first = names.front();
  std::size_t front = 0;
  for (std::size_t at = first.find('-'); at != std::string::npos; at = first.find('-', at + 1)) {
    const std::string_view part = std::string_view(first).substr(0, at + 1);
    if (!std::ranges::all_of(names, [&](const std::string& name) { return name.starts_with(part); })) break;
    if (std::ranges::all_of(names, [&](const std::string& name) { return begins_part(name, at + 1); }))
      front = at + 1;
  }
  return front;
}

/// Returns the length of the end that all names share, such as that of "-warmup_steps=20".
std::size_t common_back(const std::vector<std::string>& names, std::size_t front) {
  const std::string& first = names.front();
  std::size_t back = 0;
  for (std::size_t at = first.rfind('-'); at != std::string::npos && at > front;
       at = first.rfind('-', at - 1)) {
    const std::string_view part = std::string_view(first).substr(at);
    if (!std::ranges::all_of(names, [&](const std::string& name) {
          return name.size() > front + part.size() && name.ends_with(part);
        }))
      break;
    // Only a setting with its value is left out, because the common end of "-1e-05" and "-2e-05" has no
    // meaning.
    if (begins_part(first, at + 1) && part.find('=') != std::string_view::npos) back = part.size();
  }
  return back;
}

/// Returns names without the parts that all candidates with a value share. A run with a different name that
/// only failed does not lengthen other names.
std::vector<std::string> short_names(Question& question) {
  std::vector<std::string> names, scored;
  for (const analysis::Candidate& candidate : question.comparison.candidates) {
    names.push_back(candidate.name);
    if (!candidate.values.empty()) scored.push_back(candidate.name);
  }
  if (scored.empty()) scored = names;
  if (scored.size() < 2) return names;
  const std::size_t front = common_front(scored), back = common_back(scored, front);
  const std::string before = scored.front().substr(0, front),
                    behind = scored.front().substr(scored.front().size() - back);
  std::vector<std::string> labels;
  for (const std::string& name : names) {
    const bool fits = name.size() > front + back && name.starts_with(before);
    const std::string rest = fits ? name.substr(front) : name;
    labels.push_back(fits && rest.ends_with(behind) ? rest.substr(0, rest.size() - back) : rest);
  }
  if (std::set<std::string>(labels.begin(), labels.end()).size() < labels.size()) return names;
  question.before = before;
  question.behind = behind;
  return labels;
}

// --- tests ---

void test(store::Store& store, Question& question) {
  analysis::Comparison& comparison = question.comparison;
  const std::size_t count = question.scored();
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  if (count <= most_for_all_pairs) {
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j) pairs.emplace_back(question.order[i], question.order[j]);
  } else if (const auto first = question.first()) {
    for (std::size_t i = 1; i < count; ++i) pairs.emplace_back(*first, question.order[i]);
  }
  analysis::test_pairs(store, comparison, pairs, count * (count - (count > 0 ? 1 : 0)) / 2);
}

// --- groups ---

/// A metric and the file that it was measured on.
struct Scored {
  std::string file, content, metric;

  auto operator<=>(const Scored&) const = default;
};

using RunGroups = std::map<Scored, std::vector<store::RunRow>>;

/// Returns the groups of `runs` by the file that they were scored on: its name and content in the role "test"
/// or "dev".
std::map<std::pair<std::string, std::string>, std::vector<store::RunRow>> by_file(
    const ReportData& data, const std::vector<store::RunRow>& runs, const std::vector<std::string>& roles) {
  std::map<std::pair<std::string, std::string>, std::vector<store::RunRow>> groups;
  for (const store::RunRow& run : runs) {
    const store::DatasetRow* file = nullptr;
    for (const std::string& role : roles)
      if (file == nullptr) file = set_of(data, run, role);
    groups[{file == nullptr ? "" : config::setting_text(file->path), file == nullptr ? "" : file->sha256}]
        .push_back(run);
  }
  return groups;
}

RunGroups groups_of(const ReportData& data) {
  RunGroups groups;
  const auto add = [&](const std::vector<store::RunRow>& runs, const Metric& metric) {
    for (auto& [file, own] : by_file(data, runs, {metric.split()}))
      groups[{file.first, file.second, metric.name}] = std::move(own);
  };
  if (!data.options.metric.empty()) {
    add(data.runs, {.name = data.options.metric});
    return groups;
  }
  for (const auto& [file, runs] : by_file(data, data.runs, {"test", "dev"}))
    add(runs, store::leading_metric(data.store, runs));
  return groups;
}

}  // namespace

std::vector<Question> questions_of(const ReportData& data) {
  RunGroups groups = groups_of(data);
  std::vector<Question> questions;
  std::size_t lettered = 0;  // the letters continue from question to question
  for (auto& [scored, runs] : groups) {
    Question question;
    question.runs = std::move(runs);
    question.metrics = store::read_metrics(data.store.database(), question.runs);
    question.factors = analysis::factors_of(question.runs, data.params);
    // The titles of two files with one name contain a hash of the file.
    const bool shared = std::ranges::any_of(groups, [&, &own = scored](const auto& other) {
      return other.first.file == own.file && other.first.content != own.content;
    });
    question.id =
        block_id(scored.metric) + (questions.empty() ? "" : "-" + std::to_string(questions.size() + 1));
    question.title = scored.metric + (scored.file.empty() ? "" : " on " + scored.file) +
                     (shared ? " (" + scored.content.substr(0, 8) + ")" : "");
    analysis::CompareOptions options;
    options.metric = question.metrics.of(scored.metric);
    options.pool = data.options.pool;
    options.examples = data.runs.size() <= most_runs_for_examples;
    question.comparison = analysis::collect_candidates(data.store, question.runs, options);
    question.order = analysis::best_first(question.comparison);
    question.names = short_names(question);
    question.key = make_key(question.comparison.candidates, question.order, question.names, question.runs,
                            question.factors, lettered);
    if (question.key.options.empty() || question.key.options.front() != "name")
      question.before = question.behind = "";
    lettered += question.comparison.candidates.size();
    test(data.store, question);
    questions.push_back(std::move(question));
  }
  return questions;
}

std::size_t Question::scored() const {
  return static_cast<std::size_t>(
      std::count_if(comparison.candidates.begin(), comparison.candidates.end(),
                    [](const analysis::Candidate& candidate) { return !std::isnan(candidate.mean); }));
}

std::optional<std::size_t> Question::first() const {
  if (order.empty() || std::isnan(comparison.candidates[order.front()].mean)) return std::nullopt;
  return order.front();
}

bool Question::best(std::size_t candidate) const {
  const analysis::Verdict won =
      comparison.options.metric.lower_is_better() ? analysis::Verdict::lower : analysis::Verdict::higher;
  const analysis::Verdict lost =
      won == analysis::Verdict::higher ? analysis::Verdict::lower : analysis::Verdict::higher;
  std::size_t beaten = 0;
  for (const analysis::Pair& pair : comparison.pairs)
    if ((pair.a == candidate && pair.verdict == won) || (pair.b == candidate && pair.verdict == lost))
      ++beaten;
  return beaten > 0 && beaten + 1 == scored();
}

}  // namespace encore::report
