// SPDX-License-Identifier: BSD-3-Clause
// Tests kernels::initialize (framework/kernels/initialize.cpp), which gives the parameters of a new model
// their values (Model::initialize): the distribution of each initializer, and that float32 values are the
// float64 ones rounded. The values follow from seed and parameter alone; other values would change every
// training.
#include "unit/kernels/kernel_test.hpp"

namespace encore::test {
namespace {

/// Returns the values of a parameter with this specification and seed.
Values initialized(const ParameterSpec& spec, std::uint64_t seed = 1, DType type = DType::float64) {
  contract::OwnedTensor tensor(type, spec.shape);
  tensor.fill(NAN);
  kernels::initialize(device(), spec, {seed, 2, 0}, tensor);
  device().fence();
  return tensor.values();
}

struct Moments {
  double mean = 0.0, deviation = 0.0, largest = 0.0;
};
Moments moments(const Values& values) {
  Moments result;
  for (const double value : values) {
    result.mean += value / static_cast<double>(values.size());
    result.largest = std::max(result.largest, std::abs(value));
  }
  for (const double value : values)
    result.deviation += std::pow(value - result.mean, 2) / static_cast<double>(values.size());
  result.deviation = std::sqrt(result.deviation);
  return result;
}

TEST(Initialize, ZerosAndOnes) {
  EXPECT_EQ(initialized({"bias", {5}, Initializer::zeros}), Values(5, 0.0));
  EXPECT_EQ(initialized({"gain", {5}, Initializer::ones}), Values(5, 1.0));
}

TEST(Initialize, ConstantIsItsValue) {
  EXPECT_EQ(initialized({.name = "bias", .shape = {5}, .initializer = Initializer::constant, .value = -2.5}),
            Values(5, -2.5));
  EXPECT_EQ(initialized({.name = "bias", .shape = {5}, .initializer = Initializer::constant}),
            Values(5, 0.0));
}

TEST(Initialize, XavierUniformHasItsBoundAndVariance) {
  const Moments m = moments(initialized({"weight", {130, 170}, Initializer::xavier_uniform}));
  const double bound = std::sqrt(6.0 / 300.0);
  EXPECT_NEAR(m.mean, 0.0, 0.003);
  EXPECT_LT(m.largest, bound);
  EXPECT_GT(m.largest, 0.99 * bound);
  EXPECT_NEAR(m.deviation, bound / std::sqrt(3.0), 0.002);
}

TEST(Initialize, NormalHasItsDeviation) {
  const Values values = initialized({"table", {301, 97}, Initializer::normal, 0.5});
  const Moments m = moments(values);
  EXPECT_NEAR(m.mean, 0.0, 0.01);
  EXPECT_NEAR(m.deviation, 0.5, 0.01);
  double beyond_two = 0.0;
  for (const double value : values) beyond_two += std::abs(value) > 1.0 ? 1.0 : 0.0;
  EXPECT_NEAR(beyond_two / static_cast<double>(values.size()), 0.0455, 0.005);
}

TEST(Initialize, Float32IsFloat64Rounded) {
  const ParameterSpec spec{"weight", {7, 33}, Initializer::xavier_uniform};
  const Values exact = initialized(spec), rounded = initialized(spec, 1, DType::float32);
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_EQ(rounded[i], static_cast<double>(static_cast<float>(exact[i])));
}

TEST(Initialize, SeedsDifferAndRepeat) {
  const ParameterSpec spec{"weight", {3, 5}, Initializer::normal, 1.0};
  EXPECT_EQ(initialized(spec, 1), initialized(spec, 1));
  EXPECT_NE(initialized(spec, 1), initialized(spec, 2));
}

TEST(InitializeRefuses, VectorsForXavierAndOtherShapes) {
  EXPECT_REFUSED(initialized({"bias", {5}, Initializer::xavier_uniform}),
                 "Xavier initialisation is for matrices");
  contract::OwnedTensor tensor(DType::float32, {4});
  EXPECT_REFUSED(kernels::initialize(device(), {"bias", {5}, Initializer::zeros}, {}, tensor),
                 "parameter bias is float32 (4)");
}

}  // namespace
}  // namespace encore::test
