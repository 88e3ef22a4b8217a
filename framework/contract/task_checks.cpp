// The checks of tasks, on records of the shared fields (sample_records.hpp) or of a file of the author's own.
#include <algorithm>
#include <cmath>
#include <future>
#include <set>

#include <nlohmann/json.hpp>

#include "base/measures.hpp"
#include "config/nearest.hpp"
#include "config/selection.hpp"
#include "contract/sample_records.hpp"
#include "contract/suite.hpp"
#include "data/encode.hpp"
#include "plugin_host/loader.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore {
namespace {

/// Room for every sample, and so little that most are cut.
constexpr std::int64_t roomy = 256, narrow = 8;

bool equal(const ExampleSet& a, const ExampleSet& b) {
  const auto same = [](std::span<const std::int32_t> x, std::span<const std::int32_t> y) {
    return std::ranges::equal(x, y);
  };
  return same(a.lengths(), b.lengths()) && same(a.all_ids(), b.all_ids()) &&
         std::ranges::equal(a.columns(), b.columns(), [&](const ColumnValues& x, const ColumnValues& y) {
           return x.rule == y.rule && same(x.values, y.values) && same(x.counts, y.counts);
         });
}

bool equal(const Statistics& a, const Statistics& b) {
  const auto same = [](const Statistics::Entry& x, const Statistics::Entry& y) {
    return x.column == y.column && x.key == y.key && x.second_key == y.second_key && x.value == y.value;
  };
  if (a.examples() != b.examples() || a.columns() != b.columns() || a.keys() != b.keys()) return false;
  for (std::size_t i = 0; i < a.examples(); ++i)
    if (!std::equal(a.begin(i), a.end(i), b.begin(i), b.end(i), same)) return false;
  return true;
}

class TaskCheck {
 public:
  TaskCheck(const Offer& offer, const CheckData& data) : offer_(offer), data_(data) {}

  std::string declaration() const {
    require(!offer_.needs.structure.empty(), "fields() names no field that is there at prediction");
    const std::vector<std::string> fields = all_fields(offer_.needs);
    require(std::set<std::string>(fields.begin(), fields.end()).size() == fields.size(),
            "fields() names a field twice");
    // What reading its manifest would refuse.
    const nlohmann::json manifest = manifest_to_json({"plugin", "1", "", "plugin.so", {describe(offer_)}});
    require(manifest_to_json(manifest_from_json(manifest)) == manifest, "its manifest reads back otherwise");
    const Selection selection = parse_selection(offer_.select);
    const Measure* chosen = measure_of(offer_.measures, selection.measure());
    require(chosen == nullptr || (chosen->always && !is_family(*chosen)),
            "its select is \"" + offer_.select + "\", which is not there in all data");
    return std::to_string(fields.size()) + " fields, " + std::to_string(offer_.measures.size()) +
           " measures, select = \"" + offer_.select + "\"";
  }

  std::string labels() const {
    const auto one = prepared(roomy), two = prepared(roomy);
    const std::vector<std::string> names = one->labels();
    require(!names.empty(), "labels() is empty after prepare; a head needs at least one class");
    require(std::set<std::string>(names.begin(), names.end()).size() == names.size(),
            "two classes have one name");
    require(names == two->labels() && one->knowledge() == two->knowledge(),
            "preparing twice with one training set gives two labels() or knowledge()");
    const WordCounts words = one->word_counts(train());
    require(!words.empty(), "word_counts() is empty, so that no tokenizer can be trained");
    require(words == two->word_counts(train()), "word_counts() of one training set differ");
    const auto empty = make(roomy);
    try {
      empty->prepare(without_rows(train()));
    } catch (const Error&) {  // nothing can be learned from nothing
    }
    return std::to_string(names.size()) + " classes, the same ones twice, " + std::to_string(words.size()) +
           " words";
  }

  std::string knowledge() const {
    const auto task = prepared(roomy);
    task->extend(other());
    const auto again = make(roomy);
    again->restore(task->knowledge());
    require(again->labels() == task->labels(), "restore(knowledge()) gives other labels()");
    require(again->knowledge() == task->knowledge(), "restore(knowledge()) gives another knowledge()");
    require(again->columns() == task->columns(), "restore(knowledge()) gives other columns()");
    for (const Records& records : {train(), other()})
      require(equal(encoded(*task, records), encoded(*again, records)),
              "a task that is restored from its knowledge() encodes otherwise");
    return "a task restored from its knowledge has equal labels and encodings";
  }

  /// Lengths, columns, ids and targets are what encode_records requires.
  std::string encoding() const {
    std::size_t sets = 0;
    for (const OptionsVariant& variant : option_variants(offer_.options))
      for (const std::int64_t length : {roomy, narrow, std::int64_t{3}}) {
        std::unique_ptr<Task> task;
        try {
          task = make_offer<Kind::task>(offer_, variant.options, {length});
        } catch (const OptionError&) {  // a combination that cannot be
          continue;
        }
        task->prepare(train());
        task->extend(other());
        const std::string where = " with max_length = " + std::to_string(length) + " and " + variant.name;
        for (const Records& records : {train(), other()}) {
          require_columns(*task, where);
          encoded(*task, records, length);
          ++sets;
        }
      }
    return std::to_string(sets) +
           " sets: lengths within max_length, columns that fit, targets among the classes";
  }

