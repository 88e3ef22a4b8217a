// SPDX-License-Identifier: BSD-3-Clause
// Tests Generation (model/generation.hpp), which extends sequences pass by pass, in models of one causal
// stack. The property that matters: for every shipped layer the bits must equal those of scoring the whole
// sequence at once. Also tested: what is kept between passes, and which models and passes are rejected.
// seams/generation_test.cpp has models with an encoder.
#include "model/generation.hpp"

#include <gtest/gtest.h>

#include "support/growing_texts.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;

/// Adds the sum of its row to each element. The order of that sum depends on the number of rows, so the layer
/// is not row-wise although it claims to be: the comparison of bits must notice it.
class OrderedByRowCount final : public Layer {
 public:
  static Schema options() { return {}; }
  OrderedByRowCount(const Options&, const LayerContext&) {}
  void declare(LayerPlan& plan) override { plan.row_wise(); }
  void forward(const Step& step, std::span<const Tensor> inputs, Tensor output) override {
    std::vector<double> values = to_host(step.device(), inputs[0]);
    const auto rows = static_cast<std::size_t>(output.extent(0)),
               width = static_cast<std::size_t>(output.extent(1));
    for (std::size_t n = 0; n < rows; ++n) {
      float sum = 0.0F;
      for (std::size_t c = 0; c < width; ++c)
        sum += static_cast<float>(values[n * width + (c + rows) % width]);
      for (std::size_t c = 0; c < width; ++c) values[n * width + c] += sum;
    }
    to_device(step.device(), values, output);
  }
  void backward(const Step&, std::span<const Tensor>, Tensor, Tensor, std::span<const Tensor>) override {}
};

/// A layer that declares nothing about growing sequences.
class WholeTexts final : public Layer {
 public:
  static Schema options() { return {}; }
  WholeTexts(const Options&, const LayerContext&) {}
  void declare(LayerPlan&) override {}
  void forward(const Step&, std::span<const Tensor>, Tensor) override {}
  void backward(const Step&, std::span<const Tensor>, Tensor, Tensor, std::span<const Tensor>) override {}
};

using Tokens = std::vector<std::int32_t>;

const Lengths prompts = {7, 1, 2, 40};

/// Sequences of 19, 1, 45 and 40 rows; the last is given as a whole.
data::PackedBatch texts() {
  return make_batch({19, 1, 45, 40}, 11, 5, 1);
}

