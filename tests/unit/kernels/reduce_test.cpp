// SPDX-License-Identifier: BSD-3-Clause
// Tests the reductions of framework/kernels/reduce.cpp: sum and sum_of_squares, which add in double and in a
// fixed order, the count of values that are not finite, and clip_scale, the factor that shortens a gradient
// that is too long (train.clip_norm). The training step and the model call them. The order of sums decides
// bits of every run.
#include "unit/kernels/kernel_test.hpp"

namespace encore::test {
namespace {

class Reduce : public ::testing::TestWithParam<Precision> {};

double read(const contract::OwnedTensor& tensor) {
  device().fence();
  return tensor.values()[0];
}
double* data(const contract::OwnedTensor& tensor) {
  return static_cast<double*>(tensor.tensor().data);
}

TEST_P(Reduce, SumAndSumOfSquares) {
  const DType type = GetParam().type;
  for (const std::int64_t count : {0, 1, 33, 8192, 8193, 100003}) {
    const contract::OwnedTensor x = random_tensor(type, {count}, 1), result(DType::float64, {1});
    double sum = 0.0, squares = 0.0;
    for (const double value : x.values()) {
      sum += value;
      squares += value * value;
    }
    kernels::sum(device(), x, data(result));
    EXPECT_NEAR(read(result), sum, 1e-10 * (1.0 + static_cast<double>(count))) << count;
    kernels::sum_of_squares(device(), x, data(result));
    EXPECT_NEAR(read(result), squares, 1e-12 * (1.0 + squares))
        << count;  // sums are in double for every element type
  }
}

TEST_P(Reduce, CountsWhatIsNotFinite) {
  contract::OwnedTensor x = random_tensor(GetParam().type, {20000}, 1);
  EXPECT_EQ(kernels::count_not_finite(device(), x), 0);
  Values values = x.values();
  values[3] = NAN;
  values[9000] = INFINITY;
  values[19999] = -INFINITY;
  x.set(values);
  EXPECT_EQ(kernels::count_not_finite(device(), x), 3);
}

INSTANTIATE_TEST_SUITE_P(Precisions, Reduce, ::testing::ValuesIn(precisions(0.0, 0.0, 0.0)), precision_name);

TEST(ClipScale, ShrinksOnlyWhatIsTooLong) {
  contract::OwnedTensor squares(DType::float64, {1}), scale(DType::float64, {1});
  const auto clip = [&](double norm, double limit, double factor = 1.0) {
    squares.fill(norm * norm);
    kernels::clip_scale(device(), data(squares), limit, factor, data(scale));
    return read(scale);
  };
  EXPECT_EQ(clip(4.0, 1.0), 0.25);
  EXPECT_EQ(clip(0.5, 1.0), 1.0);
  EXPECT_EQ(clip(1.0, 1.0), 1.0);
  EXPECT_EQ(clip(4.0, 0.0), 1.0);  // 0 switches clipping off
  EXPECT_EQ(clip(0.0, 1.0), 1.0);
  EXPECT_EQ(clip(32.0, 1.0, 8.0), 0.25 / 8.0) << "norm 4, eight times too large";
  EXPECT_EQ(clip(4.0, 1.0, 8.0), 1.0 / 8.0);
  EXPECT_EQ(clip(4.0, 0.0, 8.0), 1.0 / 8.0);
}

}  // namespace
}  // namespace encore::test
