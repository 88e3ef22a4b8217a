// SPDX-License-Identifier: BSD-3-Clause
// Head "linear": a class for each row by softmax over x W^T + b, trained with cross-entropy. Rows are those
// that the task has targets for: tokens, sequences (first row, or mean with pooling), or picked rows.
// residual_norm puts LayerNorm(x + x Wmix^T + b) before it, pooler tanh(x Wpool^T + b) as in BERT (Devlin et
// al. 2019). Targets with weights count as in torch.nn.CrossEntropyLoss(weight=); with a teacher the loss is
// kernels::distillation_loss. The model calls it through Head (encore/head.hpp). Checkpoints contain the
// names of its parameters, so these never change.
#include <encore/kernels.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>

namespace encore_linear_head {

using namespace encore;
using kernels::Activation;

class LinearHead final : public Head, public HasOnnxOutputs {
 public:
  static constexpr const char* summary =
      "a class for each position that has a target: softmax(x W^T + b), where x is the state of the "
      "position, W a learned matrix and b a bias; trained with cross-entropy. The column `weights` has the "
      "weight of each target in the loss (`task.class_weights`)";
  static Schema options() {
    return Schema()
        .boolean("residual_norm", false,
                 {.help = "replace x by LayerNorm(x + x Wmix^T + bmix) before the projection to the classes"})
        .number("epsilon", 1e-5,
                {.help = "added to the variance in the LayerNorm of residual_norm", .min = 0.0, .max = 1.0})
        .boolean("pooler", false,
                 {.help = "after residual_norm, replace x by tanh(x Wpool^T + bpool), as in BERT for "
                          "sequences"})
        .choice("pooling", "cls", {"cls", "mean"},
                {.help = "which vector x stands for an input, in tasks with one target for each input. cls: "
                         "the state of its first token ([CLS]); mean: the mean of the states of all tokens. "
                         "With a target for each token or picked row, only cls is allowed"})
        .number("dropout", 0.0,
                {.help = "share of the channels that training sets to zero (dropout) directly before the "
                         "projection to the classes",
                 .min = 0.0,
                 .max = 1.0,
                 .exclusive_max = true});
  }

  LinearHead(const Options& options, const HeadContext& context)
      : space_(space_of_targets(context)),
        classes_(context.classes),
        label_smoothing_(context.label_smoothing),
        residual_norm_(options.flag("residual_norm")),
        epsilon_(options.number("epsilon")),
        pooler_(options.flag("pooler")),
        mean_(options.text("pooling") == "mean"),
        dropout_(options.number("dropout")),
        weighed_(context.column(weights_column) != nullptr),
        distillation_(context.distillation) {
    if (weighed_ && label_smoothing_ > 0.0)
      throw Error(
          "the linear head cannot smooth labels if the task weighs them: set train.label_smoothing = 0, or "
          "remove "
          "the weights from [task]");
    if (mean_ && space_ != Space::sequences)
      throw OptionError("pooling",
                        "this task has a target for each row, not for the text: set pooling = \"cls\"");
    if (dropout_ > 0.0 && space_ == Space::target)
      throw OptionError("dropout", "dropout would not reach the rows of a second text: set dropout = 0");
  }

  void declare(HeadPlan& plan) override {
    const std::int64_t width = plan.width();
    const Extent rows = rows_of(space_);
    states_ = plan.read(mean_ ? Space::tokens : space_);
    targets_ = plan.column(targets_column, space_, ColumnType::integers, classes_);
    predictions_ = plan.output(classes_output, space_);
    scores_ = plan.output("logits", space_, ColumnType::numbers, classes_);
    if (weighed_) weights_ = plan.column(weights_column, space_, ColumnType::numbers);
    loss_ = plan.add_loss(weighed_ ? weights_ : targets_);
    if (mean_) {
      means_ = plan.buffer("means", {rows, width}, Lifetime::saved, Element::accumulate);
      averaged_ = plan.buffer("averaged", {rows, width}, Lifetime::saved);
      dmeans_ = plan.buffer("means_gradient", {rows, width}, Lifetime::backward, Element::accumulate);
      daveraged_ = plan.buffer("averaged_gradient", {rows, width}, Lifetime::backward);
    }
    if (residual_norm_) {
      mix_weight_ = plan.matrix("mix.weight", width, width);
      mix_bias_ = plan.bias("mix.bias", width);
      norm_gain_ = plan.gain("norm.gain", width);
      norm_bias_ = plan.bias("norm.bias", width);
      mixed_ = plan.buffer("mixed", {rows, width}, Lifetime::saved);
      norm_mean_ = plan.buffer("mean", {rows}, Lifetime::saved, Element::accumulate);
      rstd_ = plan.buffer("rstd", {rows}, Lifetime::saved, Element::accumulate);
      normed_ = plan.buffer("normed", {rows, width}, Lifetime::saved);
      dmixed_ = plan.buffer("mixed_gradient", {rows, width}, Lifetime::backward);
      dnormed_ = plan.buffer("normed_gradient", {rows, width}, Lifetime::backward);
    }
    if (pooler_) {
      pooler_weight_ = plan.matrix("pooler.weight", width, width);
      pooler_bias_ = plan.bias("pooler.bias", width);
      pooled_ = plan.buffer("pooled", {rows, width}, Lifetime::saved);
      dpooled_ = plan.buffer("pooled_gradient", {rows, width}, Lifetime::backward);
    }
    if (dropout_ > 0.0) {
      dropped_ = plan.buffer("dropped", {rows, width}, Lifetime::saved);
      stream_ = plan.random("dropout");
    }
    weight_ = plan.matrix("weight", classes_, width);
    bias_ = plan.bias("bias", classes_);
    logits_ = plan.buffer("logits", {rows, classes_}, Lifetime::saved);
    dlogits_ = plan.buffer("logits_gradient", {rows, classes_}, Lifetime::backward);
    plan.class_scores(logits_, space_, classes_);
    if (distillation_) {
      normalizers_ = plan.buffer("normalizers", {rows, 5}, Lifetime::saved, Element::accumulate);
      plan.learn_from_teacher();
    }
    if (!mean_) plan.row_wise();
  }

