// SPDX-License-Identifier: BSD-3-Clause
// SequenceClass: one label per sequence, for the tasks classify and relation. The flow is: records with
// `label` -> columns targets and truth -> the head's output "classes" over sequences -> measures, labels.
// Runs store knowledge(), so its form must not change. Read next: class_measures.hpp, class_weights.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/class_probabilities.hpp>
#include <encore/task.hpp>

#include "class_weights.hpp"
#include "label_names.hpp"

namespace encore::tasks {

class SequenceClass {
 public:
  explicit SequenceClass(const Options& options) : weights_(options) {}

  /// Throws Error if the training set has fewer than two labels, or an invalid one.
  void prepare(const Records& train);
  void extend(const Records& other);
  /// Takes the classes of an imported model, in place of prepare(). Throws Error.
  void adopt(const std::vector<std::string>& classes) {
    weights_.require_off();
    names_ = LabelNames::adopted(classes);
  }
  std::string knowledge() const { return weights_.marked(names_.text()); }
  void restore(std::string_view knowledge);
  std::vector<std::string> labels() const { return names_.labels(); }

  /// Returns the first columns of an example: targets, truth, and weights if classes have weights. All are
  /// over sequences.
  std::vector<ColumnRule> columns() const;
  std::size_t column_count() const { return weights_.on() ? 3 : 2; }
  static OutputRule output() {
    return {.name = classes_output, .space = Space::sequences, .truth = targets_column};
  }
  /// Encodes the label of an example of one sequence, or no label if the truth is unknown.
  void encode(const Records& records, std::size_t record, EncodedExample& to) const;

  /// Adds to a description: the number of labels, the most frequent one, and labels that training lacks.
  void describe_labels(const ExampleSet& set, SetDescription& description) const;
  void describe_unseen(const ExampleSet& set, SetDescription& description) const;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const;
  /// Returns the field `label`.
  Records label(const ExampleSet& set, const Outputs& outputs) const;
  /// Returns why there are no scores (Task::no_scores), or "".
  std::string no_scores(std::span<const OutputRule> given) const {
    return ClassProbabilities::missing(given, Space::sequences, names_.labels().size());
  }
  /// Returns the fields `label`, `score` and `scores`.
  Records scored_label(const ExampleSet& set, const Outputs& outputs) const;

 private:
  std::int32_t number(const ExampleSet& set, const Outputs& outputs, std::size_t sequence) const;
  const std::string& predicted(const ExampleSet& set, const Outputs& outputs, std::size_t sequence) const {
    return names_.name(number(set, outputs, sequence));
  }

  ClassWeights weights_;
  LabelNames names_;
};

}  // namespace encore::tasks
