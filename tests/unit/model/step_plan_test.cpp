// SPDX-License-Identifier: BSD-3-Clause
// Tests StepPlan (model/step_plan.hpp), the plan of a model's step: the order of its nodes, which tensors are
// kept for the backward pass, which share memory, what is computed again, and how much memory all that takes.
// Equal models must have equal plans, because bits depend on them.
#include "model/step_plan.hpp"

#include <gtest/gtest.h>

#include "memory/memory_plan.hpp"
#include "support/separate_norms.hpp"
#include "support/tiny_model.hpp"

namespace encore::model {
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

void separate_norms(config::Experiment& experiment) {
  experiment.model.norm.type = "separate_layer_norm";
}
void pre_norm(config::Experiment& experiment) {
  experiment.model.norm_position = config::NormPosition::pre;
}

/// The plans of a model, which themselves need no batch.
struct Plans {
  explicit Plans(
      const std::function<void(config::Experiment&)>& change = [](config::Experiment&) {},
      config::Recompute recompute = config::Recompute::none) {
    plugin_host::Registry registry = load_builtin_plugins();
    add_separate_norms(registry);
    Registrar offers;
    offers.add<Kind::layer, Idle<true>>("reads_output");
    offers.add<Kind::layer, Idle<false>>("reads_nothing");
    registry.add("this test", offers);
    config::Experiment experiment = tiny_experiment(registry);
    experiment.train.recompute = recompute;
    change(experiment);
    model = std::make_unique<Model>(experiment, tiny_size(), registry, device);
    training = model->training_plan();
    evaluation = model->evaluation_plan();
  }
  Device device;
  std::unique_ptr<Model> model;
  StepPlan training, evaluation;
};

TEST(StepPlan, NodesAreInTheOrderOfTheForwardPass) {
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
  const Plans plans([](config::Experiment& e) { e.model.norm_position = config::NormPosition::pre; });
  EXPECT_EQ(plans.training.nodes[1].path, "encoder.0.attention.norm");
  EXPECT_EQ(plans.training.nodes[2].path, "encoder.0.attention");
  EXPECT_EQ(plans.training.nodes[plans.training.nodes.size() - 2].path, "encoder.norm");
}

TEST(StepPlan, OnlyTensorsThatTheBackwardPassReadsAreKept) {
  const Plans plans;
  const int nodes = static_cast<int>(plans.training.nodes.size());
  const PlanTensor* qkv = find(plans.training, "encoder.0.attention.qkv");  // saved
  ASSERT_NE(qkv, nullptr);
  EXPECT_EQ(qkv->first, 1);
  EXPECT_EQ(qkv->last, 2 * nodes - 2);
  EXPECT_LT(qkv->idle.last, qkv->idle.first) << "it is never computed again";
  const PlanTensor* scratch = find(plans.training, "encoder.0.attention.qkv_gradient");  // backward only
  ASSERT_NE(scratch, nullptr);
  EXPECT_EQ(scratch->first, scratch->last);
  const PlanTensor* input = find(plans.training, "embedding.output");  // read by attention's backward
  ASSERT_NE(input, nullptr);
  EXPECT_EQ(input->last, 2 * nodes - 2);
}

TEST(StepPlan, ANormThatTakesNoSumComesAfterTheSum) {
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
  const Plans plans([](config::Experiment& e) { e.model.block[1].type = "reads_nothing"; });
  EXPECT_EQ(plans.training.nodes[4].path, "encoder.0.feed_forward.norm");
  EXPECT_EQ(find(plans.training, "encoder.0.attention.norm.output")->last, 4);
}

TEST(StepPlan, ABranchThatIsReadInBackwardIsNotOverwrittenByTheSum) {
  const Plans plans([](config::Experiment& e) { e.model.block[1].type = "reads_output"; });
  const NodePlan& sum = node(plans.training, "encoder.0.feed_forward.residual");
  EXPECT_EQ(node(plans.training, "encoder.0.feed_forward.norm").inputs, std::vector<int>{sum.output});
  EXPECT_NE(sum.output, node(plans.training, "encoder.0.feed_forward").output);
  EXPECT_EQ(node(plans.training, "encoder.0.attention.norm").inputs.size(), 2u)
      << "attention does not read it";
}

TEST(StepPlan, TheGradientsOfASumLieApartOnlyWithDropout) {
  const Plans plain, dropping([](config::Experiment&e) { e.model.dropout = 0.1; });
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
  const Plans plans([](config::Experiment& e) {
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

/// Lists the calls of the backward pass: "-" and a node's path, or "+" and its path where its forward pass
/// runs again.
std::vector<std::string> backward_calls(const StepPlan& plan) {
  std::vector<std::string> calls;
  for (const BackwardCall& call : plan.backward)
    calls.push_back((call.work == BackwardCall::Work::backward ? "-" : "+") + plan.nodes[call.node].path);
  return calls;
}

TEST(StepPlan, TheBackwardPassRunsInReverseOrder) {
  const Plans plans;
  const std::vector<std::string> calls = backward_calls(plans.training);
  ASSERT_EQ(calls.size(), plans.training.nodes.size());
  EXPECT_EQ(calls.front(), "-head");
  EXPECT_EQ(calls.back(), "-embedding");
  EXPECT_TRUE(plans.evaluation.backward.empty());
}

TEST(StepPlan, ACheapOutputIsComputedAgainWhereItIsRead) {
  const Plans plans([](config::Experiment&) {}, config::Recompute::cheap);
  EXPECT_EQ(
      backward_calls(plans.training),
      (std::vector<std::string>{
          "-head", "-encoder.1.feed_forward.norm", "+encoder.1.attention.norm", "-encoder.1.feed_forward",
          "-encoder.1.attention.norm", "+encoder.0.feed_forward.norm", "-encoder.1.attention",
          "-encoder.0.feed_forward.norm", "+encoder.0.attention.norm", "-encoder.0.feed_forward",
          "-encoder.0.attention.norm", "-encoder.0.attention", "-embedding"}))
      << "the head reads the last norm's output at once, and keeps it";
  for (const BackwardCall& call : plans.training.backward)
    EXPECT_NE(call.work, BackwardCall::Work::forward) << "the sums are there";
  const PlanTensor* norm = find(plans.training, "encoder.0.feed_forward.norm.output");
  EXPECT_EQ(norm->first, 4);
  EXPECT_EQ(norm->idle.first, 7) << "it is the trunk of the sum at tick 6";
  EXPECT_EQ(norm->idle.last, 10 + 4) << "it is computed again by the sixth call after the forward pass";
  EXPECT_EQ(norm->last, 10 + 6);
  const PlanTensor* sum = find(plans.training, "encoder.0.feed_forward.output");
  EXPECT_LT(sum->idle.last, sum->idle.first);
}

TEST(StepPlan, OutputsThatCannotBeComputedAgainAreKept) {
  const auto tensor = [](const Plans& plans) {
    return *find(plans.training, "encoder.0.attention.norm.output");
  };
  const auto is_idle = [&](const Plans& plans) {
    return tensor(plans).idle.first <= tensor(plans).idle.last;
  };
  EXPECT_TRUE(is_idle(Plans([](config::Experiment&) {}, config::Recompute::cheap)));
  EXPECT_FALSE(is_idle(Plans(separate_norms, config::Recompute::cheap)))
      << "its norm does not say that it is cheap";
  EXPECT_FALSE(is_idle(Plans(
      [](config::Experiment& e) {
        e.train.freeze = {"embedding", "encoder.0.attention"};
      },
      config::Recompute::cheap)))
      << "nothing keeps the sum that this norm would need";
}

TEST(StepPlan, ABlockIsComputedAgainFromWhatEntersIt) {
  for (const bool pre : {false, true}) {
    const Plans plans([&](config::Experiment& e) { pre ? pre_norm(e) : separate_norms(e); },
                      config::Recompute::blocks);
    const std::vector<std::string> calls = backward_calls(plans.training);
    std::vector<std::string> block, expected;
    for (const NodePlan& one : plans.training.nodes)
      if (one.path.starts_with("encoder.0.")) block.push_back(one.path);
    for (const std::string& path : block) expected.push_back("+" + path);
    for (const std::string& path : block) expected.insert(expected.begin() + 6, "-" + path);
    ASSERT_EQ(block.size(), 6u);
    const auto begin = std::ranges::find(calls, "+encoder.0.attention" + std::string(pre ? ".norm" : ""));
    ASSERT_LE(begin + 12, calls.end());
    EXPECT_EQ(std::vector<std::string>(begin, begin + 12), expected);
    EXPECT_EQ(calls.back(), "-embedding") << "which is not part of a block";
    const PlanTensor* qkv = find(plans.training, "encoder.0.attention.qkv");
    EXPECT_EQ(qkv->idle.first, qkv->first + 1);
    const PlanTensor* entering = find(plans.training, "embedding.output");
    EXPECT_LT(entering->idle.last, entering->idle.first);
    EXPECT_EQ(find(plans.evaluation, "encoder.0.attention.qkv")->idle.last, -1);
  }
}

TEST(StepPlan, NoBlockIsComputedAgainIfItDoesNotTrain) {
  const Plans plans(
      [](config::Experiment& e) {
        e.train.freeze = {"embedding", "encoder.0"};
      },
      config::Recompute::blocks);
  for (const std::string& call : backward_calls(plans.training))
    EXPECT_EQ(call.find("encoder.0"), std::string::npos) << call;
}

/// Makes the experiment a model of a realistic size: width 384, 12 layers, 6 heads, hidden 768, and its head.
void seed_model(config::Experiment& experiment) {
  experiment.model.width = 384;
  experiment.model.layers = 12;
  experiment.model.dropout = 0.1;
  experiment.data.max_length = 256;
  experiment.model.block[0].options.set("heads", std::int64_t{6});
  experiment.model.block[1].options.set("hidden", std::int64_t{768});
  experiment.model.head.options.set("residual_norm", true);
  experiment.train.precision = config::Precision::float32;
}

TEST(StepPlan, TheSeedModelOnFullBatchesFitsClosely) {
  Plans plans(seed_model);
  const BatchSize full{32 * 256, 32, 32 * 256 * 256, 256};
  plans.training.place(full);
  plans.evaluation.place(full);
  std::vector<memory::BufferLifetime> intervals;
  for (const PlanTensor& tensor : plans.training.tensors)
    intervals.push_back({tensor.first, tensor.last, tensor.bytes, tensor.idle});
  const double bound = static_cast<double>(memory::live_peak(intervals, memory::tensor_alignment));
  EXPECT_LE(static_cast<double>(plans.training.arena_bytes), 1.02 * bound);
  // Per token, block and channel: six values of attention and four of feed-forward, in float32.
  const double kept = 8192.0 * 12 * 384 * 10 * 4;
  EXPECT_LE(bound, 1.15 * kept);
  EXPECT_LE(static_cast<double>(plans.evaluation.arena_bytes),
            0.06 * static_cast<double>(plans.training.arena_bytes));
  RecordProperty("training_megabytes", static_cast<int>(plans.training.arena_bytes >> 20));
  RecordProperty("evaluation_megabytes", static_cast<int>(plans.evaluation.arena_bytes >> 20));
}

TEST(StepPlan, OutputsThatAreComputedAgainTakeNoMemoryMeanwhile) {
  const BatchSize full{32 * 256, 32, 32 * 256 * 256, 256};
  const auto channels = [&](config::Recompute recompute) {  // in each layer, of each token
    Plans plans(seed_model, recompute);
    plans.training.place(full);
    std::vector<memory::BufferLifetime> intervals;
    for (const PlanTensor& tensor : plans.training.tensors)
      intervals.push_back({tensor.first, tensor.last, tensor.bytes, tensor.idle});
    const double bytes = static_cast<double>(plans.training.arena_bytes);
    EXPECT_LE(bytes, 1.02 * static_cast<double>(memory::live_peak(intervals, memory::tensor_alignment)));
    return bytes / (8192.0 * 12 * 384 * 4);
  };
  const double none = channels(config::Recompute::none);
  EXPECT_NEAR(none - channels(config::Recompute::cheap), 2.0, 0.2) << "the outputs of two norms";
  EXPECT_LE(channels(config::Recompute::blocks), 2.3) << "one layer of 12 and what enters it";
}

TEST(StepPlan, NormsThatTakeSumsNeedNoMoreMemory) {
  for (const double dropout : {0.0, 0.1}) {
    Plans one([&](config::Experiment& e) { seed_model(e), e.model.dropout = dropout; });
    Plans two([&](config::Experiment& e) { seed_model(e), separate_norms(e), e.model.dropout = dropout; });
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
}  // namespace encore::model
