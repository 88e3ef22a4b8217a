// SPDX-License-Identifier: BSD-3-Clause
// Head "language_model": predicts the token of the vocabulary at each row with a target, by softmax over h
// E^T + b with the table E of the embedding (Press and Wolf 2017) or a matrix of its own. As in BERT (Devlin
// et al. 2019), h = LayerNorm(f(x W^T + c)), which also narrows C channels to the E of a factorized table
// (ALBERT, Lan et al. 2020). plugins/tasks/mlm and lm give the targets and read the best tokens. The model
// calls it through Head (encore/head.hpp). Checkpoints contain the names of its parameters, so these never
// change. Read next: next_text.hpp.
#include <encore/head.hpp>
#include <encore/kernels.hpp>
#include <encore/math.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include "next_text.hpp"

namespace encore_language_model {

using namespace encore;
using kernels::Activation;

/// y (N, C) = factor x (N, C).
template <class T>
void scale_rows(const Device& device, double factor, Tensor x, Tensor y) {
  const T* in = elements<T>(x);
  T* out = elements<T>(y);
  const std::int64_t width = x.extent(1);
  const auto single = static_cast<Sum<T>>(factor);
  for_rows(
      device, "encore_language_model::scale_rows", x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        row.each(width, [&](std::int64_t c) {
          const std::int64_t place = row.index * width + c;
          out[place] = static_cast<T>(static_cast<Sum<T>>(in[place]) * single);
        });
      });
}

/// Sets shares (N, k) float32 = exp(values (N, k) - log_sums (N)): softmax at the channels with these values.
template <class S>
void shares_of(const Device& device, Tensor values, Tensor log_sums, Tensor shares) {
  const std::int64_t count = values.extent(1);
  const S* in = elements<S>(values);
  const S* sums = elements<S>(log_sums);
  float* out = elements<float>(shares);
  for_rows(
      device, "encore_language_model::shares_of", values.extent(0), KOKKOS_LAMBDA(const Row& row) {
        row.each(count, [&](std::int64_t k) {
          const std::int64_t place = row.index * count + k;
          out[place] = static_cast<float>(math::exp(in[place] - sums[row.index]));
        });
      });
}

class LanguageModel final : public Head, public HasOnnxOutputs {
 public:
  static constexpr const char* summary =
      "a token of the vocabulary for each position that has a target: softmax(h E^T + b), where E is the "
      "table of the embedding, h the state of the position (transformed if `transform` is true), and b a "
      "bias (Devlin et al. 2019)";
  static Schema options() {
    return Schema()
        .boolean("transform", true,
                 {.help = "true: h = LayerNorm(f(x W^T + c)), where f is the activation; false: h = x, which "
                          "needs a table E as wide as the model"})
        .boolean("bias", true, {.help = "true: add the bias b; false: b = 0, as in GPT-2"})
        .number("epsilon", 1e-12,
                {.help = "added to the variance in the LayerNorm of transform", .min = 0.0, .max = 1.0})
        .choice("activation", "gelu", {"gelu", "relu", "silu"},
                {.help = "the activation f of transform; `feed_forward` explains the names"})
        .boolean(
            "tied", true,
            {.help = "true: E is the table of the embedding; false: E is a matrix of its own, as in T5 1.1"})
        .boolean("scaled", false, {.help = "divide h by the square root of its width, as in the first T5"});
  }

  LanguageModel(const Options& options, const HeadContext& context)
      : space_(space_of_targets(context)),
        vocabulary_(context.vocabulary),
        table_width_(context.embedding_width > 0 ? context.embedding_width : context.width),
        label_smoothing_(context.label_smoothing),
        candidates_(std::min(candidates_for(context), context.vocabulary)),
        transform_(options.flag("transform")),
        has_bias_(options.flag("bias")),
        epsilon_(options.number("epsilon")),
        function_(options.text("activation")),
        tied_(options.flag("tied")),
        scaled_(options.flag("scaled")),
        distillation_(context.distillation) {
    if (!transform_ && table_width_ != context.width)
      throw OptionError("transform", "the table of tokens is " + std::to_string(table_width_) +
                                         " channels wide (model.embedding_width), but the states are " +
                                         std::to_string(context.width) +
                                         ": set transform = true, which maps one to the other");
    if (context.column(NextText::column_name) != nullptr) next_.emplace();
  }

