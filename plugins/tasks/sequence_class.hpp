// SequenceClass: one label for each sequence: from records with `label` to targets, and from the class that
// the model gives a sequence back to labels and counts. Shared by the tasks that differ in what the label is
// said of: texts, relations. Place in the flow: records with `label` -> columns targets and truth ->
// "classes" over sequences -> measures, labels. Read next: class_measures.hpp, class_weights.hpp.
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

  /// Throws Error where the training set has fewer than two labels, or what cannot name one.
  void prepare(const Records& train);
  void extend(const Records& other);
  /// In place of prepare: the classes of a model from elsewhere. Throws Error.
  void adopt(const std::vector<std::string>& classes) {
    weights_.require_off();
    names_ = LabelNames::adopted(classes);
  }
  std::string knowledge() const { return weights_.marked(names_.text()); }
  void restore(std::string_view knowledge);
  std::vector<std::string> labels() const { return names_.labels(); }

  /// The first columns of an example: targets and truth, and where classes are weighed the weights. All are
  /// over sequences.
  std::vector<ColumnRule> columns() const;
  std::size_t column_count() const { return weights_.on() ? 3 : 2; }
  static OutputRule output() {
    return {.name = classes_output, .space = Space::sequences, .truth = targets_column};
  }
  /// Of an example of one sequence; nothing where the truth is not known.
  void encode(const Records& records, std::size_t record, EncodedExample& to) const;

  /// How many labels there are and which is that of most texts; and those that training lacks.
  void describe_labels(const ExampleSet& set, SetDescription& description) const;
  void describe_unseen(const ExampleSet& set, SetDescription& description) const;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const;
  /// The field `label`.
  Records label(const ExampleSet& set, const Outputs& outputs) const;
  /// Says what Task::no_scores says.
  std::string no_scores(std::span<const OutputRule> given) const {
    return ClassProbabilities::missing(given, Space::sequences, names_.labels().size());
  }
  /// The fields `label`, `score` and `scores`.
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
