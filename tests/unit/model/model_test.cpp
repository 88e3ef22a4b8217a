// SPDX-License-Identifier: BSD-3-Clause
// Tests what users and other folders rely on in Model (model/model.hpp): parameter paths, which checkpoints
// contain and which therefore must not change; equal bits for equal steps; shards and packing that do not
// change a result; no allocation in a step; and finding the layer whose values stopped being finite.
#include "model/model.hpp"

#include <gtest/gtest.h>

#include <limits>

#include <encore/space.hpp>

#include "support/tiny_model.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;

struct ModelTest : ::testing::Test {
  std::unique_ptr<TinyModel> make(
      const std::function<void(config::Experiment&)>& change = [](config::Experiment&) {},
      const data::PackedBatch& packed = tiny_batch()) {
    config::Experiment experiment = tiny_experiment(registry);
    change(experiment);
    auto tiny = std::make_unique<TinyModel>(experiment, tiny_size(), registry, device, packed);
    tiny->model.initialize(1);
    return tiny;
  }
  std::vector<double> gradients(TinyModel& tiny) {
    return to_host(device, tiny.model.parameters().gradients());
  }

  Device device;
  plugin_host::Registry registry = load_builtin_plugins();
};

TEST_F(ModelTest, ParametersAreNamedByTheirPath) {
  const auto tiny = make();
  const auto& parameters = tiny->model.parameters();
  EXPECT_EQ(parameters.find("embedding.tokens").spec.shape, (std::vector<std::int64_t>{11, 8}));
  EXPECT_EQ(parameters.find("encoder.1.attention.qkv.weight").spec.shape, (std::vector<std::int64_t>{24, 8}));
  EXPECT_EQ(parameters.find("encoder.0.feed_forward.norm.gain").size, 8);
  EXPECT_EQ(parameters.find("head.bias").size, 5);
}

TEST_F(ModelTest, AModelForInferenceEvaluatesWithEqualBitsAndDoesNotTrain) {
  const auto trained = make();
  Model lean(tiny_experiment(registry), tiny_size(), registry, device, memory::Use::inference);
  for (const memory::ParameterSlice& slice : lean.parameters().slices())
    to_device(device, trained->values(trained->model.parameters().find(slice.path)),
              memory::ParameterBlock::slice(lean.parameters().values(), slice));
  lean.parameters().values_changed();
  lean.plan({}, tiny_batch().size());
  EXPECT_EQ(lean.read(lean.evaluate(trained->batch, {})),
            trained->model.read(trained->model.evaluate(trained->batch, {})));
  EXPECT_TRUE(lean.training_plan().nodes.empty());
  EXPECT_LT(lean.arena_bytes(), trained->model.arena_bytes());
  EXPECT_THROW(lean.forward_backward(trained->batch, trained->batch.scales(), {}), std::logic_error);
}

TEST_F(ModelTest, WithoutPositionsARowDependsOnItsTokenAndNotOnItsPlace) {
  data::PackedBatch packed = make_batch({6}, 11, 5, 2);
  packed.ids[4] = packed.ids[1];
  const auto logits_of = [&](config::Positions positions, config::PositionLayout layout) {
    const auto tiny = make(
        [&](config::Experiment& experiment) {
          experiment.model.positions = positions;
          experiment.model.position_layout = layout;
        },
        packed);
    for (const memory::ParameterSlice& slice : tiny->model.parameters().slices())
      EXPECT_NE(slice.path, "embedding.positions");
    tiny->model.evaluate(tiny->batch, {});
    return to_host(device, tiny->model.evaluation_tensor("head.logits"));
  };
  const auto row = [](const std::vector<double>& logits, std::size_t number) {
    return std::vector<double>(logits.begin() + static_cast<std::ptrdiff_t>(5 * number),
                               logits.begin() + static_cast<std::ptrdiff_t>(5 * number + 5));
  };
  const std::vector<double> none = logits_of(config::Positions::none, config::PositionLayout::pairs),
                            pairs = logits_of(config::Positions::sinusoidal, config::PositionLayout::pairs),
                            halves = logits_of(config::Positions::sinusoidal, config::PositionLayout::halves);
  EXPECT_EQ(row(none, 1), row(none, 4));
  EXPECT_NE(row(pairs, 1), row(pairs, 4));
  EXPECT_NE(row(halves, 1), row(halves, 4));
  EXPECT_NE(pairs, halves);
}

