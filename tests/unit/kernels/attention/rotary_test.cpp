// SPDX-License-Identifier: BSD-3-Clause
// Tests kernels::rotary (framework/kernels/attention/rotary.cpp, called by
// plugins/layers/rotary_attention.cpp) against complex numbers in double: a pair of channels is one number,
// which a rotation multiplies. A score must depend only on the distance of two tokens, and rows that are
// generated later get the bits of the whole pass.
#include <complex>

#include "unit/kernels/attention/attention_reference.hpp"

namespace encore::test {
namespace {

/// Returns qkv with queries and keys rotated by complex multiplication; values stay.
Values turned(const std::vector<std::int64_t>& lengths, std::int64_t heads, std::int64_t size, double base,
              Values qkv) {
  std::size_t row = 0;
  for (const std::int64_t length : lengths)
    for (std::int64_t t = 0; t < length; ++t, ++row)
      for (std::int64_t head = 0; head < 2 * heads; ++head)
        for (std::int64_t d = 0; d < size / 2; ++d) {
          double& x = qkv[row * static_cast<std::size_t>(3 * heads * size) +
                          static_cast<std::size_t>(head * size + d)];
          double& y = (&x)[size / 2];
          const double rate = std::pow(base, -2.0 * static_cast<double>(d) / static_cast<double>(size));
          const auto point = std::complex<double>(x, y) * std::polar(1.0, static_cast<double>(t) * rate);
          x = point.real();
          y = point.imag();
        }
  return qkv;
}

/// Returns the columns of queries and keys in qkv (N, 3 C): only these rotate.
kernels::Slice queries_and_keys(const Tensor& qkv) {
  return {qkv, 0, qkv.extent(1) / 3 * 2};
}

class Rotary : public ::testing::TestWithParam<Precision> {};

TEST_P(Rotary, OddLengthsHeadsAndHalves) {
  const auto [type, tolerance] = GetParam();
  const std::vector<std::int64_t> lengths{1, 33, 0, 7, 260};
  const contract::OwnedBatch batch(lengths);
  for (const std::int64_t heads : {1, 3})
    for (const std::int64_t size : {2, 10, 32, 66})
      for (const double base : {1.0, 10000.0}) {
        contract::OwnedTensor qkv = random_tensor(type, {301, 3 * heads * size}, 1);
        const Values before = qkv.values();
        kernels::rotary(device(), batch, 2 * heads, base, false, queries_and_keys(qkv));
        const std::string what = std::to_string(heads) + " heads of " + std::to_string(size);
        expect_close(qkv, turned(lengths, heads, size, base, before), tolerance, what);
        kernels::rotary(device(), batch, 2 * heads, base, true, queries_and_keys(qkv));
        expect_close(qkv, before, 2 * tolerance, what + " and back");
      }
}

TEST_P(Rotary, ValuesAndFirstTokensKeepTheirBits) {
  const DType type = GetParam().type;
  const contract::OwnedBatch batch({3, 2});
  contract::OwnedTensor qkv = random_tensor(type, {5, 12}, 1);
  const Values before = qkv.values();
  kernels::rotary(device(), batch, 2, 100.0, false, queries_and_keys(qkv));
  device().fence();
  const Values after = qkv.values();
  for (std::size_t i = 0; i < after.size(); ++i) {
    const bool first = i / 12 == 0 || i / 12 == 3, value = i % 12 >= 8;
    EXPECT_EQ(after[i] == before[i], first || value) << i;
  }
}

TEST_P(Rotary, AScoreDependsOnTheDistanceAlone) {
  const auto [type, tolerance] = GetParam();
  const std::int64_t length = 50, size = 6;
  const contract::OwnedBatch batch({length});
  const Values row = contract::normal_values(3 * size, 1);
  Values rows;
  for (std::int64_t t = 0; t < length; ++t) rows.insert(rows.end(), row.begin(), row.end());
  contract::OwnedTensor qkv(type, {length, 3 * size});
  qkv.set(rows);
  kernels::rotary(device(), batch, 2, 10000.0, false, queries_and_keys(qkv));
  device().fence();
  const Values after = qkv.values();
  const auto score = [&](std::int64_t i, std::int64_t j) {
    double sum = 0.0;
    for (std::int64_t d = 0; d < size; ++d)
      sum += after[static_cast<std::size_t>(i * 3 * size + d)] *
             after[static_cast<std::size_t>((3 * j + 1) * size + d)];
    return sum;
  };
  for (std::int64_t t = 0; t + 3 < length; ++t)
    EXPECT_NEAR(score(t, t + 3), score(0, 3), 50 * tolerance) << t;
  EXPECT_GT(std::abs(score(0, 4) - score(0, 3)), 0.01);
}

TEST_P(Rotary, AnEmptyBatch) {
  contract::OwnedTensor qkv(GetParam().type, {0, 12});
  kernels::rotary(device(), contract::OwnedBatch({0}), 2, 100.0, false, queries_and_keys(qkv));
}

/// Each row alone, at its own position, with queries and keys in tensors of their own, gets the bits of the
/// whole pass.
TEST_P(Rotary, RowsThatComeLaterGetTheBitsOfTheWholePass) {
  const DType type = GetParam().type;
  const std::int64_t length = 40, size = 10;
  const contract::OwnedTensor x = random_tensor(type, {length, 2 * size}, 1);
  contract::OwnedTensor whole(type, {length, 2 * size});
  whole.set(x.values());
  kernels::rotary(device(), contract::OwnedBatch({length}), 2, 10000.0, false, whole);
  device().fence();
  const Values expected = whole.values();
  for (std::int64_t t = 0; t < length; ++t) {
    contract::OwnedTensor rows(type, {2, 2 * size});
    const Values all = x.values();
    const auto row = all.begin() + t * 2 * size;
    Values both(row, row + 2 * size);
    both.insert(both.end(), row, row + 2 * size);
    rows.set(both);
    for (const std::int64_t first : {std::int64_t{0}, size})
      kernels::rotary(device(), RowsAt({1, 1}, {t, t}), 1, 10000.0, false, {rows, first, size});
    device().fence();
    const Values turned = rows.values();
    for (std::int64_t c = 0; c < 4 * size; ++c)
      ASSERT_EQ(turned[static_cast<std::size_t>(c)],
                expected[static_cast<std::size_t>(t * 2 * size + c % (2 * size))])
          << "position " << t << " column " << c;
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, Rotary, ::testing::ValuesIn(precisions(1e-6, 1e-13, 1e-2)),
                         precision_name);

TEST(RotaryRefuses, OddHeadSizesAndOtherRows) {
  const contract::OwnedBatch batch({2});
  const contract::OwnedTensor odd(DType::float32, {2, 9}), longer(DType::float32, {3, 12});
  EXPECT_REFUSED(kernels::rotary(device(), batch, 1, 100.0, false, odd),
                 "1 heads of pairs do not divide x, which is columns 0 .. 8 of float32 (2, 9)");
  EXPECT_REFUSED(
      kernels::rotary(device(), batch, 1, 100.0, false, longer),
      "x is columns 0 .. 11 of float32 (3, 12), expected 12 columns of a float32 matrix with 2 rows");
  EXPECT_REFUSED(kernels::rotary(device(), contract::OwnedBatch({3}), 1, 0.5, false, longer),
                 "the base of the angles is at least 1");
}

}  // namespace
}  // namespace encore::test
