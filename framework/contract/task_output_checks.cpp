// SPDX-License-Identifier: BSD-3-Clause
// Checks what a task computes from the outputs of a model: measures, labelled records, answers.
// task_checks.cpp calls task_output_checks(). Plugins of other authors must pass them, so a check may demand
// only what encore/task.hpp promises. Read suite.hpp and task_samples.hpp first.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "base/measures.hpp"
#include "base/nearest.hpp"
#include "config/selection.hpp"
#include "contract/task_samples.hpp"

namespace encore::contract {
namespace {

class OutputCheck {
 public:
  explicit OutputCheck(const TaskSamples& samples) : samples_(samples) {}

  std::string measures() const {
    const auto task = samples_.prepared(TaskSamples::roomy);
    const Records records = samples_.train();
    const ExampleSet set = TaskSamples::encoded(*task, records);
    const Outputs right = perfect_outputs(*task, set, samples_.needs(), records);
    const Statistics best = counted(*task, set, right);
    require(equal(best, counted(*task, set, right)), "measuring twice gives other statistics");
    for (const Measure& measure : samples_.offer().measures)
      for (const std::string& column : measure.columns)
        require(!measure.always || std::ranges::find(best.columns(), column) != best.columns().end(),
                "measure \"" + measure.name + "\" is always there, but nothing is added to its column \"" +
                    column + "\"" + did_you_mean(column, best.columns()));
    bool told_apart = false;
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
      const Statistics arbitrary = counted(*task, set, arbitrary_outputs(*task, set, seed));
      told_apart = compare(best, arbitrary, knows_truth(*task)) || told_apart;
    }
    const Measure* chosen = config::measure_of(samples_.offer().measures,
                                               config::parse_selection(samples_.offer().select).measure());
    require(told_apart || chosen == nullptr || !knows_truth(*task),
            "measure \"" + std::string(chosen == nullptr ? "" : chosen->name) +
                "\", by which it selects, is the same for perfect outputs and for arbitrary ones");
    return std::to_string(measure_values(samples_.offer().measures, best).size()) +
           " finite values, best for perfect outputs, " +
           (counts_each_by_itself(*task, records, best)
                ? "each example by itself"
                : "the values of an example depend on the others of its set") +
           "; the formulas are not compared; a test of your own can compare the expected values";
  }

  std::string labelling() const {
    const auto task = samples_.prepared(TaskSamples::roomy);
    const Records records = samples_.train(), bare = with_fields(records, samples_.structure());
    const ExampleSet set = TaskSamples::encoded(*task, records);
    for (const Outputs& outputs :
         {perfect_outputs(*task, set, samples_.needs(), records), arbitrary_outputs(*task, set, 1)}) {
      const Records labelled = task->label(bare, set, outputs);
      for (const std::string& field : samples_.needs().truth) {
        require(labelled.has(field),
                "label() gives no field \"" + field + "\", which fields() names as truth");
        require(labelled.size() == records.size(), "label() gives " + std::to_string(labelled.size()) +
                                                       " records for " + std::to_string(records.size()));
        require(type_of(labelled, field) == type_of(records, field),
                "label() gives the field \"" + field + "\" with another type than that of the records");
      }
    }
    return "the truth fields of every record, from the model";
  }

  std::string typed_text() const {
    const auto task = samples_.prepared(TaskSamples::roomy);
    const std::optional<Records> typed = typed_records(*task);
    if (!typed) return not_asked;
    const Records& records = *typed;
    require(records.size() == lines.size(), "from_text gives " + std::to_string(records.size()) +
                                                " records for " + std::to_string(lines.size()) + " lines");
    for (const std::string& field : samples_.needs().structure)
      require(records.has(field), "from_text gives no field \"" + field + "\", which fields() names");
    const ExampleSet set = TaskSamples::encoded(*task, records);
    const Records answers = task->answer(records, set, arbitrary_outputs(*task, set, 1));
    require(answers.has("shown"), "answer() gives no field \"shown\", the line for people");
    require(answers.texts("shown").size() == lines.size(),
            "answer() gives another number of records than it got");
    return std::to_string(lines.size()) + " lines, an answer to each";
  }

