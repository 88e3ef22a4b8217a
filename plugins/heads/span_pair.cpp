// SPDX-License-Identifier: BSD-3-Clause
// Head "span_pair": a class for each sequence from two spans of its rows: softmax of [u, v] W^T + b, where u
// and v are the mean states of the two spans or the states of their first rows (Wu and He 2019; Baldini
// Soares et al. 2019). The task relation gives the column "spans": per sequence, first and last row of each
// span, counted within the sequence. One task of for_rows computes each result, so all sums have a fixed
// order. The model calls it through Head (encore/head.hpp). Checkpoints contain the names of its parameters,
// so these never change.
#include <encore/head.hpp>
#include <encore/kernels.hpp>
#include <encore/onnx_form.hpp>
#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace encore_span_pair {

using namespace encore;
using kernels::Activation;

/// The rows [first, last] of a span; no rows unless all of them lie in [begin, end), the rows of its
/// sequence.
struct SpanRows {
  std::int64_t first = 0, count = 0;

  KOKKOS_FORCEINLINE_FUNCTION static SpanRows of(const std::int32_t* span, std::int64_t begin,
                                                 std::int64_t end, bool first_row_only) {
    const std::int64_t first = begin + span[0], last = first_row_only ? first : begin + span[1];
    if (span[0] < 0 || last < first || last >= end) return {begin, 0};
    return {first, last - first + 1};
  }
};

/// pairs (B, 2 C): the means of the states (N, C) over each of the two spans; 0 for a span without rows.
template <class T>
void span_means(const Device& device, const RowSet& rows, Tensor spans, bool first_row_only, Tensor states,
                Tensor pairs) {
  using S = Sum<T>;
  const std::int64_t width = states.extent(1);
  const auto* offsets = elements<std::int32_t>(rows.offsets);
  const auto* places = elements<std::int32_t>(spans);  // (B, 4)
  const T* in = elements<T>(states);
  T* out = elements<T>(pairs);
  for_rows(
      device, "encore::span_means", 2 * rows.size.sequences, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t sequence = row.index / 2;
        const SpanRows of =
            SpanRows::of(places + 2 * row.index, offsets[sequence], offsets[sequence + 1], first_row_only);
        const S share = of.count == 0 ? S(0) : S(1) / static_cast<S>(of.count);
        T* to = out + row.index * width;
        row.each(width, [&](std::int64_t c) {
          S sum = S(0);
          for (std::int64_t r = 0; r < of.count; ++r) sum += static_cast<S>(in[(of.first + r) * width + c]);
          to[c] = static_cast<T>(share * sum);
        });
      });
}

/// dstates (N, C): the gradient of each row, from dpairs (B, 2 C), by its share in the two means.
template <class T>
void span_means_backward(const Device& device, const RowSet& rows, Tensor spans, bool first_row_only,
                         Tensor dpairs, Tensor dstates) {
  using S = Sum<T>;
  const std::int64_t width = dstates.extent(1);
  const auto* offsets = elements<std::int32_t>(rows.offsets);
  const auto* sequence_of = elements<std::int32_t>(rows.sequence);
  const auto* places = elements<std::int32_t>(spans);
  const T* from = elements<T>(dpairs);
  T* out = elements<T>(dstates);
  for_rows(
      device, "encore::span_means_backward", rows.size.tokens, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t sequence = sequence_of[row.index];
        S shares[2];
        for (int span = 0; span < 2; ++span) {
          const SpanRows of = SpanRows::of(places + 4 * sequence + 2 * span, offsets[sequence],
                                           offsets[sequence + 1], first_row_only);
          const bool holds = row.index >= of.first && row.index < of.first + of.count;
          shares[span] = holds ? S(1) / static_cast<S>(of.count) : S(0);
        }
        const S one = shares[0], other = shares[1];
        const T* dpair = from + 2 * sequence * width;
        T* to = out + row.index * width;
        row.each(width, [&](std::int64_t c) {
          to[c] = static_cast<T>(one * static_cast<S>(dpair[c]) + other * static_cast<S>(dpair[width + c]));
        });
      });
}

class SpanPairHead final : public Head, public HasOnnxOutputs {
 public:
  static constexpr const char* summary =
      "a class for each sequence from two of its spans: softmax([u, v] W^T + b), where u and v are the "
      "vectors of the spans, W is a learned matrix and b a bias (Wu and He 2019). The column `spans` holds "
      "the numbers of the first and last token of each span, counted from 0 in the sequence";
  static Schema options() {
    return Schema()
        .choice("pooling", "mean", {"mean", "first"},
                {.help = "the vector of a span. mean: the mean of its tokens' states; first: the state of "
                         "its first token"})
        .number("dropout", 0.0,
                {.help = "share of the channels of both vectors that training sets to zero (dropout) before "
                         "the projection",
                 .min = 0.0,
                 .max = 1.0,
                 .exclusive_max = true});
  }

  SpanPairHead(const Options& options, const HeadContext& context)
      : classes_(context.classes),
        label_smoothing_(context.label_smoothing),
        first_row_only_(options.text("pooling") == "first"),
        dropout_(options.number("dropout")),
        weighed_(context.column(weights_column) != nullptr) {
    const ColumnRule* targets = context.column(targets_column);
    if (targets == nullptr || targets->space != Space::sequences)
      throw Error(std::string("the span_pair head learns from the column \"") + targets_column +
                  "\" over sequences, which this task does not have");
    if (weighed_ && label_smoothing_ > 0.0)
      throw Error(
          "the span_pair head cannot smooth labels if the task weighs them: set train.label_smoothing = 0, "
          "or "
          "remove the weights from [task]");
  }

