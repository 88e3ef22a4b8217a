// SPDX-License-Identifier: BSD-3-Clause
// The checks of tasks (task_checks, called by suite.cpp), on records of the shared fields
// (sample_records.hpp) or of a file of the plugin's author. task_output_checks.cpp has those of outputs.
// Plugins of other authors must pass them, so a check may demand only what encore/task.hpp promises. Read
// suite.hpp and task_samples.hpp first.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <nlohmann/json.hpp>

#include "base/measures.hpp"
#include "base/nearest.hpp"
#include "config/selection.hpp"
#include "contract/at_once.hpp"
#include "contract/sample_records.hpp"
#include "contract/suite.hpp"
#include "contract/task_samples.hpp"
#include "data/encode.hpp"
#include "data/packing.hpp"
#include "plugin_host/loader.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore::contract {
namespace {

constexpr std::int64_t roomy = TaskSamples::roomy, narrow = TaskSamples::narrow;

class TaskCheck {
 public:
  explicit TaskCheck(const TaskSamples& samples) : samples_(samples) {}

  std::string declaration() const {
    require(!samples_.needs().structure.empty(), "fields() names no field that is there at prediction");
    std::vector<std::string> fields = all_fields(samples_.needs());
    fields.insert(fields.end(), samples_.needs().optional.begin(), samples_.needs().optional.end());
    require(std::set<std::string>(fields.begin(), fields.end()).size() == fields.size(),
            "fields() names a field twice");
    // The code that reads manifests must accept the manifest of this task.
    const nlohmann::json manifest =
        config::manifest_to_json({"plugin", "1", "", "plugin.so", {plugin_host::describe(samples_.offer())}});
    require(config::manifest_to_json(config::manifest_from_json(manifest)) == manifest,
            "its manifest changes when it is read back");
    const config::Selection selection = config::parse_selection(samples_.offer().select);
    const Measure* chosen = config::measure_of(samples_.offer().measures, selection.measure());
    // A task whose measures all depend on the data cannot have one that is always there; one that generates
    // text may select by its measures of that, though options may turn generation off.
    const bool may_depend = std::ranges::none_of(samples_.offer().measures, &Measure::always) ||
                            samples_.make(roomy)->decoding().has_value();
    require(chosen == nullptr || ((chosen->always || may_depend) && !is_family(*chosen)),
            "its select is \"" + samples_.offer().select + "\", which some data lack");
    return std::to_string(fields.size()) + " fields, " + std::to_string(samples_.offer().measures.size()) +
           " measures, select = \"" + samples_.offer().select + "\"";
  }

  std::string labels() const {
    const auto one = samples_.prepared(roomy), two = samples_.prepared(roomy);
    const std::vector<std::string> names = one->labels();
    require(std::set<std::string>(names.begin(), names.end()).size() == names.size(),
            "two classes have one name");
    require(names == two->labels() && one->knowledge() == two->knowledge(),
            "preparing twice with one training set gives two labels() or knowledge()");
    const TextCounts words = one->text_counts(samples_.train());
    require(!words.empty(), "text_counts() is empty, so that no tokenizer can be trained");
    require(words == two->text_counts(samples_.train()), "text_counts() of one training set differ");
    const auto empty = samples_.make(roomy);
    try {
      empty->prepare(without_rows(samples_.train()));
    } catch (const Error&) {  // an empty set has nothing to learn
    }
    return std::to_string(names.size()) + " classes, the same ones twice, " + std::to_string(words.size()) +
           " words";
  }

  std::string parts() const {
    const auto whole = samples_.prepared(roomy);
    if (!whole->takes_parts()) return "it takes a training set as a whole";
    const Records first = samples_.train(), later = samples_.other();
    TextCounts sum = whole->text_counts(first);
    for (const auto& [text, count] : whole->text_counts(later)) sum[text] += count;
    const auto other = samples_.make(roomy);
    other->prepare(later);
    require(other->knowledge() == whole->knowledge() && other->columns() == whole->columns(),
            "takes_parts() is true, but it learns something else from another part of a training set");
    require(equal(TaskSamples::encoded(*whole, first), TaskSamples::encoded(*other, first)),
            "takes_parts() is true, but what it encodes depends on the part that it was prepared with");
    require(sum == whole->text_counts(behind_each_other(first, later)),
            "takes_parts() is true, but the text_counts() of two parts are not those of the whole");
    return "two parts of a training set teach it the same as the whole";
  }

