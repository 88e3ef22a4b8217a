// SPDX-License-Identifier: BSD-3-Clause
// Tests the contract suite (contract/suite.hpp), which `exp plugin check` runs on a plugin. Everything that
// ships passes; layers, heads, norms, optimizers and schedules with one mistake each are found, and the
// mistake is named. A new check of the suite gets a mistake here or in another test of mistakes, because a
// check that never fails proves nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <encore/kernels.hpp>
#include <encore/plugin.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "contract/findings.hpp"
#include "support/tiny_model.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::testing {
namespace {

class Shipped : public ::testing::TestWithParam<Kind> {};

/// Returns the types of this kind. A step that searches gets documents in the folder, one that orders hits a
/// class of the suite's model, and one that matches an expression, as an author gives them with -S.
std::vector<Offer> shipped(const plugin_host::Registry& registry, Kind kind, const TemporaryFolder& folder) {
  std::vector<Offer> offers = registry.all(kind);
  if (kind != Kind::step) return offers;
  const std::filesystem::path file = folder / "documents.tsv";
  std::ofstream(file) << "d1\thow to pay\nd2\twhere a parcel is\nd3\ta question about an order\n";
  std::vector<std::string> settings = {"step.documents=\"" + file.string() + "\"", "step.label=\"b\""};
  const auto matches = [](const Offer& offer) { return offer.options.find("expressions") != nullptr; };
  if (std::ranges::any_of(offers, matches))  // only where RE2 is installed
    settings.emplace_back("step.expressions=['(?P<word>[a-z]+)']");
  return contract::with_settings(std::move(offers), settings);
}

TEST_P(Shipped, PassesTheSuite) {
  const TemporaryFolder folder;
  const plugin_host::Registry registry = load_builtin_plugins();
  int offers = 0;
  for (const Offer& offer : shipped(registry, GetParam(), folder)) {
    const std::vector<contract::Finding> findings = findings_of(offer);
    EXPECT_GE(findings.size(), 2U) << contract::subject_of(offer);
    for (const contract::Finding& finding : findings)
      EXPECT_TRUE(finding.passed) << finding.subject << ": " << finding.check << ": " << finding.detail;
    ++offers;
  }
  EXPECT_GE(offers, 1);
}

INSTANTIATE_TEST_SUITE_P(Contract, Shipped,
                         ::testing::Values(Kind::layer, Kind::head, Kind::tokenizer, Kind::optimizer,
                                           Kind::schedule, Kind::task, Kind::reader, Kind::step),
                         [](const auto& info) { return std::string(name_of(info.param)); });

// --- layers with one mistake each ---

enum class Mistake {
  none,
  input_factor,
  forgotten_bias,
  adds_to_input,
  overwrites_parameter,
  changes_output_gradient,
  reads_undeclared_output,
  reads_forward_scratch,
  changes_input,
  allocates,
  no_label,
  remembers,
  sees_other_sequences,
  touches_other_rows,
};

/// Computes y = relu(x W^T + b), with one mistake.
template <Mistake M>
class Dense : public Layer {
 public:
  static Schema options() { return {}; }
  Dense(const Options&, const LayerContext&) {}

