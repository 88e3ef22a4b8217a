// SPDX-License-Identifier: BSD-3-Clause
// Tests the check of attention weights (framework/contract/attention_check.cpp, part of `exp plugin check`)
// with layers that report wrong attention weights, one mistake each: the contract suite must name each
// mistake, and accept the right layer.
#include <gtest/gtest.h>

#include <encore/attention_weights.hpp>
#include <encore/kernels.hpp>
#include <encore/plugin.hpp>

#include "contract/findings.hpp"

namespace encore::testing {
namespace {

enum class Mistake {
  none,
  no_heads,
  unscaled,
  of_other_keys,
  through_the_mask,
  other_values,
  values_of_nobody,
  changes_a_buffer,
};

/// Attention of the input over itself with two heads, without matrices. It learns nothing, and only what it
/// shows is wrong.
template <Mistake M>
class Looking : public Layer, public HasAttentionWeights {
 public:
  static Schema options() { return {}; }
  Looking(const Options&, const LayerContext& context) {
    options_.heads = 2;
    options_.causal = context.causal;
  }

  void declare(LayerPlan& plan) override {
    rows_ = plan.buffer("rows", {tokens, plan.width()}, Lifetime::saved);
    mixed_ = plan.buffer("mixed", {tokens, plan.width()}, Lifetime::saved);
    log_sum_ = plan.buffer("log_sum", {tokens, options_.heads}, Lifetime::saved, Element::accumulate);
    plan.backward_reads(false, false);
  }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    const Tensor rows = step.buffer(rows_), mixed = step.buffer(mixed_);
    kernels::copy(step.device(), inputs[0], rows);
    kernels::attention(step.device(), step.rows(), step.rows(), options_, rows, rows, rows, mixed,
                       step.buffer(log_sum_));
    kernels::copy(step.device(), mixed, output);
    last_input_ = inputs[0];
  }
  void backward(const Step& step, std::span<const Tensor>, Tensor, Tensor,
                std::span<const Tensor> input_gradients) override {
    kernels::fill(step.device(), 0.0, input_gradients[0]);
  }

  std::int64_t attention_heads() const override { return M == Mistake::no_heads ? 0 : options_.heads; }
  void attention_weights(const Step& step, std::int64_t sequence, Tensor weights) const override {
    kernels::AttentionOptions options = options_;
    if (M == Mistake::through_the_mask) options.causal = false;
    const Tensor rows = step.buffer(rows_);
    kernels::attention_weights(step.device(), step.rows(), step.rows(), options, rows,
                               M == Mistake::of_other_keys ? step.buffer(mixed_) : rows,
                               step.buffer(log_sum_), sequence, weights);
    if (M == Mistake::unscaled) kernels::add(step.device(), weights, weights);
    if (M == Mistake::changes_a_buffer) kernels::fill(step.device(), 0.5, step.buffer(log_sum_));
  }
  Mixing attention_mixing(const Step& step) const override {
    if (M == Mistake::values_of_nobody) return {.values = last_input_, .mixed = step.buffer(mixed_)};
    return {.values = step.buffer(M == Mistake::other_values ? mixed_ : rows_), .mixed = step.buffer(mixed_)};
  }

 private:
  kernels::AttentionOptions options_;
  Buffer rows_, mixed_, log_sum_;
  Tensor last_input_;
};

/// Returns the verdict of the check of attention.
template <Mistake M>
std::string said_of() {
  Registrar registrar;
  registrar.add<Kind::layer, Looking<M>>("looking");
  for (const contract::Finding& finding : findings_of(registrar.offers().front()))
    if (finding.check == "attention") return (finding.passed ? "passed: " : "failed: ") + finding.detail;
  return "not checked";
}

TEST(AttentionCheck, PassesALayerThatShowsWhatItHasUsed) {
  const std::string said = said_of<Mistake::none>();
  EXPECT_TRUE(said.starts_with("passed: ")) << said;
  EXPECT_TRUE(said.ends_with(" weights equal those of the forward pass")) << said;
}
TEST(AttentionCheck, FindsALayerWithoutHeads) {
  expect_said(said_of<Mistake::no_heads>(), "failed: with defaults: attention_heads says 0");
}
TEST(AttentionCheck, FindsInvalidWeights) {
  expect_said(said_of<Mistake::unscaled>(), " sum to 2.000000, not to 1");
}
TEST(AttentionCheck, FindsWeightsOfOtherKeys) {
  const std::string said = said_of<Mistake::of_other_keys>();
  expect_said(said, "failed: with defaults: ");
  expect_said(said, " of head ");
  expect_said(said, ", query ");
}
TEST(AttentionCheck, FindsALookAtTheFuture) {
  const std::string said = said_of<Mistake::through_the_mask>();
  expect_said(said, "failed: with defaults: weight ");
  expect_said(said, ", causal)");
}
TEST(AttentionCheck, FindsOtherValues) {
  const std::string said = said_of<Mistake::other_values>();
  expect_said(said, " times the values give ");
  expect_said(said, ", but the forward pass has computed ");
}
TEST(AttentionCheck, FindsValuesThatThePassHasNotUsed) {
  expect_said(said_of<Mistake::values_of_nobody>(),
              "attention_mixing: `values` lies in no buffer that the layer has declared; give the one that "
              "the forward pass used");
}
TEST(AttentionCheck, FindsAChangedBuffer) {
  expect_said(said_of<Mistake::changes_a_buffer>(),
              "attention_weights changes the layer's buffers, which are read-only");
}

}  // namespace
}  // namespace encore::testing
