// SPDX-License-Identifier: BSD-3-Clause
// Tests linear attention (framework/kernels/attention/linear_attention.cpp, called by
// plugins/layers/linear_attention.cpp), forward and backward, against sums in double over the weights of all
// pairs, which the kernels never store. The order of its sums is checked in bits_test.cpp.
#include "unit/kernels/attention/attention_reference.hpp"

namespace encore::test {
namespace {

struct LinearResult {
  Values out, dq, dk, dv;
};

/// The feature map of linear attention: elu(x) + 1.
double feature(double x) {
  return x > 0.0 ? x + 1.0 : std::exp(x);
}
double feature_slope(double x) {
  return x > 0.0 ? 1.0 : std::exp(x);
}

/// Computes with the weights f(q_i) f(k_j) of all pairs, which the kernels never store.
LinearResult linear_reference(const Lengths& lengths, std::int64_t heads, std::int64_t width, const Values& q,
                              const Values& k, const Values& v, const Values& dout) {
  LinearResult r{Values(q.size(), 0.0), Values(q.size(), 0.0), Values(q.size(), 0.0), Values(q.size(), 0.0)};
  const std::int64_t size = width / heads;
  std::int64_t first = 0;
  for (const std::int64_t length : lengths) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const auto at = [&](std::int64_t row, std::int64_t d) {
        return static_cast<std::size_t>((first + row) * width + h * size + d);
      };
      for (std::int64_t i = 0; i < length; ++i) {
        Values weights;
        double norm = 1e-6, along = 0.0;
        for (std::int64_t j = 0; j < length; ++j) {
          double weight = 0.0;
          for (std::int64_t d = 0; d < size; ++d) weight += feature(q[at(i, d)]) * feature(k[at(j, d)]);
          weights.push_back(weight);
          norm += weight;
        }
        for (std::int64_t j = 0; j < length; ++j)
          for (std::int64_t d = 0; d < size; ++d)
            r.out[at(i, d)] += weights[static_cast<std::size_t>(j)] * v[at(j, d)] / norm;
        for (std::int64_t d = 0; d < size; ++d) along += dout[at(i, d)] * r.out[at(i, d)];
        for (std::int64_t j = 0; j < length; ++j) {
          double dweight = -along / norm;
          for (std::int64_t d = 0; d < size; ++d) {
            dweight += dout[at(i, d)] * v[at(j, d)] / norm;
            r.dv[at(j, d)] += weights[static_cast<std::size_t>(j)] / norm * dout[at(i, d)];
          }
          for (std::int64_t d = 0; d < size; ++d) {
            r.dq[at(i, d)] += dweight * feature(k[at(j, d)]) * feature_slope(q[at(i, d)]);
            r.dk[at(j, d)] += dweight * feature(q[at(i, d)]) * feature_slope(k[at(j, d)]);
          }
        }
      }
    }
    first += length;
  }
  return r;
}

class LinearAttention : public ::testing::TestWithParam<Precision> {};

TEST_P(LinearAttention, ForwardAndBackward) {
  const auto [type, tolerance] = GetParam();
  const DType sums_type = sum_type(type);
  for (const Lengths& lengths : {Lengths{1}, Lengths{5, 0, 33, 1, 70}, Lengths{}})
    for (const auto& [heads, size] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {2, 5}, {3, 17}, {1, 64}}) {
      const RowsAt rows(lengths);
      const std::int64_t n = rows.count(), width = heads * size,
                         b = static_cast<std::int64_t>(lengths.size());
      const contract::OwnedTensor qkv = random_tensor(type, {n, 3 * width}, 1),
                                  dout = random_tensor(type, {n, width}, 2);
      contract::OwnedTensor out(type, {n, width}), dqkv(type, {n, 3 * width}),
          features(sums_type, {n, 2 * width}), sums(sums_type, {b, width * (size + 1)}),
          dsums(sums_type, {b, width * (size + 1)}), norms(sums_type, {n, heads}),
          dnorms(sums_type, {n, heads});
      for (contract::OwnedTensor* result : {&out, &dqkv, &features, &sums, &dsums, &norms, &dnorms})
        result->fill(NAN);
      kernels::linear_attention(device(), rows, heads, part(qkv, 0), part(qkv, 1), part(qkv, 2), features,
                                sums, norms, out);
      kernels::linear_attention_backward(device(), rows, heads, part(qkv, 0), part(qkv, 1), part(qkv, 2),
                                         features, sums, norms, out, dout, dsums, dnorms, part(dqkv, 0),
                                         part(dqkv, 1), part(dqkv, 2));
      const auto columns = [&](const contract::OwnedTensor& packed, std::int64_t number) {
        return columns_of(packed.values(), 3 * width, number * width, width);
      };
      const LinearResult expected = linear_reference(lengths, heads, width, columns(qkv, 0), columns(qkv, 1),
                                                     columns(qkv, 2), dout.values());
      const std::string what = std::to_string(heads) + " heads of " + std::to_string(size);
      expect_close(out, expected.out, tolerance, what + " out");
      expect_close(columns(dqkv, 0), expected.dq, 10 * tolerance, what + " dq");
      expect_close(columns(dqkv, 1), expected.dk, 10 * tolerance, what + " dk");
      expect_close(columns(dqkv, 2), expected.dv, 10 * tolerance, what + " dv");
    }
}

INSTANTIATE_TEST_SUITE_P(Precisions, LinearAttention, ::testing::ValuesIn(precisions(1e-5, 1e-13, 2e-2)),
                         precision_name);

TEST(LinearAttentionRefuses, OtherShapes) {
  const RowsAt rows({3});
  const contract::OwnedTensor x(DType::float32, {3, 6}), features(DType::float32, {3, 12}),
      sums(DType::float32, {1, 24}), norms(DType::float32, {3, 2});
  EXPECT_REFUSED(kernels::linear_attention(device(), rows, 4, x, x, x, features, sums, norms, x),
                 "4 heads do not divide the width 6");
  EXPECT_REFUSED(kernels::linear_attention(device(), rows, 2, x, x, x, features, norms, norms, x),
                 "sums is float32 (3, 2), expected float32 (1, 24)");
}

}  // namespace
}  // namespace encore::test
