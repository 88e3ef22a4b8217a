// SPDX-License-Identifier: BSD-3-Clause
// SequenceClass: encodes the label of a sequence as its target, and turns predicted classes into labels and
// counts. A label that the training set lacks has a number but no class. classify and relation call it; runs
// store knowledge(), so its form must not change. Read sequence_class.hpp first.
#include "sequence_class.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "class_measures.hpp"
#include "label_scores.hpp"
#include "line_text.hpp"
#include "window_shares.hpp"

namespace encore::tasks {
namespace {

enum : std::size_t { targets, truth, weights };

/// Throws Error if the text cannot name a class.
const std::string& checked(const std::string& label) {
  if (label.empty()) throw Error("a label is empty; every text needs a label");
  if (label.find('\n') != std::string::npos)
    throw Error("the label \"" + label + "\" has a line break in it");
  return label;
}

/// Returns the number of examples of each label number; empty if the truth is unknown.
std::map<std::int32_t, std::int64_t> texts_by_label(const ExampleSet& set) {
  std::map<std::int32_t, std::int64_t> texts;
  for (std::size_t i = 0; i < set.size() && set.has_column("truth"); ++i)
    ++texts[set.integers(set.column("truth"), first_window(set, i)).front()];
  return texts;
}

/// Returns the probabilities of the classes for a whole example.
std::vector<double> probabilities_of(const ExampleSet& set, const ClassProbabilities& probabilities,
                                     std::size_t example) {
  return mean_of_windows(window_shares(set, example),
                         [&](std::size_t sequence) { return probabilities.of(set, sequence, 0); });
}

}  // namespace

// --- what the training set decides ---

void SequenceClass::prepare(const Records& train) {
  std::map<std::string, std::int64_t> counts;
  for (const std::string& label : train.texts("label")) ++counts[checked(label)];
  if (counts.size() < 2)
    throw Error(counts.empty() ? "the training set has no text to learn from"
                               : "all examples of the training set have the label \"" +
                                     counts.begin()->first + "\"; there is nothing to learn");
  std::vector<std::string> labels;
  std::vector<std::int64_t> numbers;
  for (const auto& [label, count] : counts) {
    labels.push_back(label);
    numbers.push_back(count);
  }
  weights_.prepare(labels, numbers);
  names_ = LabelNames(labels);
}

void SequenceClass::extend(const Records& other) {
  for (const std::string& label : other.texts("label")) names_.add(checked(label));
}

void SequenceClass::restore(std::string_view knowledge) {
  names_ = LabelNames::from_text(weights_.take_mark(knowledge));
  weights_.require_classes(names_.labels().size());
}

// --- encoding ---

std::vector<ColumnRule> SequenceClass::columns() const {
  std::vector<ColumnRule> columns = {{.name = targets_column, .space = Space::sequences, .truth = true},
                                     {.name = "truth",
                                      .space = Space::sequences,
                                      .truth = true}};  // number of the label, also if training lacks it
  weights_.add_column(columns, Space::sequences);
  return columns;
}

std::vector<OutputRule> SequenceClass::outputs(bool has_windows) const {
  std::vector<OutputRule> outputs = {
      {.name = classes_output, .space = Space::sequences, .truth = targets_column}};
  if (has_windows)
    outputs.push_back({.name = logits_output,
                       .space = Space::sequences,
                       .type = ColumnType::numbers,
                       .width = static_cast<std::int64_t>(names_.labels().size())});
  return outputs;
}

void SequenceClass::encode(const Records& records, std::size_t record, EncodedExample& to) const {
  if (!records.has("label")) return;
  const std::int32_t number = names_.number(records.texts("label")[record]);
  const std::int32_t target = names_.is_label(number) ? number : no_target;
  to.integers(truth).push_back(number);
  to.integers(targets).push_back(target);
  if (weights_.on()) to.numbers(weights).push_back(weights_.of(target));
}

void SequenceClass::describe_labels(const ExampleSet& set, SetDescription& description) const {
  const std::map<std::int32_t, std::int64_t> texts = texts_by_label(set);
  description.counts.emplace_back("labels", static_cast<std::int64_t>(texts.size()));
  const auto most = std::ranges::max_element(texts, {}, [](const auto& each) { return each.second; });
  if (texts.size() > 1)
    description.notes.push_back("the most frequent label, \"" + names_.name(most->first) + "\", is that of " +
                                std::to_string(most->second) + " of " +
                                counted(static_cast<std::int64_t>(set.size()), "example", "examples"));
}

void SequenceClass::describe_unseen(const ExampleSet& set, SetDescription& description) const {
  std::int64_t unseen = 0;
  for (const auto& [number, count] : texts_by_label(set)) {
    if (names_.is_label(number)) continue;
    unseen += count;
    description.notes.push_back("the label \"" + names_.name(number) + "\" of " +
                                counted(count, "example", "examples") +
                                " is not in the training set; it always counts as wrong");
  }
  description.counts.emplace_back("texts with labels not in training", unseen);
}

// --- measures and labels ---

void SequenceClass::measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const {
  const std::size_t truths = set.column("truth");
  for (std::size_t i = 0; i < set.size(); ++i) {
    statistics.begin_example();
    const std::int32_t of_text = set.integers(truths, first_window(set, i)).front();
    add_class(names_.name(of_text), predicted(set, outputs, i), 1, statistics);
  }
}

Records SequenceClass::label(const ExampleSet& set, const Outputs& outputs) const {
  Records::Texts labels;
  for (std::size_t i = 0; i < set.size(); ++i) labels.push_back(predicted(set, outputs, i));
  Records labelled;
  labelled.add("label", std::move(labels));
  return labelled;
}

Records SequenceClass::scored_label(const ExampleSet& set, const Outputs& outputs) const {
  const ClassProbabilities probabilities(outputs);
  const std::vector<std::string> labels = names_.labels();
  Records::Numbers scores;
  Records::NumberMaps all;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const std::vector<double> of_text = probabilities_of(set, probabilities, i);
    scores.push_back(of_text[static_cast<std::size_t>(number(set, outputs, i))]);
    all.push_back(scores_by_label<double>(labels, of_text));
  }
  Records labelled = label(set, outputs);
  labelled.add("score", std::move(scores));
  labelled.add("scores", std::move(all));
  return labelled;
}

/// Returns the predicted class; of several windows the one with the largest mean probability, the first of
/// equal ones. For an example without a target a head may give any value.
std::int32_t SequenceClass::number(const ExampleSet& set, const Outputs& outputs, std::size_t example) const {
  const Run windows = set.sequences(example);
  if (windows.count > 1) {
    const std::vector<double> shares = probabilities_of(set, ClassProbabilities(outputs), example);
    return static_cast<std::int32_t>(std::ranges::max_element(shares) - shares.begin());
  }
  const std::int32_t number = outputs.integers(classes_output, set, windows.first).front();
  return names_.is_label(number) ? number : 0;
}

}  // namespace encore::tasks
