// SPDX-License-Identifier: BSD-3-Clause
// Tests matrix products with weights of 8-bit and 4-bit integers, as `exp quantize` makes models
// (framework/kernels/products/gemm_integers.cpp, int8_tile.hpp, int4_weights.hpp): results against sums of
// integers computed one by one, rows that do not depend on each other, and portable code that gives the
// integers of the CPU's instruction. Rounded weights must be rounded to themselves, because files store them.
#include "unit/kernels/kernel_test.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "kernels/products/gemm.hpp"
#include "kernels/products/int4_weights.hpp"
#include "kernels/products/int8_tile.hpp"

namespace encore::test {
namespace {

#if ENCORE_HOST_BACKEND

using kernels::Activation;

/// Rounded rows. A weight is scale * integer; an activation is low + scale * byte.
struct Rounded {
  std::vector<std::int64_t> integers;
  std::vector<double> scale, low;  // one of each for a row; weights have no low
};

/// Returns the weights as rounded by the definition, in double.
Rounded rounded_weights(const Values& w, std::int64_t rows, std::int64_t columns) {
  Rounded found;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<float> row;
    for (std::int64_t c = 0; c < columns; ++c)
      row.push_back(static_cast<float>(w[static_cast<std::size_t>(r * columns + c)]));
    const float scale = kernels::int8_scale(row.data(), columns);
    found.scale.push_back(static_cast<double>(scale));
    for (const float value : row)
      found.integers.push_back(
          scale > 0.0F ? std::llrint(static_cast<double>(value) / static_cast<double>(scale)) : 0);
  }
  return found;
}

/// Returns the bytes of activations that the product reads, with the scale and the lowest value of each row.
Rounded rounded_rows(const Values& x, std::int64_t rows, std::int64_t columns) {
  Rounded found;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<float> row;
    for (std::int64_t c = 0; c < columns; ++c)
      row.push_back(static_cast<float>(x[static_cast<std::size_t>(r * columns + c)]));
    std::vector<std::uint8_t> bytes(row.size());
    const kernels::int8::RowScale scale = kernels::int8::round_row(row.data(), columns, bytes.data());
    found.scale.push_back(static_cast<double>(scale.step));
    found.low.push_back(static_cast<double>(scale.low));
    found.integers.insert(found.integers.end(), bytes.begin(), bytes.end());
  }
  return found;
}

/// While this object lives, products with the weight `seen` are computed with `values` rounded to integers.
class Quantized {
 public:
  Quantized(const contract::OwnedTensor& seen, const contract::OwnedTensor& values, int bits = 8)
      : memory_(device().gemm().quantized(bits)->layout_bytes(values.tensor()) + 64) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    void* const to = memory_.data() + (64 - address % 64) % 64;
    device().gemm().quantized(bits)->lay_out(device(), values.tensor(), to);
    layouts_.add(seen.tensor(), to, device().gemm().quantized(bits));
    products_.emplace(device(), &layouts_);
  }
  const kernels::WeightLayouts& layouts() const { return layouts_; }

 private:
  std::vector<std::byte> memory_;
  kernels::WeightLayouts layouts_;
  std::optional<kernels::QuantizedProducts> products_;
};

const std::vector<std::array<std::int64_t, 3>> shapes = {
    {1, 1, 1}, {3, 5, 2}, {8, 48, 64}, {9, 49, 65}, {17, 96, 33}, {70, 130, 127}, {5, 16, 300}, {64, 33, 7}};

class Int8Product : public ::testing::TestWithParam<Precision> {};

TEST_P(Int8Product, IsTheSumOfIntegersTimesTheScales) {
  const DType type = GetParam().type;
  for (const auto& [m, n, k] : shapes)
    for (const bool with_bias : {false, true})
      for (const Activation function : {Activation::none, Activation::relu}) {
        const contract::OwnedTensor x = random_tensor(type, {m, k}, 1),
                                    weight = random_tensor(type, {n, k}, 2),
                                    bias = random_tensor(DType::float32, {n}, 3);
        contract::OwnedTensor values(DType::float32, {n, k}), y(type, {m, n});
        values.set(weight.values());
        const Quantized quantized(weight, values);
        kernels::linear(device(), x, weight, with_bias ? bias.tensor() : Tensor(), function, y);
        EXPECT_TRUE(quantized.layouts().was_found(weight.tensor()));
        const Rounded a = rounded_rows(x.values(), m, k), w = rounded_weights(values.values(), n, k);
        Values reference;
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            std::int64_t sum = 0, all = 0;
            for (std::int64_t l = 0; l < k; ++l) {
              const std::int64_t q = w.integers[static_cast<std::size_t>(j * k + l)];
              sum += a.integers[static_cast<std::size_t>(i * k + l)] * q;
              all += q;
            }
            const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
            const double value = w.scale[column] * (a.scale[row] * static_cast<double>(sum) +
                                                    a.low[row] * static_cast<double>(all)) +
                                 (with_bias ? bias.values()[column] : 0.0);
            reference.push_back(function == Activation::relu ? std::max(value, 0.0) : value);
          }
        expect_close(y, reference, GetParam().tolerance,
                     std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k));
      }
}