  std::string scores() const {
    const auto task = samples_.prepared(TaskSamples::roomy);
    std::vector<OutputRule> given = task->outputs();
    const std::optional<OutputRule> logits = logits_rule(*task);
    if (logits) given.push_back(*logits);
    if (const std::string none = task->no_scores(given); !none.empty()) return "none: " + none;
    const std::optional<Records> records = typed_records(*task);
    if (!records) return not_asked;
    const ExampleSet set = TaskSamples::encoded(*task, *records);
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
      Outputs outputs = arbitrary_outputs(*task, set, seed);
      if (logits) add_logits(*logits, set, seed, outputs);
      require_scores(task->answer(*records, set, outputs), task->scored_answer(*records, set, outputs),
                     logits.has_value());
    }
    return "from 0 to 1" +
           std::string(logits ? ", of classes with a sum of 1 and the largest that of the answer" : "");
  }

 private:
  static constexpr const char* not_asked = "it does not take a line of text";
  static inline const std::vector<std::string> lines = {"Anna lives in Lund", "", "rain , rain",
                                                        "Zürich \xF0\x9F\x99\x82"};

  /// Returns the records of a typed line; nothing if the task does not take a line.
  static std::optional<Records> typed_records(const Task& task) {
    const auto with_separator = [](char separator) {
      std::vector<std::string> some = lines;
      for (std::string& line : some)
        if (const std::size_t space = line.find(' '); space != std::string::npos) line[space] = separator;
      return some;
    };
    for (const char separator : {' ', '\t'})  // some tasks read a pair, with a tab between
      try {
        return task.from_text(with_separator(separator));
      } catch (const Error&) {
      }
    return {};
  }

  static void require_probability(double value, const std::string& field) {
    require(value >= 0.0 && value <= 1.0, "scored_answer() gives " + std::to_string(value) + " in \"" +
                                              field + "\", which is not a probability");
  }

  /// Checks scores of classes that exclude each other: they sum to 1. `largest`: the answer is the most
  /// probable class.
  static void require_distribution(double score, const std::map<std::string, double>& scores, bool largest) {
    double sum = 0.0, most = 0.0;
    for (const auto& [label, each] : scores) {
      require_probability(each, "scores");
      sum += each;
      most = std::max(most, each);
    }
    require(std::abs(sum - 1.0) < 1e-6, "the scores of one answer sum to " + std::to_string(sum));
    require(!largest || std::abs(score - most) < 1e-9,
            "the answer has the score " + std::to_string(score) + " and another label " +
                std::to_string(most) + ", though the class is the one with the largest logit");
  }

  static void require_scores(const Records& answers, const Records& scored, bool largest) {
    require_equal_answers(answers, scored);
    const Records::Values *score = find(scored, "score"), *scores = find(scored, "scores");
    bool any = score != nullptr || scores != nullptr;
    if (const auto* numbers = score == nullptr ? nullptr : std::get_if<Records::Numbers>(score))
      for (std::size_t i = 0; i < numbers->size(); ++i) {
        require_probability((*numbers)[i], "score");
        if (const auto* all = scores == nullptr ? nullptr : std::get_if<Records::NumberMaps>(scores))
          require_distribution((*numbers)[i], (*all)[i], largest);
      }
    if (const auto* lists = score == nullptr ? nullptr : std::get_if<Records::NumberLists>(score))
      for (std::size_t i = 0; i < lists->size(); ++i)
        for (std::size_t k = 0; k < (*lists)[i].size(); ++k) {
          require_probability((*lists)[i][k], "score");
          const auto* all = scores == nullptr ? nullptr : std::get_if<Records::NumberMapLists>(scores);
          require(all == nullptr || (*all)[i].size() == (*lists)[i].size(),
                  "\"score\" and \"scores\" of one answer are of different numbers of words");
          if (all != nullptr && !(*all)[i][k].empty())
            require_distribution((*lists)[i][k], (*all)[i][k], largest);
        }
    if (const auto* all = scores == nullptr ? nullptr : std::get_if<Records::NumberMaps>(scores))
      for (const auto& of_answer : *all)
        for (const auto& [label, each] : of_answer) require_probability(each, "scores");
    for (const Records::Field& field : scored.fields())
      if (const auto* lists = std::get_if<Records::SpanLists>(&field.values))
        for (const std::vector<TextSpan>& spans : *lists)
          for (const TextSpan& span : spans)
            for (const std::optional<double>& each : {span.score, span.least_score}) {
              if (!each) continue;
              any = true;
              require_probability(*each, field.name);
            }
    // No spans were found, so there are no scores of spans either.
    const bool has_spans = std::ranges::any_of(scored.fields(), [](const Records::Field& field) {
      return std::holds_alternative<Records::SpanLists>(field.values);
    });
    require(any || has_spans, "scored_answer() gives neither \"score\" nor \"scores\" nor spans with scores");
  }

