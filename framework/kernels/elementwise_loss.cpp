// SPDX-License-Identifier: BSD-3-Clause
// The kernels binary_cross_entropy, squared_error and sigmoid with their gradients, for heads whose classes
// do not compete: losses (N) of logits (N, K) and targets (N, K); formulas in encore/kernels.hpp. Each loss
// is a mean over the row, so that a batch's loss is the mean over rows and classes, as in PyTorch's
// BCEWithLogitsLoss and MSELoss. Nothing is kept: backward reads logits and targets.
#include <encore/head.hpp>
#include <encore/math.hpp>
#include <encore/rows.hpp>

#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

template <class S>
KOKKOS_FORCEINLINE_FUNCTION S logistic(S x) {
  return S(1) / (S(1) + math::exp(-x));
}

/// Computes max(z, 0) - z t + log(1 + e^-|z|): no power of e is above 1, whatever z is.
template <class S>
struct BinaryCrossEntropy {
  KOKKOS_FORCEINLINE_FUNCTION static S value(S z, S target) {
    const S magnitude = z < S(0) ? -z : z;
    return S(0.5) * (z + magnitude) - z * target + math::log(S(1) + math::exp(-magnitude));
  }
  KOKKOS_FORCEINLINE_FUNCTION static S derivative(S z, S target) { return logistic(z) - target; }
};

template <class S>
struct SquaredError {
  KOKKOS_FORCEINLINE_FUNCTION static S value(S x, S target) { return (x - target) * (x - target); }
  KOKKOS_FORCEINLINE_FUNCTION static S derivative(S x, S target) { return S(2) * (x - target); }
};

/// Computes losses (N): the mean of Loss::value over each row of x (N, K), 0 on rows that are not known.
template <template <class> class Loss, class T>
void loss_rows(const Device& device, const char* label, Tensor x, Tensor targets, Tensor known,
               Tensor losses) {
  using S = Sum<T>;
  const std::int64_t classes = x.extent(1);
  const T* in = elements<T>(x);
  const float* wanted = elements<float>(targets);
  const std::int32_t* is_known = elements<std::int32_t>(known);
  S* out = elements<S>(losses);
  for_rows(
      device, label, x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* values = in + row.index * classes;
        const float* t = wanted + row.index * classes;
        S loss = S(0);
        if (is_known[row.index] >= 0)
          loss = row.sum<S>(classes, [&](std::int64_t k) {
            return Loss<S>::value(static_cast<S>(values[k]), static_cast<S>(t[k]));
          }) / static_cast<S>(classes);
        row.once([&] { out[row.index] = loss; });
      });
}

/// Computes dx (N, K) = scale / K * Loss::derivative, 0 on rows that are not known.
template <template <class> class Loss, class T>
void gradient_rows(const Device& device, const char* label, Tensor x, Tensor targets, Tensor known,
                   double scale, Tensor dx) {
  using S = Sum<T>;
  const std::int64_t classes = x.extent(1);
  const T* in = elements<T>(x);
  const float* wanted = elements<float>(targets);
  const std::int32_t* is_known = elements<std::int32_t>(known);
  T* out = elements<T>(dx);
  const S factor = static_cast<S>(scale / static_cast<double>(classes));
  for_rows(
      device, label, x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* values = in + row.index * classes;
        const float* t = wanted + row.index * classes;
        T* gradients = out + row.index * classes;
        const S share = is_known[row.index] >= 0 ? factor : S(0);
        row.each(classes, [&](std::int64_t k) {
          gradients[k] =
              static_cast<T>(share * Loss<S>::derivative(static_cast<S>(values[k]), static_cast<S>(t[k])));
        });
      });
}

template <class T>
void sigmoid_rows(const Device& device, Tensor x, Tensor y) {
  const std::int64_t classes = x.extent(1);
  const T* in = elements<T>(x);
  float* out = elements<float>(y);
  for_rows(
      device, "encore::sigmoid", x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* values = in + row.index * classes;
        float* shares = out + row.index * classes;
        row.each(classes, [&](std::int64_t k) {
          shares[k] = static_cast<float>(logistic(static_cast<Sum<T>>(values[k])));
        });
      });
}

void check_targets(const char* name, const Tensor& x, const Tensor& targets, const Tensor& known) {
  check_rank(name, x, 2);
  ENCORE_REQUIRE(x.extent(1) >= 1, "there is at least one class");
  check("targets", targets, DType::float32, {x.extent(0), x.extent(1)});
  check("known", known, DType::int32, {x.extent(0)});
}

}  // namespace

void binary_cross_entropy(const Device& device, Tensor logits, Tensor targets, Tensor known, Tensor losses) {
  check_targets("logits", logits, targets, known);
  check("losses", losses, sum_type(logits.dtype), {logits.extent(0)});
  dispatch(logits.dtype, [&](auto type) {
    loss_rows<BinaryCrossEntropy, decltype(type)>(device, "encore::binary_cross_entropy", logits, targets,
                                                  known, losses);
  });
}

void binary_cross_entropy_backward(const Device& device, Tensor logits, Tensor targets, Tensor known,
                                   double scale, Tensor dlogits) {
  check_targets("logits", logits, targets, known);
  check("dlogits", dlogits, logits.dtype, {logits.extent(0), logits.extent(1)});
  dispatch(logits.dtype, [&](auto type) {
    gradient_rows<BinaryCrossEntropy, decltype(type)>(device, "encore::binary_cross_entropy_backward", logits,
                                                      targets, known, scale, dlogits);
  });
}

void sigmoid(const Device& device, Tensor x, Tensor y) {
  check_rank("x", x, 2);
  check("y", y, DType::float32, {x.extent(0), x.extent(1)});
  dispatch(x.dtype, [&](auto type) { sigmoid_rows<decltype(type)>(device, x, y); });
}

void squared_error(const Device& device, Tensor x, Tensor targets, Tensor known, Tensor losses) {
  check_targets("x", x, targets, known);
  check("losses", losses, sum_type(x.dtype), {x.extent(0)});
  dispatch(x.dtype, [&](auto type) {
    loss_rows<SquaredError, decltype(type)>(device, "encore::squared_error", x, targets, known, losses);
  });
}

void squared_error_backward(const Device& device, Tensor x, Tensor targets, Tensor known, double scale,
                            Tensor dx) {
  check_targets("x", x, targets, known);
  check("dx", dx, x.dtype, {x.extent(0), x.extent(1)});
  dispatch(x.dtype, [&](auto type) {
    gradient_rows<SquaredError, decltype(type)>(device, "encore::squared_error_backward", x, targets, known,
                                                scale, dx);
  });
}

}  // namespace encore::kernels
