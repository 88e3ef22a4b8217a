// A whole model in bfloat16 against the same model in float32: losses, logits, and the gradient of each
// parameter relative to its norm; float32 masters that keep what a bfloat16 could not; predictions in the
// precision of training.
#include <gtest/gtest.h>

#include "kernels/gemm.hpp"
#include "support/tiny_model.hpp"

namespace encore {
namespace {

using namespace encore::testing;

double norm_of(const std::vector<double>& values) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

/// |a - b| / max(|b|, floor).
double distance(const std::vector<double>& a, const std::vector<double>& b, double floor = 1e-30) {
  std::vector<double> difference = a;
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= b[i];
  return norm_of(difference) / std::max(norm_of(b), floor);
}

struct Bfloat16Test : ::testing::Test {
  void SetUp() override {
    if (!device.gemm().multiplies(DType::bfloat16)) GTEST_SKIP() << "no bfloat16 products on this backend";
  }

  std::unique_ptr<TinyModel> make(Precision precision, NormPosition position = NormPosition::post) {
    Experiment experiment = tiny_experiment(registry);
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

  Device device;
  Registry registry = load_builtin_plugins();
};

TEST_F(Bfloat16Test, LossAndLogitsAreThoseOfFloat32) {
  for (const NormPosition position : {NormPosition::post, NormPosition::pre}) {
    const auto narrow = make(Precision::bfloat16, position), wide = make(Precision::float32, position);
    EXPECT_EQ(narrow->model.precision(), DType::bfloat16);
    const double loss = wide->loss({1, 1});
    EXPECT_NEAR(narrow->loss({1, 1}), loss, 0.01 * loss);
    for (TinyModel* tiny : {narrow.get(), wide.get()}) tiny->model.evaluate(tiny->batch, {});
    const Tensor logits = narrow->model.evaluation_tensor("head.logits");
    EXPECT_EQ(logits.dtype, DType::bfloat16);
    EXPECT_LE(
        distance(to_host(device, logits), to_host(device, wide->model.evaluation_tensor("head.logits"))),
        0.03);
  }
}

TEST_F(Bfloat16Test, GradientsAreThoseOfFloat32) {
  for (const NormPosition position : {NormPosition::post, NormPosition::pre}) {
    const auto narrow = make(Precision::bfloat16, position), wide = make(Precision::float32, position);
    narrow->loss({1, 1});
    wide->loss({1, 1});
    const double whole = norm_of(to_host(device, wide->model.parameters().gradients()));
    EXPECT_LE(distance(to_host(device, narrow->model.parameters().gradients()),
                       to_host(device, wide->model.parameters().gradients())),
              0.03);
    // A key's bias has no gradient in truth, so a small tensor is judged by the size of the whole.
    for (const ParameterSlice& slice : wide->model.parameters().slices())
      EXPECT_LE(distance(narrow->gradient(slice), wide->gradient(slice), 0.02 * whole), 0.06) << slice.path;
  }
}

TEST_F(Bfloat16Test, UpdatesTooSmallForABfloat16AddUp) {
  const auto tiny = make(Precision::bfloat16);
  ParameterBlock& parameters = tiny->model.parameters();
  const ParameterSlice& weight = parameters.find("encoder.1.attention.out.weight");
  tiny->set_values(weight, std::vector<double>(static_cast<std::size_t>(weight.size), 0.5));
  const double before = tiny->loss({1, 1});
  const std::vector<double> seen = to_host(device, parameters.seen_by_passes(weight, Element::activation));
  Options options = defaults(registry.offer(Kind::optimizer, "sgd").options);
  options.set("momentum", 0.0);
  const auto optimizer = registry.make_optimizer("sgd", options);
  parameters.make_states(optimizer->states());
  const auto update = [&](double gradient) {
    to_device(device, std::vector<double>(static_cast<std::size_t>(weight.size), gradient),
              ParameterBlock::slice(parameters.gradients(), weight));
    optimizer->update(device, parameters.blocks(nullptr), 1.0, 1);
  };
  parameters.zero_gradients();
  update(-0.0009);  // the neighbours of 0.5 are 1/256 away above, 1/512 below
  tiny->model.evaluate(tiny->batch, {});
  EXPECT_EQ(to_host(device, parameters.seen_by_passes(weight, Element::activation)), seen);
  EXPECT_NEAR(tiny->values(weight).front(), 0.5009, 1e-6);
  update(-0.0009);
  update(-0.0009);
  tiny->model.evaluate(tiny->batch, {});
  EXPECT_EQ(to_host(device, parameters.seen_by_passes(weight, Element::activation)).front(), 0.50390625);
  EXPECT_NE(tiny->loss({1, 1}), before);
}

TEST_F(Bfloat16Test, SumsAndStatisticsStayFloat32) {
  const auto tiny = make(Precision::bfloat16);
  for (const Tensor& sums :
       {tiny->model.parameters().gradients(), tiny->model.parameters().shard_gradients()})
    EXPECT_EQ(sums.dtype, DType::float32);
  for (const PlanTensor& tensor : tiny->model.training_plan().tensors) {
    const bool sums = tensor.path.ends_with(".mean") || tensor.path.ends_with(".rstd") ||
                      tensor.path.ends_with(".losses") || tensor.path.ends_with(".log_sum");
    EXPECT_EQ(tensor.dtype, sums ? DType::float32 : DType::bfloat16) << tensor.path;
  }
}

}  // namespace
}  // namespace encore
