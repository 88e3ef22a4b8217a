// SPDX-License-Identifier: BSD-3-Clause
// Gradients of the whole model (model/model.hpp) in double against finite differences, in every arrangement
// that the experiment file offers; and the proof that the check (contract/gradient_check.hpp) can fail: a
// layer with a wrong backward pass is found and named. A new option of [model] gets a row in the table of
// arrangements.
#include <gtest/gtest.h>

#include "contract/gradient_check.hpp"
#include "support/tiny_model.hpp"

namespace encore::testing {
namespace {

/// Moves every parameter away from the initial ones and zeros, so that no term of a gradient vanishes.
void spread_parameters(TinyModel& tiny, std::uint64_t seed) {
  tiny.model.initialize(seed);
  Numbers numbers(seed);
  for (const memory::ParameterSlice& slice : tiny.model.parameters().slices()) {
    std::vector<double> values = tiny.values(slice);
    for (double& value : values) value += 0.2 * numbers.symmetric();
    tiny.set_values(slice, values);
  }
}

/// Compares the gradient of every parameter of the model with finite differences.
contract::GradientReport check_model(TinyModel& tiny, model::StepRandom random) {
  tiny.loss(random);
  std::vector<contract::CheckedTensor> tensors;
  for (const memory::ParameterSlice& slice : tiny.model.parameters().slices())
    tensors.push_back(
        {slice.path, tiny.values(slice), tiny.gradient(slice),
         [&tiny, &slice](const std::vector<double>& values) { tiny.set_values(slice, values); }});
  return contract::GradientCheck([&] { return tiny.loss(random); }).run(tensors);
}

contract::GradientReport check(const config::Experiment& experiment, const plugin_host::Registry& registry) {
  const Device device;
  data::PackedBatch batch = tiny_batch();
  for (std::size_t row = 0; experiment.model.segments > 0 && row < batch.ids.size(); ++row)
    batch.segments.push_back(static_cast<std::int32_t>(row / 3) % 2);  // a third one stays unused
  model::ModelSize size = tiny_size();
  if (experiment.model.head.type == "language_model") size.outputs.clear();
  TinyModel tiny(experiment, size, registry, device, batch);
  for (std::uint64_t seed = 3; seed < 30; ++seed) {
    spread_parameters(tiny, seed);
    contract::GradientReport report = check_model(tiny, {7, 2});
    if (!report.near_kink) return report;
  }
  throw Error("no point without a kink nearby");
}

struct Case {
  const char* name;
  void (*change)(config::Experiment&, const plugin_host::Registry&);
};
void PrintTo(const Case& c, std::ostream* stream) {
  *stream << c.name;
}

const Case cases[] = {
    {"post_norm", [](config::Experiment&, const plugin_host::Registry&) {}},
    {"pre_norm", [](config::Experiment& e,
                    const plugin_host::Registry&) { e.model.norm_position = config::NormPosition::pre; }},
    {"learned_positions",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.positions = config::Positions::learned;
     }},
    {"residual_norm_head",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.head.options.set("residual_norm", true);
     }},
    {"pooler_head",
     [](config::Experiment& e, const plugin_host::Registry&) { e.model.head.options.set("pooler", true); }},
    {"residual_norm_and_pooler",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.head.options.set("residual_norm", true);
       e.model.head.options.set("pooler", true);
     }},
    {"segments_and_norm_of_the_embedding",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.positions = config::Positions::learned;
       e.model.max_positions = 12;
       e.model.segments = 3;
       e.model.embedding_scale = config::EmbeddingScale::none;
       e.model.embedding_norm = true;
       e.model.dropout = 0.3;
       e.train.gradient_shards = 2;
     }},
    {"segments_beside_sinusoids",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.segments = 2;
       e.model.dropout = 0.3;
     }},
    {"label_smoothing",
     [](config::Experiment& e, const plugin_host::Registry&) { e.train.label_smoothing = 0.1; }},
    {"gelu",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.block[1].options.set("activation", std::string("gelu"));
     }},
    {"dropout", [](config::Experiment& e, const plugin_host::Registry&) { e.model.dropout = 0.3; }},
    {"dropout_pre_norm",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.dropout = 0.3;
       e.model.norm_position = config::NormPosition::pre;
     }},
    {"attention_dropout",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.block[0].options.set("attention_dropout", 0.4);
     }},
    {"gradient_shards",
     [](config::Experiment& e, const plugin_host::Registry&) { e.train.gradient_shards = 3; }},
    {"one_head_three_blocks",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.block[0].options.set("heads", std::int64_t{1});
       e.model.layers = 3;
     }},
    {"alibi_attention",
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.block[0] = layer_table(r, "attention", "alibi_attention", {{"heads", std::int64_t{2}}});
     }},
    {"rotary_attention",
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.block[0] = layer_table(r, "attention", "rotary_attention", {{"heads", std::int64_t{2}}});
     }},
    {"sliding_window_attention",
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.block[0] = layer_table(r, "attention", "sliding_window_attention",
                                      {{"heads", std::int64_t{2}}, {"window", std::int64_t{2}}});
     }},
    {"relative_attention",  // both blocks learn one table
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.block[0] = layer_table(r, "attention", "relative_attention",
                                      {{"heads", std::int64_t{2}},
                                       {"head_size", std::int64_t{3}},
                                       {"buckets", std::int64_t{6}},
                                       {"max_distance", std::int64_t{5}},
                                       {"scaled", false},
                                       {"bias", false}});
     }},
    {"relative_attention_of_a_decoder",
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.causal = true;
       e.model.layers = 3;
       e.model.groups = 2;
       e.train.gradient_shards = 2;
       e.model.block[0] = layer_table(
           r, "attention", "relative_attention",
           {{"heads", std::int64_t{2}}, {"buckets", std::int64_t{5}}, {"max_distance", std::int64_t{4}}});
     }},
    {"silu",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.block[1].options.set("activation", std::string("silu"));
     }},
    {"tanh",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.block[1].options.set("activation", std::string("tanh"));
     }},
    {"sigmoid",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.block[1].options.set("activation", std::string("sigmoid"));
     }},
    {"post_norm_with_a_final_norm",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.final_norm = true;
       e.model.dropout = 0.3;
     }},
    {"pre_norm_without_a_final_norm",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.norm_position = config::NormPosition::pre;
       e.model.final_norm = false;
     }},
    {"head_size",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.block[0].options.set("head_size", std::int64_t{3});
     }},
    {"factorised_embedding",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.embedding_width = 6;
       e.train.gradient_shards = 2;
     }},
    {"factorised_embedding_with_all_its_parts",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.embedding_width = 12;
       e.model.positions = config::Positions::learned;
       e.model.segments = 2;
       e.model.embedding_scale = config::EmbeddingScale::none;
       e.model.embedding_norm = true;
       e.model.dropout = 0.3;
     }},
    {"factorised_embedding_with_a_tied_output",
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.embedding_width = 6;
       fill_table(e.model.head, r, Kind::head, "model.head", "language_model", {{"epsilon", 1e-3}});
     }},
    {"linear_attention",
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.block[0] = layer_table(r, "attention", "linear_attention", {{"heads", std::int64_t{2}}});
     }},
    {"sparse_attention",
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.block[0] = layer_table(
           r, "attention", "sparse_attention",
           {{"heads", std::int64_t{2}}, {"window", std::int64_t{1}}, {"stride", std::int64_t{3}}});
     }},
    {"disentangled_attention",
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.block[0] = layer_table(r, "attention", "disentangled_attention",
                                      {{"heads", std::int64_t{2}}, {"max_distance", std::int64_t{3}}});
     }},
    {"disentangled_attention_with_dropout_and_head_size",
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.block[0] = layer_table(r, "attention", "disentangled_attention",
                                      {{"heads", std::int64_t{2}},
                                       {"head_size", std::int64_t{3}},
                                       {"attention_dropout", 0.3},
                                       {"max_distance", std::int64_t{2}}});
       e.train.gradient_shards = 2;
     }},
    {"gated_feed_forward",
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.block[1] =
           layer_table(r, "feed_forward", "gated_feed_forward", {{"hidden", std::int64_t{12}}});
     }},
    {"swiglu",
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.block[1] = layer_table(r, "feed_forward", "gated_feed_forward",
                                      {{"hidden", std::int64_t{12}}, {"activation", std::string("swiglu")}});
     }},
    {"highway",
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.block.push_back(layer_table(r, "carry", "highway"));
     }},
    {"rms_norm",
     [](config::Experiment& e, const plugin_host::Registry& r) {
       e.model.norm = layer_table(r, "norm", "rms_norm");
       e.model.norm_position = config::NormPosition::pre;
     }},
    {"one_group",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.groups = 1;
       e.model.dropout = 0.3;
     }},
    {"two_groups_of_three_blocks_pre_norm",
     [](config::Experiment& e, const plugin_host::Registry&) {
       e.model.layers = 3;
       e.model.groups = 2;
       e.model.norm_position = config::NormPosition::pre;
       e.train.gradient_shards = 3;
     }},
    {"no_blocks", [](config::Experiment& e, const plugin_host::Registry&) { e.model.layers = 0; }},
};