  std::string knowledge() const {
    const auto task = samples_.prepared(roomy);
    task->extend(samples_.other());
    const auto again = samples_.make(roomy);
    again->restore(task->knowledge());
    require(again->labels() == task->labels(), "restore(knowledge()) gives other labels()");
    require(again->knowledge() == task->knowledge(), "restore(knowledge()) gives another knowledge()");
    require(again->columns() == task->columns(), "restore(knowledge()) gives other columns()");
    for (const Records& records : {samples_.train(), samples_.other()})
      require(equal(TaskSamples::encoded(*task, records), TaskSamples::encoded(*again, records)),
              "a task that is restored from its knowledge() encodes differently");
    return "a task restored from its knowledge has equal labels and encodings";
  }

  /// Lengths, columns, ids and targets are what encode_records requires. With another value of an option than
  /// the default a task may refuse its data, such as a level above the highest.
  std::string encoding() const {
    std::size_t sets = 0;
    std::string refused;
    for (const OptionsVariant& variant : option_variants(samples_.offer().options)) {
      std::string refusal;
      for (const std::int64_t length : {roomy, narrow, std::int64_t{3}}) try {
          sets += encoded_sets(variant, length);
        } catch (const Refusal& reason) {
          if (refusal.empty()) refusal = reason.what();
        } catch (const std::exception& error) {
          if (variant.is_default) throw;
          throw Error("with " + variant.name + ": " + error.what());
        }
      if (!refusal.empty()) refused += "; refused with " + variant.name + ": " + refusal;
    }
    return std::to_string(sets) + " sets: lengths within max_length, columns that fit" + refused;
  }

  std::string same_numbers() const {
    const auto task = samples_.prepared(roomy);
    task->extend(samples_.other());
    const Records records = samples_.train();
    const ExampleSet expected = TaskSamples::encoded(*task, records);
    for (std::size_t i = records.size(); i-- > 0;) {
      EncodedExample example;
      example.columns.resize(task->columns().size());
      task->encode(records, i, SampleTokenizer(), example);
      require(holds(expected, i, example),
              "record " + std::to_string(i + 1) +
                  ", encoded in another order, gives other numbers; encode is a pure function of the record");
    }
    require_threads(records, expected);
    return "equal numbers in any order, and from four threads at once; a build with the thread sanitizer "
           "finds every race";
  }

  /// Checks drawn examples: packs the training set as a run would, epoch by epoch.
  std::string drawing() const {
    const auto task = samples_.prepared(roomy);
    if (!task->draws()) return "every epoch sees the same numbers";
    require(!task->separates_sequences(),
            "draws() and separates_sequences() are both true; draws need whole examples");
    const ExampleSet set = TaskSamples::encoded(*task, samples_.train());
    const auto tokens = static_cast<std::int64_t>(SampleTokenizer().vocabulary().size());
    data::BatchNeeds needs = {
        .vocabulary = tokens, .targets = tokens, .picked = set.has_column(picked_column)};
    for (const ColumnValues& column : set.columns())
      if (column.rule.space != Space::ragged)
        needs.columns.push_back({.name = column.rule.name,
                                 .space = column.rule.space,
                                 .type = column.rule.type,
                                 .width = column.rule.width});
    std::vector<std::int32_t> all(set.size());
    std::iota(all.begin(), all.end(), 0);
    const auto drawn = [&](std::uint64_t seed, std::int64_t epoch) {
      data::Packer packer(set, needs);
      packer.draw(*task, seed, epoch);
      data::PackedBatch batch;
      packer.pack(all, batch);
      std::vector<std::int32_t> numbers = batch.ids;
      const auto add = [&](const std::vector<std::int32_t>& more) {
        numbers.insert(numbers.end(), more.begin(), more.end());
      };
      add(batch.target.ids);
      add(batch.picked);
      for (const EncodedExample::Column& column : batch.columns) add(column.integers);
      return numbers;
    };
    require(drawn(1, 0) == drawn(1, 0), "drawn twice in one epoch, an example has other numbers");
    require(drawn(1, 0) != drawn(1, 1), "draws() says that epochs differ, and two epochs have equal numbers");
    require(drawn(1, 0) != drawn(2, 0), "two seeds draw equal numbers");
    return "equal numbers for one seed and epoch, others for another";
  }

