// SPDX-License-Identifier: BSD-3-Clause
// ClassWeights: how much each class counts in the loss, for tasks with one class per example (classify,
// relation, tag, ner). It has the options, computes weights from the counts of the training set, and adds the
// column "weights" beside "targets" for the head. The loss is that of torch.nn.CrossEntropyLoss(weight=): the
// mean over rows, weighted by class. SequenceClass and WordLabels own one. Runs store the text that marked()
// returns, so its form must not change.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/error.hpp>
#include <encore/examples.hpp>
#include <encore/options.hpp>

namespace encore::tasks {

class ClassWeights {
 public:
  /// Returns `schema` with the options `class_weights` and `label_weights` added.
  static Schema with_options(Schema schema);

  /// Throws OptionError if an entry of label_weights is not LABEL=WEIGHT with a number above 0.
  explicit ClassWeights(const Options& options);

  /// Returns whether any weight may differ from 1. If not, there is no column.
  bool on() const { return balanced_ || !given_.empty(); }
  /// Throws Error if weights are on, because an imported model has no training set to count.
  void require_off() const {
    if (on())
      throw Error(
          "class_weights and label_weights apply only to training: leave them out for an imported model");
  }
  /// Computes the weights. `counts`: examples of the training set by class. A class without examples has
  /// weight 1 unless the options give it one. Throws Error if the options give a weight to a label that the
  /// training set lacks.
  void prepare(const std::vector<std::string>& labels, std::span<const std::int64_t> counts);
  /// Puts the weights, if they are on, before a task's knowledge as its first line, which take_mark() reads
  /// back.
  std::string marked(const std::string& knowledge) const;
  std::string_view take_mark(std::string_view knowledge);
  /// Throws Error if the weights that take_mark() read are those of another number of classes.
  void require_classes(std::size_t count) const;

  /// Adds the column if the weights are on.
  void add_column(std::vector<ColumnRule>& columns, Space space) const;
  /// Returns the weight of a target; 0 for `no_target`.
  float of(std::int32_t target) const {
    return target == no_target ? 0.0F : weights_.at(static_cast<std::size_t>(target));
  }
  /// Returns the weights by class; empty if they are off.
  const std::vector<float>& weights() const { return weights_; }

 private:
  struct Given {
    std::string label;
    float weight = 1.0F;
  };

  bool balanced_ = false;
  std::vector<Given> given_;
  std::vector<float> weights_;
};

}  // namespace encore::tasks
