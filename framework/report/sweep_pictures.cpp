// SPDX-License-Identifier: BSD-3-Clause
// The section "sweep": the influence of the parameters of a sweep on the score: the share that each explains,
// each against the score, all together in parallel coordinates; and the times of the runs. report.cpp calls
// sweep_section(). CSV and JSON have the ids and columns of its tables, so they stay. Read sections.hpp
// first; search_pictures.cpp does this for searches.
#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/sweep_statistics.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

constexpr std::size_t most_scatters = 6;
constexpr std::size_t most_dimensions = 8;
constexpr std::size_t most_parallel_lines = 1000;

/// The runs of a question that have a score: their indices among its runs, and the scores.
struct Scored {
  std::vector<std::size_t> runs;
  std::vector<double> values;
};

Scored scored_runs(const Question& question) {
  std::map<std::int64_t, double> values;
  for (const analysis::Candidate& candidate : question.comparison.candidates)
    for (const analysis::Replicate& replicate : candidate.runs)
      if (replicate.value) values[replicate.run.number] = *replicate.value;
  Scored scored;
  for (std::size_t i = 0; i < question.runs.size(); ++i)
    if (const auto value = values.find(question.runs[i].number); value != values.end()) {
      scored.runs.push_back(i);
      scored.values.push_back(value->second);
    }
  return scored;
}

// --- importance ---

struct Importance {
  const analysis::Factor* factor = nullptr;  ///< null: the seed
  std::string name;
  analysis::MainEffect effect;
};

std::optional<analysis::MainEffect> effect_of_seed(const Question& question, const Scored& scored) {
  std::map<std::uint64_t, std::size_t> levels;
  std::vector<std::size_t> level;
  for (const std::size_t run : scored.runs)
    level.push_back(levels.try_emplace(question.runs[run].seed, levels.size()).first->second);
  return analysis::main_effect(scored.values, level);
}

std::vector<Importance> importances(const Question& question, const Scored& scored) {
  std::vector<Importance> all;
  for (const analysis::Factor& factor : question.factors) {
    std::vector<std::size_t> level;
    for (const std::size_t run : scored.runs) level.push_back(factor.level[run]);
    const auto effect = analysis::main_effect(scored.values, level);
    const std::size_t with = factor.keys.size() - 1;
    if (effect)
      all.push_back(
          {&factor, factor.label + (with > 0 ? " (with " + counted(with, "other") + ")" : ""), *effect});
  }
  std::stable_sort(all.begin(), all.end(), [](const Importance& a, const Importance& b) {
    return a.effect.adjusted > b.effect.adjusted;
  });
  if (const auto effect = effect_of_seed(question, scored)) all.push_back({nullptr, "seed", *effect});
  return all;
}

/// Returns the adjusted share in percent. It is a difference of two estimates, and 0 if chance alone would
/// explain more.
double adjusted_percent(const analysis::MainEffect& effect) {
  return std::max(0.0, 100.0 * effect.adjusted);
}

document::TableBlock importance_table(const Question& question, const std::vector<Importance>& all,
                                      std::size_t runs) {
  document::TableBlock table;
  table.id = "importance-" + question.id;
  table.caption = question.title + ": how much of the variance of the score over " + counted(runs, "run") +
                  " one parameter alone explains (main effect of a one-way analysis of variance: the sum "
                  "over its values of n "
                  "times the squared distance of their mean from the mean of all, over the total sum of "
                  "squares). Adjusted: less "
                  "the share that chance alone would explain, at least 0. On a balanced grid these are the "
                  "first-order terms of a "
                  "functional analysis "
                  "of variance; otherwise shares overlap.";
  table.columns = {{"parameter", "", false}, {"values", "", true},    {"runs", "", true},
                   {"explained", "%", true}, {"adjusted", "%", true}, {"F", "", true},
                   {"p", "", true}};
  for (const Importance& one : all)
    table.rows.push_back({one.name,
                          count_cell(static_cast<std::int64_t>(one.effect.levels)),
                          count_cell(static_cast<std::int64_t>(one.effect.values)),
                          {document::number_text(100.0 * one.effect.share), 100.0 * one.effect.share},
                          {document::number_text(adjusted_percent(one.effect)), adjusted_percent(one.effect)},
                          one.effect.f ? number_cell(*one.effect.f) : document::TableCell(),
                          one.effect.p ? document::TableCell(p_value_text(*one.effect.p), *one.effect.p)
                                       : document::TableCell()});
  table.notes.push_back(
      "p is not corrected for the number of parameters, and the rest of the variance belongs to "
      "interactions and to constant settings. With fewer than about ten runs per value the shares "
      "are rough.");
  for (const Importance& one : all)
    if (one.factor != nullptr && one.factor->keys.size() > 1) {
      constexpr std::size_t most = 12;
      std::vector<std::string> keys(
          one.factor->keys.begin(),
          one.factor->keys.begin() + static_cast<std::ptrdiff_t>(std::min(most, one.factor->keys.size())));
      if (one.factor->keys.size() > most) keys.push_back(counted(one.factor->keys.size() - most, "more"));
      table.notes.push_back("Always changed together: " + listed(keys) + ".");
    }
  return table;
}