struct GenerationTest : ::testing::Test {
  GenerationTest() {
    Registrar offers;
    offers.add<Kind::layer, OrderedByRowCount>("ordered_by_row_count");
    offers.add<Kind::layer, WholeTexts>("whole_texts");
    registry.add("this test", offers);
  }
  config::Experiment causal() const {
    config::Experiment experiment = tiny_experiment(registry);
    experiment.model.causal = true;
    experiment.model.width = 24;
    experiment.data.max_length = 48;
    return experiment;
  }
  std::unique_ptr<TinyModel> make(const config::Experiment& experiment,
                                  const data::PackedBatch& packed = texts()) {
    auto tiny = std::make_unique<TinyModel>(experiment, tiny_size(), registry, device, packed);
    tiny->model.initialize(1);
    return tiny;
  }
  std::vector<double> whole(TinyModel& tiny) {
    tiny.model.evaluate(tiny.batch, {});
    return to_host(device, tiny.model.evaluation_tensor("head.logits"));
  }
  std::vector<double> by_passes(TinyModel& tiny, const data::PackedBatch& packed, const Lengths& first,
                                std::int64_t step) {
    return logits_by_passes(device, *tiny.model.make_generation(packed.size(), 48), packed, first, step);
  }
  /// Returns the message for an invalid generation or pass.
  static std::string refusal(const std::function<void()>& run) {
    try {
      run();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "not refused";
  }

  Device device;
  plugin_host::Registry registry = load_builtin_plugins();
};

struct EveryAttention : GenerationTest,
                        ::testing::WithParamInterface<std::tuple<int, config::Positions, config::Precision>> {
  void SetUp() override {
    if (!memory::host_reaches_device()) GTEST_SKIP() << "equal bits are promised on the host";
  }
  config::Experiment arranged() const {
    const auto [number, positions, precision] = GetParam();
    const std::pair<const char*, Changes> layers[] = {
        {"self_attention", {}},
        {"alibi_attention", {}},
        {"rotary_attention", {}},
        {"sliding_window_attention", {{"window", std::int64_t{3}}}},
        {"sparse_attention", {{"window", std::int64_t{2}}, {"stride", std::int64_t{5}}}},
        {"rotary_attention", {{"head_size", std::int64_t{8}}}},
        {"relative_attention",
         {{"buckets", std::int64_t{8}}, {"max_distance", std::int64_t{20}}, {"scaled", false}}},
    };
    auto [type, options] = layers[number];
    options["heads"] = std::int64_t{2};
    config::Experiment experiment = causal();
    experiment.model.positions = positions;
    experiment.train.precision = precision;
    if (positions == config::Positions::learned) experiment.model.norm_position = config::NormPosition::pre;
    if (precision != config::Precision::float64) experiment.model.norm.type = "rms_norm";
    fill_table(experiment.model.norm, registry, Kind::layer, "model.norm", experiment.model.norm.type, {});
    experiment.model.block = {
        layer_table(registry, "attention", type, options),
        layer_table(registry, "feed_forward", "feed_forward",
                    {{"hidden", std::int64_t{20}}, {"activation", std::string("gelu")}}),
        layer_table(registry, "gated", "gated_feed_forward", {{"hidden", std::int64_t{12}}}),
        layer_table(registry, "highway", "highway"),
    };
    return experiment;
  }
};

TEST_P(EveryAttention, ATextRowByRowHasTheBitsOfTheWhole) {
  const auto tiny = make(arranged());
  const std::vector<double> expected = whole(*tiny);
  for (const std::int64_t step : {1, 3, 16})
    EXPECT_EQ(differences(by_passes(*tiny, texts(), prompts, step), expected), 0U)
        << step << " rows at a time";
}

TEST_P(EveryAttention, ATextHasTheSameBitsAloneAndInCompany) {
  const auto tiny = make(arranged());
  const std::vector<double> expected = whole(*tiny);
  const data::PackedBatch all = texts();
  for (std::int64_t s = 0; s < 4; ++s) {
    const data::PackedBatch one = part_of(all, {s, s + 1});
    const auto first = static_cast<std::size_t>(all.offsets[static_cast<std::size_t>(s)]);
    const std::vector<double> part(
        expected.begin() + static_cast<std::ptrdiff_t>(5 * first),
        expected.begin() + static_cast<std::ptrdiff_t>(5 * (first + one.ids.size())));
    EXPECT_EQ(differences(by_passes(*tiny, one, {1}, 1), part), 0U) << "text " << s;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layers, EveryAttention,
    ::testing::Combine(::testing::Range(0, 7),
                       ::testing::Values(config::Positions::sinusoidal, config::Positions::learned),
                       ::testing::Values(config::Precision::float32, config::Precision::float64,
                                         config::Precision::bfloat16)));

TEST_F(GenerationTest, AnInjectedReorderingIsSeen) {
  config::Experiment experiment = causal();
  experiment.train.precision = config::Precision::float32;
  experiment.model.block.push_back(layer_table(registry, "ordered", "ordered_by_row_count"));
  const auto tiny = make(experiment);
  EXPECT_GT(differences(by_passes(*tiny, texts(), prompts, 1), whole(*tiny)), 0U);
}

TEST_F(GenerationTest, EvaluationsBetweenItsPassesAndASecondOneHarmNothing) {
  const auto tiny = make(causal());
  const std::vector<double> expected = whole(*tiny);
  const auto generation = tiny->model.make_generation(texts().size(), 48),
             other = tiny->model.make_generation(texts().size(), 45);
  const Lengths done(4, 0);
  generation->begin(pass_over(texts(), done, prompts, true));
  whole(*tiny);
  other->begin(pass_over(texts(), done, {1, 1, 1, 1}, true));
  generation->next(pass_over(texts(), prompts, {1, 0, 1, 0}, false));
  EXPECT_EQ(std::vector<std::int64_t>(generation->lengths().begin(), generation->lengths().end()),
            (Lengths{8, 1, 3, 40}));
  const std::vector<double> logits = to_host(device, generation->tensor("head.logits"));
  ASSERT_EQ(logits.size(), 10U);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(logits[k], expected[7 * 5 + k], 1e-12);
    EXPECT_NEAR(logits[5 + k], expected[(20 + 2) * 5 + k], 1e-12);
  }
  EXPECT_EQ(differences(logits_by_passes(device, *generation, texts(), prompts, 1),
                        logits_by_passes(device, *other, texts(), prompts, 1)),
            0U)
      << "a restarted generation has forgotten the earlier sequences";
}

TEST_F(GenerationTest, SequencesBecomeCopiesOfOthersAndStartAgain) {
  const auto tiny = make(causal());
  const data::PackedBatch all = texts(), two = part_of(all, {0, 2});  // of 19 rows and of one
  BatchSize largest = all.size();
  const auto generation = tiny->model.make_generation(largest, 48);
  const auto logits_of = [&](const std::vector<Tokens>& rows, std::int64_t first_position) {
    data::PackedBatch pass;
    pass.columns.resize(1);
    pass.known = {false};
    pass.offsets = pass.borders = {0};
    for (const Tokens& ids : rows) {
      for (const std::int32_t id : ids) {
        pass.ids.push_back(id);
        pass.positions.push_back(static_cast<std::int32_t>(
            first_position >= 0 ? first_position : generation->lengths()[pass.sequences.size()]));
      }
      pass.offsets.push_back(static_cast<std::int32_t>(pass.ids.size()));
      pass.sequences.push_back(std::ssize(pass.sequences));
      pass.borders.push_back(std::ssize(pass.sequences));
    }
    generation->next(pass);
    return to_host(device, generation->tensor("head.logits"));
  };
  const auto row = [](const std::vector<double>& values, std::size_t number) {
    return std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(5 * number),
                               values.begin() + static_cast<std::ptrdiff_t>(5 * number + 5));
  };
  generation->begin(two);
  generation->repeat(2);
  EXPECT_EQ(Lengths(generation->lengths().begin(), generation->lengths().end()), (Lengths{19, 19, 1, 1}));
  const std::vector<double> repeated = logits_of({{3}, {3}, {4}, {5}}, -1);
  EXPECT_EQ(row(repeated, 0), row(repeated, 1)) << "two copies of one sequence";
  EXPECT_NE(row(repeated, 2), row(repeated, 3));

