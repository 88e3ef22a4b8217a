// SPDX-License-Identifier: BSD-3-Clause
// The kernels softmax_cross_entropy, losses (N) = -sum_k q_k log softmax(logits)_k with smoothed targets q
// (Szegedy et al. 2016), its gradient dlogits (N, K) = scale (softmax - q), and argmax (encore/kernels.hpp).
// Heads call them. Kept for backward: normalizers (N, 2), the largest logit and the sum of each row, or
// nothing. The order of sums decides the bits of runs and must stay.
#include <encore/math.hpp>
#include <encore/rows.hpp>

#include <encore/head.hpp>

#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

/// The numbers that turn logits into probabilities e^(z - largest) / sum.
template <class S>
struct Normalizer {
  S largest, sum;
};

/// Returns the two numbers of a row of logits z.
template <class S, class T>
KOKKOS_FORCEINLINE_FUNCTION Normalizer<S> normalizer_of(const Row& row, std::int64_t classes, const T* z) {
  const S largest = row.max<S>(classes, [&](std::int64_t k) { return static_cast<S>(z[k]); });
  return {largest,
          row.sum<S>(classes, [&](std::int64_t k) { return math::exp(static_cast<S>(z[k]) - largest); })};
}

/// Computes loss = log sum_k e^z_k - (1 - smoothing) z_target - smoothing / K sum_k z_k, with z shifted by
/// its maximum. The maximum and the sum are kept in normalizers, if there is one.
template <class T>
void cross_entropy_rows(const Device& device, Tensor logits, Tensor targets, double label_smoothing,
                        Tensor losses, Tensor normalizers) {
  using S = Sum<T>;
  const std::int64_t classes = logits.extent(1);
  const T* in = elements<T>(logits);
  const std::int32_t* wanted = elements<std::int32_t>(targets);
  S* out = elements<S>(losses);
  S* kept = normalizers ? elements<S>(normalizers) : nullptr;
  const S smoothing = static_cast<S>(label_smoothing);
  for_rows(
      device, "encore::softmax_cross_entropy", logits.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* z = in + row.index * classes;
        const std::int32_t target = wanted[row.index];
        S loss = S(0), largest = S(0), sum = S(1);
        if (target >= 0) {
          const Normalizer<S> found = normalizer_of<S>(row, classes, z);
          largest = found.largest;
          sum = found.sum;
          const S shifted =
              row.sum<S>(classes, [&](std::int64_t k) { return static_cast<S>(z[k]) - largest; });
          loss = math::log(sum) - (S(1) - smoothing) * (static_cast<S>(z[target]) - largest) -
                 smoothing / static_cast<S>(classes) * shifted;
        }
        row.once([&] {
          out[row.index] = loss;
          if (kept == nullptr) return;
          kept[2 * row.index] = largest;
          kept[2 * row.index + 1] = sum;
        });
      });
}

template <class T>
void cross_entropy_backward_rows(const Device& device, Tensor logits, Tensor targets, double label_smoothing,
                                 double scale, Tensor normalizers, Tensor dlogits) {
  using S = Sum<T>;
  const std::int64_t classes = logits.extent(1);
  const T* in = elements<T>(logits);
  const std::int32_t* wanted = elements<std::int32_t>(targets);
  T* out = elements<T>(dlogits);
  const S* kept = normalizers ? elements<S>(normalizers) : nullptr;
  const S factor = static_cast<S>(scale);
  const S hit = static_cast<S>(1.0 - label_smoothing);
  const S any = static_cast<S>(label_smoothing / static_cast<double>(classes));
  for_rows(
      device, "encore::softmax_cross_entropy_backward", logits.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* z = in + row.index * classes;
        T* dz = out + row.index * classes;
        const std::int32_t target = wanted[row.index];
        if (target < 0) {
          row.each(classes, [&](std::int64_t k) { dz[k] = static_cast<T>(S(0)); });
          return;
        }
        const Normalizer<S> row_normalizer =
            kept == nullptr ? normalizer_of<S>(row, classes, z)
                            : Normalizer<S>{kept[2 * row.index], kept[2 * row.index + 1]};
        const S largest = row_normalizer.largest, inverse = S(1) / row_normalizer.sum;
        // These local copies are necessary: a value that is read through the closure might alias dz, so that
        // the loop would not be vectorised.
        const S scale_of_row = factor, of_target = hit, of_any = any;
        row.each(classes, [&](std::int64_t k) {
          const S probability = math::exp(static_cast<S>(z[k]) - largest) * inverse;
          dz[k] = static_cast<T>(scale_of_row * (probability - (k == target ? of_target : S(0)) - of_any));
        });
      });
}

