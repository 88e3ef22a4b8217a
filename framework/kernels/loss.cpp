// Softmax cross-entropy with label smoothing (Szegedy et al. 2016), its gradient, and argmax.
#include <encore/math.hpp>
#include <encore/rows.hpp>

#include <encore/head.hpp>

#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

/// loss = log sum_k e^z_k - (1 - smoothing) z_target - smoothing / K sum_k z_k, with z shifted by its
/// maximum.
template <class T>
void cross_entropy_rows(const Device& device, Tensor logits, Tensor targets, double label_smoothing,
                        Tensor losses) {
  using S = Sum<T>;
  const std::int64_t classes = logits.extent(1);
  const T* in = elements<T>(logits);
  const std::int32_t* wanted = elements<std::int32_t>(targets);
  S* out = elements<S>(losses);
  const S smoothing = static_cast<S>(label_smoothing);
  for_rows(
      device, "encore::softmax_cross_entropy", logits.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* z = in + row.index * classes;
        const std::int32_t target = wanted[row.index];
        S loss = S(0);
        if (target >= 0) {
          const S largest = row.max<S>(classes, [&](std::int64_t k) { return static_cast<S>(z[k]); });
          const S sum =
              row.sum<S>(classes, [&](std::int64_t k) { return math::exp(static_cast<S>(z[k]) - largest); });
          const S shifted =
              row.sum<S>(classes, [&](std::int64_t k) { return static_cast<S>(z[k]) - largest; });
          loss = math::log(sum) - (S(1) - smoothing) * (static_cast<S>(z[target]) - largest) -
                 smoothing / static_cast<S>(classes) * shifted;
        }
        row.once([&] { out[row.index] = loss; });
      });
}

template <class T>
void cross_entropy_backward_rows(const Device& device, Tensor logits, Tensor targets, double label_smoothing,
                                 double scale, Tensor dlogits) {
  using S = Sum<T>;
  const std::int64_t classes = logits.extent(1);
  const T* in = elements<T>(logits);
  const std::int32_t* wanted = elements<std::int32_t>(targets);
  T* out = elements<T>(dlogits);
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
        const S largest = row.max<S>(classes, [&](std::int64_t k) { return static_cast<S>(z[k]); });
        const S sum =
            row.sum<S>(classes, [&](std::int64_t k) { return math::exp(static_cast<S>(z[k]) - largest); });
        const S inverse = S(1) / sum;
        // Local copies: what is read through the closure might be what is written to dz, so that no vector
        // instructions would come of the loop.
        const S scale_of_row = factor, of_target = hit, of_any = any;
        row.each(classes, [&](std::int64_t k) {
          const S probability = math::exp(static_cast<S>(z[k]) - largest) * inverse;
          dz[k] = static_cast<T>(scale_of_row * (probability - (k == target ? of_target : S(0)) - of_any));
        });
      });
}

template <class T>
void argmax_rows(const Device& device, Tensor logits, Tensor predictions) {
  using S = Sum<T>;
  const std::int64_t classes = logits.extent(1);
  const T* in = elements<T>(logits);
  std::int32_t* out = elements<std::int32_t>(predictions);
  for_rows(
      device, "encore::argmax", logits.extent(0), KOKKOS_LAMBDA(const Row& row) {
        row.once([&] {
          const T* z = in + row.index * classes;
          std::int64_t best = 0;
          for (std::int64_t k = 1; k < classes; ++k)
            if (static_cast<S>(z[k]) > static_cast<S>(z[best])) best = k;
          out[row.index] = static_cast<std::int32_t>(best);
        });
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
  check_logits(logits, targets, label_smoothing);
  check("losses", losses, sum_type(logits.dtype), {logits.extent(0)});
  dispatch(logits.dtype, [&](auto type) {
    cross_entropy_rows<decltype(type)>(device, logits, targets, label_smoothing, losses);
  });
}

void softmax_cross_entropy_backward(const Device& device, Tensor logits, Tensor targets,
                                    double label_smoothing, double scale, Tensor dlogits) {
  check_logits(logits, targets, label_smoothing);
  check("dlogits", dlogits, logits.dtype, {logits.extent(0), logits.extent(1)});
  dispatch(logits.dtype, [&](auto type) {
    cross_entropy_backward_rows<decltype(type)>(device, logits, targets, label_smoothing, scale, dlogits);
  });
}

void argmax(const Device& device, Tensor logits, Tensor predictions) {
  check_rank("logits", logits, 2);
  ENCORE_REQUIRE(logits.extent(1) >= 1, "there is at least one class");
  check("predictions", predictions, DType::int32, {logits.extent(0)});
  dispatch(logits.dtype, [&](auto type) { argmax_rows<decltype(type)>(device, logits, predictions); });
}

}  // namespace encore::kernels
