// SPDX-License-Identifier: BSD-3-Clause
// Tests batch-invariant products, which a server uses so that an answer does not depend on other requests: a
// row has the same bits whatever rows are in the batch and wherever it lies, for every epilogue. Also tests
// weights in the layout of the products (GemmLibrary::lay_out in kernels/products/gemm.hpp): reading them
// must give the bits of the matrix. Batch invariance is required on hosts only.
#include "unit/kernels/kernel_test.hpp"

#include <encore/rows.hpp>

#include "kernels/products/gemm.hpp"
#include "kernels/products/panel_product.hpp"

namespace encore::test {
namespace {

using kernels::Activation;
using kernels::Transpose;

constexpr std::int64_t most_rows = 70;

/// Returns rows [first, first + count) of a matrix.
Tensor part_of(const contract::OwnedTensor& matrix, std::int64_t first, std::int64_t count) {
  const Tensor& whole = matrix.tensor();
  const auto skipped = static_cast<std::size_t>(first * whole.extent(1)) * size_of(whole.dtype);
  return Tensor(static_cast<std::byte*>(whole.data) + skipped, whole.dtype, {count, whole.extent(1)});
}

/// Runs multiply(x, y) on all rows, then on each number of rows, from some row of x to some row of y, and
/// expects equal bits.
template <class Multiply>
void expect_invariant(DType type, std::int64_t out, std::int64_t in, const std::string& what,
                      const Multiply& multiply) {
  const kernels::BatchInvariance products(device(), true);
  const contract::OwnedTensor x = random_tensor(type, {most_rows, in}, 1),
                              before = random_tensor(type, {most_rows, out}, 2);
  contract::OwnedTensor y(type, {most_rows, out}), part(type, {most_rows, out});
  y.set(before.values());
  multiply(x.tensor(), y.tensor());
  device().fence();
  const Values whole = y.values();
  for (std::int64_t count = 1; count <= most_rows; ++count) {
    const std::int64_t first = 37 * count % (most_rows - count + 1),
                       to = 23 * count % (most_rows - count + 1);
    part.set(before.values());
    kernels::copy(device(), part_of(before, first, count), part_of(part, to, count));
    multiply(part_of(x, first, count), part_of(part, to, count));
    device().fence();
    const Values values = part.values();
    for (std::int64_t i = 0; i < count * out; ++i)
      ASSERT_EQ(values[static_cast<std::size_t>(to * out + i)],
                whole[static_cast<std::size_t>(first * out + i)])
          << what << ", " << count << " rows from row " << first << ", element " << i;
  }
}

class BatchInvariant : public ::testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    if (!ENCORE_HOST_BACKEND) GTEST_SKIP() << "promised on the host";
  }
};

const std::vector<std::pair<std::int64_t, std::int64_t>> shapes = {
    {1, 1}, {5, 3}, {33, 17}, {64, 128}, {100, 129}, {193, 65}, {7, 300}, {320, 257}};

TEST_P(BatchInvariant, LinearWithEveryEpilogue) {
  const DType type = GetParam().type;
  for (const auto& [out, in] : shapes)
    for (const Activation function : {Activation::none, Activation::relu, Activation::gelu})
      for (const bool with_bias : {false, true}) {
        const contract::OwnedTensor weight = random_tensor(type, {out, in}, 3),
                                    bias = random_tensor(sum_type(type), {out}, 4);
        const Tensor added = with_bias ? bias.tensor() : Tensor();
        expect_invariant(
            type, out, in, std::to_string(out) + " x " + std::to_string(in),
            [&](Tensor x, Tensor y) { kernels::linear(device(), x, weight, added, function, y); });
      }
}

TEST_P(BatchInvariant, GemmEitherWayAndAccumulated) {
  const DType type = GetParam().type;
  for (const auto& [out, in] : shapes)
    for (const Transpose transpose : {Transpose::no, Transpose::yes})
      for (const bool accumulate : {false, true}) {
        const bool stored_out_in = transpose == Transpose::yes;
        const contract::OwnedTensor b =
            random_tensor(type, {stored_out_in ? out : in, stored_out_in ? in : out}, 3);
        expect_invariant(type, out, in, std::to_string(out) + " x " + std::to_string(in),
                         [&](Tensor x, Tensor y) {
                           kernels::gemm(device(), x, Transpose::no, b, transpose, y, accumulate);
                         });
      }
}

/// Expects that products, batch-invariant or others, give the same bits with the matrix and with its layout.
void expect_the_bits_of_the_matrix(DType type, bool invariant) {
  kernels::GemmLibrary& library = invariant ? device().gemm().invariant() : device().gemm();
  auto wider = shapes;
  wider.emplace_back(384, 1536);  // sums that each library adds up in several parts
  for (const auto& [out, in] : wider) {
    const contract::OwnedTensor weight = random_tensor(type, {out, in}, 3),
                                bias = random_tensor(sum_type(type), {out}, 4),
                                other = random_tensor(type, {out, in}, 5);
    const std::size_t bytes = library.layout_bytes(weight);
    if (bytes == 0) {
      ASSERT_FALSE(invariant) << "every such product has a layout";
      continue;
    }
    contract::OwnedTensor memory(DType::float32, {static_cast<std::int64_t>(bytes / sizeof(float))});
    memory.set(Values(bytes / sizeof(float), std::nan("")));  // values that are not written would give NaN
    void* const place = memory.tensor().data;
    library.lay_out(device(), weight, place);
    kernels::WeightLayouts layouts;
    layouts.add(weight, place);
    for (const std::int64_t rows : {1, 2, 3, 7, 8, 9, 31, 47, 48, 49, 70, 127, 128, 129, 300}) {
      const contract::OwnedTensor x = random_tensor(type, {rows, in}, 1);
      const auto result = [&](const kernels::WeightLayouts* read) {
        const kernels::BatchInvariance invariance(device(), invariant);
        const kernels::LaidOutProducts products(device(), read);
        contract::OwnedTensor y(type, {rows, out});
        kernels::linear(device(), x, weight, bias, Activation::relu, y);
        kernels::gemm(device(), x, Transpose::no, weight, Transpose::yes, y, true);
        device().fence();
        return y.values();
      };
      const Values expected = result(nullptr);
      EXPECT_EQ(result(&layouts), expected) << out << " x " << in << ", " << rows << " rows";
      // The product really reads the layout: the layout of another matrix gives other numbers.
      library.lay_out(device(), other, place);
      EXPECT_NE(result(&layouts), expected) << out << " x " << in << ", " << rows << " rows";
      library.lay_out(device(), weight, place);
    }
  }
}