  void declare(LayerPlan& plan) override {
    weight_ = plan.matrix("weight", plan.width(), plan.width());
    bias_ = plan.bias("bias", plan.width());
    if (M == Mistake::touches_other_rows)
      table_ = plan.parameter({.name = "table", .shape = {17, plan.width()}, .token_rows = true});
    scratch_ = plan.buffer("scratch", {tokens, plan.width()}, Lifetime::forward);
    dsum_ = plan.buffer("sum_gradient", {tokens, plan.width()}, Lifetime::backward);
    plan.backward_reads(true, M != Mistake::reads_undeclared_output);
  }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    const Device& device = step.device();
    if (M == Mistake::remembers) ++calls();
    if (M == Mistake::allocates) Kokkos::View<float*, DeviceMemory> view("test::careless", 10);
    if (M == Mistake::no_label)
      Kokkos::parallel_for(Kokkos::RangePolicy<ExecutionSpace>(0, 1), KOKKOS_LAMBDA(int){});
    kernels::linear(device, inputs[0], step.parameter(weight_), step.parameter(bias_),
                    kernels::Activation::relu, output);
    if (M == Mistake::reads_forward_scratch) kernels::copy(device, output, step.buffer(scratch_));
    if (M == Mistake::changes_input) kernels::fill(device, 1.0, inputs[0]);
    if (M == Mistake::remembers && calls() % 2 == 0) kernels::add(device, inputs[0], output);
    if (M == Mistake::sees_other_sequences && output.extent(0) > 0) add_first_row_to_last(output);
  }
  void backward(const Step& step, std::span<const Tensor> inputs, Tensor output, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    const Device& device = step.device();
    const Tensor dsum = M == Mistake::changes_output_gradient ? output_gradient : step.buffer(dsum_);
    const Tensor states = M == Mistake::reads_forward_scratch ? step.buffer(scratch_) : output;
    kernels::activation_backward(device, kernels::Activation::relu, states, output_gradient, dsum);
    if (M == Mistake::overwrites_parameter) kernels::fill(device, 0.0, step.gradient(weight_));
    kernels::linear_backward_parameters(device, dsum, inputs[0], step.gradient(weight_),
                                        M == Mistake::forgotten_bias ? Tensor() : step.gradient(bias_));
    if (M == Mistake::adds_to_input)
      kernels::gemm(device, dsum, kernels::Transpose::no, step.parameter(weight_), kernels::Transpose::no,
                    input_gradients[0], true);
    else
      kernels::linear_backward_input(device, dsum, step.parameter(weight_), input_gradients[0]);
    if (M == Mistake::touches_other_rows) kernels::fill(device, 1.0, step.gradient(table_));
    if (M == Mistake::input_factor) kernels::add(device, input_gradients[0], input_gradients[0]);
  }

 private:
  static int& calls() {
    static int count = 0;
    return count;
  }
  static void add_first_row_to_last(Tensor output) {
    Tensor first = output, last = output;
    first.extents[0] = last.extents[0] = 1;
    const std::int64_t skipped = (output.extent(0) - 1) * output.extent(1);
    last.data =
        static_cast<std::byte*>(output.data) + static_cast<std::size_t>(skipped) * size_of(output.dtype);
    const Device device;
    kernels::add(device, first, last);
    device.fence();
  }

  Parameter weight_, bias_, table_;
  Buffer scratch_, dsum_;
};

template <Mistake M>
std::vector<contract::Finding> findings_with() {
  Registrar registrar;
  registrar.add<Kind::layer, Dense<M>>("dense");
  return findings_of(registrar.offers().front());
}

TEST(SuiteFinds, NothingInARightLayer) {
  EXPECT_EQ(failures(findings_with<Mistake::none>()), "");
}
TEST(SuiteFinds, AWrongFactorByTensorIndexAndBothValues) {
  const std::string said = failures(findings_with<Mistake::input_factor>());
  expect_said(said,
              "gradients: with defaults, sequences of lengths {5, 1, 9, 3}:\ninput along a random direction: "
              "analytic ");
  expect_said(said, "input[0]: analytic ");
  expect_said(said, ", numeric ");
  EXPECT_EQ(said.find("weight["), std::string::npos) << said;
}
TEST(SuiteFinds, AForgottenParameter) {
  expect_said(failures(findings_with<Mistake::forgotten_bias>()),
              "bias along a random direction: analytic 0, numeric ");
}
TEST(SuiteFinds, AnInputGradientThatIsAddedTo) {
  expect_said(failures(findings_with<Mistake::adds_to_input>()), "backward must overwrite it, not add to it");
}
TEST(SuiteFinds, AParameterGradientThatIsOverwritten) {
  expect_said(failures(findings_with<Mistake::overwrites_parameter>()), "weight[0]: analytic ");
}
TEST(SuiteFinds, AChangedOutputGradient) {
  expect_said(failures(findings_with<Mistake::changes_output_gradient>()),
              "gradients: backward changes output_gradient, which it may only read");
}
TEST(SuiteFinds, AnOutputThatWasNotAskedFor) {
  expect_said(failures(findings_with<Mistake::reads_undeclared_output>()), "gradients: ");
}
TEST(SuiteFinds, ForwardScratchReadInBackward) {
  expect_said(failures(findings_with<Mistake::reads_forward_scratch>()), "gradients: ");
}
TEST(SuiteFinds, AChangedInput) {
  expect_said(failures(findings_with<Mistake::changes_input>()), "gradients: forward changes its input");
}
TEST(SuiteFinds, AnAllocationInAStep) {
  expect_said(failures(findings_with<Mistake::allocates>()),
              "allocation: forward allocates \"test::careless\" in a step of a shape seen before; declare a "
              "buffer instead");
}
TEST(SuiteFinds, AKernelWithoutALabel) {
  expect_said(failures(findings_with<Mistake::no_label>()), "give it a name like \"my_layers::scale\"");
}
TEST(SuiteFinds, StateBetweenTwoPasses) {
  expect_said(failures(findings_with<Mistake::remembers>()), "same seed: ");
}
TEST(SuiteFinds, ALookAtOtherSequences) {
  expect_said(failures(findings_with<Mistake::sees_other_sequences>()),
              "packing: output of a sequence changes with the other sequences of the batch");
}