TEST_P(Int8Product, IsNearTheProductOfTheNumbers) {
  const DType type = GetParam().type;
  const std::int64_t m = 32, n = 64, k = 256;
  const contract::OwnedTensor x = random_tensor(type, {m, k}, 4), weight = random_tensor(type, {n, k}, 5);
  contract::OwnedTensor values(DType::float32, {n, k}), exact(type, {m, n}), y(type, {m, n});
  values.set(weight.values());
  kernels::linear(device(), x, weight, {}, Activation::none, exact);
  {
    const Quantized quantized(weight, values);
    kernels::linear(device(), x, weight, {}, Activation::none, y);
  }
  device().fence();
  double error = 0.0, square = 0.0;
  for (std::size_t i = 0; i < exact.values().size(); ++i) {
    error += std::pow(y.values()[i] - exact.values()[i], 2);
    square += std::pow(exact.values()[i], 2);
  }
  EXPECT_LT(std::sqrt(error / square), 0.02);
  EXPECT_GT(error, 0.0);  // the integers were really used
}

TEST_P(Int8Product, ARowHasItsBitsWhateverStandsBesideIt) {
  const DType type = GetParam().type;
  const std::int64_t m = 67, n = 100, k = 129;
  const contract::OwnedTensor x = random_tensor(type, {m, k}, 6), weight = random_tensor(type, {n, k}, 7);
  contract::OwnedTensor values(DType::float32, {n, k}), y(type, {m, n}), one(type, {1, n});
  values.set(weight.values());
  const Quantized quantized(weight, values);
  kernels::linear(device(), x, weight, {}, Activation::none, y);
  for (std::int64_t i = 0; i < m; ++i) {
    const Tensor row(
        static_cast<std::byte*>(x.tensor().data) + static_cast<std::size_t>(i * k) * size_of(type), type,
        {1, k});
    kernels::linear(device(), row, weight, {}, Activation::none, one);
    device().fence();
    for (std::int64_t j = 0; j < n; ++j)
      ASSERT_EQ(one.values()[static_cast<std::size_t>(j)], y.values()[static_cast<std::size_t>(i * n + j)]);
  }
}

TEST_P(Int8Product, InfiniteAndNanValuesAreNotLost) {
  const DType type = GetParam().type;
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()}) {
    contract::OwnedTensor x(type, {2, 40}), weight = random_tensor(type, {16, 40}, 8), y(type, {2, 16});
    Values numbers(80, 0.5);
    numbers[7] = bad;
    x.set(numbers);
    contract::OwnedTensor values(DType::float32, {16, 40});
    values.set(weight.values());
    const Quantized quantized(weight, values);
    kernels::linear(device(), x, weight, {}, Activation::none, y);
    device().fence();
    for (std::size_t j = 0; j < 16; ++j) {
      EXPECT_TRUE(std::isnan(y.values()[j]));
      EXPECT_TRUE(std::isfinite(y.values()[16 + j]));
    }
  }
}

class Int4Product : public Int8Product {};

