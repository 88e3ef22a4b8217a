// SPDX-License-Identifier: BSD-3-Clause
// Tests a whole Model (model/model.hpp) in bfloat16 and float16 against the same model in float32: losses,
// logits, and the gradient of each parameter relative to its norm; float32 masters that keep updates too
// small for 16 bits; predictions in the precision of training; small gradients of float16, which are lost
// without a factor on the loss.
#include <gtest/gtest.h>

#include "kernels/products/gemm.hpp"
#include "support/tiny_model.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;

double norm_of(const std::vector<double>& values) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

/// Returns |a - b| / max(|b|, floor).
double distance(const std::vector<double>& a, const std::vector<double>& b, double floor = 1e-30) {
  std::vector<double> difference = a;
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= b[i];
  return norm_of(difference) / std::max(norm_of(b), floor);
}

struct HalfType {
  config::Precision precision;
  DType type;
  double digits;        ///< largest relative distance of two neighbouring numbers
  double of_gradients;  ///< largest distance of a tensor's gradients, which a relu may switch

  friend std::ostream& operator<<(std::ostream& out, const HalfType& half) {
    return out << name_of(half.type);
  }
};
const HalfType half_types[] = {{config::Precision::bfloat16, DType::bfloat16, 0x1p-7, 0.06},
                               {config::Precision::float16, DType::float16, 0x1p-10, 0.02}};

struct HalfPrecision : ::testing::TestWithParam<HalfType> {
  void SetUp() override {
    if (!device.gemm().multiplies(type))
      GTEST_SKIP() << "no products of " << name_of(type) << " in this build";
  }

  std::unique_ptr<TinyModel> make(config::Precision precision,
                                  config::NormPosition position = config::NormPosition::post) {
    config::Experiment experiment = tiny_experiment(registry);
    experiment.model.width = 64;
    experiment.model.layers = 3;
    experiment.model.dropout = 0.1;
    experiment.model.norm_position = position;
    experiment.data.max_length = 64;
    experiment.model.block[0].options.set("heads", std::int64_t{4});
    experiment.model.block[1].options.set("hidden", std::int64_t{96});
    experiment.model.head.options.set("residual_norm", true);
    experiment.train.precision = precision;
    auto tiny = std::make_unique<TinyModel>(experiment, size_with(300), registry, device,
                                            make_batch({64, 33, 1, 50, 17, 40}, 300, 5, 1));
    tiny->model.initialize(1);
    return tiny;
  }

  const config::Precision half = GetParam().precision;
  const DType type = GetParam().type;
  const double digits = GetParam().digits;
  Device device;
  plugin_host::Registry registry = load_builtin_plugins();
};

TEST_P(HalfPrecision, LossAndLogitsAreThoseOfFloat32) {
  for (const config::NormPosition position : {config::NormPosition::post, config::NormPosition::pre}) {
    const auto narrow = make(half, position), wide = make(config::Precision::float32, position);
    EXPECT_EQ(narrow->model.precision(), type);
    const double loss = wide->loss({1, 1});
    EXPECT_NEAR(narrow->loss({1, 1}), loss, 1.3 * digits * loss);
    for (TinyModel* tiny : {narrow.get(), wide.get()}) tiny->model.evaluate(tiny->batch, {});
    const Tensor logits = narrow->model.evaluation_tensor("head.logits");
    EXPECT_EQ(logits.dtype, type);
    EXPECT_LE(
        distance(to_host(device, logits), to_host(device, wide->model.evaluation_tensor("head.logits"))),
        4 * digits);
  }
}