  void declare(HeadPlan& plan) override {
    const Extent rows = rows_of(space_);
    states_ = plan.read(space_);
    targets_ = plan.column(targets_column, space_, ColumnType::integers, vocabulary_);
    tokens_ = plan.output(candidates_output, space_, ColumnType::integers, candidates_);
    probabilities_ = plan.output("probabilities", space_, ColumnType::numbers, candidates_);
    losses_ = plan.output("losses", space_, ColumnType::numbers);
    loss_ = plan.add_loss(targets_);
    if (transform_) {
      weight_ = plan.matrix("transform.weight", table_width_, plan.width());
      transform_bias_ = plan.bias("transform.bias", table_width_);
      norm_gain_ = plan.gain("norm.gain", table_width_);
      norm_bias_ = plan.bias("norm.bias", table_width_);
      dense_ = plan.buffer("dense", {rows, table_width_}, Lifetime::saved);
      active_ = plan.buffer("active", {rows, table_width_}, Lifetime::saved);
      mean_ = plan.buffer("mean", {rows}, Lifetime::saved, Element::accumulate);
      rstd_ = plan.buffer("rstd", {rows}, Lifetime::saved, Element::accumulate);
      normed_ = plan.buffer("normed", {rows, table_width_}, Lifetime::saved);
      dactive_ = plan.buffer("active_gradient", {rows, table_width_}, Lifetime::backward);
      dnormed_ = plan.buffer("normed_gradient", {rows, table_width_}, Lifetime::backward);
    }
    if (scaled_) {
      scaled_states_ = plan.buffer("scaled", {rows, table_width_}, Lifetime::saved);
      dscaled_ = plan.buffer("scaled_gradient", {rows, table_width_}, Lifetime::backward);
    }
    table_ = tied_ ? plan.tie("table", "embedding.tokens", {vocabulary_, table_width_})
                   : plan.matrix("output.weight", vocabulary_, table_width_);
    if (has_bias_) bias_ = plan.bias("bias", vocabulary_);
    logits_ = plan.buffer("logits", {rows, vocabulary_}, Lifetime::saved);
    normalizers_ =
        plan.buffer("normalizers", {rows, distillation_ ? 5 : 2}, Lifetime::saved, Element::accumulate);
    plan.class_scores(logits_, space_, vocabulary_);
    if (distillation_) plan.learn_from_teacher();
    values_ = plan.buffer("values", {rows, candidates_}, Lifetime::saved, Element::accumulate);
    log_sums_ = plan.buffer("log_sums", {rows}, Lifetime::saved, Element::accumulate);
    row_losses_ = plan.buffer("row_losses", {rows}, Lifetime::saved, Element::accumulate);
    if (next_)
      next_->declare(plan);
    else
      plan.row_wise();
  }

  void score(const HeadStep& step) override {
    const Device& device = step.device();
    Tensor inputs = step.input(states_);  // (rows, C)
    if (transform_) {
      const Tensor dense = step.buffer(dense_), active = step.buffer(active_);  // (rows, E)
      kernels::linear(device, inputs, step.parameter(weight_), step.parameter(transform_bias_),
                      Activation::none, dense);
      kernels::activation(device, activation(), dense, active);
      inputs = step.buffer(normed_);
      kernels::layer_norm(device, active, step.parameter(norm_gain_), step.parameter(norm_bias_), epsilon_,
                          inputs, step.buffer(mean_), step.buffer(rstd_));
    }
    if (scaled_) inputs = scaled(device, inputs, step.buffer(scaled_states_));
    kernels::linear(device, inputs, step.parameter(table_), has_bias_ ? step.parameter(bias_) : Tensor(),
                    Activation::none, step.buffer(logits_));
    // Without a request for the loss, decode computes the losses of the rows.
    if (!step.training()) kernels::fill(device, 0.0, step.buffer(row_losses_));
    if (next_) next_->score(step);
  }