  void score(const HeadStep& step) override {
    const Device& device = step.device();
    Tensor inputs = step.input(states_);  // (rows, C)
    if (mean_) {
      kernels::mean_rows(device, step.rows(), inputs, step.buffer(means_));
      inputs = step.buffer(averaged_);
      kernels::copy(device, step.buffer(means_), inputs);
    }
    if (residual_norm_) {
      const Tensor states = inputs, mixed = step.buffer(mixed_);
      inputs = step.buffer(normed_);
      kernels::linear(device, states, step.parameter(mix_weight_), step.parameter(mix_bias_),
                      Activation::none, mixed);
      kernels::add(device, states, mixed);
      kernels::layer_norm(device, mixed, step.parameter(norm_gain_), step.parameter(norm_bias_), epsilon_,
                          inputs, step.buffer(norm_mean_), step.buffer(rstd_));
    }
    if (pooler_) {
      const Tensor pooled = step.buffer(pooled_);  // (rows, C)
      kernels::linear(device, inputs, step.parameter(pooler_weight_), step.parameter(pooler_bias_),
                      Activation::tanh, pooled);
      inputs = pooled;
    }
    if (dropout_ > 0.0 && step.training()) {
      drop(step, inputs, step.buffer(dropped_));
      inputs = step.buffer(dropped_);
    }
    kernels::linear(device, inputs, step.parameter(weight_), step.parameter(bias_), Activation::none,
                    step.buffer(logits_));
  }

  void loss(const HeadStep& step) override {
    const Tensor logits = step.buffer(logits_), targets = step.column(targets_);  // (rows, K), (rows)
    if (const Tensor teacher = step.teacher_scores())                             // (rows, K)
      kernels::distillation_loss(step.device(), logits, teacher, targets, label_smoothing_, *distillation_,
                                 step.losses(loss_), step.buffer(normalizers_));
    else
      kernels::softmax_cross_entropy(step.device(), logits, targets, label_smoothing_, step.losses(loss_));
    if (weighed_) kernels::scale_rows(step.device(), step.column(weights_), step.losses(loss_));
  }

  void backward(const HeadStep& step) override {
    backward_to_states(step, mean_ ? step.buffer(averaged_) : step.input(states_),
                       mean_ ? step.buffer(daveraged_) : step.input_gradient(states_));
    if (!mean_) return;
    kernels::copy(step.device(), step.buffer(daveraged_), step.buffer(dmeans_));
    kernels::mean_rows_backward(step.device(), step.rows(), step.buffer(dmeans_),
                                step.input_gradient(states_));
  }

  void decode(const HeadStep& step) override {
    kernels::argmax(step.device(), step.buffer(logits_), step.output(predictions_));
    kernels::copy(step.device(), step.buffer(logits_), step.output(scores_));
  }

  void onnx_outputs(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    OnnxValue x = mean_ ? graph.mean_rows(inputs[0]) : inputs[0];
    if (residual_norm_)
      x = graph.layer_norm(graph.add(x, graph.linear(x, mix_weight_, mix_bias_)), norm_gain_, norm_bias_,
                           epsilon_);
    if (pooler_) x = graph.activation("tanh", graph.linear(x, pooler_weight_, pooler_bias_));
    std::vector<std::int64_t> shape = {OnnxGraph::batch, OnnxGraph::length, classes_};
    if (space_ == Space::sequences) shape = {OnnxGraph::batch, classes_};
    graph.output("logits", graph.linear(x, weight_, bias_), shape);
  }