  generation->copy(std::vector<Generation::TextCopy>{{.from = 0, .to = 3}});
  EXPECT_EQ(generation->lengths()[3], 20);
  const std::vector<double> copied = logits_of({{6}, {}, {}, {6}}, -1);
  EXPECT_EQ(row(copied, 0), row(copied, 1));

  generation->restart(2);
  const std::vector<double> restarted = logits_of({{}, {}, {7}, {}}, 0);
  const auto other = tiny->model.make_generation(largest, 48);
  data::PackedBatch alone = part_of(all, {1, 2});
  alone.ids = {7};
  other->begin(alone);
  EXPECT_EQ(restarted, to_host(device, other->tensor("head.logits")))
      << "nothing is left of its earlier content";

  EXPECT_NE(refusal([&] { generation->repeat(2); }).find("8 outputs are more than planned"),
            std::string::npos);
  EXPECT_NE(refusal([&] { generation->restart(4); }).find("there is no such text"), std::string::npos);
  EXPECT_NE(refusal([&] {
              generation->copy(std::vector<Generation::TextCopy>{{.from = 0, .to = 4}});
            }).find("there is no such text"),
            std::string::npos);
}

TEST_F(GenerationTest, GivesTheOutputsOfItsRows) {
  const auto tiny = make(causal());
  const auto generation = tiny->model.make_generation(texts().size(), 48);
  generation->begin(pass_over(texts(), {0, 0, 0, 0}, prompts, true));
  memory::DeviceBuffer memory("classes", 64 * sizeof(std::int32_t));
  memory::DeviceBuffer scores("scores", std::size_t{50} * 5 * sizeof(float));
  const Tensor outputs[] = {{memory.data(), DType::int32, {50}}, {scores.data(), DType::float32, {50, 5}}};
  generation->decode(outputs);
  std::vector<std::int32_t> found(50);
  memory::copy_to_host(device, outputs[0], found.data());
  const std::vector<double> logits = to_host(device, generation->tensor("head.logits"));
  for (std::size_t row = 0; row < found.size(); ++row) {
    const auto first = logits.begin() + static_cast<std::ptrdiff_t>(5 * row);
    EXPECT_EQ(found[row], std::max_element(first, first + 5) - first) << row;
  }
}

