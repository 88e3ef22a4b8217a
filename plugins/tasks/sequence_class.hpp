// SPDX-License-Identifier: BSD-3-Clause
// SequenceClass: one label per example, for the tasks classify and relation. The flow is: records with
// `label` -> columns targets and truth -> the head's output "classes" over sequences -> measures, labels. If
// an example has several windows, each has the label as its target, and the answer is the class with the
// largest mean probability. Runs store knowledge(), so its form must not change. Read next:
// window_shares.hpp, class_measures.hpp, class_weights.hpp.
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
  /// Returns the output with the class, and for examples that may have several windows also the logits.
  std::vector<OutputRule> outputs(bool has_windows) const;
  /// Encodes the label of a sequence, or no label if the truth is unknown.
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
  std::int32_t number(const ExampleSet& set, const Outputs& outputs, std::size_t example) const;
  const std::string& predicted(const ExampleSet& set, const Outputs& outputs, std::size_t example) const {
    return names_.name(number(set, outputs, example));
  }

  ClassWeights weights_;
  LabelNames names_;
};

}  // namespace encore::tasks
