// SPDX-License-Identifier: BSD-3-Clause
// Tests kernels::dropout and dropout_add (framework/kernels/dropout.cpp), which all residual sums of a model
// call (model/residual.hpp). The mask is a pure function of key, example, position and channel, so that it
// does not depend on how a batch is formed and is drawn again in the backward pass. Another mask for the same
// key would change every training.
#include "unit/kernels/kernel_test.hpp"

#include <encore/random.hpp>

namespace encore::test {
namespace {

constexpr RandomKey key{11, 22, 33};

class DropoutKernel : public ::testing::TestWithParam<Precision> {};

/// Returns x after dropout, with each factor computed from the random word of its example, position and
/// channel.
Values expected_dropout(const std::vector<std::int64_t>& lengths, std::int64_t width, double probability,
                        const Values& x) {
  Values y;
  for (std::size_t b = 0; b < lengths.size(); ++b)
    for (std::int64_t t = 0; t < lengths[b]; ++t)
      for (std::int64_t c = 0; c < width; ++c) {
        const std::uint32_t word =
            Random(key).word(100 + 3 * static_cast<std::int64_t>(b), static_cast<std::uint32_t>(t), 0,
                             static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(width));
        y.push_back(x[y.size()] * Dropout(probability).factor<double>(word));
      }
  return y;
}

TEST_P(DropoutKernel, ScalesWhatItKeepsAndAddsTheResidual) {
  const auto [type, tolerance] = GetParam();
  const std::vector<std::int64_t> lengths{3, 0, 1, 5};
  const contract::OwnedBatch batch(lengths);
  for (const std::int64_t width : {1, 2, 5, 33, 64, 128, 130, 384, 1024})
    for (const double probability : {0.0, 0.1, 0.5, 0.9}) {
      const contract::OwnedTensor x = random_tensor(type, {9, width}, 1),
                                  residual = random_tensor(type, {9, width}, 2);
      contract::OwnedTensor y(type, {9, width});
      y.fill(NAN);
      const Values expected = expected_dropout(lengths, width, probability, x.values());
      kernels::dropout(device(), batch, key, probability, x, y);
      expect_close(y, expected, tolerance, "dropout");
      kernels::dropout_add(device(), batch, key, probability, x, residual, y);
      expect_close(y, plus(expected, residual.values()), tolerance, "dropout_add");
      y.set(x.values());
      kernels::dropout(device(), batch, key, probability, y, y);
      expect_close(y, expected, tolerance, "dropout in place");
      y.set(residual.values());
      kernels::dropout_add(device(), batch, key, probability, x, y, y);
      expect_close(y, plus(expected, residual.values()), tolerance, "dropout_add in place");
    }
}

TEST_P(DropoutKernel, RowsThatArePickedHaveTheMaskOfTheirPlace) {
  const auto [type, tolerance] = GetParam();
  const std::vector<std::int64_t> lengths{3, 0, 1, 5, 0};
  const contract::OwnedBatch batch(lengths);
  for (const std::int64_t width : {1, 5, 33, 130, 256}) {
    const contract::OwnedTensor x = random_tensor(type, {9, width}, 1);
    const Values all = expected_dropout(lengths, width, 0.5, x.values()), from = x.values();
    const std::vector<std::int64_t> rows = {8, 0, 3, 3,
                                            9};  // the last sequence is empty, so its row is clamped to 8
    Values in, expected;
    for (const std::int64_t row : rows)
      for (std::int64_t c = 0; c < width; ++c) {
        const auto at = static_cast<std::size_t>(std::min<std::int64_t>(row, 8) * width + c);
        in.push_back(from[at]);
        expected.push_back(all[at]);
      }
    contract::OwnedTensor some(type, {5, width}), y(type, {5, width});
    some.set(in);
    kernels::dropout(device(), batch, integers(rows), key, 0.5, some, y);
    expect_close(y, expected, tolerance, "dropout of picked rows");
    kernels::dropout(device(), batch, integers(rows), key, 0.5, some, some);
    expect_close(some, expected, tolerance, "in place");
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, DropoutKernel, ::testing::ValuesIn(precisions(1e-6, 1e-15, 1e-2)),
                         precision_name);

TEST(DropoutMask, DropsTheWantedShare) {
  const std::int64_t width = 1024;
  const contract::OwnedBatch batch(std::vector<std::int64_t>(20, 16));
  contract::OwnedTensor x(DType::float32, {320, width}), y(DType::float32, {320, width});
  x.fill(1.0);
  kernels::dropout(device(), batch, key, 0.1, x, y);
  device().fence();
  double zeros = 0.0;
  for (const double value : y.values()) zeros += value == 0.0 ? 1.0 : 0.0;
  EXPECT_NEAR(zeros / (320.0 * 1024.0), 0.1, 0.003);  // more than five standard deviations
}

TEST(DropoutMask, DiffersBetweenStepsStreamsAndSeeds) {
  const contract::OwnedBatch batch({8});
  contract::OwnedTensor x(DType::float32, {8, 64}), y(DType::float32, {8, 64});
  x.fill(1.0);
  std::vector<Values> seen;
  for (const RandomKey& other : {key, RandomKey{12, 22, 33}, RandomKey{11, 23, 33}, RandomKey{11, 22, 34}}) {
    kernels::dropout(device(), batch, other, 0.5, x, y);
    device().fence();
    for (const Values& before : seen) EXPECT_NE(before, y.values());
    seen.push_back(y.values());
  }
}

TEST(DropoutRefuses, ProbabilitiesOutsideTheirRangeAndWrongShapes) {
  const contract::OwnedBatch batch({2});
  const contract::OwnedTensor x(DType::float32, {2, 4}), other(DType::float32, {3, 4});
  EXPECT_REFUSED(kernels::dropout(device(), batch, key, 1.0, x, x), "a dropout probability lies in [0, 1)");
  EXPECT_REFUSED(kernels::dropout(device(), batch, key, -0.1, x, x), "a dropout probability lies in [0, 1)");
  EXPECT_REFUSED(kernels::dropout(device(), batch, key, 0.1, other, other),
                 "x is float32 (3, 4), expected float32 (2, 4)");
}

}  // namespace
}  // namespace encore::test