TEST_P(BatchInvariant, AWeightThatIsLaidOutGivesTheSameBits) {
  expect_the_bits_of_the_matrix(GetParam().type, true);
}

TEST_P(BatchInvariant, SoDoesOneForOtherProducts) {
  expect_the_bits_of_the_matrix(GetParam().type, false);
}

#if ENCORE_HOST_BACKEND
/// Expects each element to be the sum of fma steps in order, added to c.
template <class T>
void expect_fma_steps() {
  constexpr std::int64_t width = kernels::panel_packs * kernels::lanes<T>, most = 20, depth = 67;
  const auto numbers = [](std::int64_t count, std::uint64_t seed) {
    const Values values = contract::normal_values(count, seed, 1.0);
    return std::vector<T>(values.begin(), values.end());
  };
  const std::vector<T> a = numbers(most * depth, 1), b = numbers(depth * width, 2),
                       before = numbers(most * width, 3);
  for (std::int64_t rows = 1; rows <= most; ++rows)
    for (const std::int64_t inner : {std::int64_t{1}, std::int64_t{2}, depth}) {
      std::vector<T> expected = before, with = before, without = before;
      for (std::int64_t e = 0; e < rows * width; ++e) {
        T sum = 0;
        for (std::int64_t k = 0; k < inner; ++k)
          sum = std::fma(a[static_cast<std::size_t>(e / width * depth + k)],
                         b[static_cast<std::size_t>(k * width + e % width)], sum);
        expected[static_cast<std::size_t>(e)] += sum;
      }
      const kernels::Strided<T> from{a.data(), depth, 1};
      kernels::panel_product<T>(rows, inner, from, b.data(), b.data(), with.data());
      kernels::panel_product<T>(rows, inner, from, b.data(), nullptr, without.data());
      EXPECT_EQ(with, expected) << rows << " rows, " << inner;
      EXPECT_EQ(without, expected) << rows << " rows, " << inner;
    }
}

#if defined(__FMA__)
TEST(PanelProduct, SumsByFmaInOrderWhateverTheHeight) {
  expect_fma_steps<float>();
  expect_fma_steps<double>();
}
#endif
#endif

TEST(WeightLayouts, AreFoundByPlaceTypeAndShape) {
  const contract::OwnedTensor weight = random_tensor(DType::float32, {6, 4}, 1),
                              other = random_tensor(DType::float32, {6, 4}, 2);
  const int layout = 0;
  kernels::WeightLayouts layouts;
  EXPECT_EQ(layouts.find(weight), nullptr);
  layouts.add(weight, &layout);
  EXPECT_TRUE(layouts.contains(weight));
  EXPECT_FALSE(layouts.contains(other));
  EXPECT_FALSE(layouts.was_found(weight)) << "it was not requested";
  EXPECT_EQ(layouts.find(weight), &layout);
  EXPECT_EQ(layouts.find(other), nullptr);
  void* const place = weight.tensor().data;
  EXPECT_EQ(layouts.find(Tensor(place, DType::float32, {4, 6})), nullptr) << "another shape";
  EXPECT_EQ(layouts.find(Tensor(place, DType::float32, {3, 4})), nullptr) << "a part";
  EXPECT_EQ(layouts.find(Tensor(place, DType::bfloat16, {6, 4})), nullptr) << "another type";
}

TEST(LaidOutProducts, EndAndMayStandWithinOthers) {
  kernels::GemmLibrary& library = device().gemm();
  const kernels::WeightLayouts layouts;
  {
    const kernels::LaidOutProducts outer(device(), &layouts);
    EXPECT_EQ(library.layouts(), &layouts);
    {
      const kernels::LaidOutProducts inner(device(), nullptr);
      EXPECT_EQ(library.layouts(), nullptr);
    }
    EXPECT_EQ(library.layouts(), &layouts);
  }
  EXPECT_EQ(library.layouts(), nullptr);
}

TEST(BatchInvarianceScope, EndsAndMayStandWithinAnother) {
  kernels::GemmLibrary& library = device().gemm();
  EXPECT_FALSE(library.batch_invariant());
  {
    const kernels::BatchInvariance outer(device(), true);
    {
      const kernels::BatchInvariance inner(device(), false);
      EXPECT_TRUE(library.batch_invariant());
    }
    EXPECT_TRUE(library.batch_invariant());
  }
  EXPECT_FALSE(library.batch_invariant());
}

INSTANTIATE_TEST_SUITE_P(Precisions, BatchInvariant, ::testing::ValuesIn(precisions(0, 0, 0)),
                         precision_name);

}  // namespace
}  // namespace encore::test
