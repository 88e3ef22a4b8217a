// The checks of what a task makes of outputs: measures, labelled records, answers.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/measures.hpp"
#include "base/nearest.hpp"
#include "config/selection.hpp"
#include "contract/task_samples.hpp"

namespace encore {
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
    const Measure* chosen =
        measure_of(samples_.offer().measures, parse_selection(samples_.offer().select).measure());
    require(told_apart || chosen == nullptr || !knows_truth(*task),
            "measure \"" + std::string(chosen == nullptr ? "" : chosen->name) +
                "\", by which it selects, is the same for perfect outputs and for arbitrary ones");
    return std::to_string(measure_values(samples_.offer().measures, best).size()) +
           " finite values, best for perfect outputs, " +
           (counts_each_by_itself(*task, records, best)
                ? "each example by itself"
                : "what an example adds depends on the others of its set") +
           "; the formulas are not compared; a test of your own knows the values that must come out";
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
    return "the truth fields of every record, as the model has them";
  }

  std::string typed_text() const {
    const auto task = samples_.prepared(TaskSamples::roomy);
    std::vector<std::string> lines = {"Anna lives in Lund", "", "rain , rain", "Zürich \xF0\x9F\x99\x82"};
    Records records;
    try {
      records = task->from_text(lines);
    } catch (const Error&) {  // perhaps it reads two texts, with a tab between
      for (std::string& line : lines)
        if (const std::size_t space = line.find(' '); space != std::string::npos) line[space] = '\t';
      try {
        records = task->from_text(lines);
      } catch (const Error&) {
        return "it cannot be asked with a line of text";
      }
    }
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

 private:
  /// What an example adds, by the names of columns and keys.
  using Added = std::map<std::array<std::string, 3>, double>;
  static Added added_by(const Statistics& statistics, std::size_t example) {
    Added all;
    for (const auto* entry = statistics.begin(example); entry != statistics.end(example); ++entry)
      all[{statistics.columns()[entry->column], statistics.keys()[entry->key],
           statistics.keys()[entry->second_key]}] += entry->value;
    return all;
  }

  /// Whether what an example adds depends on it alone. It need not: a rank among the texts of the set does
  /// not.
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

  /// Whether the measure that it selects by tells perfect outputs from arbitrary ones.
  bool compare(const Statistics& perfect, const Statistics& arbitrary, bool truth_is_known) const {
    bool told_apart = false;
    for (const Measure& measure : samples_.offer().measures) {
      if (!has_value(measure.reducer) || is_family(measure)) continue;
      const double best = measure_value(measure, perfect), other = measure_value(measure, arbitrary);
      for (const double value : {best, other}) {
        const std::string found = "measure \"" + measure.name + "\" is " + std::to_string(value);
        require(std::isfinite(value), found);
        require(!measure.fraction || (value >= 0.0 && value <= 1.0), found + ", which is no fraction");
      }
      if (measure.better == Better::neither) continue;
      const double gain = measure.better == Better::higher ? best - other : other - best;
      require(gain >= 0.0 || !truth_is_known, "measure \"" + measure.name + "\" is " + std::to_string(best) +
                                                  " for perfect outputs and " + std::to_string(other) +
                                                  " for arbitrary ones, which would be better");
      told_apart =
          told_apart || (gain > 0.0 && measure.name == parse_selection(samples_.offer().select).measure());
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
          {"typed text", [check] { return check.typed_text(); }}};
}

}  // namespace encore