TEST_F(ModelTest, CountsParametersPerPart) {
  const auto tiny = make([](config::Experiment& e) {
    e.model.norm_position = config::NormPosition::pre;
    e.model.positions = config::Positions::learned;
  });
  const std::int64_t block = (24 * 8 + 24 + 8 * 8 + 8 + 16) + (12 * 8 + 12 + 8 * 12 + 8 + 16);
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const PartCount& part : tiny->model.parameter_counts())
    counts.emplace_back(part.part, part.parameters);
  EXPECT_EQ(counts, (std::vector<std::pair<std::string, std::int64_t>>{{"embedding", (11 + 9) * 8},
                                                                       {"encoder.0", block},
                                                                       {"encoder.1", block},
                                                                       {"encoder.norm", 16},
                                                                       {"head", 5 * 8 + 5}}));
}

std::vector<std::string> paths_of(const Model& model) {
  std::vector<std::string> paths;
  for (const memory::ParameterSlice& slice : model.parameters().slices()) paths.push_back(slice.path);
  return paths;
}

/// Returns the numbers of the blocks that have parameters of their own. The others share those of a block
/// before them.
std::vector<int> owners(const Model& model, int layers) {
  std::vector<int> blocks;
  const std::vector<std::string> paths = paths_of(model);
  for (int block = 0; block < layers; ++block)
    if (std::count(paths.begin(), paths.end(), "encoder." + std::to_string(block) + ".attention.qkv.weight") >
        0)
      blocks.push_back(block);
  return blocks;
}

