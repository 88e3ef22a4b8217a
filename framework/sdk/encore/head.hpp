// SPDX-License-Identifier: BSD-3-Clause
// Head: the last part of a model. A head turns states into a loss and into the outputs that the task reads.
// It asks for data by name: columns that the task fills, and spaces whose states it reads. model/ calls score
// in every pass; then loss and backward in training, loss and decode in evaluation, and only decode in
// prediction. The interface must serve heads as different as a linear classifier, a conditional random field,
// a language model over picked rows, and a loss between the sequences of a batch. It is part of the ABI of
// plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp). Read first: layer.hpp for Step.
#pragma once

#include <optional>

#include <encore/distillation.hpp>
#include <encore/examples.hpp>
#include <encore/layer.hpp>
#include <encore/outputs.hpp>

namespace encore {

struct HeadContext {
  std::int64_t width = 0;    ///< C
  std::int64_t classes = 0;  ///< K, those of the task; 0 where it has none
  double label_smoothing = 0.0;
  /// The names of the classes, for heads that know about tagging schemes.
  std::vector<std::string> labels = {};
  std::int64_t vocabulary = 0;           ///< V
  std::vector<ColumnRule> columns = {};  ///< what the task fills
  /// The width of the rows of "embedding.tokens": C, or another width if the embedding is factorized; 0 means
  /// C.
  std::int64_t embedding_width = 0;
  std::vector<OutputRule> outputs = {};  ///< what the task reads; with a width of 0 the task takes any
  /// Has a value if the model learns from a teacher. The run is then refused if the head does not call
  /// HeadPlan::learn_from_teacher.
  std::optional<Distillation> distillation = {};

  /// Returns the rule of a column of the task; null if the task has no column of that name.
  const ColumnRule* column(std::string_view name) const {
    for (const ColumnRule& rule : columns)
      if (rule.name == name) return &rule;
    return nullptr;
  }
};

/// Handles that `declare` returns and the HeadStep resolves.
struct HeadInput {
  int index = -1;
};
struct HeadColumn {
  int index = -1;
};
struct HeadOutput {
  int index = -1;
};
struct HeadLoss {
  int index = -1;
};

/// The largest number of losses of one head.
inline constexpr std::size_t most_losses = 8;

/// A column that a head asks for.
struct ColumnNeed {
  std::string name;
  Space space = Space::tokens;
  ColumnType type = ColumnType::integers;
  std::int64_t below = 0;  ///< 0: integers may be anything
  std::int64_t width = 1;  ///< values per row

  friend bool operator==(const ColumnNeed&, const ColumnNeed&) = default;
};

/// Where a head writes its class scores: the buffer, and the space of its rows.
struct ClassScores {
  Buffer buffer;
  Space space = Space::tokens;
  std::int64_t classes = 0;  ///< K
};

/// The requests of a head to the host, in addition to those of a layer.
class HeadPlan : public LayerPlan {
 public:
  using LayerPlan::LayerPlan;

  /// Asks for the states (rows, C) of a space; for `sequences` they are those of the first row of each
  /// sequence. The host gathers them and scatters their gradients in a fixed order. A head reads at least one
  /// space, and none twice.
  HeadInput read(Space space) {
    reads_.push_back(space);
    return {static_cast<int>(reads_.size()) - 1};
  }
  /// Asks for a column of the task over a space, as a device tensor (rows) or (rows, width) of int32 or
  /// float32. With `below` the host checks that integers are `no_target` or from 0 to below - 1, because
  /// kernels index with them.
  HeadColumn column(std::string name, Space space, ColumnType type = ColumnType::integers,
                    std::int64_t below = 0, std::int64_t width = 1) {
    columns_.push_back({std::move(name), space, type, below, width});
    return {static_cast<int>(columns_.size()) - 1};
  }
  /// Declares an output for the task, int32 or float32, which `decode` writes.
  HeadOutput output(std::string name, Space space, ColumnType type = ColumnType::integers,
                    std::int64_t width = 1) {
    outputs_.push_back({std::move(name), space, type, width});
    return {static_cast<int>(outputs_.size()) - 1};
  }
  /// Declares an output that costs more than the others and is seldom read, such as probabilities that need a
  /// pass of their own. If it is not requested, HeadStep::output is empty and `decode` leaves it out.
  HeadOutput output_on_request(std::string name, Space space, ColumnType type = ColumnType::integers,
                               std::int64_t width = 1) {
    const HeadOutput added = output(std::move(name), space, type, width);
    outputs_.back().on_request = true;
    return added;
  }
  /// Shares the parameter of another part of the model, given by its full path ("embedding.tokens") and
  /// shape.
  Parameter tie(std::string name, std::string path, std::vector<std::int64_t> shape,
                Element element = Element::activation) {
    ParameterSpec spec = {.name = std::move(name), .shape = std::move(shape), .element = element};
    spec.alias = std::move(path);
    return parameter(std::move(spec));
  }
  /// Adds a loss that has a value for each row of this column's space. The host divides the sum of the values
  /// by the number of entries of the column other than `no_target` in the batch, or by the sum of the entries
  /// if they are float32; the result is 0 if that is 0. Training minimizes the sum of all losses of the head,
  /// which has at least one.
  HeadLoss add_loss(HeadColumn normalizer) {
    ENCORE_REQUIRE(losses_.size() < most_losses,
                   "the head has more than " + std::to_string(most_losses) + " losses");
    losses_.push_back(normalizer.index);
    return {static_cast<int>(losses_.size()) - 1};
  }
  /// Declares that the loss of a sequence depends on the other sequences of its batch. Gradient shards are
  /// then refused, dev batches are formed in the order of the examples, and dev/loss cannot select a
  /// checkpoint.
  void couple_sequences() { couples_ = true; }