TEST(SuiteFinds, AGradientInRowsOfOtherTokens) {
  const std::string said = failures(findings_with<Mistake::touches_other_rows>());
  expect_said(said, "gradients: backward changes the gradient of row ");
  expect_said(said, " of table, which has token_rows, in a batch without token ");
}

// --- layers that claim to be row-wise ---

enum class RowMistake { reads_the_row_before, orders_by_row_count };

/// Computes y = x + the row before (behind: -1), or x + the sum of the row, whose order depends on the number
/// of rows.
template <RowMistake M, class T>
void mix_rows(const Step& step, Tensor x, std::int64_t distance, Tensor y) {
  using S = Sum<T>;
  const auto in = matrix_view<T>(x), out = matrix_view<T>(y);
  const auto sequence = vector_view<std::int32_t>(step.rows().sequence);
  const std::int64_t rows = x.extent(0), width = x.extent(1);
  for_rows(
      step.device(), "test::mix_rows", rows, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t n = row.index, m = n - distance;
        const bool inside = m >= 0 && m < rows && sequence(m) == sequence(n);
        S sum = 0;
        for (std::int64_t c = 0; c < width; ++c) sum += static_cast<S>(in(n, (c + rows) % width));
        row.each(width, [&](std::int64_t c) {
          S added = sum;
          if (M == RowMistake::reads_the_row_before) added = inside ? static_cast<S>(in(m, c)) : S(0);
          out(n, c) = static_cast<T>(static_cast<S>(in(n, c)) + added);
        });
      });
}

template <RowMistake M>
class NotRowWise : public Layer {
 public:
  static Schema options() { return {}; }
  NotRowWise(const Options&, const LayerContext&) {}

  void declare(LayerPlan& plan) override {
    plan.backward_reads(false, false);
    plan.row_wise();
  }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    mix(step, inputs[0], 1, output);
  }
  void backward(const Step& step, std::span<const Tensor>, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    mix(step, output_gradient, -1, input_gradients[0]);
  }

 private:
  static void mix(const Step& step, Tensor x, std::int64_t distance, Tensor y) {
    dispatch(x.dtype, [&](auto type) { mix_rows<M, decltype(type)>(step, x, distance, y); });
  }
};

template <RowMistake M>
std::string failures_of_rows() {
  Registrar registrar;
  registrar.add<Kind::layer, NotRowWise<M>>("not_row_wise");
  return failures(findings_of(registrar.offers().front()));
}

TEST(SuiteFinds, ALayerThatIsNotRowWise) {
  expect_said(failures_of_rows<RowMistake::reads_the_row_before>(),
              "generation: row 7 has other bits when sequences are generated pass by pass, ");
  // A GPU's products have other bits for another number of rows, so rows are compared with a tolerance there.
  if (memory::host_reaches_device())
    expect_said(failures_of_rows<RowMistake::orders_by_row_count>(), "generation: row ");
}

// --- norms that take a sum, with one mistake each ---

enum class SumMistake { none, drops_nothing, leaves_no_sum, forgets_the_branch, changes_the_trunk };

/// layer_norm, with one mistake for an input that is a sum.
template <SumMistake M>
class SummingNorm : public Layer {
 public:
  static Schema options() { return {}; }
  SummingNorm(const Options&, const LayerContext&) {}