document::Figure importance_figure(const Question& question, const std::vector<Importance>& all) {
  document::BarChart chart{{"variance explained", "%"}, true, {}};
  document::Figure figure;
  figure.alternative = "Bars. ";
  for (const Importance& one : all) {
    chart.bars.push_back({one.name, 100.0 * one.effect.share, {}, {}});
    figure.alternative += one.name + ": " + document::number_text(100.0 * one.effect.share) + " %. ";
  }
  figure.id = "figure-importance-" + question.id;
  figure.caption = question.title + ": share of the variance that each parameter alone explains.";
  figure.chart = std::move(chart);
  return figure;
}

// --- one parameter against the score ---

bool spans_decades(const analysis::Factor& factor) {
  double low = std::numeric_limits<double>::infinity(), high = 0.0;
  for (const nlohmann::json& level : factor.levels) {
    low = std::min(low, level.get<double>());
    high = std::max(high, level.get<double>());
  }
  return low > 0.0 && high / low >= 20.0;
}

document::Figure scatter_figure(const Question& question, const Scored& scored,
                                const analysis::Factor& factor, std::size_t number) {
  const Unit unit = unit_of(question.metric());
  document::ScatterChart chart;
  chart.x = {factor.label, ""};
  if (factor.numeric && spans_decades(factor)) chart.x.scale = document::Axis::Scale::logarithmic;
  chart.y = {question.metric().name, unit.name};
  if (!factor.numeric)
    for (const nlohmann::json& level : factor.levels) chart.categories.push_back(analysis::level_text(level));
  document::ScatterChart::Group group{"runs", {}};
  for (std::size_t i = 0; i < scored.runs.size(); ++i) {
    const std::size_t level = factor.level[scored.runs[i]];
    group.points.push_back({factor.numeric ? factor.levels[level].get<double>() : static_cast<double>(level),
                            unit.factor * scored.values[i],
                            {},
                            {},
                            question.runs[scored.runs[i]].name});
  }
  document::Figure figure;
  figure.id = "parameter-" + std::to_string(number) + "-" + question.id;
  figure.caption = question.title + ": the score of each complete run against " + factor.label + ".";
  figure.alternative = "Points. ";
  for (std::size_t level = 0; level < std::min<std::size_t>(factor.levels.size(), 8); ++level) {
    std::vector<double> values;
    for (std::size_t i = 0; i < scored.runs.size(); ++i)
      if (factor.level[scored.runs[i]] == level) values.push_back(scored.values[i]);
    if (!values.empty())
      figure.alternative += factor.label + " " + analysis::level_text(factor.levels[level]) + ": mean " +
                            analysis::metric_text(question.metric(), analysis::mean_of(values)) + ", n " +
                            std::to_string(values.size()) + ". ";
  }
  chart.groups.push_back(std::move(group));
  figure.chart = std::move(chart);
  return figure;
}

// --- all together ---

/// Returns "The highest score, 79.83 %, has optimizer.learning_rate 0.004."
std::string highest_text(const Question& question, const Scored& scored,
                         const std::vector<const analysis::Factor*>& factors) {
  const auto highest = std::max_element(scored.values.begin(), scored.values.end());
  if (highest == scored.values.end()) return "No run has a score.";
  const std::size_t run = scored.runs[static_cast<std::size_t>(highest - scored.values.begin())];
  std::vector<std::string> settings;
  for (const analysis::Factor* factor : factors)
    settings.push_back(factor->label + " " + analysis::level_text(factor->levels[factor->level[run]]));
  const std::string& unit = unit_of(question.metric()).name;
  return "The highest score, " + analysis::metric_text(question.metric(), *highest) +
         (unit.empty() ? "" : " " + unit) + ", has " + listed(settings) + ".";
}

