// Head: the last part of a model, which turns states into a loss and into the outputs that the task reads. It
// asks for data by name: columns that the task fills, spaces whose states it reads.
// Its most different users: a linear classifier (over tokens or over whole sequences, as the task has it), a
// conditional random field, a language model over picked rows with the embedding's table that also says which
// text follows, a loss between the sequences of a batch. Place in the flow: model/ calls score, then loss and
// backward in training, loss and decode in evaluation, decode alone in prediction. See layer.hpp for Step.
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
  /// Of the rows of "embedding.tokens": C, or less or more where the embedding is factorised; 0 counts as C.
  std::int64_t embedding_width = 0;
  std::vector<OutputRule> outputs = {};  ///< what the task reads; with a width of 0 the task takes any
  /// Set where the model learns from a teacher: without HeadPlan::learn_from_teacher the run is refused.
  std::optional<Distillation> distillation = {};

  /// The rule of a column; null where the task has none of that name.
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

/// The place and the space of a head's class scores.
struct ClassScores {
  Buffer buffer;
  Space space = Space::tokens;
  std::int64_t classes = 0;  ///< K
};

/// What a head asks of the host, in addition to the requests of a layer.
class HeadPlan : public LayerPlan {
 public:
  using LayerPlan::LayerPlan;

  /// The states of these rows, (rows, C): of a sequence those of its first row. The host gathers them, and
  /// scatters their gradients in a fixed order. A head reads at least one space, none twice.
  HeadInput read(Space space) {
    reads_.push_back(space);
    return {static_cast<int>(reads_.size()) - 1};
  }
  /// A column of the task over a space on the device, (rows) or (rows, width): int32 or float32. With `below`
  /// the host makes sure that integers are `no_target`, or from 0 to below - 1: kernels index with them.
  HeadColumn column(std::string name, Space space, ColumnType type = ColumnType::integers,
                    std::int64_t below = 0, std::int64_t width = 1) {
    columns_.push_back({std::move(name), space, type, below, width});
    return {static_cast<int>(columns_.size()) - 1};
  }
  /// What the head gives the task, written by `decode`: int32 or float32.
  HeadOutput output(std::string name, Space space, ColumnType type = ColumnType::integers,
                    std::int64_t width = 1) {
    outputs_.push_back({std::move(name), space, type, width});
    return {static_cast<int>(outputs_.size()) - 1};
  }
  /// An output that costs more than the others and is seldom read, such as probabilities that need a pass of
  /// their own. Where it is not requested, HeadStep::output is empty and `decode` leaves it out.
  HeadOutput output_on_request(std::string name, Space space, ColumnType type = ColumnType::integers,
                               std::int64_t width = 1) {
    const HeadOutput added = output(std::move(name), space, type, width);
    outputs_.back().on_request = true;
    return added;
  }
  /// The parameter of another part of the model, by its full path ("embedding.tokens") and shape.
  Parameter tie(std::string name, std::string path, std::vector<std::int64_t> shape,
                Element element = Element::activation) {
    ParameterSpec spec = {.name = std::move(name), .shape = std::move(shape), .element = element};
    spec.alias = std::move(path);
    return parameter(std::move(spec));
  }
  /// A loss with a value for each row of this column's space; the sum of all is divided by the batch's number
  /// of values other than `no_target`, or by the sum of the values where they are float32, and is 0 where
  /// that is 0. Training minimises the sum of all losses of the head, which has at least one.
  HeadLoss add_loss(HeadColumn normalizer) {
    ENCORE_REQUIRE(losses_.size() < most_losses,
                   "the head has more than " + std::to_string(most_losses) + " losses");
    losses_.push_back(normalizer.index);
    return {static_cast<int>(losses_.size()) - 1};
  }
  /// The loss of a sequence depends on the others of its batch: gradient shards are refused, on dev batches
  /// are formed in the order of the examples, and dev/loss cannot select.
  void couple_sequences() { couples_ = true; }

  /// After `score` this buffer (rows, classes) of lifetime `saved` holds a number for each class, of which a
  /// softmax makes probabilities: what a model with this head can teach another one.
  void class_scores(Buffer buffer, Space space, std::int64_t classes) {
    class_scores_ = ClassScores{buffer, space, classes};
  }
  /// In training `loss` and `backward` also use HeadStep::teacher_scores, as HeadContext::distillation says.
  /// The teacher has the class scores that this head has.
  void learn_from_teacher() { learns_from_teacher_ = true; }

  const std::vector<Space>& reads() const { return reads_; }
  const std::vector<ColumnNeed>& columns() const { return columns_; }
  const std::vector<OutputRule>& outputs() const { return outputs_; }
  /// The column that normalises each loss.
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
  /// What the host found for the head, beside Step::Bound. Tensors of what is not there are empty.
  struct Found {
    std::span<const Tensor> inputs, input_gradients, columns, outputs, losses;
    std::span<const double> scales = {};
    Tensor picked = {};          ///< (M) int32, the rows of the space `picked`
    Tensor teacher_scores = {};  ///< (rows, K)
  };

  HeadStep(const Device& device, const RowSet& rows, bool training, const Bound& bound, const Found& found)
      : Step(device, rows, training, bound), found_(found) {}

  /// Which of rows() stand for the rows of a space, int32: (B) the first of each sequence, or (M) those that
  /// are picked. Empty for tokens, which are all of them. By it random numbers are drawn for rows of any
  /// space.
  Tensor rows_of(Space space) const {
    if (space == Space::picked) return found_.picked;
    if (space != Space::sequences) return {};
    return Tensor(rows().offsets.data, rows().offsets.dtype, {rows().size.sequences});
  }
  /// (rows, C) in the order of HeadPlan::read.
  Tensor input(HeadInput i) const { return declared(found_.inputs, i.index, "space"); }
  /// (rows, C), to be overwritten in `backward`.
  Tensor input_gradient(HeadInput i) const { return declared(found_.input_gradients, i.index, "space"); }
  /// (rows), or (rows, width). In `decode` truth columns are empty.
  Tensor column(HeadColumn c) const { return declared(found_.columns, c.index, "column"); }
  /// (rows), or (rows, width), to be overwritten in `decode`. Empty where it is an output on request and was
  /// not asked for.
  Tensor output(HeadOutput o) const { return declared(found_.outputs, o.index, "output"); }
  /// (rows) of the space of the column that normalises it, in the type of sums, to be overwritten in `loss`:
  /// each row's share of the unnormalised loss, zero where nothing is to be learned. The host sums them in
  /// row order.
  Tensor losses(HeadLoss l) const { return declared(found_.losses, l.index, "loss"); }
  /// (rows, K) of HeadPlan::class_scores, as the teacher has them, in whatever type it computes; empty
  /// outside of training, and where the head does not learn from a teacher.
  Tensor teacher_scores() const { return found_.teacher_scores; }
  /// The factor on the sum of these losses, in `backward`.
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
  /// After `loss` on the same batch: gradients of the sum over all losses of scale * sum(losses). Input
  /// gradients are overwritten.
  virtual void backward(const HeadStep& step) = 0;
  /// After `score`, perhaps after `loss`: writes every output that is not empty. Rows without a meaning may
  /// have any value.
  virtual void decode(const HeadStep& step) = 0;
};

}  // namespace encore