  std::string same_numbers() const {
    const auto task = prepared(roomy);
    task->extend(other());
    const Records records = train();
    const ExampleSet expected = encoded(*task, records);
    for (std::size_t i = records.size(); i-- > 0;) {
      EncodedExample example;
      example.columns.resize(task->columns().size());
      task->encode(records, i, SampleTokenizer(), example);
      require(std::ranges::equal(example.ids, expected.ids(i)), in_other_order(i));
      for (std::size_t k = 0; k < example.columns.size(); ++k)
        require(std::ranges::equal(example.columns[k], expected.values(k, i)), in_other_order(i));
    }
    std::vector<std::future<bool>> threads;
    for (int i = 0; i < 4; ++i)
      threads.push_back(std::async(std::launch::async, [&] {
        bool same = true;
        for (int round = 0; round < 50; ++round) same = same && equal(encoded(*task, records), expected);
        return same;
      }));
    for (std::future<bool>& thread : threads)
      require(thread.get(), "four threads that encode at once disturb each other");
    return "equal numbers in any order, and from four threads at once";
  }

  std::string prediction() const {
    const auto task = prepared(roomy);
    const Records bare = with_fields(train(), offer_.needs.structure);
    const ExampleSet known = encoded(*task, train()), unknown = encoded(*task, bare);
    require(std::ranges::equal(known.lengths(), unknown.lengths()) &&
                std::ranges::equal(known.all_ids(), unknown.all_ids()),
            "without the truth the records have other ids");
    const std::span<const std::int32_t> targets = targets_of(unknown);
    require(std::ranges::any_of(targets, [](std::int32_t target) { return target != no_target; }),
            "without the truth no row is marked to be decoded (class 0 in the column \"" +
                std::string(targets_column) + "\")");
    task->describe(unknown);
    for (std::size_t i = 0; i < unknown.size(); ++i) task->left_out(unknown, i);
    return "records without the truth have the same ids";
  }

  std::string measures() const {
    const auto task = prepared(roomy);
    const ExampleSet set = encoded(*task, train());
    const Outputs right = perfect(set);
    const Statistics best = counted(*task, set, right);
    require(equal(best, counted(*task, set, right)), "measuring twice gives other statistics");
    for (const Measure& measure : offer_.measures)
      for (const std::string& column : measure.columns)
        require(!measure.always || std::ranges::find(best.columns(), column) != best.columns().end(),
                "measure \"" + measure.name + "\" is always there, but nothing is added to its column \"" +
                    column + "\"" + did_you_mean(column, best.columns()));
    bool told_apart = false;
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
      const Statistics arbitrary = counted(*task, set, random(set, *task, seed));
      told_apart = compare(best, arbitrary) || told_apart;
    }
    const Measure* chosen = measure_of(offer_.measures, parse_selection(offer_.select).measure());
    require(told_apart || chosen == nullptr,
            "measure \"" + std::string(chosen == nullptr ? "" : chosen->name) +
                "\", by which it selects, is the same for perfect outputs and for arbitrary ones");
    return std::to_string(measure_values(offer_.measures, best).size()) +
           " finite values, best for perfect outputs, each example by itself";
  }

