// ClassWeights: how much each class counts in the loss, for tasks whose examples have one class each: the
// options, the weights that the training set gives, the column that a head reads. Place in the flow: counts
// of the training set -> weights by class -> the column "weights" beside "targets". The loss is then that of
// torch.nn.CrossEntropyLoss(weight=): the mean over rows, weighted by the weight of each row's class.
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
  /// `schema` with `class_weights` and `label_weights`.
  static Schema with_options(Schema schema);

  /// Throws OptionError where an entry of label_weights is no LABEL=WEIGHT with a number above 0.
  explicit ClassWeights(const Options& options);

  /// Whether anything but 1 was asked for; without it there is no column.
  bool on() const { return balanced_ || !given_.empty(); }
  /// Throws Error where they are on: a model that is taken over has no training set to count.
  void require_off() const {
    if (on())
      throw Error(
          "class_weights and label_weights matter in training only, and nothing is trained; leave them out");
  }
  /// counts: examples of the training set by class. A class without any has weight 1 unless it is given one.
  /// Throws Error where a weight is given to what is no label.
  void prepare(const std::vector<std::string>& labels, std::span<const std::int64_t> counts);
  /// A task's knowledge with the weights as its first line, where they are on; and back. Throws Error.
  std::string marked(const std::string& knowledge) const;
  std::string_view take_mark(std::string_view knowledge);
  /// Throws Error where the weights that were taken are those of another number of classes.
  void require_classes(std::size_t count) const;

  /// Adds the column where the weights are on.
  void add_column(std::vector<ColumnRule>& columns, Space space) const;
  /// Of a target; 0 for `no_target`.
  float of(std::int32_t target) const {
    return target == no_target ? 0.0F : weights_.at(static_cast<std::size_t>(target));
  }
  /// By class; empty where the weights are off.
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
