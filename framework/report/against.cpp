// SPDX-License-Identifier: BSD-3-Clause
// The section "against": compares another set of runs with those of the report: changes in the settings, the
// data, the build, and the result. report.cpp calls against_section() for `exp report --against`. CSV and
// JSON have the ids and columns of its tables, so they stay. Read sections.hpp first.
#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/difference.hpp"
#include "base/sha256.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

// --- changes ---

/// The values that each fact has among the runs of a side.
using ValueSets = std::map<std::string, std::set<std::string>>;

ValueSets facts_of(const ReportData& data) {
  ValueSets values;
  const auto add = [&](const std::string& section, const std::string& key, const std::string& value) {
    values[section + "\n" + key].insert(value);
  };
  for (const store::RunRow& run : data.runs) {
    add("configuration", "seed", std::to_string(run.seed));
    add("configuration", "backend", run.backend);
    if (const auto params = data.params.find(run.number); params != data.params.end())
      for (const store::ParamRow& param : params->second)
        if (!param.value.is_string() || !param.value.get_ref<const std::string&>().starts_with('/'))
          add("configuration", param.key, config::setting_text(param.value));
    if (const auto files = data.datasets.find(run.number); files != data.datasets.end())
      for (const store::DatasetRow& file : files->second)
        add("data", file.role, config::setting_text(file.path) + " " + short_hash(file.sha256));
    const store::AttemptRow* told = data.told(run);
    if (told == nullptr) continue;
    for (const auto& [section, object] :
         {std::pair<const char*, const nlohmann::json*>{"environment", &told->environment},
          {"build", &told->build},
          {"host", &told->host}})
      if (object->is_object())
        for (const auto& [name, value] : object->items())
          if (!value.is_structured()) add(section, name, config::setting_text(value));
    for (const store::PluginRow& plugin : told->plugins)
      add("plugins", plugin.name, plugin.version + " " + short_hash(plugin.sha256));
    add("code", "source of Encore", told->source ? record::source_text(*told->source) : "not recorded");
    add("code", "commit of the experiment's repository",
        told->commit_hash.empty() ? "in none" : short_hash(told->commit_hash));
    add("code", "uncommitted changes in it", told->diff.empty() ? "none" : "some");
  }
  return values;
}

document::TableCell values_cell(const ValueSets& values, const std::string& key) {
  const auto found = values.find(key);
  if (found == values.end()) return {};
  constexpr std::size_t most = 6;
  std::vector<std::string> sorted(found->second.begin(), found->second.end());
  std::sort(sorted.begin(), sorted.end(), natural_less);
  std::string text;
  for (std::size_t i = 0; i < std::min(most, sorted.size()); ++i) text += (i == 0 ? "" : " | ") + sorted[i];
  if (sorted.size() > most) text += " | and " + std::to_string(sorted.size() - most) + " more";
  return text;
}

document::TableBlock change_table(const ReportData& data, const ReportData& old) {
  const ValueSets now = facts_of(data), before = facts_of(old);
  std::set<std::string> keys;
  for (const auto* side : {&now, &before})
    for (const auto& [key, values] : *side) keys.insert(key);
  document::TableBlock table;
  table.id = "against-changes";
  table.caption = "Facts that differ between the sides; several values of a side stand beside each other.";
  table.columns = {{"of", "", false}, {"field", "", false}, {"old", "", false}, {"new", "", false}};
  for (const std::string section :
       {"configuration", "data", "environment", "build", "host", "plugins", "code"})
    for (const std::string& key : keys) {
      if (!key.starts_with(section + "\n")) continue;
      const auto a = before.find(key), b = now.find(key);
      if (a != before.end() && b != now.end() && a->second == b->second) continue;
      table.rows.push_back({section, code_cell(key.substr(section.size() + 1)), values_cell(before, key),
                            values_cell(now, key)});
    }
  if (table.rows.empty()) table.notes.push_back("There are no differences.");
  return table;
}

// --- results ---

struct Side {
  const Question* question = nullptr;
  std::size_t candidate = 0;
  const analysis::Candidate& get() const { return question->comparison.candidates[candidate]; }
};

std::vector<Side> candidates_of(const ReportData& data, const std::string& metric) {
  std::vector<Side> sides;
  for (const Question& question : data.questions)
    if (question.metric().name == metric)
      for (const std::size_t index : question.order) sides.push_back({&question, index});
  return sides;
}

/// Returns the old candidate with which each new one is compared: one of the same group and backend;
/// otherwise the only one of that backend whose name has the same end; otherwise, if each side has one
/// candidate, that one. Each old candidate is used once.
std::vector<std::optional<std::size_t>> partners_of(const std::vector<Side>& news,
                                                    const std::vector<Side>& olds) {
  std::vector<std::optional<std::size_t>> partners(news.size());
  std::vector<bool> met(olds.size(), false);
  const auto meet = [&](const auto& alike) {
    for (std::size_t i = 0; i < news.size(); ++i) {
      if (partners[i]) continue;
      std::vector<std::size_t> found;
      for (std::size_t j = 0; j < olds.size(); ++j)
        if (!met[j] && alike(news[i], olds[j])) found.push_back(j);
      if (found.size() != 1) continue;
      partners[i] = found.front();
      met[found.front()] = true;
    }
  };
  meet([](const Side& now, const Side& old) {
    return now.get().group == old.get().group && now.get().backend == old.get().backend;
  });
  meet([](const Side& now, const Side& old) {
    return now.question->names[now.candidate] == old.question->names[old.candidate] &&
           now.get().backend == old.get().backend;
  });
  if (news.size() == 1 && olds.size() == 1) partners[0] = 0;
  return partners;
}