TEST_P(Int4Product, IsTheSumOfGroupsOfIntegersTimesTheirScales) {
  const DType type = GetParam().type;
  for (const auto& [m, n, k] : shapes)
    for (const Activation function : {Activation::none, Activation::relu}) {
      const contract::OwnedTensor x = random_tensor(type, {m, k}, 1), weight = random_tensor(type, {n, k}, 2),
                                  bias = random_tensor(DType::float32, {n}, 3);
      contract::OwnedTensor values(DType::float32, {n, k}), y(type, {m, n});
      values.set(weight.values());
      const Quantized quantized(weight, values, 4);
      kernels::linear(device(), x, weight, bias, function, y);
      EXPECT_TRUE(quantized.layouts().was_found(weight.tensor()));
      const Rounded a = rounded_rows(x.values(), m, k);
      Values reference(static_cast<std::size_t>(m * n));
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t first = 0; first < k; first += kernels::int4_group) {
          std::vector<float> group;
          for (std::int64_t l = first; l < std::min(k, first + kernels::int4_group); ++l)
            group.push_back(static_cast<float>(values.values()[static_cast<std::size_t>(j * k + l)]));
          const float scale = kernels::int4_scale(group.data(), std::ssize(group));
          std::vector<std::int8_t> q(group.size());
          kernels::to_int4(group.data(), std::ssize(group), scale, q.data());
          for (std::int64_t i = 0; i < m; ++i) {
            double sum = 0.0, all = 0.0;
            for (std::size_t l = 0; l < q.size(); ++l) {
              sum += static_cast<double>(a.integers[static_cast<std::size_t>(i * k + first) + l] * q[l]);
              all += q[l];
            }
            const auto row = static_cast<std::size_t>(i);
            reference[static_cast<std::size_t>(i * n + j)] +=
                static_cast<double>(scale) * (a.scale[row] * sum + a.low[row] * all);
          }
        }
      for (std::size_t i = 0; i < reference.size(); ++i) {
        reference[i] += bias.values()[i % static_cast<std::size_t>(n)];
        if (function == Activation::relu) reference[i] = std::max(reference[i], 0.0);
      }
      expect_close(y, reference, GetParam().tolerance,
                   std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k));
    }
}

TEST_P(Int4Product, ARowHasItsBitsWhateverStandsBesideIt) {
  const DType type = GetParam().type;
  const std::int64_t m = 67, n = 100, k = 129;
  const contract::OwnedTensor x = random_tensor(type, {m, k}, 6), weight = random_tensor(type, {n, k}, 7);
  contract::OwnedTensor values(DType::float32, {n, k});
  values.set(weight.values());
  const Quantized quantized(weight, values, 4);
  const auto rows_from = [&](std::int64_t first, std::int64_t count) {
    contract::OwnedTensor y(type, {count, n});
    const Tensor rows(
        static_cast<std::byte*>(x.tensor().data) + static_cast<std::size_t>(first * k) * size_of(type), type,
        {count, k});
    kernels::linear(device(), rows, weight, {}, Activation::none, y);
    device().fence();
    return y.values();
  };
  const Values all = rows_from(0, m);
  for (const std::int64_t count : {1, 2, 3, 5})
    for (std::int64_t i = 0; i + count <= m; i += count) {
      const Values some = rows_from(i, count);
      for (std::size_t j = 0; j < some.size(); ++j)
        ASSERT_EQ(some[j], all[static_cast<std::size_t>(i * n) + j]) << count << " rows from " << i;
    }
}

TEST(Int4Weights, WhatWasRoundedIsRoundedToItself) {
  std::mt19937 words(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<float> group(kernels::int4_group);
    const float size = std::exp(static_cast<float>(words() % 40) - 20.0F);
    for (float& value : group) value = size * (static_cast<float>(words() % 2001) / 1000.0F - 1.0F);
    std::vector<std::int8_t> q(group.size()), again(group.size());
    const float scale = kernels::int4_scale(group.data(), kernels::int4_group);
    kernels::to_int4(group.data(), kernels::int4_group, scale, q.data());
    for (std::size_t i = 0; i < group.size(); ++i) {
      EXPECT_LE(std::abs(q[i]), 7);
      EXPECT_LE(std::abs(static_cast<float>(q[i]) * scale - group[i]), 0.5F * scale);
      group[i] = static_cast<float>(q[i]) * scale;
    }
    EXPECT_EQ(kernels::int4_scale(group.data(), kernels::int4_group), scale);
    kernels::to_int4(group.data(), kernels::int4_group, scale, again.data());
    EXPECT_EQ(again, q);
  }
  const std::vector<float> zeros(kernels::int4_group), bad = {1.0F, std::numeric_limits<float>::infinity()};
  EXPECT_EQ(kernels::int4_scale(zeros.data(), kernels::int4_group), 0.0F);
  EXPECT_TRUE(std::isnan(kernels::int4_scale(bad.data(), 2)));
}

INSTANTIATE_TEST_SUITE_P(Precisions, Int4Product,
                         ::testing::Values(Precision{DType::float32, 3e-5}, Precision{DType::bfloat16, 5e-3}),
                         precision_name);

INSTANTIATE_TEST_SUITE_P(Precisions, Int8Product,
                         ::testing::Values(Precision{DType::float32, 3e-5}, Precision{DType::bfloat16, 5e-3}),
                         precision_name);

