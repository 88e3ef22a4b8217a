// SPDX-License-Identifier: BSD-3-Clause
// Tests the gradient checks of layers that learn from the states of a teacher, the run from which [distil]
// learns (framework/contract/gradient_check.cpp), with layers that do it in a wrong way; the contract suite
// must name the mistake.
#include <gtest/gtest.h>

#include <encore/kernels.hpp>
#include <encore/plugin.hpp>
#include <encore/relations.hpp>

#include "contract/findings.hpp"

namespace encore::testing {
namespace {

enum class Mistake { none, deaf, other_width };

/// A layer whose input is query, key and value.
template <Mistake M>
class Learning : public Layer, public HasRelations {
 public:
  static Schema options() { return {}; }
  Learning(const Options&, const LayerContext& context) : width_(context.width) {}

  void declare(LayerPlan& plan) override {
    rows_ = plan.buffer("rows", {tokens, plan.width()}, Lifetime::saved);
    plan.backward_reads(false, false);
    plan.row_wise();
  }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    kernels::copy(step.device(), inputs[0], step.buffer(rows_));
    kernels::copy(step.device(), inputs[0], output);
  }
  void backward(const Step& step, std::span<const Tensor>, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    kernels::copy(step.device(), output_gradient, input_gradients[0]);
    if (!listens_ || step.taught() == nullptr) return;
    for (const TaughtRows& part : step.taught()->parts)
      kernels::relations_backward(step.device(), step.rows(), step.buffer(rows_), part, step.taught()->scale,
                                  input_gradients[0]);
  }

  std::int64_t relation_width() const override { return M == Mistake::other_width ? width_ - 1 : width_; }
  Parts relation_parts(const Step& step) const override {
    const Tensor rows = step.buffer(rows_);
    return {rows, rows, rows};
  }

 private:
  std::int64_t width_;
  bool listens_ = M != Mistake::deaf;
  Buffer rows_;
};

/// Returns the verdict of the check of gradients.
template <Mistake M>
std::string said_of() {
  Registrar registrar;
  registrar.add<Kind::layer, Learning<M>>("learning");
  for (const contract::Finding& finding : findings_of(registrar.offers().front()))
    if (finding.check == "gradients") return (finding.passed ? "passed: " : "failed: ") + finding.detail;
  return "not checked";
}

TEST(RelationCheck, PassesALayerThatLearns) {
  const std::string said = said_of<Mistake::none>();
  EXPECT_TRUE(said.starts_with("passed: ")) << said;
}
TEST(RelationCheck, FindsALayerThatIgnoresItsTeacher) {
  const std::string said = said_of<Mistake::deaf>();
  expect_said(said, "failed: with defaults, sequences of lengths {5, 1, 9, 3}, a teacher:");
  expect_said(said, "input");
}
TEST(RelationCheck, FindsRowsOfAnotherWidth) {
  expect_said(said_of<Mistake::other_width>(), "columns, and relation_width says ");
}

}  // namespace
}  // namespace encore::testing