  /// Requires equal answers, except for the scores and the line for people.
  static void require_equal_answers(const Records& answers, const Records& scored) {
    for (const Records::Field& field : answers.fields()) {
      if (field.name == "shown" || field.name == "score" || field.name == "scores") continue;
      const Records::Values* found = find(scored, field.name);
      require(found != nullptr, "scored_answer() lacks the field \"" + field.name + "\" of answer()");
      Records::Values values = *found;
      if (auto* lists = std::get_if<Records::SpanLists>(&values))
        for (std::vector<TextSpan>& spans : *lists)
          for (TextSpan& span : spans) span.score = span.least_score = {};
      require(values == field.values,
              "scored_answer() has another value in \"" + field.name + "\" than answer()");
    }
    require(scored.has("shown"), "scored_answer() gives no field \"shown\", the line for people");
  }

  static const Records::Values* find(const Records& records, const std::string& name) {
    const auto found = std::ranges::find(records.fields(), name, &Records::Field::name);
    return found == records.fields().end() ? nullptr : &found->values;
  }

  /// The statistics of an example, keyed by the names of columns and keys.
  using Added = std::map<std::array<std::string, 3>, double>;
  static Added added_by(const Statistics& statistics, std::size_t example) {
    Added all;
    for (const auto* entry = statistics.begin(example); entry != statistics.end(example); ++entry)
      all[{statistics.columns()[entry->column], statistics.keys()[entry->key],
           statistics.keys()[entry->second_key]}] += entry->value;
    return all;
  }

  /// Returns whether the statistics of an example depend on it alone. They need not: a rank among the
  /// examples of the set does not.
  bool counts_each_by_itself(const Task& task, const Records& records, const Statistics& together) const {
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Records one = record_of(records, i);
      const ExampleSet set = TaskSamples::encoded(task, one);
      const Statistics alone = counted(task, set, perfect_outputs(task, set, samples_.needs(), one));
      if (added_by(alone, 0) != added_by(together, i)) return false;
    }
    return true;
  }
  static Records record_of(const Records& records, std::size_t number) {
    Records one;
    for (const Records::Field& field : records.fields())
      one.add(field.name, std::visit(
                              [&](const auto& values) -> Records::Values {
                                return std::decay_t<decltype(values)>{values[number]};
                              },
                              field.values));
    return one;
  }

  static Statistics counted(const Task& task, const ExampleSet& set, const Outputs& outputs) {
    Statistics statistics;
    task.measure(set, outputs, statistics);
    require(statistics.examples() == set.size(), "measure() begins " + std::to_string(statistics.examples()) +
                                                     " examples for " + std::to_string(set.size()));
    return statistics;
  }

  /// Returns whether the selecting measure distinguishes perfect outputs from arbitrary ones.
  bool compare(const Statistics& perfect, const Statistics& arbitrary, bool truth_is_known) const {
    bool told_apart = false;
    for (const Measure& measure : samples_.offer().measures) {
      if (!has_value(measure.reducer) || is_family(measure)) continue;
      const double best = measure_value(measure, perfect), other = measure_value(measure, arbitrary);
      for (const double value : {best, other}) {
        const std::string found = "measure \"" + measure.name + "\" is " + std::to_string(value);
        require(std::isfinite(value), found);
        require(!measure.fraction || (value >= 0.0 && value <= 1.0), found + ", which is not a fraction");
      }
      if (measure.better == Better::neither) continue;
      const double gain = measure.better == Better::higher ? best - other : other - best;
      require(gain >= 0.0 || !truth_is_known, "measure \"" + measure.name + "\" is " + std::to_string(best) +
                                                  " for perfect outputs and " + std::to_string(other) +
                                                  " for arbitrary ones, which would be better");
      told_apart = told_apart ||
                   (gain > 0.0 && measure.name == config::parse_selection(samples_.offer().select).measure());
    }
    for (const auto& [name, value] : measure_values(samples_.offer().measures, arbitrary))
      require(std::isfinite(value), "measure \"" + name + "\" is " + std::to_string(value));
    return told_apart;
  }

  static std::size_t type_of(const Records& records, const std::string& name) {
    return std::ranges::find(records.fields(), name, &Records::Field::name)->values.index();
  }

  TaskSamples samples_;
};

}  // namespace

std::vector<Check> task_output_checks(const TaskSamples& samples) {
  const OutputCheck check(samples);
  return {{"measures", [check] { return check.measures(); }},
          {"labelling", [check] { return check.labelling(); }},
          {"typed text", [check] { return check.typed_text(); }},
          {"scores", [check] { return check.scores(); }}};
}

}  // namespace encore::contract