  void declare(LayerPlan& plan) override {
    plan.take_sum();
    gain_ = plan.gain("gain", plan.width());
    bias_ = plan.bias("bias", plan.width());
    mean_ = plan.buffer("mean", {tokens}, Lifetime::saved, Element::accumulate);
    rstd_ = plan.buffer("rstd", {tokens}, Lifetime::saved, Element::accumulate);
    summed_ = plan.buffer("summed", {tokens, plan.width()}, Lifetime::forward);
  }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    ResidualSum x = step.sum(inputs[0]);
    if (M == SumMistake::drops_nothing) x.dropout = {};
    if (M == SumMistake::leaves_no_sum && x.branch) {
      kernels::copy(step.device(), x.branch, step.buffer(summed_));
      x.branch = step.buffer(summed_);
    }
    kernels::layer_norm(step.device(), x, step.parameter(gain_), step.parameter(bias_), 1e-5, output,
                        step.buffer(mean_), step.buffer(rstd_));
    if (M == SumMistake::changes_the_trunk && x.branch) kernels::fill(step.device(), 1.0, x.trunk);
  }
  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    ResidualSum dx = step.sum_gradient(input_gradients[0]);
    if (M == SumMistake::forgets_the_branch && dx.branch) dx = dx.trunk;
    kernels::layer_norm_backward(step.device(), inputs[0], step.parameter(gain_), step.buffer(mean_),
                                 step.buffer(rstd_), output_gradient, dx, step.gradient(gain_),
                                 step.gradient(bias_));
  }

 private:
  Parameter gain_, bias_;
  Buffer mean_, rstd_, summed_;
};

template <SumMistake M>
std::string failures_of_sums() {
  Registrar registrar;
  registrar.add<Kind::layer, SummingNorm<M>>("summing_norm");
  return failures(findings_of(registrar.offers().front()));
}

TEST(SuiteFinds, WhatALayerDoesWrongWithASumOnly) {
  EXPECT_EQ(failures_of_sums<SumMistake::none>(), "");
  expect_said(failures_of_sums<SumMistake::drops_nothing>(),
              "sum: output has other bits when the layer adds up its input, float32, dropout 0.1; ");
  expect_said(failures_of_sums<SumMistake::leaves_no_sum>(),
              "sum: sum has other bits when the layer adds up its input, float32, dropout 0; ");
  expect_said(
      failures_of_sums<SumMistake::forgets_the_branch>(),
      "sum: gradient of the branch has other bits when the layer adds up its input, float32, dropout 0; ");
  expect_said(failures_of_sums<SumMistake::changes_the_trunk>(),
              "sum: forward changes the trunk of the sum it takes");
}

/// Declares invalid options.
struct CarelessOptions : Dense<Mistake::none> {
  static Schema options() {
    return Schema().number("share", 2.0, {.help = "a share", .min = 0.0, .max = 1.0});
  }
  using Dense::Dense;
};
TEST(SuiteFinds, ADefaultOutOfItsRange) {
  Registrar registrar;
  registrar.add<Kind::layer, CarelessOptions>("careless");
  expect_said(failures(findings_of(registrar.offers().front())), "the default of option \"share\" must be");
}

struct Silent : Dense<Mistake::none> {
  static Schema options() { return Schema().number("share", 0.5, {.help = "", .min = 0.0, .max = 1.0}); }
  using Dense::Dense;
};
TEST(SuiteFinds, AnOptionWithoutHelp) {
  Registrar registrar;
  registrar.add<Kind::layer, Silent>("silent");
  expect_said(failures(findings_of(registrar.offers().front())), "option \"share\" has no line of help");
}

// --- other kinds ---

class Uphill final : public Optimizer {
 public:
  static Schema options() { return {}; }
  Uphill(const Options&, const OptimizerContext&) {}
  double learning_rate() const override { return 0.0; }
  std::vector<std::string> states() const override { return {"one", "one"}; }
  void update(const Device& device, const Blocks& blocks, double, std::int64_t) override {
    kernels::add(device, blocks.gradients, blocks.values);
  }
};
TEST(SuiteFinds, AnOptimizerThatClimbsAndForgetsClipping) {
  Registrar registrar;
  registrar.add<Kind::optimizer, Uphill>("uphill");
  const std::string said = failures(findings_of(registrar.offers().front()));
  expect_said(said, "learning rate: learning_rate() is 0.000000; it must be finite and above 0");
  expect_said(said, "states: two states have one name");
  expect_said(said, "descent: 50 steps on half a squared distance lead from ");
  expect_said(said, "gradient scale: gradient_scale = 0.5 does not equal gradients of half the size");
}