 private:
  /// Computes the gradient of `states` (rows, C); each row has its own class.
  void backward_to_states(const HeadStep& step, Tensor states, Tensor state_gradients) {
    const Device& device = step.device();
    const Tensor targets = step.column(targets_);                                     // (rows)
    const Tensor dlogits = step.buffer(dlogits_);                                     // (rows, K)
    const Tensor inputs = residual_norm_ ? step.buffer(normed_) : states;             // (rows, C)
    const Tensor dinputs = residual_norm_ ? step.buffer(dnormed_) : state_gradients;  // (rows, C)
    if (const Tensor teacher = step.teacher_scores())                                 // (rows, K)
      kernels::distillation_loss_backward(device, step.buffer(logits_), teacher, targets, label_smoothing_,
                                          *distillation_, step.scale(loss_), step.buffer(normalizers_),
                                          dlogits);
    else
      kernels::softmax_cross_entropy_backward(device, step.buffer(logits_), targets, label_smoothing_,
                                              step.scale(loss_), dlogits);
    if (weighed_) kernels::scale_rows(device, step.column(weights_), dlogits);
    const Tensor projected = dropout_ > 0.0 ? step.buffer(dropped_)  // (rows, C)
                             : pooler_      ? step.buffer(pooled_)
                                            : inputs;
    kernels::linear_backward_parameters(device, dlogits, projected, step.gradient(weight_),
                                        step.gradient(bias_));
    if (pooler_) {
      const Tensor pooled = step.buffer(pooled_), dpooled = step.buffer(dpooled_);  // (rows, C)
      // dpooled is overwritten by the gradient of the input of tanh.
      if (dropout_ > 0.0) {
        kernels::linear_backward_input(device, dlogits, step.parameter(weight_), dpooled);
        drop(step, dpooled, dpooled);
        kernels::activation_backward(device, Activation::tanh, pooled, dpooled, dpooled);
      } else {
        kernels::linear_backward_input(device, dlogits, step.parameter(weight_), dpooled, Activation::tanh,
                                       pooled);
      }
      kernels::linear_backward_parameters(device, dpooled, inputs, step.gradient(pooler_weight_),
                                          step.gradient(pooler_bias_));
      kernels::linear_backward_input(device, dpooled, step.parameter(pooler_weight_), dinputs);
    } else {
      kernels::linear_backward_input(device, dlogits, step.parameter(weight_), dinputs);
      if (dropout_ > 0.0) drop(step, dinputs, dinputs);
    }
    if (!residual_norm_) return;
    const Tensor dmixed = step.buffer(dmixed_);  // (rows, C)
    kernels::layer_norm_backward(device, step.buffer(mixed_), step.parameter(norm_gain_),
                                 step.buffer(norm_mean_), step.buffer(rstd_), dinputs, dmixed,
                                 step.gradient(norm_gain_), step.gradient(norm_bias_));
    kernels::linear_backward_parameters(device, dmixed, states, step.gradient(mix_weight_),
                                        step.gradient(mix_bias_));
    kernels::linear_backward_input(device, dmixed, step.parameter(mix_weight_), state_gradients);
    kernels::add(device, dmixed, state_gradients);
  }

  /// Writes y, the result of dropout on x (rows, C). The backward pass is the same function.
  void drop(const HeadStep& step, Tensor x, Tensor y) const {
    kernels::dropout(step.device(), step.rows(), step.rows_of(space_), step.random(stream_), dropout_, x, y);
  }

  static Space space_of_targets(const HeadContext& context) {
    const ColumnRule* targets = context.column(targets_column);
    if (targets == nullptr)
      throw Error(std::string("the linear head learns from the column \"") + targets_column +
                  "\", which this task does not have");
    return targets->space;
  }

  Space space_;
  std::int64_t classes_;
  double label_smoothing_;
  bool residual_norm_;
  double epsilon_;
  bool pooler_;
  bool mean_;  ///< the mean of the rows of a sequence, not the first row
  double dropout_;
  bool weighed_;  ///< the task gives weights for its targets
  std::optional<Distillation> distillation_;
  Parameter mix_weight_, mix_bias_, norm_gain_, norm_bias_, pooler_weight_, pooler_bias_, weight_, bias_;
  HeadInput states_;
  HeadColumn targets_, weights_;
  HeadLoss loss_;
  HeadOutput predictions_, scores_;
  RandomStream stream_;
  Buffer means_, averaged_, dmeans_, daveraged_, mixed_, norm_mean_, rstd_, normed_, dmixed_, dnormed_,
      pooled_, dpooled_, dropped_, logits_, dlogits_, normalizers_;
};

}  // namespace encore_linear_head

ENCORE_PLUGIN("linear_head", "1.0.0") {
  plugin.add<encore::Kind::head, encore_linear_head::LinearHead>("linear");
}