  std::string labelling() const {
    const auto task = prepared(roomy);
    const Records records = train(), bare = with_fields(records, offer_.needs.structure);
    const ExampleSet set = encoded(*task, records);
    for (const Outputs& outputs : {perfect(set), random(set, *task, 1)}) {
      const Records labelled = task->label(bare, set, outputs);
      for (const std::string& field : offer_.needs.truth) {
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
    const auto task = prepared(roomy);
    const std::vector<std::string> lines = {"Anna lives in Lund", "", "rain , rain",
                                            "Zürich \xF0\x9F\x99\x82"};
    Records records;
    try {
      records = task->from_text(lines);
    } catch (const Error&) {
      return "it cannot be asked with a line of text";
    }
    require(records.size() == lines.size(), "from_text gives " + std::to_string(records.size()) +
                                                " records for " + std::to_string(lines.size()) + " lines");
    for (const std::string& field : offer_.needs.structure)
      require(records.has(field), "from_text gives no field \"" + field + "\", which fields() names");
    const ExampleSet set = encoded(*task, records);
    const Records answers = task->answer(records, set, random(set, *task, 1));
    require(answers.has("shown"), "answer() gives no field \"shown\", the line for people");
    require(answers.texts("shown").size() == lines.size(),
            "answer() gives another number of records than it got");
    return std::to_string(lines.size()) + " lines, an answer to each";
  }

 private:
  std::unique_ptr<Task> make(std::int64_t max_length) const {
    return make_offer<Kind::task>(offer_, default_options(offer_.options), {max_length});
  }
  std::unique_ptr<Task> prepared(std::int64_t max_length) const {
    std::unique_ptr<Task> task = make(max_length);
    task->prepare(train());
    return task;
  }

  Records train() const { return records_of(SampleSet::train); }
  Records other() const { return records_of(SampleSet::other); }

  /// The author's file where a reader of the plugin gives what the task needs.
  Records records_of(SampleSet set) const {
    const std::vector<std::string> fields = all_fields(offer_.needs);
    if (data_.given())
      for (const Offer& reader : data_.readers)
        if (missing_fields(describe(offer_), describe(reader)).empty()) {
          const InputText file{data_.name, data_.text};
          return with_fields(make_offer<Kind::reader>(reader, default_options(reader.options), {})
                                 ->read({&file, 1}, "training set"),
                             fields);
        }
    return sample_records(fields, set);
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

  static ExampleSet encoded(const Task& task, const Records& records, std::int64_t max_length = roomy) {
    return encode_records(task, records, SampleTokenizer(), max_length);
  }

  static std::span<const std::int32_t> targets_of(const ExampleSet& set) {
    return set.columns()[set.column(targets_column)].values;
  }

  static void require_columns(const Task& task, const std::string& where) {
    std::set<std::string> names;
    for (const ColumnRule& rule : task.columns()) {
      require(names.insert(rule.name).second, "two columns are called \"" + rule.name + "\"" + where);
      require(rule.name != targets_column || rule.space == Space::tokens,
              "the column \"" + rule.name + "\" must have a value per id (Space::tokens)" + where);
    }
    require(names.contains(targets_column),
            "there is no column \"" + std::string(targets_column) + "\", which the head learns from" + where);
  }

  static Outputs perfect(const ExampleSet& set) {
    const std::span<const std::int32_t> targets = targets_of(set);
    Outputs outputs{{targets.begin(), targets.end()}};
    for (std::int32_t& output : outputs.classes) output = std::max(output, 0);
    return outputs;
  }

  static Outputs random(const ExampleSet& set, const Task& task, std::uint32_t seed) {
    const auto classes = static_cast<std::uint32_t>(task.labels().size());
    Outputs outputs{std::vector<std::int32_t>(set.all_ids().size())};
    for (std::int32_t& output : outputs.classes) {
      seed = seed * 1664525U + 1013904223U;
      output = static_cast<std::int32_t>((seed >> 16) % classes);
    }
    return outputs;
  }

  static Statistics counted(const Task& task, const ExampleSet& set, const Outputs& outputs) {
    Statistics statistics;
    task.measure(set, outputs, statistics);
    require(statistics.examples() == set.size(), "measure() begins " + std::to_string(statistics.examples()) +
                                                     " examples for " + std::to_string(set.size()));
    return statistics;
  }

  /// Whether the measure that it selects by tells perfect outputs from arbitrary ones.
  bool compare(const Statistics& perfect, const Statistics& arbitrary) const {
    bool told_apart = false;
    for (const Measure& measure : offer_.measures) {
      if (!has_value(measure.reducer) || is_family(measure)) continue;
      const double best = measure_value(measure, perfect), other = measure_value(measure, arbitrary);
      for (const double value : {best, other}) {
        const std::string found = "measure \"" + measure.name + "\" is " + std::to_string(value);
        require(std::isfinite(value), found);
        require(!measure.fraction || (value >= 0.0 && value <= 1.0), found + ", which is no fraction");
      }
      if (measure.better == Better::neither) continue;
      const double gain = measure.better == Better::higher ? best - other : other - best;
      require(gain >= 0.0, "measure \"" + measure.name + "\" is " + std::to_string(best) +
                               " for perfect outputs and " + std::to_string(other) +
                               " for arbitrary ones, which would be better");
      told_apart = told_apart || (gain > 0.0 && measure.name == parse_selection(offer_.select).measure());
    }
    for (const auto& [name, value] : measure_values(offer_.measures, arbitrary))
      require(std::isfinite(value), "measure \"" + name + "\" is " + std::to_string(value));
    return told_apart;
  }

  static std::size_t type_of(const Records& records, const std::string& name) {
    return std::ranges::find(records.fields(), name, &Records::Field::name)->values.index();
  }

  static std::string in_other_order(std::size_t record) {
    return "record " + std::to_string(record + 1) +
           ", encoded in another order, gives other numbers; encode is a pure function of the record";
  }

  const Offer& offer_;
  CheckData data_;
};

}  // namespace

std::vector<Check> task_checks(const Offer& offer, const CheckData& data) {
  const TaskCheck check(offer, data);
  return {{"declaration", [check] { return check.declaration(); }},
          {"labels", [check] { return check.labels(); }},
          {"knowledge", [check] { return check.knowledge(); }},
          {"encoding", [check] { return check.encoding(); }},
          {"same numbers", [check] { return check.same_numbers(); }},
          {"prediction", [check] { return check.prediction(); }},
          {"measures", [check] { return check.measures(); }},
          {"labelling", [check] { return check.labelling(); }},
          {"typed text", [check] { return check.typed_text(); }}};
}

}  // namespace encore