  /// Declares the buffer (rows, classes), of lifetime `saved`, that holds a score of each class after
  /// `score`; a softmax makes probabilities of them. A model with such a head can be a teacher.
  void class_scores(Buffer buffer, Space space, std::int64_t classes) {
    class_scores_ = ClassScores{buffer, space, classes};
  }
  /// Declares that in training `loss` and `backward` also use HeadStep::teacher_scores, as
  /// HeadContext::distillation says. The teacher has the same class scores as this head.
  void learn_from_teacher() { learns_from_teacher_ = true; }

  const std::vector<Space>& reads() const { return reads_; }
  const std::vector<ColumnNeed>& columns() const { return columns_; }
  const std::vector<OutputRule>& outputs() const { return outputs_; }
  /// The column that normalizes each loss.
  const std::vector<int>& losses() const { return losses_; }
  bool couples_sequences() const { return couples_; }
  const std::optional<ClassScores>& class_scores() const { return class_scores_; }
  bool learns_from_teacher() const { return learns_from_teacher_; }
  /// The space over which a loss has values.
  Space loss_space(std::size_t loss = 0) const {
    ENCORE_REQUIRE(loss < losses_.size(), "the head has no loss (HeadPlan::add_loss)");
    const auto column = static_cast<std::size_t>(losses_[loss]);
    ENCORE_REQUIRE(column < columns_.size(),
                   "a loss is normalised by a column that the head did not ask for");
    return columns_[column].space;
  }

 private:
  std::vector<Space> reads_;
  std::vector<ColumnNeed> columns_;
  std::vector<OutputRule> outputs_;
  std::vector<int> losses_;
  bool couples_ = false;
  std::optional<ClassScores> class_scores_;
  bool learns_from_teacher_ = false;
};

/// One pass as a head sees it. `rows()` are those of the space `tokens`.
class HeadStep : public Step {
 public:
  /// The tensors that the host found for the head, in addition to Step::Bound. A tensor that does not exist
  /// is empty.
  struct Found {
    std::span<const Tensor> inputs, input_gradients, columns, outputs, losses;
    std::span<const double> scales = {};
    Tensor picked = {};          ///< (M) int32, the rows of the space `picked`
    Tensor teacher_scores = {};  ///< (rows, K)
  };

  HeadStep(const Device& device, const RowSet& rows, bool training, const Bound& bound, const Found& found)
      : Step(device, rows, training, bound), found_(found) {}

  /// Returns the numbers, within rows(), of the rows of a space, int32: (B) the first row of each sequence,
  /// or (M) the picked rows; empty for `tokens`, which are all rows. Random numbers for the rows of a space
  /// are drawn at these numbers.
  Tensor rows_of(Space space) const {
    if (space == Space::picked) return found_.picked;
    if (space != Space::sequences) return {};
    return Tensor(rows().offsets.data, rows().offsets.dtype, {rows().size.sequences});
  }
  /// Returns the states (rows, C) that `read` asked for.
  Tensor input(HeadInput i) const { return declared(found_.inputs, i.index, "space"); }
  /// Returns the gradient (rows, C) of these states, which `backward` overwrites.
  Tensor input_gradient(HeadInput i) const { return declared(found_.input_gradients, i.index, "space"); }
  /// Returns a column, (rows) or (rows, width). In `decode` truth columns are empty.
  Tensor column(HeadColumn c) const { return declared(found_.columns, c.index, "column"); }
  /// Returns an output, (rows) or (rows, width), which `decode` overwrites; empty if it is an output on
  /// request that was not requested.
  Tensor output(HeadOutput o) const { return declared(found_.outputs, o.index, "output"); }
  /// Returns the values of a loss, which `loss` overwrites: (rows) of the space of its normalizing column, in
  /// the type of sums. Each is the row's unnormalized loss, and 0 where nothing is to be learned. The host
  /// sums them in row order.
  Tensor losses(HeadLoss l) const { return declared(found_.losses, l.index, "loss"); }
  /// Returns the class scores (rows, K) of the teacher, in the type in which the teacher computes; empty
  /// outside of training, and if the head does not learn from a teacher.
  Tensor teacher_scores() const { return found_.teacher_scores; }
  /// Returns the factor by which `backward` multiplies the gradient of the sum of these losses.
  double scale(HeadLoss l) const { return declared(found_.scales, l.index, "loss"); }

 private:
  Found found_;
};

class Head {
 public:
  virtual ~Head() = default;
  /// Asks for what the head needs, as Layer::declare does. Buffers of lifetime `saved` live from `score` to
  /// `backward`.
  virtual void declare(HeadPlan& plan) = 0;
  /// Computes once what both loss and decode need, such as logits, into buffers. Each pass calls it first.
  virtual void score(const HeadStep& step) = 0;
  /// Writes HeadStep::losses of every loss.
  virtual void loss(const HeadStep& step) = 0;
  /// Computes the gradients of the sum, over all losses, of scale * sum(losses). The host calls it after
  /// `loss` on the same batch. It adds to gradients of parameters and overwrites gradients of inputs.
  virtual void backward(const HeadStep& step) = 0;
  /// Writes every output that is not empty. The host calls it after `score`, and perhaps after `loss`. Rows
  /// without a meaning may have any value.
  virtual void decode(const HeadStep& step) = 0;
};

}  // namespace encore