  std::string prediction() const {
    const auto task = samples_.prepared(roomy);
    const Records bare = with_fields(samples_.train(), samples_.structure());
    const ExampleSet known = TaskSamples::encoded(*task, samples_.train()),
                     unknown = TaskSamples::encoded(*task, bare);
    require(std::ranges::equal(known.arrays().lengths, unknown.arrays().lengths) &&
                std::ranges::equal(known.arrays().ids, unknown.arrays().ids),
            "without the truth the records have other ids");
    for (const ColumnValues& column : known.columns()) {
      if (column.rule.truth) continue;
      const ColumnValues& without = unknown.columns()[unknown.column(column.rule.name)];
      require(std::ranges::equal(column.integers, without.integers) &&
                  std::ranges::equal(column.numbers, without.numbers),
              "without the truth the column \"" + column.rule.name +
                  "\" has other values; columns() declares it as "
                  "independent of the truth");
    }
    require(samples_.needs().truth.empty() || knows_more(known, unknown),
            "no column is marked as truth, though the records have fields of truth");
    task->describe(unknown);
    for (std::size_t i = 0; i < unknown.size(); ++i) task->left_out(unknown, i);
    return "records without the truth have the same ids, and equal values in all other columns";
  }

 private:
  /// A value of an option that the task does not take for these data.
  struct Refusal : Error {
    using Error::Error;
  };

  /// Returns the number of sets that were encoded and fit. Throws Refusal for a varied option only.
  std::size_t encoded_sets(const OptionsVariant& variant, std::int64_t length) const {
    std::unique_ptr<Task> task;
    try {
      task = plugin_host::make_offer<Kind::task>(samples_.offer(), variant.options, {length});
    } catch (const OptionError& error) {  // an invalid combination, perhaps with a short max_length only
      if (variant.is_default || length != roomy) return 0;
      throw Refusal(error.what());
    }
    const std::string where = " with max_length = " + std::to_string(length);
    const Records train = samples_.train(), other = samples_.other();
    try {
      task->prepare(train);
      task->extend(other);
    } catch (const Error& error) {
      if (variant.is_default) throw;
      throw Refusal(error.what());
    }
    require_columns(*task, where);
    for (const Records* records : {&train, &other}) try {
        require_classes(*task, TaskSamples::encoded(*task, *records, length), where);
      } catch (const data::RefusedRecord& error) {
        if (variant.is_default) throw;
        throw Refusal(error.what());
      }
    return 2;
  }

  /// A new task in each round, so that its stored records are empty again.
  void require_threads(const Records& records, const ExampleSet& expected) const {
    constexpr int rounds = 500;
    for (int round = 0; round < rounds; ++round) {
      const auto task = samples_.prepared(roomy);
      task->extend(samples_.other());
      const bool equal = at_once([&](std::size_t thread) {
        bool same = true;
        for (std::size_t i = 0; i < records.size(); ++i) {
          const std::size_t at =
              (i + (round % 2 == 0 ? 0 : thread * records.size() / threads_at_once)) % records.size();
          EncodedExample example;
          example.columns.resize(task->columns().size());
          task->encode(records, at, SampleTokenizer(), example);
          same = same && holds(expected, at, example);
        }
        return same;
      });
      require(equal,
              "four threads that encode at once disturb each other; const functions are called from several "
              "threads, so guard their state with a lock");
    }
  }

  static Records without_rows(const Records& records) {
    Records none;
    for (const Records::Field& field : records.fields()) {
      Records::Values values = field.values;
      std::visit([](auto& each) { each.clear(); }, values);
      none.add(field.name, std::move(values));
    }
    return none;
  }

