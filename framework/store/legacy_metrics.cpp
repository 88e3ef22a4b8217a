// SPDX-License-Identifier: BSD-3-Clause
// What metrics meant before version 5 of the schema, when only entity recognition stored them, and its counts
// of exact matches, as conlleval and seqeval (default mode) compute them. upgrade.cpp, and
// analysis/predictions.cpp and report/classes.cpp for old files of predictions, call it. It never changes.
// Read legacy_metrics.hpp first.
#include "store/legacy_metrics.hpp"

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "base/label_spans.hpp"
#include "base/measure_json.hpp"
#include "base/measures.hpp"

namespace encore::store {

namespace {

const std::string outside = "O";

const std::vector<Measure>& legacy_measures() {
  const std::vector<std::string> found = {"correct", "predicted", "truth"};
  const std::vector<std::string> precise = {"correct", "predicted"}, recalled = {"correct", "truth"};
  static const std::vector<Measure> measures = {
      {.name = "f1", .title = "F1", .fraction = true, .reducer = Reducer::harmonic_mean, .columns = found},
      {.name = "precision", .fraction = true, .reducer = Reducer::ratio, .columns = precise},
      {.name = "recall", .fraction = true, .reducer = Reducer::ratio, .columns = recalled},
      {.name = "f1_macro",
       .title = "macro F1",
       .fraction = true,
       .reducer = Reducer::macro_harmonic_mean,
       .columns = found},
      {.name = "token_accuracy",
       .title = "token accuracy",
       .fraction = true,
       .reducer = Reducer::ratio,
       .columns = {"correct_words", "words"}},
      {.name = "f1/{label}",
       .title = "F1",
       .fraction = true,
       .reducer = Reducer::harmonic_mean,
       .columns = found},
      {.name = "precision/{label}",
       .title = "precision",
       .fraction = true,
       .reducer = Reducer::ratio,
       .columns = precise},
      {.name = "recall/{label}",
       .title = "recall",
       .fraction = true,
       .reducer = Reducer::ratio,
       .columns = recalled},
      loss_measure()};
  return measures;
}

}  // namespace

Measure legacy_meaning(const std::string& metric) {
  const Metric named{.name = metric};
  const std::string split = named.split(), name = named.measure_name();
  if (split != "train" && split != "dev" && split != "test") return named.meaning;
  for (const Measure& measure : split == "train" ? training_measures() : legacy_measures())
    if (measure.name == name || key_in_name(measure, name)) return measure;
  return named.meaning;
}

void fill_meanings(Database& database) {
  std::vector<std::pair<std::string, std::string>> metrics;
  Statement rows(database, "SELECT name, unit FROM metric WHERE measure = '' ORDER BY number");
  while (rows.step()) metrics.emplace_back(rows.text(0), rows.text(1));
  for (const auto& [name, unit] : metrics) {
    const Measure measure = legacy_meaning(name);
    std::optional<std::string> better;
    if (measure.better != Better::neither) better = encore::name_of(measure.better);
    if (measure.name.empty()) continue;
    database
        .cached(
            "UPDATE metric SET unit = ?, measure = ?, title = ?, fraction = ?, better = ?, reducer = ?, "
            "columns = ? WHERE name = ?")
        .run(unit.empty() ? measure.unit : unit, measure.name, measure.title,
             static_cast<std::int64_t>(measure.fraction), better,
             std::string(encore::name_of(measure.reducer)), nlohmann::json(measure.columns).dump(), name);
  }
}

const Measure& legacy_confusion() {
  static const Measure confusion = {
      .name = "confusion", .better = Better::neither, .reducer = Reducer::matrix, .columns = {"confusion"}};
  return confusion;
}

void add_legacy_sentence(Statistics& to, const std::vector<std::string>& truth,
                         const std::vector<std::string>& predicted) {
  if (predicted.size() > truth.size()) throw Error("there are more predicted tags than words");
  to.begin_example();
  const std::vector<LabelSpan> expected = label_spans(truth);
  for (const LabelSpan& span : expected) to.add("truth", 1, span.label);
  // Both lists are in the order of the words, and spans of one list never overlap, so one pass over both
  // finds the equal spans.
  auto candidate = expected.begin();
  for (const LabelSpan& span : label_spans(predicted)) {
    to.add("predicted", 1, span.label);
    while (candidate != expected.end() && candidate->begin < span.begin) ++candidate;
    if (candidate != expected.end() && *candidate == span) to.add("correct", 1, span.label);
  }
  std::vector<std::string> tags = predicted;
  tags.resize(truth.size(), outside);
  const auto type_of = [](const std::string& tag) {
    const std::string_view label = label_of_tag(tag);
    return label.empty() ? outside : std::string(label);
  };
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (tags[i] == truth[i]) to.add("correct_words", 1);
    to.add("confusion", 1, type_of(truth[i]), type_of(tags[i]));
  }
  to.add("words", static_cast<double>(truth.size()));
}

}  // namespace encore::store
