// SPDX-License-Identifier: BSD-3-Clause
// Tests kernels::gemm and kernels::linear with its backward passes (framework/kernels/products/linear.cpp)
// against triple loops in double: every transposition, odd shapes, bias and activation, empty batches. All
// matrix products of a model go through them, whatever library computes; the libraries must agree within
// rounding. rounded_size() for cuBLASLt is tested here too.
#include "unit/kernels/kernel_test.hpp"

#include <encore/rows.hpp>

#include "kernels/products/gemm.hpp"

namespace encore::test {
namespace {

using kernels::Activation;
using kernels::Transpose;

/// Returns the (m, n) product of a and b with k terms in a sum; ta and tb say that an operand is transposed.
Values product(const Values& a, bool ta, const Values& b, bool tb, std::int64_t m, std::int64_t n,
               std::int64_t k) {
  Values c(static_cast<std::size_t>(m * n), 0.0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t l = 0; l < k; ++l)
        c[static_cast<std::size_t>(i * n + j)] += a[static_cast<std::size_t>(ta ? l * m + i : i * k + l)] *
                                                  b[static_cast<std::size_t>(tb ? j * k + l : l * n + j)];
  return c;
}

struct Size {
  std::int64_t m, n, k;
};
const std::vector<Size> sizes = {{1, 1, 1},      {1, 7, 3},     {33, 17, 5},  {5, 1, 129},  {48, 64, 128},
                                 {129, 193, 65}, {97, 211, 31}, {300, 9, 13}, {13, 385, 2}, {256, 31, 300}};

class Gemm : public ::testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    if (!device().gemm().multiplies(GetParam().type)) GTEST_SKIP() << "this backend has no such products";
  }
};

TEST_P(Gemm, EveryTranspositionAndOddShapes) {
  const auto [type, tolerance] = GetParam();
  for (const auto& [m, n, k] : sizes)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        const contract::OwnedTensor a = random_tensor(type, ta ? std::vector{k, m} : std::vector{m, k}, 1);
        const contract::OwnedTensor b = random_tensor(type, tb ? std::vector{n, k} : std::vector{k, n}, 2);
        contract::OwnedTensor c = random_tensor(type, {m, n}, 3);
        const Values before = c.values();
        const Values expected = product(a.values(), ta, b.values(), tb, m, n, k);
        const Transpose transpose_a = ta ? Transpose::yes : Transpose::no;
        const Transpose transpose_b = tb ? Transpose::yes : Transpose::no;
        const double allowed = tolerance * std::sqrt(static_cast<double>(k));
        const std::string what = std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
                                 (ta ? " T" : " N") + (tb ? "T" : "N");
        kernels::gemm(device(), a, transpose_a, b, transpose_b, c);
        expect_close(c, expected, allowed, what);
        c.set(before);
        kernels::gemm(device(), a, transpose_a, b, transpose_b, c, true);
        expect_close(c, plus(expected, before), allowed, what + " accumulated");
      }
}

TEST_P(Gemm, LinearAddsBiasAndAppliesTheActivation) {
  const auto [type, tolerance] = GetParam();
  for (const auto& [rows, out, in] : sizes)
    for (const Activation function : {Activation::none, Activation::relu, Activation::gelu})
      for (const bool with_bias : {false, true}) {
        const contract::OwnedTensor x = random_tensor(type, {rows, in}, 1);
        const contract::OwnedTensor weight = random_tensor(type, {out, in}, 2);
        const contract::OwnedTensor bias = random_tensor(sum_type(type), {out}, 3);
        contract::OwnedTensor y(type, {rows, out});
        y.fill(NAN);
        Values expected = product(x.values(), false, weight.values(), true, rows, out, in);
        const Values biases = bias.values();
        for (std::size_t i = 0; i < expected.size(); ++i) {
          if (with_bias) expected[i] += biases[i % static_cast<std::size_t>(out)];
          if (function == Activation::relu) expected[i] = std::max(0.0, expected[i]);
          if (function == Activation::gelu)
            expected[i] *= 0.5 * (1.0 + std::erf(expected[i] / std::sqrt(2.0)));
        }
        kernels::linear(device(), x, weight, with_bias ? bias.tensor() : Tensor(), function, y);
        expect_close(y, expected, tolerance * std::sqrt(static_cast<double>(in)), "linear");
      }
}

TEST_P(Gemm, LinearBackwardOverwritesDxAndAddsToParameters) {
  const auto [type, tolerance] = GetParam();
  for (const auto& [rows, out, in] : sizes) {
    const contract::OwnedTensor x = random_tensor(type, {rows, in}, 1);
    const contract::OwnedTensor weight = random_tensor(type, {out, in}, 2);
    const contract::OwnedTensor dy = random_tensor(type, {rows, out}, 3);
    contract::OwnedTensor dx(type, {rows, in});
    dx.fill(NAN);
    contract::OwnedTensor dweight = random_tensor(sum_type(type), {out, in}, 4);
    contract::OwnedTensor dbias = random_tensor(sum_type(type), {out}, 5);
    const Values dweight_before = dweight.values();
    Values dbias_expected = dbias.values();
    const Values gradient = dy.values();
    for (std::size_t i = 0; i < gradient.size(); ++i)
      dbias_expected[i % static_cast<std::size_t>(out)] += gradient[i];
    kernels::linear_backward_input(device(), dy, weight, dx);
    kernels::linear_backward_parameters(device(), dy, x, dweight, dbias);
    const double allowed = tolerance * std::sqrt(static_cast<double>(std::max(out, rows)));
    expect_close(dx, product(gradient, false, weight.values(), false, rows, in, out), allowed, "dx");
    expect_close(dweight, plus(product(gradient, true, x.values(), false, out, in, rows), dweight_before),
                 allowed, "dweight");
    expect_close(dbias, dbias_expected, allowed, "dbias");
    kernels::linear_backward_parameters(device(), dy, x, dweight, Tensor());  // a layer without bias
  }
}