/// Momentum, but an element without a gradient in a step does not move.
template <class T>
void update_present(const Device& device, const Blocks& blocks) {
  T* values = elements<T>(blocks.values);
  T* moments = elements<T>(blocks.states[0]);
  const T* gradients = elements<T>(blocks.gradients);
  const Chunk* chunks = blocks.chunks;
  const ChunkGradient* known = blocks.chunk_gradients;
  for_rows(
      device, "hasty::update", blocks.chunk_count, KOKKOS_LAMBDA(const Row& row) {
        if (known != nullptr && known[row.index] != ChunkGradient::present) return;
        const Chunk chunk = chunks[row.index];
        row.each(chunk.size, [&](std::int64_t i) {
          moments[chunk.begin + i] = T(0.5) * moments[chunk.begin + i] + gradients[chunk.begin + i];
          values[chunk.begin + i] -= T(0.01) * moments[chunk.begin + i];
        });
      });
}
class Hasty final : public Optimizer {
 public:
  static Schema options() {
    return Schema().number("learning_rate", 0.01, {.help = "step size", .min = 0.0, .exclusive_min = true});
  }
  Hasty(const Options&, const OptimizerContext&) {}
  double learning_rate() const override { return 0.01; }
  std::vector<std::string> states() const override { return {"moment"}; }
  void update(const Device& device, const Blocks& blocks, double, std::int64_t) override {
    dispatch_parameters(blocks.values.dtype,
                        [&](auto type) { update_present<decltype(type)>(device, blocks); });
  }
};
TEST(SuiteFinds, AnOptimizerThatSkipsRowsWithMomentum) {
  Registrar registrar;
  registrar.add<Kind::optimizer, Hasty>("hasty");
  const std::string said = failures(findings_of(registrar.offers().front()));
  expect_said(said, "learning rate: learning_rate() is not the option learning_rate = 0.005");
  expect_said(said,
              "rows without a gradient: in step 2 an update that knows which rows have no gradient gives "
              "other bits than one that reads their zeros; see ChunkGradient in encore/optimizer.hpp");
}

class Restless final : public Schedule {
 public:
  static Schema options() { return {}; }
  Restless(const Options&, const ScheduleContext&) {}
  double factor(std::int64_t) const override { return 1.0 / ++calls_; }

 private:
  mutable int calls_ = 0;
};
TEST(SuiteFinds, AScheduleWithAMemory) {
  Registrar registrar;
  registrar.add<Kind::schedule, Restless>("restless");
  expect_said(failures(findings_of(registrar.offers().front())),
              "a schedule must be a pure function of the step");
}

enum class Slope { zero, a_million, throws_late, the_step };

template <Slope S>
class Sloping final : public Schedule {
 public:
  static Schema options() { return {}; }
  Sloping(const Options&, const ScheduleContext&) {}
  double factor(std::int64_t step) const override {
    if (S == Slope::throws_late && step > 6000) throw Error("the table ends at step 6000");
    if (S == Slope::zero) return 0.0;
    if (S == Slope::a_million) return 1e6;
    return S == Slope::the_step ? static_cast<double>(step) : 1.0;
  }
};
template <Slope S>
std::string failures_of_slope() {
  Registrar registrar;
  registrar.add<Kind::schedule, Sloping<S>>("sloping");
  return failures(findings_of(registrar.offers().front()));
}
TEST(SuiteFinds, SchedulesWithInvalidFactors) {
  expect_said(
      failures_of_slope<Slope::zero>(),
      "factors: the factor is 0 at every step of a run of 1000 steps with defaults, so nothing would be "
      "learned");
  expect_said(failures_of_slope<Slope::a_million>(),
              "factors: the factor is 1000000.000000 at step 1 of 1 with defaults; it multiplies the option "
              "learning_rate, which is the rate at factor 1, so it must be at most 100");
  expect_said(failures_of_slope<Slope::the_step>(), "factors: the factor is 101.000000 at step 101 of 1000");
  expect_said(failures_of_slope<Slope::throws_late>(),
              "factors: factor throws at step 6001 of 20000 with defaults: the table ends at step 6000; "
              "refuse invalid options in the constructor, before the run starts");
}

}  // namespace
}  // namespace encore::testing
