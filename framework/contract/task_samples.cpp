// SPDX-License-Identifier: BSD-3-Clause
// TaskSamples: makes a training set and a development set of sample records, encodes them with the task under
// test, and makes correct or arbitrary outputs of a model. task_checks.cpp and task_output_checks.cpp use it.
// The truth must stay the best output, or correct tasks fail. Read task_samples.hpp first.
#include "contract/task_samples.hpp"

#include <algorithm>

#include <encore/class_probabilities.hpp>

#include "base/nearest.hpp"
#include "data/encode.hpp"
#include "plugin_host/loader.hpp"
#include "plugin_host/make_offer.hpp"
#include "plugin_host/reader_settings.hpp"

namespace encore::contract {
namespace {

/// The number of values per row of an embedding and similar outputs, if the task takes any.
constexpr std::int64_t any_width = 3;

std::vector<OutputRule> rules_of(const Task& task) {
  std::vector<OutputRule> rules = task.outputs();
  for (OutputRule& rule : rules)
    if (rule.width == 0) rule.width = any_width;
  return rules;
}

/// Returns the truth of each record as text; empty strings for records without one.
Records::Texts true_texts(const TaskFields& fields, const Records& records) {
  for (const std::string& field : fields.truth)
    for (const Records::Field& each : records.fields())
      if (const auto* texts = std::get_if<Records::Texts>(&each.values);
          texts != nullptr && each.name == field)
        return *texts;
  return Records::Texts(records.size());
}

/// The value of a setting as a word of the command line: number for "number" in quotation marks.
std::string plain(std::string value) {
  std::erase(value, '"');
  return value;
}

template <class T>
bool same(std::span<const T> a, std::span<const T> b) {
  return std::ranges::equal(a, b);
}

}  // namespace

std::unique_ptr<Task> TaskSamples::make(std::int64_t max_length) const {
  return plugin_host::make_offer<Kind::task>(offer_, plugin_host::default_options(offer_.options),
                                             {max_length});
}

std::unique_ptr<Task> TaskSamples::prepared(std::int64_t max_length) const {
  std::unique_ptr<Task> task = make(max_length);
  const Records records = train();
  try {
    task->prepare(records);
  } catch (const Error& error) {
    if (data_.given()) throw;
    throw Error(
        std::string(error.what()) +
        "; if it takes fewer values than the suite's samples have, name a file of its own: --data FILE "
        "-S data.type=READER, with -S task.OPTION=VALUE for options that it needs");
  }
  return task;
}

std::vector<std::string> TaskSamples::structure() const {
  std::vector<std::string> fields = needs().structure;
  fields.insert(fields.end(), optional_.begin(), optional_.end());
  return fields;
}

/// A reader may give a field with other options only.
Records TaskSamples::read_by(const Offer& reader, std::span<const InputText> files,
                             const std::vector<std::string>& fields) const {
  const Options options = plugin_host::default_options(reader.options);
  const Records records =
      plugin_host::make_offer<Kind::reader>(reader, options, {})->read(files, "training set");
  const std::vector<std::string> needed = all_fields(needs());
  std::vector<std::string> missing;
  for (const std::string& field : needed)
    if (!records.has(field)) missing.push_back(field);
  if (missing.empty()) return with_fields(records, fields);
  std::string remedy;
  for (const plugin_host::OptionSetting& setting :
       plugin_host::settings_that_give(reader, options, files, needed))
    remedy +=
        (remedy.empty() ? "add -S data." : " or -S data.") + setting.option + "=" + plain(setting.value);
  throw Error("--data " + data_.name() + ": reader \"" + reader.name + "\" does not give " +
              quoted_list(missing) + ", which it needs; " +
              (remedy.empty() ? plugin_host::reader_remedy(reader, {}) : remedy));
}

Records TaskSamples::records_of(SampleSet set) const {
  std::vector<std::string> fields = structure();
  fields.insert(fields.end(), needs().truth.begin(), needs().truth.end());
  if (!data_.given()) return sample_records(fields, set);
  std::vector<InputText> files;
  for (const CheckFile& file : data_.files) files.push_back({.name = file.name, .text = file.text});
  std::string refused;
  for (const Offer& reader : data_.readers) {
    const std::vector<std::string> missing =
        config::missing_fields(plugin_host::describe(offer_), plugin_host::describe(reader));
    if (missing.empty()) return read_by(reader, files, fields);
    refused = "reader \"" + reader.name + "\" does not give " + quoted_list(missing) + ", which it needs; ";
  }
  // A file for a reader of the plugin need not fit its task.
  if (!data_.readers.empty() && !data_.chosen) return sample_records(fields, set);
  throw Error("--data " + data_.name() + ": " +
              (refused.empty() ? "the plugin has no reader for it; " : refused) + "name one that gives " +
              quoted_list(fields) + ", as in -S data.type=tsv");
}

ExampleSet TaskSamples::encoded(const Task& task, const Records& records, std::int64_t max_length) {
  return data::encode_records(task, records, SampleTokenizer(), max_length);
}

bool equal(const ExampleSet& a, const ExampleSet& b) {
  const ExampleArrays &x = a.arrays(), &y = b.arrays();
  return same(x.lengths, y.lengths) && same(x.ids, y.ids) && same(x.target_lengths, y.target_lengths) &&
         same(x.target_ids, y.target_ids) && same(x.sequences, y.sequences) &&
         std::ranges::equal(x.columns, y.columns, [](const ColumnValues& c, const ColumnValues& d) {
           return c.rule == d.rule && same(c.integers, d.integers) && same(c.numbers, d.numbers) &&
                  same(c.counts, d.counts);
         });
}

bool equal(const Statistics& a, const Statistics& b) {
  const auto same_entry = [](const Statistics::Entry& x, const Statistics::Entry& y) {
    return x.column == y.column && x.key == y.key && x.second_key == y.second_key && x.value == y.value;
  };
  if (a.examples() != b.examples() || a.columns() != b.columns() || a.keys() != b.keys()) return false;
  for (std::size_t i = 0; i < a.examples(); ++i)
    if (!std::equal(a.begin(i), a.end(i), b.begin(i), b.end(i), same_entry)) return false;
  return true;
}

Outputs perfect_outputs(const Task& task, const ExampleSet& set, const TaskFields& fields,
                        const Records& records) {
  Outputs outputs(set, rules_of(task));
  for (Outputs::Values& values : outputs.all()) {
    if (values.rule.truth.empty()) continue;
    const ColumnValues& truth = set.columns()[set.column(values.rule.truth)];
    if (truth.size() != values.integers.size() + values.numbers.size())
      throw Error("the output \"" + values.rule.name + "\" has another number of values than the column \"" +
                  values.rule.truth + "\", which outputs() names as its truth");
    std::ranges::copy(truth.numbers, values.numbers.begin());
    std::ranges::transform(truth.integers, values.integers.begin(),
                           [](std::int32_t v) { return std::max(v, 0); });
  }
  if (!task.decoding()) return outputs;
  const Records::Texts truths = true_texts(fields, records);
  std::vector<std::vector<GeneratedText>> texts(set.sequence_count());
  for (std::size_t i = 0; i < set.size(); ++i)
    texts[set.sequences(i).first] = {{.tokens = {}, .text = truths[i], .score = 0.0, .ended = true}};
  outputs.set_texts(std::move(texts));
  return outputs;
}

bool knows_truth(const Task& task) {
  return std::ranges::none_of(task.outputs(), [](const OutputRule& rule) { return rule.truth.empty(); });
}

Outputs arbitrary_outputs(const Task& task, const ExampleSet& set, std::uint32_t seed) {
  Outputs outputs(set, rules_of(task));
  const auto draw = [&seed](std::size_t below) {
    seed = seed * 1664525U + 1013904223U;
    return below == 0 ? 0 : (seed >> 16) % below;
  };
  const std::size_t classes = task.labels().size();
  for (Outputs::Values& values : outputs.all()) {
    const bool known = !values.rule.truth.empty() && set.has_column(values.rule.truth);
    const ColumnValues truth = known ? set.columns()[set.column(values.rule.truth)] : ColumnValues();
    for (std::int32_t& value : values.integers) {
      if (values.rule.name == classes_output)
        value = static_cast<std::int32_t>(draw(classes));
      else if (!truth.integers.empty())
        value = std::max(truth.integers[draw(truth.integers.size())], 0);
    }
    for (float& value : values.numbers) value = static_cast<float>(draw(1000)) / 1000.0F;
  }
  if (!task.decoding()) return outputs;
  std::vector<std::vector<GeneratedText>> texts(set.sequence_count());
  for (std::vector<GeneratedText>& of_sequence : texts) {
    std::vector<std::int32_t> tokens(draw(6));
    for (std::int32_t& token : tokens)
      token = static_cast<std::int32_t>(draw(static_cast<std::size_t>(SampleTokenizer::tokens)));
    of_sequence = {
        {.tokens = tokens, .text = SampleTokenizer().decode(tokens), .score = -1.0, .ended = true}};
  }
  outputs.set_texts(std::move(texts));
  return outputs;
}

std::optional<OutputRule> logits_rule(const Task& task) {
  for (const OutputRule& rule : task.outputs())
    if (rule.name == classes_output)
      return OutputRule{.name = logits_output,
                        .space = rule.space,
                        .type = ColumnType::numbers,
                        .width = static_cast<std::int64_t>(task.labels().size())};
  return {};
}

void add_logits(const OutputRule& rule, const ExampleSet& set, std::uint32_t seed, Outputs& outputs) {
  Outputs::Values logits = Outputs(set, {rule}).all().front();
  for (float& logit : logits.numbers) {
    seed = seed * 1664525U + 1013904223U;
    logit = static_cast<float>((seed >> 16) % 1000) / 100.0F - 5.0F;
  }
  const auto classes = static_cast<std::size_t>(rule.width);
  for (Outputs::Values& values : outputs.all()) {
    if (values.rule.name != classes_output) continue;
    for (std::size_t row = 0; row < values.integers.size(); ++row) {
      const auto of_row = std::span(logits.numbers).subspan(row * classes, classes);
      values.integers[row] = static_cast<std::int32_t>(std::ranges::max_element(of_row) - of_row.begin());
    }
  }
  outputs.all().push_back(std::move(logits));
}

}  // namespace encore::contract