  static void require_columns(const Task& task, const std::string& where) {
    std::set<std::string> names;
    for (const ColumnRule& rule : task.columns()) {
      require(names.insert(rule.name).second, "two columns are called \"" + rule.name + "\"" + where);
      require(
          rule.width >= 1 && (rule.width == 1 || rule.space != Space::ragged),
          "the column \"" + rule.name + "\" has " + std::to_string(rule.width) + " values per row" + where);
      require(
          rule.name != picked_column || (rule.space == Space::ragged && rule.type == ColumnType::integers),
          "the column \"" + rule.name + "\" names rows: integers over ragged" + where);
    }
    for (const OutputRule& rule : task.outputs()) {
      if (rule.truth.empty()) continue;
      const std::vector<ColumnRule> columns = task.columns();
      const auto truth = std::ranges::find(columns, rule.truth, &ColumnRule::name);
      require(truth != columns.end() && truth->space == rule.space && truth->type == rule.type,
              "the output \"" + rule.name + "\" has the truth \"" + rule.truth +
                  "\", which is not a column of its kind" + where);
    }
  }

  static void require_classes(const Task& task, const ExampleSet& set, const std::string& where) {
    const auto classes = static_cast<std::int32_t>(task.labels().size());
    for (const OutputRule& rule : task.outputs()) {
      if (rule.name != classes_output || rule.truth.empty()) continue;
      for (const std::int32_t target : set.columns()[set.column(rule.truth)].integers)
        require(target == no_target || (target >= 0 && target < classes),
                "the task gives the target " + std::to_string(target) + " in the column \"" + rule.truth +
                    "\", and has " + std::to_string(classes) + " classes" + where);
    }
  }

  /// Returns whether the example equals the one of this number in the set.
  static bool holds(const ExampleSet& set, std::size_t number, const EncodedExample& example) {
    const Run of = set.sequences(number);
    EncodedExample expected;
    expected.columns.resize(set.columns().size());
    const auto add = [](auto from, auto& to) { to.insert(to.end(), from.begin(), from.end()); };
    for (std::size_t s = of.first; s < of.first + of.count; ++s) {
      add(set.ids(s), expected.ids);
      add(set.target_ids(s), expected.target_ids);
      for (std::size_t c = 0; c < expected.columns.size(); ++c) {
        add(set.integers(c, s), expected.columns[c].integers);
        add(set.numbers(c, s), expected.columns[c].numbers);
      }
    }
    bool same = expected.ids == example.ids && expected.target_ids == example.target_ids;
    for (std::size_t c = 0; same && c < expected.columns.size(); ++c)
      same = expected.columns[c].integers == example.columns[c].integers &&
             expected.columns[c].numbers == example.columns[c].numbers;
    return same;
  }

  static bool knows_more(const ExampleSet& known, const ExampleSet& unknown) {
    for (const ColumnValues& column : known.columns())
      if (column.rule.truth && (!unknown.has_column(column.rule.name) ||
                                unknown.columns()[unknown.column(column.rule.name)].size() < column.size()))
        return true;
    return false;
  }

  TaskSamples samples_;
};

/// Runs the same checks with each of the fields that the task can do without. One at a time, because a task
/// may refuse two of them together.
std::string with_optional_fields(const Offer& offer, const CheckData& data) {
  std::string names;
  for (const std::string& field : offer.needs.optional) {
    const TaskSamples samples(offer, data, {field});
    const TaskCheck check(samples);
    check.knowledge();
    check.encoding();
    check.same_numbers();
    check.prediction();
    for (const Check& each : task_output_checks(samples)) each.run();
    names += (names.empty() ? "\"" : ", \"") + field + "\"";
  }
  return "the same with each of " + names;
}

}  // namespace

std::vector<Check> task_checks(const Offer& offer, const CheckData& data) {
  const TaskSamples samples(offer, data);
  const TaskCheck check(samples);
  std::vector<Check> all = {{"declaration", [check] { return check.declaration(); }},
                            {"labels", [check] { return check.labels(); }},
                            {"knowledge", [check] { return check.knowledge(); }},
                            {"parts", [check] { return check.parts(); }},
                            {"encoding", [check] { return check.encoding(); }},
                            {"same numbers", [check] { return check.same_numbers(); }},
                            {"drawing", [check] { return check.drawing(); }},
                            {"prediction", [check] { return check.prediction(); }}};
  for (Check& each : task_output_checks(samples)) all.push_back(std::move(each));
  if (!offer.needs.optional.empty())
    all.push_back({"optional fields", [&offer, data] { return with_optional_fields(offer, data); }});
  return all;
}

}  // namespace encore::contract