TEST_F(ModelTest, BlocksOfAGroupShareTheParametersOfItsFirst) {
  const auto owners_with = [&](std::int64_t layers, std::int64_t groups) {
    const auto tiny = make([&](config::Experiment& e) {
      e.model.layers = layers;
      e.model.groups = groups;
    });
    return owners(tiny->model, static_cast<int>(layers));
  };
  EXPECT_EQ(owners_with(4, 0), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(owners_with(4, 1), (std::vector<int>{0}));
  EXPECT_EQ(owners_with(4, 2), (std::vector<int>{0, 2}));
  EXPECT_EQ(owners_with(5, 2), (std::vector<int>{0, 3}));
  EXPECT_EQ(owners_with(4, 3), (std::vector<int>{0, 2, 3}));
  EXPECT_EQ(owners_with(4, 4), (std::vector<int>{0, 1, 2, 3}));
}

TEST_F(ModelTest, AModelThatSharesCountsItsParametersOnce) {
  const auto parts = [&](std::int64_t layers, std::int64_t groups) {
    std::vector<std::pair<std::string, std::int64_t>> counts;
    const auto tiny = make([&](config::Experiment& e) {
      e.model.layers = layers;
      e.model.groups = groups;
    });
    for (const PartCount& part : tiny->model.parameter_counts())
      counts.emplace_back(part.part, part.parameters);
    return counts;
  };
  EXPECT_EQ(parts(4, 1), parts(1, 0)) << "the number of one block";
  EXPECT_EQ(parts(2, 2), parts(2, 0));
}

/// A model that shares its blocks computes what an unshared model with equal values in all blocks computes;
/// its gradient is the sum over these blocks.
TEST_F(ModelTest, SharedGradientsAreTheSumOverTheBlocks) {
  const auto change = [](std::int64_t groups) {
    return [groups](config::Experiment& e) {
      e.model.layers = 3;
      e.model.groups = groups;
      e.model.dropout = 0.3;  // each block still draws its own mask
    };
  };
  const auto shared = make(change(1)), separate = make(change(0));
  const auto owner = [&](std::string path) -> const memory::ParameterSlice& {
    for (const char* block : {"encoder.1.", "encoder.2."})
      if (path.starts_with(block)) path = "encoder.0." + path.substr(10);
    return shared->model.parameters().find(path);
  };
  for (const memory::ParameterSlice& slice : separate->model.parameters().slices())
    separate->set_values(slice, shared->values(owner(slice.path)));
  EXPECT_EQ(shared->loss({1, 5}), separate->loss({1, 5}));
  std::map<std::string, std::vector<double>> sums;
  for (const memory::ParameterSlice& slice : separate->model.parameters().slices()) {
    std::vector<double>& sum = sums[owner(slice.path).path];
    sum.resize(static_cast<std::size_t>(slice.size));
    const std::vector<double> gradient = separate->gradient(slice);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
  }
  EXPECT_EQ(sums.size(), shared->model.parameters().slices().size());
  for (const auto& [path, sum] : sums) {
    const std::vector<double> gradient = shared->gradient(shared->model.parameters().find(path));
    for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_NEAR(gradient[i], sum[i], 1e-13) << path;
  }
}

TEST_F(ModelTest, InitialisesByTheRules) {
  const auto tiny = make();
  for (const memory::ParameterSlice& slice : tiny->model.parameters().slices()) {
    const std::vector<double> values = tiny->values(slice);
    const bool gain = slice.path.ends_with("gain");
    if (!gain && !slice.path.ends_with("bias")) continue;
    EXPECT_EQ(values, std::vector<double>(values.size(), gain ? 1.0 : 0.0)) << slice.path;
  }
  EXPECT_NE(tiny->values(tiny->model.parameters().find("encoder.0.attention.qkv.weight")),
            tiny->values(tiny->model.parameters().find("encoder.1.attention.qkv.weight")));
}

TEST_F(ModelTest, EqualStepsGiveEqualBits) {
  const auto tiny = make([](config::Experiment& e) { e.model.dropout = 0.3; });
  const double loss = tiny->loss({1, 5});
  const std::vector<double> first = gradients(*tiny);
  EXPECT_EQ(tiny->loss({1, 5}), loss);
  EXPECT_EQ(gradients(*tiny), first) << "nothing is left of the previous step";
  EXPECT_NE(tiny->loss({1, 6}), loss) << "another step draws other numbers";
  EXPECT_NE(tiny->loss({2, 5}), loss);
}

TEST_F(ModelTest, EvaluationIsTrainingWithoutDropout) {
  const auto with = make([](config::Experiment& e) { e.model.dropout = 0.3; });
  const auto without = make();
  const double evaluated = with->model.read(with->model.evaluate(with->batch, {}));
  EXPECT_DOUBLE_EQ(evaluated * with->scales[0], without->loss({1, 1}));
}

TEST_F(ModelTest, PredictsTheClassWithTheLargestLogit) {
  const auto tiny = make();
  const std::int64_t n = tiny->batch.size().tokens;
  memory::DeviceBuffer memory("predictions", static_cast<std::size_t>(n) * 4);
  memory::DeviceBuffer scores("scores", static_cast<std::size_t>(n) * 5 * 4);
  const Tensor outputs[] = {{memory.data(), DType::int32, {n}}, {scores.data(), DType::float32, {n, 5}}};
  const Tensor& predictions = outputs[0];
  tiny->model.evaluate(tiny->batch, outputs);
  std::vector<float> given(static_cast<std::size_t>(n) * 5);
  memory::copy_to_host(device, outputs[1], given.data());
  const std::vector<double> logits = to_host(device, tiny->model.evaluation_tensor("head.logits"));
  std::vector<std::int32_t> predicted(static_cast<std::size_t>(n));
  memory::copy_to_host(device, predictions, predicted.data());
  for (std::size_t row = 0; row < predicted.size(); ++row) {
    const auto first = logits.begin() + static_cast<std::ptrdiff_t>(row * 5);
    EXPECT_EQ(predicted[row], std::max_element(first, first + 5) - first);
    for (std::size_t k = 0; k < 5; ++k)
      EXPECT_EQ(given[row * 5 + k], static_cast<float>(first[static_cast<std::ptrdiff_t>(k)]));
  }
}

TEST_F(ModelTest, ShardsGiveTheGradientOfTheWholeBatch) {
  const auto change = [](std::int64_t shards) {
    return [shards](config::Experiment& e) {
      e.model.dropout = 0.3;  // drawn by example and position, so the cut does not matter
      e.train.gradient_shards = shards;
    };
  };
  const auto whole = make(change(1));
  const double loss = whole->loss({1, 1});
  const std::vector<double> expected = gradients(*whole);
  for (const std::int64_t shards : {2, 3, 4, 7}) {
    const auto cut = make(change(shards));
    EXPECT_NEAR(cut->loss({1, 1}), loss, 1e-14);
    const std::vector<double> found = gradients(*cut);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], 1e-14) << shards << " shards";
  }
}

TEST_F(ModelTest, ShardsComputedInAnyOrderAndAddedInTheirsGiveEqualBits) {
  const auto change = [](std::int64_t shards) {
    return [shards](config::Experiment& e) {
      e.model.dropout = 0.3;
      e.train.gradient_shards = shards;
    };
  };
  const data::PackedBatch packed = tiny_batch();
  const auto together = make(change(3), packed);
  together->loss({1, 1});
  const std::vector<data::SequenceRange> ranges = data::cut_shards(packed.offsets, packed.borders, 3);
  std::vector<std::vector<double>> parts(ranges.size());
  for (std::size_t k = ranges.size(); k-- > 0;) {  // as ranks would: the last one is ready first
    const auto alone = make(change(1), testing::part_of(packed, ranges[k]));
    alone->scales = together->scales;
    alone->loss({1, 1});
    parts[k] = gradients(*alone);
  }
  const auto added = [&](std::size_t a, std::size_t b, std::size_t c) {
    std::vector<double> sum = parts[a];
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = (sum[i] + parts[b][i]) + parts[c][i];
    return sum;
  };
  EXPECT_EQ(added(0, 1, 2), gradients(*together));
  EXPECT_NE(added(2, 1, 0), gradients(*together)) << "an injected reordering must show in the bits";
}