TEST_F(GenerationTest, TheCacheIsThereInGenerationsOnlyAndNothingTakesItsPlace) {
  const auto tiny = make(causal());
  const auto generation = tiny->model.make_generation(texts().size(), 48);
  const auto caches = [](const StepPlan& plan) {
    return std::ranges::count_if(plan.tensors,
                                 [](const PlanTensor& t) { return t.path.ends_with(".cache"); });
  };
  EXPECT_EQ(caches(tiny->model.training_plan()), 0);
  EXPECT_EQ(caches(tiny->model.evaluation_plan()), 0);
  const StepPlan& plan = generation->plan();
  ASSERT_EQ(caches(plan), 2);
  EXPECT_EQ(plan.mode, PassMode::generate);
  for (const PlanTensor& tensor : plan.tensors) {
    EXPECT_EQ(tensor.path.find("gradient"), std::string::npos) << tensor.path;
    if (!tensor.path.ends_with(".cache")) continue;
    EXPECT_EQ(tensor.bytes, 4U * 48 * 2 * 24 * sizeof(double));
    for (const PlanTensor& other : plan.tensors) {
      if (&other == &tensor) continue;
      EXPECT_TRUE(other.offset >= tensor.offset + tensor.bytes || other.offset + other.bytes <= tensor.offset)
          << other.path;
    }
  }
}

TEST_F(GenerationTest, RefusesModelsThatCannotContinueATextAndSaysWhy) {
  const auto refused = [&](const std::function<void(config::Experiment&)>& change,
                           const data::PackedBatch& packed) {
    config::Experiment experiment = causal();
    change(experiment);
    const auto tiny = make(experiment, packed);
    const std::string said = refusal([&] { tiny->model.require_generation(); });
    EXPECT_EQ(refusal([&] { tiny->model.make_generation(texts().size(), 48); }), said);
    return said;
  };
  EXPECT_EQ(
      refused([](config::Experiment& e) { e.model.causal = false; }, texts()),
      "the model cannot generate: it has no causal stack; set model.causal = true, or add a [model.decoder]");
  EXPECT_EQ(
      refused(
          [&](config::Experiment& e) {
            e.model.block.push_back(layer_table(registry, "mixer", "whole_texts"));
          },
          texts()),
      "the model cannot generate: encoder.0.mixer (layer \"whole_texts\" of plugin this test) works on whole "
      "sequences; a layer that can continue them is row-wise (LayerPlan::row_wise), or keeps what it reads "
      "of earlier rows "
      "(Lifetime::persistent)");
  data::PackedBatch labelled = texts();
  add_labelled(labelled);
  EXPECT_NE(refused(
                [&](config::Experiment& e) {
                  fill_table(e.model.head, registry, Kind::head, "model.head", "crf", {});
                },
                labelled)
                .find("the model cannot generate: head (head \"crf\""),
            std::string::npos);
}

TEST_F(GenerationTest, RejectsPassesThatDoNotContinueItsSequences) {
  const auto tiny = make(causal());
  const BatchSize largest = {{12, 4, 72, 6}};
  EXPECT_NE(refusal([&] {
              tiny->model.make_generation(largest, 49);
            }).find("outputs of 49 rows; the model takes 1 to 48 (data.max_length)"),
            std::string::npos);
  const auto generation = tiny->model.make_generation(largest, 8);
  const data::PackedBatch all = texts();
  const auto expect = [&](const data::PackedBatch& batch, bool first, const std::string& message) {
    const std::string said = refusal([&] { first ? generation->begin(batch) : generation->next(batch); });
    EXPECT_NE(said.find(message), std::string::npos) << said;
  };
  const Lengths none(4, 0);
  expect(pass_over(all, none, {1, 1, 1, 1}, false), false, "Generation::begin comes first");
  expect(pass_over(all, none, {6, 1, 6, 0}, true), true,
         "a pass of 13 rows of 4 sequences (6 of the longest, 73 as the sum of their squares) is larger than "
         "planned: "
         "12 rows of 4 sequences (6 of the longest, 72 as the sum of their squares)");
  generation->begin(pass_over(all, none, {6, 1, 2, 0}, true));
  expect(pass_over(all, {7, 1, 2, 0}, {1, 0, 1, 1}, false), false,
         "text 1 has 6 rows, but the next one comes with position 7");
  expect(pass_over(all, {6, 1, 2, 0}, {3, 0, 0, 0}, false), false,
         "text 1 would have 9 rows, but there is room for 8");
  expect(pass_over(part_of(all, {0, 2}), {6, 1}, {1, 0}, false), false,
         "the pass has rows of 2 sequences, but 4 are generated");
  generation->next(
      pass_over(all, {6, 1, 2, 0}, {2, 0, 1, 3}, false));  // the rejected passes have changed nothing
  EXPECT_EQ(std::vector<std::int64_t>(generation->lengths().begin(), generation->lengths().end()),
            (Lengths{8, 1, 3, 3}));
}

}  // namespace
}  // namespace encore::model