TEST(Int8Product, OtherWeightsAndGradientsAreComputedAsEver) {
  const contract::OwnedTensor x = random_tensor(DType::float32, {6, 32}, 1),
                              weight = random_tensor(DType::float32, {24, 32}, 2),
                              other = random_tensor(DType::float32, {24, 32}, 2),
                              dy = random_tensor(DType::float32, {6, 24}, 3);
  contract::OwnedTensor exact(DType::float32, {6, 24}), y(DType::float32, {6, 24}),
      dx(DType::float32, {6, 32}), exact_dx(DType::float32, {6, 32});
  kernels::linear(device(), x, weight, {}, Activation::none, exact);
  kernels::linear_backward_input(device(), dy, weight, exact_dx);
  const Quantized quantized(weight, weight);
  kernels::linear(device(), x, other, {}, Activation::none, y);
  kernels::linear_backward_input(device(), dy, weight, dx);
  device().fence();
  EXPECT_EQ(y.values(), exact.values());
  EXPECT_EQ(dx.values(), exact_dx.values());
}

TEST(Int8Tile, ThePortableSumIsThatOfTheInstruction) {
  std::mt19937 words(1);
  for (int round = 0; round < 200; ++round) {
    kernels::int8::Integers sums, b;
    for (int lane = 0; lane < kernels::int8::lane_count; ++lane) {
      sums[lane] = static_cast<std::int32_t>(words());
      b[lane] = static_cast<std::int32_t>(words());
    }
    sums >>= 4;  // so small that adding products cannot overflow 32 bits
    const std::uint32_t four = words();
    const kernels::int8::Integers one = kernels::int8::dot(sums, four, b),
                                  other = kernels::int8::plain_dot(sums, four, b);
    for (int lane = 0; lane < kernels::int8::lane_count; ++lane) ASSERT_EQ(one[lane], other[lane]);
  }
}

TEST(Int8Tile, RowsOfActivationsGoFromTheSmallestToTheLargest) {
  const auto bytes_of = [](std::vector<float> row) {
    std::vector<std::uint8_t> bytes(row.size());
    kernels::int8::round_row(row.data(), static_cast<std::int64_t>(row.size()), bytes.data());
    return std::vector<int>(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(bytes_of({-1.0F, 0.0F, 4.1F}), (std::vector<int>{0, 50, 255}));
  EXPECT_EQ(bytes_of({3.0F, 3.0F}), (std::vector<int>{0, 0}));
  EXPECT_EQ(bytes_of({0.0F, -0.0F}), (std::vector<int>{0, 0}));
  EXPECT_EQ(bytes_of({0.0F, 1e-45F}), (std::vector<int>{0, 0}));  // the step is too small to divide by
  const float row[] = {3.0F, 3.0F, 3.0F};
  std::uint8_t bytes[3];
  const kernels::int8::RowScale scale = kernels::int8::round_row(row, 3, bytes);
  EXPECT_EQ(scale.low, 3.0F);
  EXPECT_EQ(scale.step, 0.0F);
}

#endif

TEST(Int8Weights, WhatWasRoundedIsRoundedToItself) {
  std::mt19937 words(2);
  for (int round = 0; round < 500; ++round) {
    std::vector<float> row(37);
    for (float& value : row)
      value = std::ldexp(static_cast<float>(static_cast<std::int32_t>(words())),
                         static_cast<int>(words() % 120) - 90);
    std::vector<std::int8_t> q(row.size()), again(row.size());
    std::vector<float> restored(row.size());
    const float scale = kernels::int8_scale(row.data(), 37);
    kernels::to_int8(row.data(), 37, scale, q.data());
    kernels::from_int8(q.data(), 37, scale, restored.data());
    ASSERT_EQ(kernels::int8_scale(restored.data(), 37), scale);
    kernels::to_int8(restored.data(), 37, scale, again.data());
    ASSERT_EQ(q, again);
    int largest = 0;
    for (const std::int8_t each : q) largest = std::max(largest, std::abs(int{each}));
    EXPECT_EQ(largest, 127);
  }
}

TEST(Int8Weights, ZerosInfinitiesAndNan) {
  const float zeros[] = {0.0F, -0.0F};
  EXPECT_EQ(kernels::int8_scale(zeros, 2), 0.0F);
  std::int8_t q[2] = {1, 1};
  kernels::to_int8(zeros, 2, 0.0F, q);
  EXPECT_EQ(q[0], 0);
  const float bad[] = {1.0F, std::numeric_limits<float>::infinity()};
  EXPECT_TRUE(std::isnan(kernels::int8_scale(bad, 2)));
}

}  // namespace
}  // namespace encore::test
