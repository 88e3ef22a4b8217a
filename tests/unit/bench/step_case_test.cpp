// SPDX-License-Identifier: BSD-3-Clause
// Tests what `exp bench` knows about a training step: work_of_kernel() (operations and bytes of each kernel,
// compared with numbers counted by hand), BareProducts (the matrix products of a step alone) and OrderCost
// (sums without a fixed order). A new kernel needs a row in bench/kernel_work.cpp:
// IsDeclaredForEveryKernelOfAStep fails without one.
#include <gtest/gtest.h>

#include "bench/bare_products.hpp"
#include "bench/kernel_watch.hpp"
#include "bench/kernel_work.hpp"
#include "bench/order_cost.hpp"
#include "kernels/products/product_label.hpp"
#include "support/tiny_model.hpp"
#include "train/training_step.hpp"

namespace encore::bench {
namespace {

using namespace testing;

/// The tiny model (support/tiny_model.hpp) in float32 with one batch of 18 tokens.
struct Bench {
  Bench() : registry(load_builtin_plugins()), experiment(tiny_experiment(registry)), packed(tiny_batch()) {
    experiment.train.precision = config::Precision::float32;
    tiny = std::make_unique<TinyModel>(experiment, tiny_size(), registry, device, packed);
    tiny->model.initialize(1);
  }
  Device device;
  plugin_host::Registry registry;
  config::Experiment experiment;
  data::PackedBatch packed;
  std::unique_ptr<TinyModel> tiny;
};

TEST(KernelWork, ShapesComeFromTheModelAndTheBatch) {
  const Bench bench;
  const StepShape shape = shape_of_step(bench.tiny->model, bench.experiment, DType::float32, bench.packed);
  EXPECT_EQ(shape.batch.tokens, 18);
  EXPECT_EQ(shape.batch.squares, 25 + 1 + 81 + 9);
  EXPECT_EQ(shape.width, 8);
  EXPECT_EQ(shape.classes, 5);
  EXPECT_EQ(shape.hidden_rows, 2 * 12);
  // Rows of biases: two blocks with qkv (24), out (8), up (12) and down (8), and the head (5).
  EXPECT_EQ(shape.bias_rows, 2 * (24 + 8 + 12 + 8) + 5);
  EXPECT_EQ(shape.gated_rows, 0);
}

TEST(KernelWork, IsWhatTheFormulaSays) {
  const Bench bench;
  const StepShape shape = shape_of_step(bench.tiny->model, bench.experiment, DType::float32, bench.packed);
  const auto work = [&](const char* label, std::int64_t calls) {
    return work_of_kernel(label, shape, calls).value();
  };
  EXPECT_EQ(work("encore::attention", 2).flops, 2 * 4.0 * 8 * 116);
  EXPECT_EQ(work("encore::layer_norm", 4).bytes, 4 * 2.0 * 18 * 8 * 4);
  EXPECT_EQ(work("encore::relu_backward", 2).bytes, 3.0 * 18 * 24 * 4);
  EXPECT_EQ(work("encore::softmax_cross_entropy", 1).bytes, 18.0 * 5 * 4);
  EXPECT_FALSE(work_of_kernel("theirs::kernel", shape, 1).has_value());
}

TEST(KernelWork, OfAnUpdateIsThatOfTheRowsWithAGradient) {
  Bench bench;
  bench.experiment.optimizer.type = "adamw";
  memory::ParameterBlock& parameters = bench.tiny->model.parameters();
  parameters.make_states({"first_moment", "second_moment"});
  const auto work = [&](const char* label, double decay) {
    bench.experiment.optimizer.options.set("weight_decay", decay);
    const StepShape shape = shape_of_step(bench.tiny->model, bench.experiment, DType::float32, bench.packed);
    return work_of_kernel(label, shape, 1).value().bytes / 4.0;
  };
  // The token table has eleven rows of eight numbers. It is one chunk, whose gradient no step has made yet.
  const auto table = 11.0 * 8, others = static_cast<double>(parameters.count()) - table;
  EXPECT_EQ(work("encore::adam", 0.0), 7 * others);
  EXPECT_EQ(work("encore::adam", 0.1), 7 * others + 2 * table);
  EXPECT_EQ(work("encore::sum_of_squares", 0.0), others);
  EXPECT_EQ(work("encore::find_zero_states", 0.0), 2 * table);
  bench.tiny->loss({1, 1});
  EXPECT_EQ(work("encore::adam", 0.0), 7 * (others + table));
  EXPECT_EQ(work("encore::zero_gradients", 0.0), others + table);
  parameters.zero_gradients();
  EXPECT_EQ(work("encore::adam", 0.1), 7 * others + 6 * table);
  EXPECT_EQ(work("encore::sum_of_squares", 0.1), others);
  bench.experiment.optimizer.type = "lamb";
  EXPECT_EQ(work("encore::lamb_moments", 0.0), 6 * others + 5 * table);
}

/// Returns the labels of a whole step that are neither products nor have declared work.
std::vector<std::string> labels_without_work(const plugin_host::Registry& registry,
                                             const config::Experiment& experiment,
                                             const std::string& optimizer_name) {
  const Device device;
  data::PackedBatch packed = tiny_batch();
  if (experiment.model.head.type == "crf") add_labelled(packed);
  TinyModel tiny(experiment, tiny_size(), registry, device, packed);
  tiny.model.initialize(1);
  config::PluginTable table;
  fill_table(table, registry, Kind::optimizer, "optimizer", optimizer_name, {});
  const auto optimizer = registry.make_optimizer(table.type, table.options);
  tiny.model.parameters().make_states(optimizer->states());
  train::TrainingStep update(tiny.model, *optimizer, 1.0);
  const KernelWatch watch(device);
  update.compute_gradient(tiny.batch, {1, 1});
  update.update(1e-3, 1);
  const StepShape shape = shape_of_step(tiny.model, experiment, tiny.model.precision(), packed);
  std::vector<std::string> missing;
  for (const auto& [label, time] : watch.kernels())
    if (!kernels::parse_product_label(label) && !work_of_kernel(label, shape, time.calls))
      missing.push_back(label);
  return missing;
}

TEST(KernelWork, IsDeclaredForEveryKernelOfAStep) {
  const plugin_host::Registry registry = load_builtin_plugins();
  config::Experiment plain = tiny_experiment(registry);
  plain.model.dropout = 0.1;
  plain.train.gradient_shards = 2;
  config::Experiment gelu = tiny_experiment(registry);
  gelu.model.positions = config::Positions::learned;
  gelu.model.dropout = 0.1;
  gelu.model.norm =
      layer_table(registry, "norm", "rms_norm");  // computed with its residual sum, since it follows the sum
  gelu.model.block[1] = layer_table(registry, "feed_forward", "feed_forward",
                                    {{"hidden", std::int64_t{12}}, {"activation", std::string("gelu")}});
  config::Experiment gated = tiny_experiment(registry);
  gated.model.norm = layer_table(registry, "norm", "rms_norm");
  gated.model.norm.key = "model.norm";
  gated.model.norm_position = config::NormPosition::pre;
  gated.model.block = {layer_table(registry, "attention", "rotary_attention", {{"heads", std::int64_t{2}}}),
                       layer_table(registry, "feed_forward", "gated_feed_forward")};
  fill_table(gated.model.head, registry, Kind::head, "model.head", "crf", {});
  for (config::Experiment* experiment : {&plain, &gelu, &gated})
    for (const config::Precision precision : {config::Precision::float32, config::Precision::bfloat16})
      for (const char* optimizer : {"adamw", "lamb", "sgd"}) {
        experiment->train.precision = precision;
        EXPECT_EQ(labels_without_work(registry, *experiment, optimizer), std::vector<std::string>{})
            << optimizer;
      }
}

TEST(KernelWork, CopiesAreReadAsSumsAndWrittenAsActivations) {
  Bench bench;
  bench.experiment.train.precision = config::Precision::bfloat16;
  const model::Model model(bench.experiment, tiny_size(), bench.registry, bench.device);
  const StepShape shape = shape_of_step(model, bench.experiment, DType::bfloat16, bench.packed);
  // Elements of matrices: two blocks with qkv, out, up and down, and the head.
  EXPECT_EQ(shape.copied, 2 * (24 * 8 + 8 * 8 + 12 * 8 + 8 * 12) + 5 * 8);
  EXPECT_EQ(work_of_kernel("encore::refresh_copies", shape, 1).value().bytes,
            6.0 * static_cast<double>(shape.copied));
}

TEST(KernelWork, BlocksThatShareParametersComputeAllTheSame) {
  config::ModelTable table;
  table.layers = 5;
  table.groups = 2;  // blocks 0 to 2 share parameters, and so do blocks 3 and 4
  memory::ParameterSlice slice;
  slice.path = "encoder.0.attention.qkv.bias";
  EXPECT_EQ(times_used(slice, table), 3);
  slice.path = "encoder.3.attention.qkv.bias";
  EXPECT_EQ(times_used(slice, table), 2);
  slice.path = "head.bias";
  EXPECT_EQ(times_used(slice, table), 1);
}

/// Returns a batch of `first` source rows and `second` target rows.
BatchSize rows_of_texts(std::int64_t first, std::int64_t second = 0) {
  BatchSize size;
  size.tokens = first;
  size.target.tokens = second;
  return size;
}

TEST(BareProducts, AreTheProductsOfTheEncoder) {
  const Bench bench;
  const BareProducts products(bench.device, bench.tiny->model.network(), DType::float32, rows_of_texts(18));
  // The matrices of a block are 24 x 8, 8 x 8, 12 x 8 and 8 x 12; each takes part in three products.
  EXPECT_EQ(products.flops(rows_of_texts(18)), 2.0 * 3 * 18 * 2 * (24 * 8 + 8 * 8 + 12 * 8 + 8 * 12));
  const KernelWatch watch(bench.device);
  products.run(bench.device.gemm(), rows_of_texts(17));
  std::int64_t calls = 0;
  for (const auto& [label, time] : watch.kernels()) calls += time.calls;
  EXPECT_EQ(calls, 2 * 4 * 3);
  EXPECT_TRUE(watch.kernels().contains("encore::gemm 17x24x8 nt float32 float32"));
  EXPECT_TRUE(watch.kernels().contains("encore::gemm 17x8x24 nn float32 float32"));
  EXPECT_TRUE(watch.kernels().contains("encore::gemm 24x8x17 tn float32 float32"));
}

/// Returns the tiny model as the encoder, with a decoder of one block.
config::Experiment translating(const plugin_host::Registry& registry) {
  config::Experiment experiment = tiny_experiment(registry);
  experiment.train.precision = config::Precision::float32;
  const std::vector<config::LayerTable> block = experiment.model.block;
  experiment.model.decoder = config::StackTable{
      .layers = 1,
      .block = {block[0], layer_table(registry, "cross", "cross_attention", {{"heads", std::int64_t{2}}}),
                block[1]}};
  fill_table(experiment.model.head, registry, Kind::head, "model.head", "language_model", {});
  return experiment;
}

model::ModelSize translating_size() {
  return {.vocabulary = 11, .columns = {{.name = targets_column, .space = Space::target, .truth = true}}};
}

TEST(BareProducts, OfADecoderMultiplyTheRowsOfItsTextAndOfTheSource) {
  const Device device;
  const plugin_host::Registry registry = load_builtin_plugins();
  const model::Model model(translating(registry), translating_size(), registry, device);
  const BatchSize rows = rows_of_texts(20, 7);
  const BareProducts products(device, model.network(), DType::float32, rows);
  const double own = 24 * 8 + 8 * 8 + 12 * 8 + 8 * 12, cross = 8 * 8 + 8 * 8, of_source = 16 * 8;
  EXPECT_EQ(products.flops(rows), 2.0 * 3 * (20 * (2 * own + of_source) + 7 * (own + cross)));
  const KernelWatch watch(device);
  products.run(device.gemm(), rows);
  EXPECT_EQ(watch.kernels().at("encore::gemm 20x16x8 nt float32 float32").calls, 1) << "keys and values";
  EXPECT_EQ(watch.kernels().at("encore::gemm 7x24x8 nt float32 float32").calls, 1);
  EXPECT_EQ(watch.kernels().at("encore::gemm 7x8x8 nt float32 float32").calls, 3);
  EXPECT_FALSE(watch.kernels().contains("encore::gemm 7x16x8 nt float32 float32"));
}

TEST(KernelWork, WithADecoderIsKnownOfWhatDoesNotWorkOnRows) {
  const Device device;
  const plugin_host::Registry registry = load_builtin_plugins();
  const config::Experiment experiment = translating(registry);
  const model::Model model(experiment, translating_size(), registry, device);
  data::PackedBatch packed = tiny_batch();
  packed.target = packed;
  const StepShape shape = shape_of_step(model, experiment, DType::float32, packed);
  for (const char* of_rows : {"encore::layer_norm", "encore::attention", "encore::embedding_backward",
                              "encore::softmax_cross_entropy"})
    EXPECT_FALSE(work_of_kernel(of_rows, shape, 1).has_value()) << of_rows;
  for (const char* of_parameters : {"encore::adam", "encore::zero_gradients", "encore::sum_of_squares"})
    EXPECT_TRUE(work_of_kernel(of_parameters, shape, 1).has_value()) << of_parameters;
}

TEST(Labels, OfAStepAreMeaningful) {
  Bench bench;
  const KernelWatch watch(bench.device);
  bench.tiny->loss({1, 1});
  EXPECT_GT(watch.kernels().size(), 10u);
  for (const auto* kernels : {&watch.kernels(), &watch.within_products()})
    for (const auto& [label, time] : *kernels) {
      EXPECT_TRUE(label.starts_with("encore::")) << label;
      EXPECT_EQ(label.find("lambda"), std::string::npos) << label;
      EXPECT_EQ(label.find('/'), std::string::npos)
          << label << ": an unnamed kernel has the name of its type";
    }
}

TEST(OrderCost, EveryReductionIsTimed) {
  const Bench bench;
  const OrderCost cost(bench.device, bench.tiny->model, bench.experiment.model, DType::float32, 18);
  const record::Samples samples = cost.measure(bench.tiny->batch.shards().front().batch.tokens);
  for (const Reduction& reduction : reductions()) {
    EXPECT_NE(reduction.kernels.empty(), reduction.fixed.empty()) << reduction.name;
    if (reduction.fixed == "gemm") continue;  // StepCase itself times the fixed and the free products
    EXPECT_GT(samples.at(reduction.free), 0.0) << reduction.name;
    if (!reduction.fixed.empty()) {
      EXPECT_GT(samples.at(reduction.fixed), 0.0) << reduction.name;
    }
  }
}

}  // namespace
}  // namespace encore::bench