TEST_P(HalfPrecision, GradientsAreThoseOfFloat32) {
  for (const config::NormPosition position : {config::NormPosition::post, config::NormPosition::pre}) {
    const auto narrow = make(half, position), wide = make(config::Precision::float32, position);
    narrow->model.scale_loss(1024.0);
    wide->model.scale_loss(1024.0);
    EXPECT_EQ(narrow->loss({1, 1}), make(half, position)->loss({1, 1})) << "the returned loss is not scaled";
    wide->loss({1, 1});
    const double whole = norm_of(to_host(device, wide->model.parameters().gradients()));
    EXPECT_LE(distance(to_host(device, narrow->model.parameters().gradients()),
                       to_host(device, wide->model.parameters().gradients())),
              GetParam().of_gradients / 2);
    // A key's bias has a true gradient of zero, so a small tensor is compared relative to the whole.
    for (const memory::ParameterSlice& slice : wide->model.parameters().slices())
      EXPECT_LE(distance(narrow->gradient(slice), wide->gradient(slice), 0.02 * whole),
                GetParam().of_gradients)
          << slice.path;
  }
}

TEST_P(HalfPrecision, SmallGradientsNeedAFactorOnTheLossInFloat16Only) {
  const auto gradients = [&](config::Precision precision, double factor) {
    const auto tiny = make(precision);
    tiny->model.scale_loss(factor);
    tiny->loss({1, 1});
    std::vector<double> found = to_host(device, tiny->model.parameters().gradients());
    for (double& value : found) value /= factor;
    return found;
  };
  const std::vector<double> exact = gradients(config::Precision::float32, 1.0);
  EXPECT_LE(distance(gradients(half, 1024.0), exact), 4 * digits);
  const double of_small = distance(gradients(half, 0x1p-22), exact);
  if (type == DType::float16)
    EXPECT_GT(of_small, 0.5) << "the others are 0";
  else
    EXPECT_LE(of_small, 4 * digits);
}

TEST_P(HalfPrecision, UpdatesTooSmallForItsDigitsAddUp) {
  const auto tiny = make(half);
  memory::ParameterBlock& parameters = tiny->model.parameters();
  const memory::ParameterSlice& weight = parameters.find("encoder.1.attention.out.weight");
  tiny->set_values(weight, std::vector<double>(static_cast<std::size_t>(weight.size), 0.5));
  const double before = tiny->loss({1, 1});
  const std::vector<double> seen = to_host(device, parameters.seen_by_passes(weight, Element::activation));
  Options options = defaults(registry.offer(Kind::optimizer, "sgd").options);
  options.set("momentum", 0.0);
  const auto optimizer = registry.make_optimizer("sgd", options);
  parameters.make_states(optimizer->states());
  const auto update = [&](double gradient) {
    to_device(device, std::vector<double>(static_cast<std::size_t>(weight.size), gradient),
              memory::ParameterBlock::slice(parameters.gradients(), weight));
    optimizer->update(device, parameters.blocks(nullptr), 1.0, 1);
  };
  parameters.zero_gradients();
  const double step = 0.23 * 0.5 * digits;  // the neighbour above 0.5 is half of `digits` away
  update(-step);
  tiny->model.evaluate(tiny->batch, {});
  EXPECT_EQ(to_host(device, parameters.seen_by_passes(weight, Element::activation)), seen);
  EXPECT_NEAR(tiny->values(weight).front(), 0.5 + step, 1e-6);
  update(-step);
  update(-step);
  tiny->model.evaluate(tiny->batch, {});
  EXPECT_EQ(to_host(device, parameters.seen_by_passes(weight, Element::activation)).front(),
            0.5 + 0.5 * digits);
  EXPECT_NE(tiny->loss({1, 1}), before);
}

TEST_P(HalfPrecision, SumsAndStatisticsStayFloat32) {
  const auto tiny = make(half);
  for (const Tensor& sums :
       {tiny->model.parameters().gradients(), tiny->model.parameters().shard_gradients()})
    EXPECT_EQ(sums.dtype, DType::float32);
  for (const PlanTensor& tensor : tiny->model.training_plan().tensors) {
    const bool sums = tensor.path.ends_with(".mean") || tensor.path.ends_with(".rstd") ||
                      tensor.path.ends_with(".losses") || tensor.path.ends_with(".log_sum");
    EXPECT_EQ(tensor.dtype, sums ? DType::float32 : type) << tensor.path;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HalfPrecision, ::testing::ValuesIn(half_types),
                         [](const auto& info) { return encore::name_of(info.param.type); });

}  // namespace
}  // namespace encore::model