document::Figure parallel_figure(const Question& question, const Scored& scored,
                                 const std::vector<const analysis::Factor*>& factors) {
  const Unit unit = unit_of(question.metric());
  document::ParallelChart chart;
  for (const analysis::Factor* factor : factors) {
    document::ParallelChart::Dimension dimension{
        factor->label, {}, factor->numeric && spans_decades(*factor)};
    if (!factor->numeric)
      for (const nlohmann::json& level : factor->levels)
        dimension.categories.push_back(analysis::level_text(level));
    chart.dimensions.push_back(std::move(dimension));
  }
  chart.dimensions.push_back(
      {question.metric().name + (unit.name.empty() ? "" : " (" + unit.name + ")"), {}, false});
  std::map<std::size_t, double> values;
  for (std::size_t i = 0; i < scored.runs.size(); ++i) values[scored.runs[i]] = scored.values[i];
  std::size_t without = 0;
  for (std::size_t run = 0; run < std::min(most_parallel_lines, question.runs.size()); ++run) {
    document::ParallelChart::Line line{question.runs[run].name, {}};
    for (const analysis::Factor* factor : factors) {
      const std::size_t level = factor->level[run];
      line.values.push_back(factor->numeric ? factor->levels[level].get<double>()
                                            : static_cast<double>(level));
    }
    const auto value = values.find(run);
    if (value == values.end()) ++without;
    line.values.push_back(value == values.end() ? std::numeric_limits<double>::quiet_NaN()
                                                : unit.factor * value->second);
    chart.lines.push_back(std::move(line));
  }
  document::Figure figure;
  figure.id = "parallel-" + question.id;
  figure.caption = question.title + ": one line per run through its parameters to its score" +
                   (without > 0 ? "; " + counted(without, "run") + " without a score." : ".") +
                   (question.runs.size() > most_parallel_lines
                        ? " The first " + std::to_string(most_parallel_lines) + " of " +
                              thousands(static_cast<std::int64_t>(question.runs.size())) + " runs."
                        : "");
  figure.alternative = "Parallel coordinates of " + counted(chart.lines.size(), "run") + " over " +
                       counted(factors.size(), "parameter") + ". " + highest_text(question, scored, factors);
  figure.chart = std::move(chart);
  return figure;
}

void add_question(const ReportData& data, const Question& question, std::vector<document::Block>& blocks) {
  if (data.all_searched(question)) return;  // the section "searches" shows it
  const Scored scored = scored_runs(question);
  const std::vector<Importance> all = importances(question, scored);
  std::vector<const analysis::Factor*> factors;
  for (const Importance& one : all)
    if (one.factor != nullptr) factors.push_back(one.factor);
  if (factors.empty()) return;
  blocks.push_back(importance_figure(question, all));
  blocks.push_back(importance_table(question, all, scored.values.size()));
  std::size_t number = 0;
  for (const analysis::Factor* factor : factors)
    if (++number <= most_scatters) blocks.push_back(scatter_figure(question, scored, *factor, number));
  if (factors.size() > most_scatters)
    blocks.push_back(document::Paragraph{counted(factors.size() - most_scatters, "more parameter") +
                                         " that explain less are not drawn."});
  if (factors.size() > most_dimensions) factors.resize(most_dimensions);
  blocks.push_back(parallel_figure(question, scored, factors));
}

}  // namespace

document::Section sweep_section(const ReportData& data) {
  document::Section section{"sweep", "Parameters and the score"};
  for (const Question& question : data.questions) add_question(data, question, section.blocks);
  std::size_t untimed = 0;
  document::TimelineChart chart = timeline_of(data, untimed);
  if (chart.bars.size() < 2) return section;
  document::Figure figure;
  figure.id = "timeline";
  figure.caption = "Times of the runs, on as many lanes as a host had attempts running at once" +
                   std::string(untimed > 0 ? "; " + counted(untimed, "attempt") +
                                                 " whose end was not recorded have no bar."
                                           : ".");
  double end = 0.0;
  std::map<document::Tone, std::size_t> ends;
  for (const document::TimelineChart::Bar& bar : chart.bars) {
    end = std::max(end, bar.end);
    ++ends[bar.tone];
  }
  std::vector<std::string> parts;
  for (const auto& [tone, meaning] : chart.legend)
    parts.push_back(std::to_string(ends[tone]) + " " + meaning);
  figure.alternative = counted(chart.bars.size(), "attempt") + " on " + counted(chart.lanes.size(), "lane") +
                       " within " + document::duration_text(end) + ": " + listed(parts) + ".";
  figure.chart = std::move(chart);
  section.blocks.push_back(std::move(figure));
  return section;
}

}  // namespace encore::report