class ModelGradient : public ::testing::TestWithParam<Case> {};

TEST_P(ModelGradient, EqualsDifferences) {
  const plugin_host::Registry registry = load_builtin_plugins();
  config::Experiment experiment = tiny_experiment(registry);
  GetParam().change(experiment, registry);
  const contract::GradientReport report = check(experiment, registry);
  EXPECT_TRUE(report.mismatches.empty()) << report.text();
  EXPECT_GT(report.compared, 10);
  RecordProperty("largest_error", std::to_string(report.largest_error * 1e9) + "e-9");
}

INSTANTIATE_TEST_SUITE_P(Contract, ModelGradient, ::testing::ValuesIn(cases),
                         [](const auto& info) { return info.param.name; });

/// y = gain * x, whose backward is right for x and forgets a factor in the gain's gradient.
class Forgetful final : public Layer {
 public:
  static Schema options() {
    return Schema().boolean("wrong_input", false, {.help = "also spoil the input's gradient"});
  }
  Forgetful(const Options& options, const LayerContext&) : wrong_input_(options.flag("wrong_input")) {}

  void declare(LayerPlan& plan) override { gain_ = plan.gain("gain", plan.width()); }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    apply(step, inputs[0], output);
  }
  void backward(const Step& step, std::span<const Tensor> inputs, Tensor, Tensor output_gradient,
                std::span<const Tensor> input_gradients) override {
    apply(step, output_gradient, input_gradients[0]);
    if (wrong_input_) apply(step, input_gradients[0], input_gradients[0]);
    const std::int64_t width = inputs[0].extent(1);
    const std::vector<double> x = to_host(step.device(), inputs[0]);
    const std::vector<double> dy = to_host(step.device(), output_gradient);
    std::vector<double> gradient = to_host(step.device(), step.gradient(gain_));
    for (std::size_t i = 0; i < x.size(); ++i)
      gradient[i % static_cast<std::size_t>(width)] += 0.999 * x[i] * dy[i];
    if (wrong_input_)
      for (std::size_t i = 0; i < x.size(); ++i)
        gradient[i % static_cast<std::size_t>(width)] += 0.001 * x[i] * dy[i];
    to_device(step.device(), gradient, step.gradient(gain_));
  }

 private:
  void apply(const Step& step, Tensor from, Tensor to) const {
    const std::vector<double> gain = to_host(step.device(), step.parameter(gain_));
    std::vector<double> values = to_host(step.device(), from);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= gain[i % gain.size()];
    to_device(step.device(), values, to);
  }
  bool wrong_input_;
  Parameter gain_;
};