TEST_P(Gemm, AnEmptyBatchChangesNoParameterGradient) {
  const DType type = GetParam().type;
  const contract::OwnedTensor x(type, {0, 4}), dy(type, {0, 3}), weight = random_tensor(type, {3, 4}, 1);
  contract::OwnedTensor y(type, {0, 3}), dx(type, {0, 4}), dweight(sum_type(type), {3, 4}),
      dbias(sum_type(type), {3});
  dweight.fill(2.0);
  dbias.fill(3.0);
  kernels::linear(device(), x, weight, Tensor(), Activation::relu, y);
  kernels::linear_backward_input(device(), dy, weight, dx);
  kernels::linear_backward_parameters(device(), dy, x, dweight, dbias);
  expect_close(dweight, Values(12, 2.0), 0.0, "dweight");
  expect_close(dbias, Values(3, 3.0), 0.0, "dbias");
}

INSTANTIATE_TEST_SUITE_P(Precisions, Gemm, ::testing::ValuesIn(precisions(2e-6, 2e-14, 2e-2)),
                         precision_name);

#ifndef KOKKOS_ENABLE_CUDA  // a CUDA build has one library only
TEST(GemmLibraries, ThePortableOneAgreesWithTheChosenOne) {
  const auto portable = kernels::make_portable_gemm();
  const contract::OwnedTensor a = random_tensor(DType::float32, {65, 70}, 1),
                              b = random_tensor(DType::float32, {33, 70}, 2);
  const contract::OwnedTensor bias = random_tensor(DType::float32, {33}, 3);
  contract::OwnedTensor c(DType::float32, {65, 33});
  const contract::OwnedTensor expected(DType::float32, {65, 33});
  portable->multiply(device(), {a, b, c, false, true, bias, true, false});
  device().gemm().multiply(device(), {a, b, expected, false, true, bias, true, false});
  device().fence();
  expect_close(c, expected.values(), 1e-5, portable->name() + " and " + device().gemm().name());
}
#endif

/// cuBLASLt chooses an algorithm for each rounded size: there are few, and none is much larger than the
/// batch.
TEST(RoundedSize, IsOneOfFewAndNotMuchLarger) {
  std::int64_t last = 0, sizes = 0;
  for (std::int64_t size = 0; size <= 1 << 20; ++size) {
    const std::int64_t rounded = kernels::rounded_size(size);
    ASSERT_GE(rounded, size);
    ASSERT_GE(rounded, last) << "grows with the size";
    ASSERT_EQ(kernels::rounded_size(rounded), rounded);
    ASSERT_LE(rounded, size < 64 ? size + 7 : size + size / 8) << size;
    if (rounded != last) ++sizes;
    last = rounded;
  }
  EXPECT_LT(sizes, 150);
}

TEST(GemmLibraries, ManyShapesInTurnStayRightWhenTheCacheOfPrimitivesIsFull) {
  for (std::int64_t rows = 1; rows < 260; rows += 3) {
    const contract::OwnedTensor a = random_tensor(DType::float32, {rows, 5}, 1),
                                b = random_tensor(DType::float32, {5, 3}, 2);
    const contract::OwnedTensor c(DType::float32, {rows, 3});
    kernels::gemm(device(), a, Transpose::no, b, Transpose::no, c);
    expect_close(c, product(a.values(), false, b.values(), false, rows, 3, 5), 1e-5, std::to_string(rows));
  }
}

TEST(GemmRefuses, OperandsThatDoNotFit) {
  const contract::OwnedTensor a(DType::float32, {4, 5}), b(DType::float32, {6, 7}), c(DType::float32, {4, 7}),
      d(DType::float64, {4, 7});
  EXPECT_REFUSED(kernels::gemm(device(), a, Transpose::no, b, Transpose::no, c),
                 "b is float32 (6, 7), expected float32 (5, 7)");
  const contract::OwnedTensor fitting(DType::float32, {5, 7}), vector(DType::float32, {7});
  EXPECT_REFUSED(kernels::gemm(device(), a, Transpose::no, fitting, Transpose::no, d), "c is float64 (4, 7)");
  EXPECT_REFUSED(kernels::gemm(device(), a, Transpose::no, fitting, Transpose::no, vector),
                 "expected rank 2");
  EXPECT_REFUSED(kernels::linear(device(), a, contract::OwnedTensor(DType::float32, {7, 5}),
                                 contract::OwnedTensor(DType::float32, {6}), Activation::none, c),
                 "bias is float32 (6), expected float32 (7)");
}

}  // namespace
}  // namespace encore::test
