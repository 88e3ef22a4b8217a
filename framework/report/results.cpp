// The answer: one table per question, its picture, and what was tested.
#include <cmath>

#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore {

namespace {

/// More notes about single runs than these are only counted.
constexpr std::size_t most_notes = 12;
constexpr std::size_t most_reasons = 6;

std::string percent_of(double alpha) {
  return number_text(100.0 * (1.0 - alpha)) + " %";
}

// --- candidates ---

std::vector<TableCell> candidate_row(const Question& question, std::size_t index) {
  const Candidate& candidate = question.comparison.candidates[index];
  const std::string& metric = question.comparison.options.metric;
  const auto low = [&](const std::optional<Interval>& interval) {
    return value_cell(metric, interval ? std::optional(interval->low) : std::nullopt);
  };
  const auto high = [&](const std::optional<Interval>& interval) {
    return value_cell(metric, interval ? std::optional(interval->high) : std::nullopt);
  };
  std::vector<TableCell> row = {question.labels[index],
                                count_cell(static_cast<std::int64_t>(candidate.runs.size())),
                                count_cell(static_cast<std::int64_t>(candidate.values.size())),
                                value_cell(metric, candidate.mean),
                                value_cell(metric, candidate.deviation),
                                low(candidate.t),
                                high(candidate.t),
                                low(candidate.bootstrap),
                                high(candidate.bootstrap)};
  row[3].best = question.best(index);
  return row;
}

std::vector<Text> missing_notes(const Question& question) {
  std::vector<Text> notes;
  std::size_t more = 0;
  for (const Candidate& candidate : question.comparison.candidates)
    for (const Replicate& replicate : candidate.runs) {
      if (replicate.value) continue;
      if (notes.size() < most_notes)
        notes.push_back(replicate.run.name + " has no value: " + replicate.missing);
      else
        ++more;
    }
  if (more > 0)
    notes.push_back(counted(more, "more run") + " without a value; " + "the table of trials has them");
  return notes;
}

/// "Left out of names, here and below: study- in front and -warmup_steps=20 behind."
Text left_out_text(const Question& question) {
  Text text("Left out of names, here and below: ");
  if (!question.before.empty()) text.spans.insert(text.spans.end(), {code(question.before), {" in front"}});
  if (!question.before.empty() && !question.behind.empty()) text.spans.push_back({" and "});
  if (!question.behind.empty()) text.spans.insert(text.spans.end(), {code(question.behind), {" behind"}});
  text.spans.push_back({"."});
  return text;
}

TableBlock candidate_table(const Material& material, const Question& question) {
  const CompareOptions& options = question.comparison.options;
  const std::string unit = unit_of(options.metric).name, level = percent_of(options.alpha);
  TableBlock table;
  table.id = "results-" + question.id;
  table.caption = question.title +
                  ": mean and standard deviation over the n complete runs (seeds) of each candidate, with " +
                  level + " intervals of the mean by Student's t and by bootstrap (BCa, 10,000 resamples). " +
                  "From the " + (lower_is_better(options.metric) ? "lowest" : "highest") +
                  " mean on, which is an order of means and no ranking.";
  table.columns = {{"candidate", "", false},
                   {"runs", "", true},
                   {"n", "", true},
                   {"mean", unit, true},
                   {"SD", unit, true},
                   {"t low", unit, true},
                   {"t high", unit, true},
                   {"bootstrap low", unit, true},
                   {"bootstrap high", unit, true}};
  const std::size_t shown = material.rows_of(question.order.size());
  for (std::size_t i = 0; i < shown; ++i) table.rows.push_back(candidate_row(question, question.order[i]));
  if (shown < question.order.size())
    table.notes.push_back(counted(question.order.size() - shown, "more candidate") +
                          " with lower means are in the CSV and JSON of this report.");
  if (!question.before.empty() || !question.behind.empty()) table.notes.push_back(left_out_text(question));
  bool single = false, few = false;
  for (const Candidate& candidate : question.comparison.candidates) {
    single = single || candidate.values.size() == 1;
    few = few || (candidate.bootstrap && candidate.values.size() < 10);
  }
  if (single) table.notes.push_back("One value says nothing of the spread: no interval is given with n = 1.");
  if (few)
    table.notes.push_back(
        "With fewer than about ten seeds the bootstrap interval is too narrow; read the one by t.");
  for (Text& note : missing_notes(question)) table.notes.push_back(std::move(note));
  return table;
}

/// Means with their intervals, and every single run.
Figure candidate_figure(const Question& question, std::size_t most) {
  const CompareOptions& options = question.comparison.options;
  const Unit unit = unit_of(options.metric);
  ScatterChart chart;
  chart.x = {"candidate", ""};
  chart.y = {options.metric, unit.name};
  ScatterChart::Group means{"mean, with its interval by t", {}}, runs{"single runs", {}};
  const std::size_t shown = std::min(most, question.order.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Candidate& candidate = question.comparison.candidates[question.order[i]];
    chart.categories.push_back(question.labels[question.order[i]]);
    ScatterChart::Point mean{static_cast<double>(i), unit.factor * candidate.mean, {}, {}, candidate.name};
    if (candidate.t) {
      mean.low = unit.factor * candidate.t->low;
      mean.high = unit.factor * candidate.t->high;
    }
    if (!candidate.values.empty()) means.points.push_back(std::move(mean));
    for (const Replicate& run : candidate.runs)
      if (run.value)
        runs.points.push_back({static_cast<double>(i), unit.factor * *run.value, {}, {}, run.run.name});
  }
  chart.groups = {std::move(means), std::move(runs)};
  Figure figure;
  figure.id = "figure-" + question.id;
  figure.caption = question.title + ": each complete run, and the mean of each candidate with its " +
                   percent_of(options.alpha) + " interval by t where there is one" +
                   (shown < question.order.size() ? "; the first " + std::to_string(shown) + " of " +
                                                        std::to_string(question.order.size()) + " candidates."
                                                  : ".");
  figure.alternative = "Points per candidate. ";
  for (std::size_t i = 0; i < std::min<std::size_t>(shown, 8); ++i) {
    const Candidate& candidate = question.comparison.candidates[question.order[i]];
    figure.alternative += candidate.name + ": ";
    if (candidate.values.empty())
      figure.alternative += "no value. ";
    else
      figure.alternative += "mean " + metric_text(options.metric, candidate.mean) +
                            (unit.name.empty() ? "" : " " + unit.name) + ", n " +
                            std::to_string(candidate.values.size()) + ". ";
  }
  figure.chart = std::move(chart);
  return figure;
}

// --- pairs ---

std::string verdict_text(const Pair& pair) {
  switch (pair.verdict) {
    case Verdict::higher:
      return "the first is higher";
    case Verdict::lower:
      return "the first is lower";
    case Verdict::undecided:
      return "not told apart";
    case Verdict::refused:
      break;
  }
  return "no test";
}

std::vector<TableCell> pair_row(const Question& question, const Pair& pair) {
  const std::string& metric = question.comparison.options.metric;
  const auto p_cell = [](std::optional<double> p) {
    return p ? TableCell(p_value_text(*p), *p) : TableCell();
  };
  const auto of_seeds = [&](double value) { return pair.seeds ? std::optional(value) : std::nullopt; };
  return {question.labels[pair.a],
          question.labels[pair.b],
          value_cell(metric, pair.difference),
          value_cell(metric, of_seeds(pair.seeds ? pair.seeds->interval.low : 0.0)),
          value_cell(metric, of_seeds(pair.seeds ? pair.seeds->interval.high : 0.0)),
          pair.test,
          count_cell(static_cast<std::int64_t>(pair.shared)),
          p_cell(of_seeds(pair.seeds ? pair.seeds->p : 0.0)),
          p_cell(of_seeds(pair.corrected)),
          p_cell(pair.examples ? std::optional(pair.examples_corrected) : std::nullopt),
          verdict_text(pair)};
}

TableBlock pair_table(const Material& material, const Question& question) {
  const Comparison& comparison = question.comparison;
  const std::string unit = unit_of_differences(comparison.options.metric);
  const bool all = comparison.family == comparison.pairs.size();
  TableBlock table;
  table.id = "pairs-" + question.id;
  table.caption = question.title + ": differences (first less second) with their " +
                  percent_of(comparison.options.alpha) +
                  " interval, two-sided t-tests over seeds and permutation tests over examples (10,000 "
                  "deals), p corrected " +
                  (all ? "for all pairs by Holm's method."
                       : "for all " + thousands(static_cast<std::int64_t>(comparison.family)) +
                             " pairs of candidates by Bonferroni's method, though only the best mean is "
                             "tested against each other.");
  table.columns = {{"first", "", false},        {"second", "", false}, {"difference", unit, true},
                   {"low", unit, true},         {"high", unit, true},  {"test", "", false},
                   {"shared seeds", "", true},  {"p", "", true},       {"p corrected", "", true},
                   {"p on examples", "", true}, {"verdict", "", false}};
  const std::size_t shown = material.rows_of(comparison.pairs.size());
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < shown; ++i) {
    const Pair& pair = comparison.pairs[i];
    table.rows.push_back(pair_row(question, pair));
    if (reasons.size() < most_reasons)
      reasons.push_back(question.labels[pair.a] + " and " + question.labels[pair.b] + ": " + pair.reason +
                        ".");
  }
  if (shown < comparison.pairs.size())
    table.notes.push_back(counted(comparison.pairs.size() - shown, "more pair") +
                          " are in the CSV and JSON of this report.");
  if (!comparison.options.examples)
    table.notes.push_back(
        "Examples are tested in reports of up to 40 runs; exp compare tests them for any number.");
  for (std::string& reason : reasons) table.notes.push_back(std::move(reason));
  if (comparison.pairs.size() > most_reasons)
    table.notes.push_back("The reasons of further verdicts are told by exp compare.");
  return table;
}