config::Experiment forgetful_experiment(plugin_host::Registry& registry, bool wrong_input) {
  Registrar offers;
  offers.add<Kind::layer, Forgetful>("forgetful");
  registry.add("this test", offers);
  config::Experiment experiment = tiny_experiment(registry);
  experiment.model.block.push_back(
      layer_table(registry, "broken", "forgetful", {{"wrong_input", wrong_input}}));
  return experiment;
}

TEST(ModelGradientMutation, WrongParameterGradientIsNamed) {
  plugin_host::Registry registry = load_builtin_plugins();
  const contract::GradientReport report = check(forgetful_experiment(registry, false), registry);
  ASSERT_FALSE(report.mismatches.empty());
  for (const contract::GradientMismatch& mismatch : report.mismatches) {
    EXPECT_TRUE(mismatch.tensor == "encoder.0.broken.gain" || mismatch.tensor == "encoder.1.broken.gain")
        << mismatch.text();
    EXPECT_NEAR(mismatch.analytic / mismatch.numeric, 0.999, 1e-6) << mismatch.text();
  }
  EXPECT_NE(report.text().find("encoder.0.broken.gain along a random direction: analytic "),
            std::string::npos);
  EXPECT_NE(report.text().find("encoder.1.broken.gain["), std::string::npos) << report.text();
}

TEST(ModelGradientMutation, WrongInputGradientSpoilsWhatLiesBelow) {
  plugin_host::Registry registry = load_builtin_plugins();
  const contract::GradientReport report = check(forgetful_experiment(registry, true), registry);
  const auto named = [&](const std::string& name) { return report.text().find(name) != std::string::npos; };
  EXPECT_TRUE(named("embedding.tokens"));
  EXPECT_TRUE(named("encoder.0.attention.qkv.weight"));
  EXPECT_FALSE(named("head.weight"));
  EXPECT_FALSE(named("encoder.1.broken.norm.gain"));
}

}  // namespace
}  // namespace encore::testing