  void declare(HeadPlan& plan) override {
    states_width_ = plan.width();
    const std::int64_t width = 2 * states_width_;
    states_ = plan.read(Space::tokens);
    spans_ = plan.column("spans", Space::sequences, ColumnType::integers, 0, 4);
    targets_ = plan.column(targets_column, Space::sequences, ColumnType::integers, classes_);
    if (weighed_) weights_ = plan.column(weights_column, Space::sequences, ColumnType::numbers);
    predictions_ = plan.output(classes_output, Space::sequences);
    scores_ = plan.output("logits", Space::sequences, ColumnType::numbers, classes_);
    loss_ = plan.add_loss(weighed_ ? weights_ : targets_);
    if (dropout_ > 0.0) stream_ = plan.random("dropout");
    weight_ = plan.matrix("weight", classes_, width);
    bias_ = plan.bias("bias", classes_);
    pairs_ = plan.buffer("pairs", {sequences, width}, Lifetime::saved);
    dpairs_ = plan.buffer("pairs_gradient", {sequences, width}, Lifetime::backward);
    logits_ = plan.buffer("logits", {sequences, classes_}, Lifetime::saved);
    dlogits_ = plan.buffer("logits_gradient", {sequences, classes_}, Lifetime::backward);
  }

  void score(const HeadStep& step) override {
    const Device& device = step.device();
    const Tensor states = step.input(states_), pairs = step.buffer(pairs_);  // (N, C), (B, 2 C)
    dispatch(states.dtype, [&](auto type) {
      span_means<decltype(type)>(device, step.rows(), step.column(spans_), first_row_only_, states, pairs);
    });
    if (dropout_ > 0.0 && step.training()) drop(step, pairs);
    kernels::linear(device, pairs, step.parameter(weight_), step.parameter(bias_), Activation::none,
                    step.buffer(logits_));
  }

  void loss(const HeadStep& step) override {
    kernels::softmax_cross_entropy(step.device(), step.buffer(logits_), step.column(targets_),
                                   label_smoothing_, step.losses(loss_));
    if (weighed_) kernels::scale_rows(step.device(), step.column(weights_), step.losses(loss_));
  }

  void backward(const HeadStep& step) override {
    const Device& device = step.device();
    const Tensor dlogits = step.buffer(dlogits_), dpairs = step.buffer(dpairs_);  // (B, K), (B, 2 C)
    kernels::softmax_cross_entropy_backward(device, step.buffer(logits_), step.column(targets_),
                                            label_smoothing_, step.scale(loss_), dlogits);
    if (weighed_) kernels::scale_rows(device, step.column(weights_), dlogits);
    kernels::linear_backward_parameters(device, dlogits, step.buffer(pairs_), step.gradient(weight_),
                                        step.gradient(bias_));
    kernels::linear_backward_input(device, dlogits, step.parameter(weight_), dpairs);
    if (dropout_ > 0.0) drop(step, dpairs);
    dispatch(dpairs.dtype, [&](auto type) {
      span_means_backward<decltype(type)>(device, step.rows(), step.column(spans_), first_row_only_, dpairs,
                                          step.input_gradient(states_));
    });
  }

  void decode(const HeadStep& step) override {
    kernels::argmax(step.device(), step.buffer(logits_), step.output(predictions_));
    kernels::copy(step.device(), step.buffer(logits_), step.output(scores_));
  }

  /// Computes the means as a product of shares (batch, 2, length) and states. The task guarantees that spans
  /// lie within their sequence.
  void onnx_outputs(OnnxGraph& graph, std::span<const OnnxValue> inputs) const override {
    const OnnxValue ends =
        graph.reshaped(graph.input("spans", {OnnxGraph::batch, 4}), {-1, 2, 2});  // span, first and last
    const auto end = [&](std::int64_t number) {                                   // (batch, 2, 1)
      return graph.unsqueezed(
          graph.node("Gather", {ends, graph.integer(number)}, {{"axis", std::int64_t{2}}}), {2});
    };
    const OnnxValue first = end(0), last = first_row_only_ ? first : end(1);
    const OnnxValue within = graph.node("And", {graph.node("GreaterOrEqual", {graph.positions(), first}),
                                                graph.node("LessOrEqual", {graph.positions(), last})});
    const OnnxValue count = graph.to_float(graph.add(graph.subtract(last, first), graph.integer(1)));
    const OnnxValue means = graph.product(graph.divide(graph.to_float(within), count), inputs[0]);
    const std::int64_t width = 2 * states_width_;
    graph.output("logits", graph.linear(graph.reshaped(means, {-1, width}), weight_, bias_),
                 {OnnxGraph::batch, classes_});
  }

 private:
  /// Applies dropout to x (B, 2 C) in place. The backward pass is the same function.
  void drop(const HeadStep& step, Tensor x) const {
    kernels::dropout(step.device(), step.rows(), step.rows_of(Space::sequences), step.random(stream_),
                     dropout_, x, x);
  }

  std::int64_t states_width_ = 0;  ///< C
  std::int64_t classes_;
  double label_smoothing_;
  bool first_row_only_;
  double dropout_;
  bool weighed_;  ///< the task gives weights for its targets
  Parameter weight_, bias_;
  HeadInput states_;
  HeadColumn spans_, targets_, weights_;
  HeadLoss loss_;
  HeadOutput predictions_, scores_;
  RandomStream stream_;
  Buffer pairs_, dpairs_, logits_, dlogits_;
};

}  // namespace encore_span_pair

ENCORE_PLUGIN("span_pair_head", "1.0.0") {
  plugin.add<encore::Kind::head, encore_span_pair::SpanPairHead>("span_pair");
}