std::vector<Block> question_blocks(const Material& material, const Question& question) {
  std::vector<Block> blocks;
  std::size_t notices = 0;
  for (const std::string& notice : question.comparison.notices) {
    if (++notices > most_notes) break;
    blocks.push_back(Notice{notice + "."});
  }
  if (question.comparison.notices.size() > most_notes)
    blocks.push_back(Notice{counted(question.comparison.notices.size() - most_notes, "more notice") +
                            " of this kind; exp compare shows all."});
  blocks.push_back(candidate_table(material, question));
  constexpr std::size_t most_in_picture = 24;
  if (question.first()) blocks.push_back(candidate_figure(question, most_in_picture));
  if (!question.comparison.pairs.empty()) blocks.push_back(pair_table(material, question));
  return blocks;
}

}  // namespace

Section results_section(const Material& material) {
  Section section{"results", "Results"};
  if (material.questions.size() > 1)
    section.blocks.push_back(Paragraph{
        "The runs were scored on " + std::to_string(material.questions.size()) +
        " sets of data. Scores on different sets are not compared: each set has its own table and its "
        "own tests."});
  for (const Question& question : material.questions)
    section.sections.push_back(
        {"results-of-" + question.id, question.title, question_blocks(material, question), {}});
  add_section(section.sections, measures_section(material));
  add_section(section.sections, classes_section(material));
  add_section(section.sections, trials_section(material));
  return section;
}

}  // namespace encore