  void loss(const HeadStep& step) override {
    if (next_) next_->loss(step);
    const Tensor logits = step.buffer(logits_), targets = step.column(targets_);  // (rows, V), (rows)
    if (const Tensor teacher = step.teacher_scores())                             // (rows, V)
      return kernels::distillation_loss(step.device(), logits, teacher, targets, label_smoothing_,
                                        *distillation_, step.losses(loss_), step.buffer(normalizers_));
    const bool keeps = step.training() && !distillation_;
    kernels::softmax_cross_entropy(step.device(), logits, targets, label_smoothing_, step.losses(loss_),
                                   keeps ? step.buffer(normalizers_) : Tensor());
    if (step.training()) return;
    // Label smoothing changes the loss but not perplexity, which counts the true tokens alone.
    if (label_smoothing_ == 0.0)
      kernels::copy(step.device(), step.losses(loss_), step.buffer(row_losses_));
    else
      kernels::softmax_cross_entropy(step.device(), logits, targets, 0.0, step.buffer(row_losses_));
  }

  /// The gradient of the logits overwrites the logits, because they are by far the largest buffer.
  void backward(const HeadStep& step) override {
    const Device& device = step.device();
    if (next_) next_->backward(step);
    const Tensor states = step.input(states_), dstates = step.input_gradient(states_);  // (rows, C)
    const Tensor dinputs = transform_ ? step.buffer(dnormed_) : dstates;                // (rows, E)
    const Tensor multiplied = scaled_      ? step.buffer(scaled_states_)
                              : transform_ ? step.buffer(normed_)
                                           : states;                       // (rows, E)
    const Tensor dmultiplied = scaled_ ? step.buffer(dscaled_) : dinputs;  // (rows, E)
    const Tensor dlogits = step.buffer(logits_);                           // (rows, V)
    if (const Tensor teacher = step.teacher_scores())                      // (rows, V)
      kernels::distillation_loss_backward(device, dlogits, teacher, step.column(targets_), label_smoothing_,
                                          *distillation_, step.scale(loss_), step.buffer(normalizers_),
                                          dlogits);
    else
      kernels::softmax_cross_entropy_backward(device, dlogits, step.column(targets_), label_smoothing_,
                                              step.scale(loss_),
                                              distillation_ ? Tensor() : step.buffer(normalizers_), dlogits);
    kernels::linear_backward_parameters(device, dlogits, multiplied, step.gradient(table_),
                                        has_bias_ ? step.gradient(bias_) : Tensor());
    kernels::linear_backward_input(device, dlogits, step.parameter(table_), dmultiplied);
    if (scaled_) scaled(device, dmultiplied, dinputs);
    if (!transform_) return;
    const Tensor dactive = step.buffer(dactive_);  // (rows, E)
    kernels::layer_norm_backward(device, step.buffer(active_), step.parameter(norm_gain_), step.buffer(mean_),
                                 step.buffer(rstd_), dinputs, dactive, step.gradient(norm_gain_),
                                 step.gradient(norm_bias_));
    const Tensor saved =
        step.buffer(kernels::derivative_reads_output(activation()) ? active_ : dense_);  // (rows, E)
    kernels::activation_backward(device, activation(), saved, dactive, dactive);
    kernels::linear_backward_parameters(device, dactive, states, step.gradient(weight_),
                                        step.gradient(transform_bias_));
    kernels::linear_backward_input(device, dactive, step.parameter(weight_), dstates);
  }

