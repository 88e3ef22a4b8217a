// What the step plan of a model looks like: who is kept for backward, what is shared, how much memory that
// takes.
#include "model/step_plan.hpp"

#include <gtest/gtest.h>

#include "memory/memory_plan.hpp"
#include "support/separate_norms.hpp"
#include "support/tiny_model.hpp"

namespace encore {
namespace {

using namespace encore::testing;

const PlanTensor* find(const StepPlan& plan, const std::string& path) {
  for (const PlanTensor& tensor : plan.tensors)
    if (tensor.path == path) return &tensor;
  return nullptr;
}

const NodePlan& node(const StepPlan& plan, const std::string& path) {
  for (const NodePlan& node : plan.nodes)
    if (node.path == path) return node;
  throw Error("no node " + path);
}

/// A layer whose backward reads its output, as that of tanh, or nothing; never its input. No test here runs
/// it.
template <bool Output>
class Idle final : public Layer {
 public:
  static Schema options() { return {}; }
  Idle(const Options&, const LayerContext&) {}
  void declare(LayerPlan& plan) override { plan.backward_reads(false, Output); }
  void forward(const Step&, std::span<const Tensor>, Tensor) override {}
  void backward(const Step&, std::span<const Tensor>, Tensor, Tensor, std::span<const Tensor>) override {}
};

void separate_norms(Experiment& experiment) {
  experiment.model.norm.type = "separate_layer_norm";
}
void pre_norm(Experiment& experiment) {
  experiment.model.norm_position = NormPosition::pre;
}

/// The plans of a model, which themselves need no batch.
struct Plans {
  explicit Plans(const std::function<void(Experiment&)>& change = [](Experiment&) {}) {
    Registry registry = load_builtin_plugins();
    add_separate_norms(registry);
    Registrar offers;
    offers.add<Kind::layer, Idle<true>>("reads_output");
    offers.add<Kind::layer, Idle<false>>("reads_nothing");
    registry.add("this test", offers);
    Experiment experiment = tiny_experiment(registry);
    change(experiment);
    model = std::make_unique<Model>(experiment, tiny_size(), registry, device);
    training = model->training_plan();
    evaluation = model->evaluation_plan();
  }
  Device device;
  std::unique_ptr<Model> model;
  StepPlan training, evaluation;
};

TEST(StepPlan, NodesStandInTheOrderOfTheForwardPass) {
  const Plans plans;
  std::vector<std::string> paths;
  for (const NodePlan& node : plans.training.nodes) paths.push_back(node.path);
  EXPECT_EQ(paths,
            (std::vector<std::string>{"embedding", "encoder.0.attention", "encoder.0.attention.norm",
                                      "encoder.0.feed_forward", "encoder.0.feed_forward.norm",
                                      "encoder.1.attention", "encoder.1.attention.norm",
                                      "encoder.1.feed_forward", "encoder.1.feed_forward.norm", "head"}));
}

TEST(StepPlan, RefusesMoreThanAMachineAddresses) {
  Plans plans;
  try {
    plans.training.place({std::int64_t{1} << 62, 1, 1, 1});  // its bytes are 0 in 64 bits
    FAIL() << "a batch of 2^62 rows";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("out of memory: there are no ")) << error.what();
    EXPECT_NE(std::string(error.what()).find("train.batch_size"), std::string::npos) << error.what();
  }
}

TEST(StepPlan, PreNormNormsFirstAndOnceAtTheEnd) {
  const Plans plans([](Experiment& e) { e.model.norm_position = NormPosition::pre; });
  EXPECT_EQ(plans.training.nodes[1].path, "encoder.0.attention.norm");
  EXPECT_EQ(plans.training.nodes[2].path, "encoder.0.attention");
  EXPECT_EQ(plans.training.nodes[plans.training.nodes.size() - 2].path, "encoder.norm");
}

TEST(StepPlan, WhatBackwardReadsIsKeptAndNothingElse) {
  const Plans plans;
  const int nodes = static_cast<int>(plans.training.nodes.size());
  const PlanTensor* qkv = find(plans.training, "encoder.0.attention.qkv");  // saved
  ASSERT_NE(qkv, nullptr);
  EXPECT_EQ(qkv->first, 1);
  EXPECT_EQ(qkv->last, 2 * nodes - 2);
  const PlanTensor* scratch = find(plans.training, "encoder.0.attention.qkv_gradient");  // backward only
  ASSERT_NE(scratch, nullptr);
  EXPECT_EQ(scratch->first, scratch->last);
  const PlanTensor* input = find(plans.training, "embedding.output");  // read by attention's backward
  ASSERT_NE(input, nullptr);
  EXPECT_EQ(input->last, 2 * nodes - 2);
}

TEST(StepPlan, ANormThatTakesNoSumComesAfterIt) {
  const Plans plans(separate_norms);
  EXPECT_EQ(plans.training.nodes[2].path, "encoder.0.attention.residual");
  EXPECT_EQ(plans.training.nodes[3].path, "encoder.0.attention.norm");
  EXPECT_EQ(plans.training.nodes[3].inputs, std::vector<int>{plans.training.nodes[2].output});
}

TEST(StepPlan, ASumIsLeftWhereItsBranchWasUntilTheNormsBackward) {
  const Plans plans;
  const NodePlan& norm = node(plans.training, "encoder.1.attention.norm");
  ASSERT_EQ(norm.inputs.size(), 2u);
  EXPECT_EQ(norm.inputs[0], node(plans.training, "encoder.1.attention").output) << "the branch";
  EXPECT_EQ(norm.inputs[1], node(plans.training, "encoder.0.feed_forward.norm").output) << "the trunk";
  const int forward = 6, backward = 2 * 10 - 1 - forward;
  EXPECT_EQ(plans.training.nodes[forward].path, norm.path);
  EXPECT_EQ(find(plans.training, "encoder.1.attention.output")->last, backward);
  EXPECT_EQ(find(plans.evaluation, "encoder.1.attention.output")->last, forward);
}

TEST(StepPlan, TheTrunkIsNotKeptForTheNormThatAddsItUp) {
  const Plans plans([](Experiment& e) { e.model.block[1].type = "reads_nothing"; });
  EXPECT_EQ(plans.training.nodes[4].path, "encoder.0.feed_forward.norm");
  EXPECT_EQ(find(plans.training, "encoder.0.attention.norm.output")->last, 4);
}

TEST(StepPlan, ABranchThatIsReadInBackwardIsNotOverwrittenByTheSum) {
  const Plans plans([](Experiment& e) { e.model.block[1].type = "reads_output"; });
  const NodePlan& sum = node(plans.training, "encoder.0.feed_forward.residual");
  EXPECT_EQ(node(plans.training, "encoder.0.feed_forward.norm").inputs, std::vector<int>{sum.output});
  EXPECT_NE(sum.output, node(plans.training, "encoder.0.feed_forward").output);
  EXPECT_EQ(node(plans.training, "encoder.0.attention.norm").inputs.size(), 2u)
      << "attention does not read it";
}

TEST(StepPlan, TheGradientsOfASumLieApartOnlyWithDropout) {
  const Plans plain, dropping([](Experiment&e) { e.model.dropout = 0.1; });
  for (const Plans* plans : {&plain, &dropping}) {
    const NodePlan& norm = node(plans->training, "encoder.1.feed_forward.norm");
    EXPECT_EQ(norm.input_gradients[0] == norm.input_gradients[1], plans == &plain);
    EXPECT_NE(norm.input_gradients[1], norm.output_gradient);
    EXPECT_TRUE(norm.sums.empty());
    const NodePlan& layer = node(plans->training, "encoder.1.feed_forward");
    EXPECT_EQ(layer.output_gradient, norm.input_gradients[0]) << "the branch";
    ASSERT_EQ(layer.sums.size(), 1u);
    EXPECT_EQ(layer.sums[0].from, norm.input_gradients[1]) << "the trunk";
    EXPECT_EQ(layer.sums[0].to, layer.input_gradients[0]);
  }
}

TEST(StepPlan, TheResidualSumTakesOverTheMemoryOfItsBranch) {
  const Plans plans(pre_norm);
  EXPECT_EQ(node(plans.training, "encoder.0.attention.residual").output,
            node(plans.training, "encoder.0.attention").output);
  EXPECT_EQ(find(plans.training, "encoder.0.attention.residual.output"), nullptr);
}

TEST(StepPlan, TheResidualPassesItsGradientOnWithoutACopy) {
  const Plans plans([](Experiment& e) {
    separate_norms(e);
    e.model.dropout = 0.1;
  });
  const NodePlan& residual = node(plans.training, "encoder.1.feed_forward.residual");
  EXPECT_EQ(residual.input_gradients[1], residual.output_gradient) << "the trunk";
  EXPECT_NE(residual.input_gradients[0], residual.output_gradient) << "the branch goes through dropout";
  const NodePlan& layer = node(plans.training, "encoder.1.feed_forward");
  ASSERT_EQ(layer.sums.size(), 1u)
      << "the copies of trunk and branch are summed where the second one is written";
  EXPECT_EQ(layer.sums[0].from, residual.output_gradient);
  EXPECT_EQ(layer.sums[0].to, layer.input_gradients[0]);
}

TEST(StepPlan, EvaluationKeepsNothing) {
  const Plans plans;
  for (const PlanTensor& tensor : plans.evaluation.tensors) {
    EXPECT_EQ(tensor.path.find("gradient"), std::string::npos) << tensor.path;
    EXPECT_LE(tensor.last - tensor.first, 3) << tensor.path << " outlives its sub-layer";
  }
}

/// The seed model: width 384, 12 layers, 6 heads, hidden 768, with its head.
void seed_model(Experiment& experiment) {
  experiment.model.width = 384;
  experiment.model.layers = 12;
  experiment.model.dropout = 0.1;
  experiment.data.max_length = 256;
  experiment.model.block[0].options.set("heads", std::int64_t{6});
  experiment.model.block[1].options.set("hidden", std::int64_t{768});
  experiment.model.head.options.set("residual_norm", true);
  experiment.train.precision = Precision::float32;
}

TEST(StepPlan, TheSeedModelOnFullBatchesFitsClosely) {
  Plans plans(seed_model);
  const BatchSize full{32 * 256, 32, 32 * 256 * 256, 256};
  plans.training.place(full);
  plans.evaluation.place(full);
  std::vector<Interval> intervals;
  for (const PlanTensor& tensor : plans.training.tensors)
    intervals.push_back({tensor.first, tensor.last, tensor.bytes});
  const double bound = static_cast<double>(live_peak(intervals, tensor_alignment));
  EXPECT_LE(static_cast<double>(plans.training.arena_bytes), 1.02 * bound);
  // Per token, block and channel: six values of attention and four of feed-forward, in float32.
  const double kept = 8192.0 * 12 * 384 * 10 * 4;
  EXPECT_LE(bound, 1.15 * kept);
  EXPECT_LE(static_cast<double>(plans.evaluation.arena_bytes),
            0.06 * static_cast<double>(plans.training.arena_bytes));
  RecordProperty("training_megabytes", static_cast<int>(plans.training.arena_bytes >> 20));
  RecordProperty("evaluation_megabytes", static_cast<int>(plans.evaluation.arena_bytes >> 20));
}

TEST(StepPlan, NormsThatTakeSumsNeedNoMoreMemory) {
  for (const double dropout : {0.0, 0.1}) {
    Plans one([&](Experiment& e) { seed_model(e), e.model.dropout = dropout; });
    Plans two([&](Experiment& e) { seed_model(e), separate_norms(e), e.model.dropout = dropout; });
    for (const BatchSize& size :
         {BatchSize{32 * 256, 32, 32 * 256 * 256, 256}, BatchSize{900, 32, 28000, 60}})
      for (StepPlan Plans::*plan : {&Plans::training, &Plans::evaluation}) {
        (one.*plan).place(size);
        (two.*plan).place(size);
        EXPECT_LE((one.*plan).arena_bytes, (two.*plan).arena_bytes) << dropout << ", " << size.tokens;
      }
  }
}

TEST(StepPlan, EqualModelsHaveEqualPlans) {
  Plans a, b;
  const BatchSize size{40, 5, 400, 9};
  a.training.place(size);
  b.training.place(size);
  ASSERT_EQ(a.training.tensors.size(), b.training.tensors.size());
  for (std::size_t i = 0; i < a.training.tensors.size(); ++i) {
    EXPECT_EQ(a.training.tensors[i].path, b.training.tensors[i].path);
    EXPECT_EQ(a.training.tensors[i].offset, b.training.tensors[i].offset);
  }
}

}  // namespace
}  // namespace encore