std::string change_text(const analysis::Pair& pair) {
  switch (pair.verdict) {
    case analysis::Verdict::higher:
      return "the new is higher";
    case analysis::Verdict::lower:
      return "the new is lower";
    case analysis::Verdict::undecided:
      return "not distinguished";
    case analysis::Verdict::refused:
      break;
  }
  return "no test: " + pair.reason;
}

document::TableBlock result_table(const ReportData& data, const ReportData& old, const Metric& metric) {
  const std::vector<Side> news = candidates_of(data, metric.name), olds = candidates_of(old, metric.name);
  analysis::Comparison comparison;
  comparison.options.metric = metric;
  comparison.options.examples = false;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<bool> met(olds.size(), false);
  const std::vector<std::optional<std::size_t>> partners = partners_of(news, olds);
  for (std::size_t i = 0; i < news.size(); ++i) {
    if (!partners[i]) continue;
    met[*partners[i]] = true;
    comparison.candidates.push_back(news[i].get());
    comparison.candidates.push_back(olds[*partners[i]].get());
    pairs.emplace_back(comparison.candidates.size() - 2, comparison.candidates.size() - 1);
  }
  analysis::test_pairs(data.store, comparison, pairs);

  const std::string unit = unit_of(metric).name, points = unit_of_differences(metric);
  document::TableBlock table;
  table.id = "against-result" + (data.metric_names().size() > 1 ? "-" + block_id(metric.name) : "");
  table.caption =
      metric.name +
      " of candidates with the same question (or, if a setting changed, with the same name) on "
      "both sides: means over their seeds, difference new less old with its 95 % interval, and p after "
      "Holm's correction over these pairs.";
  table.columns = {{"candidate", "", false}, {"old n", "", true},      {"old mean", unit, true},
                   {"new n", "", true},      {"new mean", unit, true}, {"difference", points, true},
                   {"low", points, true},    {"high", points, true},   {"p corrected", "", true},
                   {"verdict", "", false}};
  const auto n = [](const analysis::Candidate& candidate) {
    return count_cell(static_cast<std::int64_t>(candidate.values.size()));
  };
  std::size_t tested = 0;
  std::vector<std::vector<document::TableCell>> rows;
  for (std::size_t i = 0; i < news.size(); ++i) {
    const analysis::Candidate& side = news[i].get();
    if (!partners[i]) {
      rows.push_back({side.name, document::TableCell(), document::TableCell(), n(side),
                      value_cell(metric, side.mean), document::TableCell(), document::TableCell(),
                      document::TableCell(), document::TableCell(), "only new"});
      continue;
    }
    const analysis::Pair& pair = comparison.pairs[tested++];
    const analysis::Candidate& before = olds[*partners[i]].get();
    const bool seeds = pair.seeds.has_value();
    rows.push_back(
        {side.name == before.name ? side.name : before.name + " → " + side.name, n(before),
         value_cell(metric, before.mean), n(side), value_cell(metric, side.mean),
         value_cell(metric, pair.difference),
         seeds ? value_cell(metric, pair.seeds->interval.low) : document::TableCell(),
         seeds ? value_cell(metric, pair.seeds->interval.high) : document::TableCell(),
         seeds ? document::TableCell(p_value_text(pair.corrected), pair.corrected) : document::TableCell(),
         change_text(pair)});
  }
  for (std::size_t i = 0; i < olds.size(); ++i)
    if (!met[i])
      rows.push_back({olds[i].get().name, n(olds[i].get()), value_cell(metric, olds[i].get().mean),
                      document::TableCell(), document::TableCell(), document::TableCell(),
                      document::TableCell(), document::TableCell(), document::TableCell(), "only old"});
  const std::size_t shown = data.rows_of(rows.size());
  table.rows.assign(std::make_move_iterator(rows.begin()),
                    std::make_move_iterator(rows.begin() + static_cast<std::ptrdiff_t>(shown)));
  if (shown < rows.size())
    table.notes.push_back(counted(rows.size() - shown, "more candidate") +
                          " are in the CSV and JSON of this report.");
  return table;
}

void add_environment_notice(const ReportData& data, const ReportData& old,
                            std::vector<document::Block>& blocks) {
  const auto first = [](const ReportData& side) -> nlohmann::json {
    for (const store::RunRow& run : side.runs)
      if (const store::AttemptRow* told = side.told(run); told != nullptr) return told->environment;
    return nullptr;
  };
  const std::vector<std::string> found = analysis::environment_differences(first(old), first(data));
  if (!found.empty())
    blocks.push_back(
        document::Notice{"The two sides were computed in different numeric environments, so a difference of "
                         "the result need not come from a setting: " +
                         listed(found) + "."});
}

}  // namespace

document::Section against_section(const ReportData& data, const ReportData& old, const std::string& what) {
  document::Section section{"against", "Against " + what};
  section.blocks.push_back(document::Paragraph{"Old: " + counted(old.runs.size(), "run") + " (" + what +
                                               "); new: " + counted(data.runs.size(), "run") +
                                               " of this report."});
  for (const std::string& metric : data.metric_names())
    if (std::ranges::none_of(old.questions, [&](const Question& question) {
          return question.metric().name == metric && question.first().has_value();
        }))
      section.blocks.push_back(document::Notice{"No old run has a " + metric + "."});
  add_environment_notice(data, old, section.blocks);
  std::set<std::string> seen;
  for (const Question& question : data.questions)
    if (seen.insert(question.metric().name).second)
      section.blocks.push_back(result_table(data, old, question.metric()));
  section.blocks.push_back(change_table(data, old));
  return section;
}

}  // namespace encore::report