  void decode(const HeadStep& step) override {
    const Tensor logits = step.buffer(logits_);                                     // (rows, V)
    const Tensor values = step.buffer(values_), log_sums = step.buffer(log_sums_);  // (rows, k), (rows)
    Tensor tokens = step.output(tokens_);                                           // (rows) where k is 1
    tokens = Tensor(tokens.data, tokens.dtype, {values.extent(0), values.extent(1)});
    kernels::largest_channels(step.device(), logits, tokens, values, log_sums);
    dispatch(logits.dtype, [&](auto type) {
      shares_of<Sum<decltype(type)>>(step.device(), values, log_sums, step.output(probabilities_));
    });
    kernels::copy(step.device(), step.buffer(row_losses_), step.output(losses_));
    if (next_) next_->decode(step);
  }

  /// A table that is shared with the embedding is written to the file only once.
  void onnx_outputs(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    OnnxValue x = inputs[0];
    if (transform_)
      x = graph.layer_norm(graph.activation(function_, graph.linear(x, weight_, transform_bias_)), norm_gain_,
                           norm_bias_, epsilon_);
    if (scaled_) x = graph.multiply(x, graph.number(1.0 / std::sqrt(static_cast<double>(table_width_))));
    x = graph.product(x, tied_ ? graph.transposed(graph.parameter(table_), {1, 0}) : graph.turned(table_));
    if (has_bias_) x = graph.add(x, graph.parameter(bias_));
    graph.output("logits", x, {OnnxGraph::batch, OnnxGraph::length, vocabulary_});
    if (next_) next_->onnx_outputs(graph, inputs[1]);
  }

 private:
  static constexpr const char* candidates_output = "candidates";

  /// Returns f, the activation of the transform.
  Activation activation() const {
    return function_ == "relu" ? Activation::relu : function_ == "silu" ? Activation::silu : Activation::gelu;
  }

  /// Computes y (rows, E) = E^-0.5 x (rows, E).
  Tensor scaled(const Device& device, Tensor x, Tensor y) const {
    const double factor = 1.0 / std::sqrt(static_cast<double>(table_width_));
    dispatch(x.dtype, [&](auto type) { scale_rows<decltype(type)>(device, factor, x, y); });
    return y;
  }

  /// Returns the number of best tokens that the task reads, or 5 if it takes any number.
  static std::int64_t candidates_for(const HeadContext& context) {
    for (const OutputRule& rule : context.outputs)
      if (rule.name == candidates_output && rule.width > 0) return rule.width;
    return 5;
  }

  static Space space_of_targets(const HeadContext& context) {
    const ColumnRule* targets = context.column(targets_column);
    if (targets == nullptr)
      throw Error(std::string("the language_model head learns from the column \"") + targets_column +
                  "\", which this task does not have");
    return targets->space;
  }

  Space space_;
  std::int64_t vocabulary_;
  std::int64_t table_width_;  ///< E
  double label_smoothing_;
  std::int64_t candidates_;  ///< number of best tokens per row
  bool transform_;
  bool has_bias_;
  double epsilon_;
  std::string function_;  ///< name of f
  bool tied_;
  bool scaled_;
  std::optional<Distillation> distillation_;
  HeadInput states_;
  HeadColumn targets_;
  HeadLoss loss_;
  std::optional<NextText> next_;
  HeadOutput tokens_, probabilities_, losses_;
  Parameter weight_, transform_bias_, norm_gain_, norm_bias_, table_, bias_;
  Buffer dense_, active_, mean_, rstd_, normed_, dactive_, dnormed_, logits_, normalizers_, values_,
      log_sums_, row_losses_, scaled_states_, dscaled_;
};

}  // namespace encore_language_model

ENCORE_PLUGIN("language_model", "1.0.0") {
  plugin.add<encore::Kind::head, encore_language_model::LanguageModel>("language_model");
}