/// Returns the first of the largest logits. On the host in one pass; on a GPU every lane takes part.
template <class S, class T>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t largest_class(const Row& row, const T* z, std::int64_t classes) {
#if ENCORE_HOST_BACKEND
  (void)row;
  std::int64_t best = 0;
  for (std::int64_t k = 1; k < classes; ++k)
    if (static_cast<S>(z[k]) > static_cast<S>(z[best])) best = k;
  return best;
#else
  const S largest = row.max<S>(classes, [&](std::int64_t k) { return static_cast<S>(z[k]); });
  const double first = -row.max<double>(classes, [&](std::int64_t k) {
    return static_cast<S>(z[k]) == largest ? -static_cast<double>(k)
                                           : -Kokkos::Experimental::infinity<double>::value;
  });
  return first < static_cast<double>(classes) ? static_cast<std::int64_t>(first) : 0;  // 0: no numbers
#endif
}

template <class T>
void argmax_rows(const Device& device, Tensor logits, Tensor predictions) {
  using S = Sum<T>;
  const std::int64_t classes = logits.extent(1);
  const T* in = elements<T>(logits);
  std::int32_t* out = elements<std::int32_t>(predictions);
  for_rows(
      device, "encore::argmax", logits.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t best = largest_class<S>(row, in + row.index * classes, classes);
        row.once([&] { out[row.index] = static_cast<std::int32_t>(best); });
      });
}

void check_logits(const Tensor& logits, const Tensor& targets, double label_smoothing) {
  check_rank("logits", logits, 2);
  ENCORE_REQUIRE(logits.extent(1) >= 1, "there is at least one class");
  check("targets", targets, DType::int32, {logits.extent(0)});
  ENCORE_REQUIRE(label_smoothing >= 0.0 && label_smoothing < 1.0,
                 "label smoothing lies in [0, 1), it is " + std::to_string(label_smoothing));
}

}  // namespace

void softmax_cross_entropy(const Device& device, Tensor logits, Tensor targets, double label_smoothing,
                           Tensor losses) {
  softmax_cross_entropy(device, logits, targets, label_smoothing, losses, Tensor());
}

void softmax_cross_entropy(const Device& device, Tensor logits, Tensor targets, double label_smoothing,
                           Tensor losses, Tensor normalizers) {
  check_logits(logits, targets, label_smoothing);
  check("losses", losses, sum_type(logits.dtype), {logits.extent(0)});
  if (normalizers) check("normalizers", normalizers, losses.dtype, {logits.extent(0), 2});
  dispatch(logits.dtype, [&](auto type) {
    cross_entropy_rows<decltype(type)>(device, logits, targets, label_smoothing, losses, normalizers);
  });
}

void softmax_cross_entropy_backward(const Device& device, Tensor logits, Tensor targets,
                                    double label_smoothing, double scale, Tensor dlogits) {
  softmax_cross_entropy_backward(device, logits, targets, label_smoothing, scale, Tensor(), dlogits);
}

void softmax_cross_entropy_backward(const Device& device, Tensor logits, Tensor targets,
                                    double label_smoothing, double scale, Tensor normalizers,
                                    Tensor dlogits) {
  check_logits(logits, targets, label_smoothing);
  check("dlogits", dlogits, logits.dtype, {logits.extent(0), logits.extent(1)});
  if (normalizers) check("normalizers", normalizers, sum_type(logits.dtype), {logits.extent(0), 2});
  dispatch(logits.dtype, [&](auto type) {
    cross_entropy_backward_rows<decltype(type)>(device, logits, targets, label_smoothing, scale, normalizers,
                                                dlogits);
  });
}

void argmax(const Device& device, Tensor logits, Tensor predictions) {
  check_rank("logits", logits, 2);
  ENCORE_REQUIRE(logits.extent(1) >= 1, "there is at least one class");
  check("predictions", predictions, DType::int32, {logits.extent(0)});
  dispatch(logits.dtype, [&](auto type) { argmax_rows<decltype(type)>(device, logits, predictions); });
}

}  // namespace encore::kernels
