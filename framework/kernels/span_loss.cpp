// SPDX-License-Identifier: BSD-3-Clause
// The kernels span_cross_entropy and its backward (Devlin et al. 2019, section 4.2): losses (B) of logits (N,
// 2), a softmax over the rows of each sequence, one column for the first and one for the last row of the
// span. Heads of spans call them. Nothing is kept: backward computes the softmax again. One task of for_rows
// is a sequence; the lanes share the rows of its softmax. The order of sums decides the bits of runs and must
// stay.
#include <encore/math.hpp>
#include <encore/rows.hpp>

#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

/// Reads the logits of one channel of a sequence: z[t] at channel + 2 t.
template <class T>
struct SpanChannel {
  const T* logits;
  std::int64_t length;
  int channel;

  KOKKOS_FORCEINLINE_FUNCTION Sum<T> operator[](std::int64_t t) const {
    return static_cast<Sum<T>>(logits[2 * t + channel]);
  }
  /// Returns false for a target outside of the sequence, from which nothing is learned.
  KOKKOS_FORCEINLINE_FUNCTION bool has(std::int64_t target) const { return target >= 0 && target < length; }
};

template <class T>
struct SpanProblem {
  const T* logits;
  const std::int32_t *offsets, *starts, *ends;

  SpanProblem(const RowSet& rows, const Tensor& all_logits, const Tensor& all_starts, const Tensor& all_ends)
      : logits(elements<T>(all_logits)),
        offsets(elements<std::int32_t>(rows.offsets)),
        starts(elements<std::int32_t>(all_starts)),
        ends(elements<std::int32_t>(all_ends)) {}

  KOKKOS_FORCEINLINE_FUNCTION SpanChannel<T> channel(std::int64_t sequence, int number) const {
    return {logits + 2 * std::int64_t{offsets[sequence]},
            std::int64_t{offsets[sequence + 1]} - std::int64_t{offsets[sequence]}, number};
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t target(std::int64_t sequence, int number) const {
    return number == 0 ? starts[sequence] : ends[sequence];
  }
};

template <class T>
void span_losses(const Device& device, std::int64_t sequences, const SpanProblem<T>& problem, Tensor losses) {
  using S = Sum<T>;
  const SpanProblem<T> p = problem;
  S* out = elements<S>(losses);
  for_rows(
      device, "encore::span_cross_entropy", sequences, KOKKOS_LAMBDA(const Row& row) {
        S loss = S(0);
        for (int number = 0; number < 2; ++number) {
          const SpanChannel<T> z = p.channel(row.index, number);
          const std::int64_t target = p.target(row.index, number);
          if (!z.has(target)) continue;
          const S largest = row.max<S>(z.length, [&](std::int64_t t) { return z[t]; });
          const S sum = row.sum<S>(z.length, [&](std::int64_t t) { return math::exp(z[t] - largest); });
          loss += S(0.5) * (math::log(sum) - (z[target] - largest));
        }
        row.once([&] { out[row.index] = loss; });
      });
}

template <class T>
void span_gradients(const Device& device, std::int64_t sequences, const SpanProblem<T>& problem, double scale,
                    Tensor dlogits) {
  using S = Sum<T>;
  const SpanProblem<T> p = problem;
  T* out = elements<T>(dlogits);
  const S factor = static_cast<S>(0.5 * scale);
  for_rows(
      device, "encore::span_cross_entropy_backward", sequences, KOKKOS_LAMBDA(const Row& row) {
        T* dz = out + 2 * std::int64_t{p.offsets[row.index]};
        for (int number = 0; number < 2; ++number) {
          const SpanChannel<T> z = p.channel(row.index, number);
          const std::int64_t target = p.target(row.index, number);
          if (!z.has(target)) {
            row.each(z.length, [&](std::int64_t t) { dz[2 * t + number] = static_cast<T>(S(0)); });
            continue;
          }
          const S largest = row.max<S>(z.length, [&](std::int64_t t) { return z[t]; });
          const S sum = row.sum<S>(z.length, [&](std::int64_t t) { return math::exp(z[t] - largest); });
          const S inverse = S(1) / sum;
          row.each(z.length, [&](std::int64_t t) {
            const S probability = math::exp(z[t] - largest) * inverse;
            dz[2 * t + number] = static_cast<T>(factor * (probability - (t == target ? S(1) : S(0))));
          });
        }
      });
}

void check_span(const RowSet& rows, const Tensor& logits, const Tensor& starts, const Tensor& ends) {
  check("logits", logits, logits.dtype, {rows.size.tokens, 2});
  check("starts", starts, DType::int32, {rows.size.sequences});
  check("ends", ends, DType::int32, {rows.size.sequences});
}

}  // namespace

void span_cross_entropy(const Device& device, const RowSet& rows, Tensor logits, Tensor starts, Tensor ends,
                        Tensor losses) {
  check_span(rows, logits, starts, ends);
  check("losses", losses, sum_type(logits.dtype), {rows.size.sequences});
  dispatch(logits.dtype, [&](auto type) {
    using T = decltype(type);
    span_losses<T>(device, rows.size.sequences, SpanProblem<T>(rows, logits, starts, ends), losses);
  });
}

void span_cross_entropy_backward(const Device& device, const RowSet& rows, Tensor logits, Tensor starts,
                                 Tensor ends, double scale, Tensor dlogits) {
  check_span(rows, logits, starts, ends);
  check("dlogits", dlogits, logits.dtype, {rows.size.tokens, 2});
  dispatch(logits.dtype, [&](auto type) {
    using T = decltype(type);
    span_gradients<T>(device, rows.size.sequences, SpanProblem<T>(rows, logits, starts, ends), scale,
                      dlogits);
  });
}

}  // namespace encore::kernels