TEST_F(ModelTest, NeighboursInABatchDoNotMatter) {
  const data::PackedBatch both = make_batch({5, 7}, 11, 5, 3);
  const std::vector<data::PackedBatch> parts = {testing::part_of(both, {0, 1}),
                                                testing::part_of(both, {1, 2})};
  const auto dropout = [](config::Experiment& e) { e.model.dropout = 0.3; };
  const auto together = make(dropout, both);
  together->scales = {1.0};
  double sum = 0.0;
  for (const data::PackedBatch& part : parts) {
    const auto alone = make(dropout, part);
    alone->scales = {1.0};
    sum += alone->loss({1, 1});
  }
  EXPECT_NEAR(together->loss({1, 1}), sum, 1e-13);
}

int allocations = 0;
void count_allocation(Kokkos::Profiling::SpaceHandle, const char*, const void*, std::uint64_t) {
  ++allocations;
}

TEST_F(ModelTest, AStepWithinThePlanAllocatesNothing) {
  const auto tiny = make([](config::Experiment& e) {
    e.model.dropout = 0.1;
    e.train.gradient_shards = 2;
    e.train.precision = config::Precision::float32;
  });
  tiny->loss({1, 1});
  tiny->model.evaluate(tiny->batch, {});
  const data::PackedBatch smaller = make_batch({2, 8, 1}, 11, 5, 9);
  allocations = 0;
  Kokkos::Tools::Experimental::set_allocate_data_callback(count_allocation);
  for (std::uint64_t step = 2; step < 5; ++step) {
    tiny->batch.upload(step == 3 ? smaller : tiny_batch(step));
    tiny->model.forward_backward(tiny->batch, tiny->batch.scales(), {1, step});
    tiny->model.evaluate(tiny->batch, {});
  }
  const int in_steps = allocations;
  { const memory::DeviceBuffer proof("the callback counts", 64); }
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  EXPECT_EQ(in_steps, 0);
  EXPECT_EQ(allocations, 1);
}

TEST_F(ModelTest, FindsWhereALossStoppedBeingFinite) {
  const auto tiny = make();
  EXPECT_EQ(tiny->model.first_not_finite(tiny->batch, {1, 1}), "");

  const memory::ParameterSlice& gain = tiny->model.parameters().find("encoder.1.attention.norm.gain");
  std::vector<double> values = tiny->values(gain);
  values[3] = 1.7e308;  // finite, but not when multiplied by a value further from the mean than one deviation
  tiny->set_values(gain, values);
  EXPECT_FALSE(std::isfinite(tiny->loss({1, 1})));
  EXPECT_EQ(tiny->model.first_not_finite(tiny->batch, {1, 1}), "layer encoder.1.attention.norm");

  values[3] = std::numeric_limits<double>::quiet_NaN();
  tiny->set_values(gain, values);
  EXPECT_EQ(tiny->model.first_not_finite(tiny->batch, {1, 1}), "parameter encoder.1.attention.norm.gain");
}

/// A layer that fails in the pass that its option names.
class Failing final : public Layer {
 public:
  static Schema options() {
    return Schema().boolean("backward", false, {.help = "fail in backward instead of forward"});
  }
  Failing(const Options& options, const LayerContext&) : backward_(options.flag("backward")) {}
  void declare(LayerPlan&) override {}
  void forward(const Step&, std::span<const Tensor>, Tensor) override {
    if (!backward_) throw std::runtime_error("out of order");
  }
  void backward(const Step&, std::span<const Tensor>, Tensor, Tensor, std::span<const Tensor>) override {
    throw std::runtime_error("out of order");
  }

 private:
  bool backward_;
};

TEST_F(ModelTest, AnErrorInsideALayerNamesPassAndPath) {
  Registrar offers;
  offers.add<Kind::layer, Failing>("failing");
  registry.add("this test", offers);
  for (const bool backward : {false, true}) {
    const auto tiny = make([&](config::Experiment& e) {
      e.model.block.push_back(layer_table(registry, "broken", "failing", {{"backward", backward}}));
    });
    try {
      tiny->loss({1, 1});
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), backward ? "backward of encoder.1.broken: out of order"
                                          : "forward of encoder.0.broken: out of order");
    }
  }
}

}  // namespace
}  // namespace encore::model
