// SPDX-License-Identifier: BSD-3-Clause
// Tests disentangled attention (framework/kernels/attention/disentangled_attention.cpp; the layer
// plugins/layers/disentangled_attention.cpp is that of DeBERTa) against explicit scores in double and their
// gradients (formulas that must not share code with the kernel), with clipped distances, a causal mask and
// dropout. tests/golden/disentangled_test.cpp compares the layer with the package transformers.
#include "unit/kernels/attention/attention_reference.hpp"

namespace encore::test {
namespace {

struct DisentangledResult {
  Values out, dq, dk, dv, dqr, dkr;
};

/// Computes outputs and gradients with explicit scores in double. qr and kr (2 reach, C) are the projected
/// embeddings of the distances from -reach on; distances beyond are clipped.
DisentangledResult disentangled_reference(const Lengths& lengths, const kernels::AttentionOptions& options,
                                          std::int64_t width, std::int64_t reach, const Values& q,
                                          const Values& k, const Values& v, const Values& qr,
                                          const Values& kr, const Values& dout) {
  DisentangledResult r{Values(q.size(), 0.0), Values(q.size(), 0.0),  Values(q.size(), 0.0),
                       Values(q.size(), 0.0), Values(qr.size(), 0.0), Values(qr.size(), 0.0)};
  const std::int64_t size = width / options.heads;
  const double scale = 1.0 / std::sqrt(3.0 * static_cast<double>(size));
  std::int64_t first = 0;
  for (std::size_t b = 0; b < lengths.size(); first += lengths[b], ++b)
    for (std::int64_t h = 0; h < options.heads; ++h) {
      const std::int64_t length = lengths[b];
      const auto at = [&](std::int64_t row, std::int64_t d) {
        return static_cast<std::size_t>((first + row) * width + h * size + d);
      };
      const auto place = [&](std::int64_t i, std::int64_t j, std::int64_t d) {
        const std::int64_t row = std::min(std::max<std::int64_t>(i - j + reach, 0), 2 * reach - 1);
        return static_cast<std::size_t>(row * width + h * size + d);
      };
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t keys = options.causal ? i + 1 : length;
        Values weights, dkept;
        double sum = 0.0, delta = 0.0;
        for (std::int64_t j = 0; j < keys; ++j) {
          double score = 0.0;
          for (std::int64_t d = 0; d < size; ++d)
            score += q[at(i, d)] * k[at(j, d)] + q[at(i, d)] * kr[place(i, j, d)] +
                     k[at(j, d)] * qr[place(i, j, d)];
          weights.push_back(std::exp(score * scale));
          sum += weights.back();
        }
        for (std::int64_t j = 0; j < keys; ++j) {
          double& weight = weights[static_cast<std::size_t>(j)];
          weight /= sum;
          const double factor =
              dropout_factor(options, 100 + 3 * static_cast<std::int64_t>(b), h, i, j, length);
          double gradient = 0.0;
          for (std::int64_t d = 0; d < size; ++d) {
            r.out[at(i, d)] += weight * factor * v[at(j, d)];
            gradient += dout[at(i, d)] * v[at(j, d)];
            r.dv[at(j, d)] += weight * factor * dout[at(i, d)];
          }
          dkept.push_back(gradient * factor);
          delta += dkept.back() * weight;
        }
        for (std::int64_t j = 0; j < keys; ++j) {
          const auto key = static_cast<std::size_t>(j);
          const double ds = weights[key] * (dkept[key] - delta) * scale;
          for (std::int64_t d = 0; d < size; ++d) {
            r.dq[at(i, d)] += ds * (k[at(j, d)] + kr[place(i, j, d)]);
            r.dk[at(j, d)] += ds * (q[at(i, d)] + qr[place(i, j, d)]);
            r.dkr[place(i, j, d)] += ds * q[at(i, d)];
            r.dqr[place(i, j, d)] += ds * k[at(j, d)];
          }
        }
      }
    }
  return r;
}

class DisentangledAttention : public ::testing::TestWithParam<Precision> {
 protected:
  void compare(const Lengths& lengths, kernels::AttentionOptions options, std::int64_t size,
               std::int64_t reach) {
    const auto [type, tolerance] = GetParam();
    options.training = true;
    options.key = {7, 8, 9};
    const RowsAt rows(lengths);
    RowSet set = rows;
    for (const std::int64_t length : lengths) set.size.squares += length * length;
    const std::int64_t n = rows.count(), width = options.heads * size;
    const contract::OwnedTensor qkv = random_tensor(type, {n, 3 * width}, 1),
                                dout = random_tensor(type, {n, width}, 2),
                                qr = random_tensor(type, {2 * reach, width}, 3),
                                kr = random_tensor(type, {2 * reach, width}, 4);
    contract::OwnedTensor out(type, {n, width}), dqkv(type, {n, 3 * width}), dqr(type, {2 * reach, width}),
        dkr(type, {2 * reach, width}), weights(sum_type(type), {set.size.squares, options.heads}),
        dscores(sum_type(type), {set.size.squares, options.heads});
    for (contract::OwnedTensor* result : {&out, &dqkv, &dqr, &dkr, &weights, &dscores}) result->fill(NAN);
    kernels::disentangled_attention(device(), set, options, part(qkv, 0), part(qkv, 1), part(qkv, 2), qr, kr,
                                    weights, out);
    kernels::disentangled_attention_backward(device(), set, options, part(qkv, 0), part(qkv, 1), part(qkv, 2),
                                             qr, kr, weights, out, dout, dscores, part(dqkv, 0),
                                             part(dqkv, 1), part(dqkv, 2), dqr, dkr);
    const auto columns = [&](const contract::OwnedTensor& packed, std::int64_t number) {
      return columns_of(packed.values(), 3 * width, number * width, width);
    };
    const DisentangledResult expected =
        disentangled_reference(lengths, options, width, reach, columns(qkv, 0), columns(qkv, 1),
                               columns(qkv, 2), qr.values(), kr.values(), dout.values());
    const std::string what = std::to_string(options.heads) + " heads of " + std::to_string(size) +
                             ", distances up to " + std::to_string(reach);
    expect_close(out, expected.out, tolerance, what + " out");
    expect_close(columns(dqkv, 0), expected.dq, 10 * tolerance, what + " dq");
    expect_close(columns(dqkv, 1), expected.dk, 10 * tolerance, what + " dk");
    expect_close(columns(dqkv, 2), expected.dv, 10 * tolerance, what + " dv");
    expect_close(dqr, expected.dqr, 20 * tolerance, what + " dqr");
    expect_close(dkr, expected.dkr, 20 * tolerance, what + " dkr");
  }
};

TEST_P(DisentangledAttention, ForwardAndBackward) {
  const Lengths lengths{1, 0, 2, 17, 33};
  for (const std::int64_t reach : {1, 4, 16, 40}) {
    compare(lengths, {.heads = 2}, 5, reach);
    compare(lengths, {.heads = 1, .dropout = 0.3}, 16, reach);
    compare(lengths, {.heads = 3, .dropout = 0.3, .causal = true}, 8, reach);
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, DisentangledAttention,
                         ::testing::ValuesIn(precisions(1e-5, 1e-13, 3e-2)), precision_name);

TEST(DisentangledAttentionRefuses, OtherShapes) {
  const RowsAt rows({3});
  RowSet set = rows;
  set.size.squares = 9;
  const contract::OwnedTensor x(DType::float32, {3, 6}), odd(DType::float32, {3, 6}),
      table(DType::float32, {4, 6}), weights(DType::float32, {9, 2});
  EXPECT_REFUSED(
      kernels::disentangled_attention(device(), set, {.heads = 2}, x, x, x, odd, table, weights, x),
      "qr is float32 (3, 6), expected twice as many rows as the longest distance");
  EXPECT_REFUSED(kernels::disentangled_attention(device(), set, {.heads = 2}, x, x, x, table, table, x, x),
                 "weights is float32 (3, 6), expected float32 (9, 2)");
}

}  // namespace
}  // namespace encore::test
